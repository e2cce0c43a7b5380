-- Rows are numbered over all tables, so that a missing one is noticed. What each column means: grader/ledger/rows.py.

CREATE TABLE posed (
    number INTEGER PRIMARY KEY,
    student TEXT NOT NULL,
    family TEXT NOT NULL,
    revision INTEGER NOT NULL,
    seed TEXT NOT NULL,
    record TEXT NOT NULL,
    version TEXT NOT NULL,
    utc TEXT NOT NULL,
    receipt TEXT NOT NULL,
    UNIQUE (student, family, seed, revision)
);

CREATE TABLE submission (
    number INTEGER PRIMARY KEY,
    student TEXT NOT NULL,
    family TEXT NOT NULL,
    revision INTEGER NOT NULL,
    seed TEXT NOT NULL,
    part TEXT NOT NULL,
    raw TEXT NOT NULL,
    reading TEXT NOT NULL,
    verdict TEXT NOT NULL CHECK (verdict IN ('correct', 'partial', 'incorrect', 'invalid')),
    score TEXT NOT NULL,
    slips TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    version TEXT NOT NULL,
    utc TEXT NOT NULL,
    receipt TEXT NOT NULL,
    FOREIGN KEY (student, family, seed, revision) REFERENCES posed (student, family, seed, revision)
);

CREATE TABLE help (
    number INTEGER PRIMARY KEY,
    student TEXT NOT NULL,
    family TEXT NOT NULL,
    revision INTEGER NOT NULL,
    seed TEXT NOT NULL,
    part TEXT NOT NULL,
    kind TEXT NOT NULL,
    level INTEGER NOT NULL,
    version TEXT NOT NULL,
    utc TEXT NOT NULL,
    receipt TEXT NOT NULL,
    FOREIGN KEY (student, family, seed, revision) REFERENCES posed (student, family, seed, revision)
);

CREATE TABLE erasure (
    number INTEGER PRIMARY KEY,
    erased INTEGER NOT NULL,
    version TEXT NOT NULL,
    utc TEXT NOT NULL,
    receipt TEXT NOT NULL
);

-- The student who is being forgotten; a row stands here only inside that transaction.
CREATE TABLE erasing (
    student TEXT PRIMARY KEY
);

CREATE INDEX posed_by_student ON posed (student, number);
CREATE INDEX submission_by_student ON submission (student, number);
CREATE INDEX help_by_student ON help (student, number);
CREATE INDEX help_by_part ON help (student, family, seed, revision, part);

-- Two submissions never share an attempt, whatever the program does.
CREATE UNIQUE INDEX attempts ON submission (student, family, seed, revision, part, attempt) WHERE verdict <> 'invalid';

CREATE TRIGGER posed_stays BEFORE UPDATE ON posed
BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END;
CREATE TRIGGER submission_stays BEFORE UPDATE ON submission
BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END;
CREATE TRIGGER help_stays BEFORE UPDATE ON help
BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END;
CREATE TRIGGER erasure_stays BEFORE UPDATE ON erasure
BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END;

CREATE TRIGGER posed_remains BEFORE DELETE ON posed
WHEN NOT EXISTS (SELECT 1 FROM erasing WHERE erasing.student = OLD.student)
BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END;
CREATE TRIGGER submission_remains BEFORE DELETE ON submission
WHEN NOT EXISTS (SELECT 1 FROM erasing WHERE erasing.student = OLD.student)
BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END;
CREATE TRIGGER help_remains BEFORE DELETE ON help
WHEN NOT EXISTS (SELECT 1 FROM erasing WHERE erasing.student = OLD.student)
BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END;
CREATE TRIGGER erasure_remains BEFORE DELETE ON erasure
BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END;
