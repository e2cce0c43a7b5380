-- Newer records of posed exercises, and marks that answers got later. What each column means: grader/ledger/rows.py.

CREATE TABLE amendment (
    number INTEGER PRIMARY KEY,
    student TEXT NOT NULL,
    family TEXT NOT NULL,
    revision INTEGER NOT NULL,
    seed TEXT NOT NULL,
    record TEXT NOT NULL,
    reason TEXT NOT NULL,
    version TEXT NOT NULL,
    utc TEXT NOT NULL,
    receipt TEXT NOT NULL,
    FOREIGN KEY (student, family, seed, revision) REFERENCES posed (student, family, seed, revision)
);

CREATE TABLE regrade (
    number INTEGER PRIMARY KEY,
    student TEXT NOT NULL,
    submission INTEGER NOT NULL REFERENCES submission (number),
    reading TEXT NOT NULL,
    verdict TEXT NOT NULL CHECK (verdict IN ('correct', 'partial', 'incorrect', 'invalid')),
    score TEXT NOT NULL,
    slips TEXT NOT NULL,
    reason TEXT NOT NULL,
    version TEXT NOT NULL,
    utc TEXT NOT NULL,
    receipt TEXT NOT NULL
);

CREATE INDEX amendment_by_student ON amendment (student, number);
CREATE INDEX amendment_by_exercise ON amendment (student, family, seed, revision, number);
CREATE INDEX regrade_by_student ON regrade (student, number);
CREATE INDEX regrade_by_submission ON regrade (submission);

CREATE TRIGGER amendment_stays BEFORE UPDATE ON amendment
BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END;
CREATE TRIGGER regrade_stays BEFORE UPDATE ON regrade
BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END;

CREATE TRIGGER amendment_remains BEFORE DELETE ON amendment
WHEN NOT EXISTS (SELECT 1 FROM erasing WHERE erasing.student = OLD.student)
BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END;
CREATE TRIGGER regrade_remains BEFORE DELETE ON regrade
WHEN NOT EXISTS (SELECT 1 FROM erasing WHERE erasing.student = OLD.student)
BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END;
