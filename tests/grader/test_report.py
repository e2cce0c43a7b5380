"""Reports: the statistics are what their definitions say, and every form says the same numbers."""

from __future__ import annotations

import csv
import json
import statistics
from collections import defaultdict
from fractions import Fraction
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import assume, given
from hypothesis import strategies as st

from grader.cli.app import app
from grader.exercise import Exercise, Part, SlipValue
from grader.ledger import Ledger
from grader.reporting.observations import Observation, Slipped
from grader.reporting.plots import HEIGHT, WIDTH, reached, scatter
from grader.reporting.rendering import as_csv, as_page, as_text
from grader.reporting.report import Report
from grader.reporting.statistics import correlation
from grader.sets import Entry, Item, ProblemSet, Sheet, record, record_of
from grader.tables import unguarded

SCORES = st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1)])
PAIRS = st.lists(
    st.tuples(st.fractions(-9, 9, max_denominator=20), st.fractions(-9, 9, max_denominator=20)), max_size=9
)
NAMES = st.sampled_from(["ann", "bob", "cyd", "dan", "eve"])
ITEMS = st.sampled_from(["1", "2", "10"])
SEEN = st.lists(st.tuples(NAMES, ITEMS, SCORES), max_size=30)


def observed(entries: list[tuple[str, str, Fraction]]) -> list[Observation]:
    found = []
    for student, item, score in entries:
        seen = Observation(student, item, f"family-{item}")
        seen.enter("correct", score)
        if score == 0:
            seen.slips.append(Slipped(seen.family, "forgot", "One was forgotten."))
        found.append(seen)
    return found


def report(entries: list[tuple[str, str, Fraction]]) -> Report:
    return Report(observed(entries), lambda family: f"objective of {family}")


@pytest.mark.differential
@given(PAIRS)
def test_a_correlation_is_that_of_the_standard_library(pairs: list[tuple[Fraction, Fraction]]) -> None:
    found = correlation(pairs)
    xs, ys = [x for x, _ in pairs], [y for _, y in pairs]
    assert (found is None) == (len(pairs) < 3 or len(set(xs)) == 1 or len(set(ys)) == 1)
    if found is not None:
        assert abs(float(found) - statistics.correlation(list(map(float, xs)), list(map(float, ys)))) < 2e-4


@pytest.mark.law
@given(PAIRS, st.fractions(1, 9), st.fractions(-9, 9))
def test_a_correlation_knows_no_scale_and_no_order_and_a_line_is_one(
    pairs: list[tuple[Fraction, Fraction]], factor: Fraction, shift: Fraction
) -> None:
    found = correlation(pairs)
    assume(found is not None)
    assert correlation([(factor * x + shift, y) for x, y in reversed(pairs)]) == found
    assert correlation([(y, x) for x, y in pairs]) == found
    assert correlation([(x, factor * x + shift) for x, _ in pairs]) == 1
    assert correlation([(x, shift - factor * x) for x, _ in pairs]) == -1


@pytest.mark.differential
@given(SEEN)
def test_discrimination_is_the_correlation_with_the_mean_of_all_others(
    entries: list[tuple[str, str, Fraction]],
) -> None:
    table = report(entries).table("item")
    for row in table.rows:
        pairs = []
        for student in {student for student, *_ in entries}:
            own = [score for who, item, score in entries if who == student and item == row[0]]
            rest = [score for who, item, score in entries if who == student and item != row[0]]
            if own and rest:
                pairs.append((sum(own) / Fraction(len(own)), sum(rest) / Fraction(len(rest))))
        assert row[table.header.index("discrimination")] == correlation(pairs)


@pytest.mark.law
@given(SEEN, st.randoms(use_true_random=False))
def test_tables_do_not_depend_on_the_order_and_count_everything_once(
    entries: list[tuple[str, str, Fraction]], random: Any
) -> None:
    shuffled = list(entries)
    random.shuffle(shuffled)
    for by in ("item", "family", "objective", "student", "slip"):
        table = report(entries).table(by)
        assert report(shuffled).table(by) == table
        place = table.header.index("answers")
        wrong = sum(score == 0 for *_, score in entries)
        assert sum(row[place] for row in table.rows) == (wrong if by == "slip" else len(entries))
        for row in table.rows:
            shares = [cell for name, cell in zip(table.header, row, strict=True) if name in {"difficulty", "first"}]
            assert all(isinstance(share, Fraction) and 0 <= share <= 1 for share in shares)
    means = {row[0]: row[4] for row in report(entries).table("item").rows}
    scores = defaultdict(list)
    for _, item, score in entries:
        scores[item].append(score)
    assert means == {item: sum(found) / Fraction(len(found)) for item, found in scores.items()}
    assert list(means) == sorted(means, key=int)


@pytest.mark.law
@given(SEEN)
def test_every_point_lies_in_its_plane_and_every_student_in_one_bar(entries: list[tuple[str, str, Fraction]]) -> None:
    found = report(entries)
    assert all(0 <= point.x <= WIDTH and 0 <= point.y <= HEIGHT for point in scatter(found.table("item")))
    assert sum(bar.value for bar in reached(found.table("student"))) == found.students


# --- on a ledger ---

SLIPS = (SlipValue("forgot-one", "One was <forgotten>.", "13"), SlipValue("twice", "It was counted twice.", "28"))
GPUS = Part("a", "gpus", "How many?", "count", "14", "GPU", unit_in_question=True, slips=SLIPS)
ONE, TWO = (Exercise("max-context", 1, seed, "Answer.", (), (GPUS,)) for seed in (1, 2))
HOSTILE = '=cmd <b> & "x"'


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """Give a ledger: ann learns from a slip, bob is right at once, and the third never answers legibly but once."""
    path = tmp_path / "ledger"
    rows = [
        ("ann", ONE, "?", "invalid", 0, []), ("ann", ONE, "13", "incorrect", 0, ["forgot-one"]),
        ("ann", ONE, "14", "correct", 1, []), ("bob", ONE, "14", "correct", 1, []),
        ("bob", TWO, "14", "correct", 1, []), (HOSTILE, TWO, "?", "invalid", 0, []),
        (HOSTILE, ONE, "13", "incorrect", 0, ["forgot-one"]),
    ]  # fmt: skip
    with Ledger.open(path) as opened:
        for student, exercise, raw, verdict, score, slips in rows:
            opened.submit(
                student, exercise, "a", raw=raw, reading=raw, verdict=verdict, score=Fraction(score), slips=slips
            )
    return path


def run(ledger: Path, *arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["report", "--ledger", str(ledger), *map(str, arguments)])


def test_the_first_answer_that_can_be_read_makes_the_difficulty_and_the_last_what_is_reached(ledger: Path) -> None:
    done = run(ledger)
    assert done.stdout.splitlines() == [
        "family       students  questions  difficulty  last  answers  discrimination  commonest slip",
        "max-context         3          4        0.50  0.75        5               -  forgot-one",
    ]
    assert run(ledger, "--by", "student").stdout.splitlines()[1:] == [
        f"{HOSTILE}          1   0.00  0.00        1  forgot-one",
        "ann                     1   0.00  1.00        2  forgot-one",
        "bob                     2   1.00  1.00        2",
    ]
    assert run(ledger, "--by", "slip").stdout.splitlines() == [
        "slip        family       answers  share  students  what went wrong",
        "forgot-one  max-context        2   0.40         2  One was <forgotten>.",
    ]
    assert run(ledger, "--by", "objective").stdout.splitlines()[1].startswith("memory-partition")


def test_a_mark_that_was_given_again_is_the_one_that_counts(ledger: Path) -> None:
    with Ledger.open(ledger) as opened:
        first = next(row for row, _ in opened.marks("ann") if row.raw == "13")
        opened.regrade(first, reading="13", verdict="correct", score=Fraction(1), slips=[], reason="A change of mind.")
    assert run(ledger).stdout.splitlines()[1].split()[3:5] == ["0.75", "0.75"]
    assert run(ledger, "--by", "slip").stdout.splitlines()[1].split()[2] == "1"


def test_every_form_says_the_same(ledger: Path, tmp_path: Path) -> None:
    tables = ["--by", "family", "--by", "student", "--by", "slip"]
    data = json.loads(run(ledger, *tables, "--json").stdout)
    assert (data["schema"], data["students"], data["answers"], data["unread"]) == (1, 3, 5, 2)
    assert [table["by"] for table in data["tables"]] == ["family", "student", "slip"]
    sheet = [row for row in csv.reader(StringIO(run(ledger, *tables, "--format", "csv").stdout)) if row]
    said = [list(table["rows"][0]) for table in data["tables"]]
    cells = [
        row
        for names, table in zip(said, data["tables"], strict=True)
        for row in ([name.replace("_", " ") for name in names], *(list(row.values()) for row in table["rows"]))
    ]
    assert [list(map(unguarded, row)) for row in sheet] == [
        ["" if cell is None else str(cell) for cell in row] for row in cells
    ]
    assert sheet[3][0] == f"'{HOSTILE}"
    done = run(ledger, *tables, "--format", "html", "--out", tmp_path / "r.html")
    assert (done.exit_code, done.stdout) == (0, f"{tmp_path / 'r.html'}\n")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    text = run(ledger, *tables).stdout
    for row in cells:
        assert all(str(cell) in text for cell in row if cell is not None)
    assert "One was &lt;forgotten&gt;." in page
    assert "=cmd &lt;b&gt; &amp; &#34;x&#34;" in page


class Tags(HTMLParser):
    """Collects the elements of a page, and checks that each that opens is closed."""

    VOID = frozenset({"meta", "line", "circle", "rect"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_page_draws_all_of_it_without_a_script_and_fetches_nothing() -> None:
    entries = [(f"s{n}", item, Fraction(n % 3 > int(item) % 3)) for n in range(9) for item in ("1", "2", "4", "10")]
    found = report(entries)
    page = as_page(found, [found.table(by) for by in ("item", "slip", "student")], "A & <B>")
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    names = [tag for tag, _ in tags.found]
    assert names.count("svg") == 3
    assert names.count("circle") == len(scatter(found.table("item"))) > 0
    assert names.count("rect") == 10 + len(found.table("slip").rows)
    assert names.count("table") == 3
    assert not {"script", "link", "img", "iframe"} & set(names)
    assert not {"src", "href", "onload", "style"} & {name for _, attrs in tags.found for name in attrs}
    assert "<title>A &amp; &lt;B&gt;</title>" in page
    ids = {attrs["id"] for _, attrs in tags.found if "id" in attrs}
    assert {attrs["aria-labelledby"] for tag, attrs in tags.found if tag == "svg"} <= ids


def test_nothing_was_answered_is_a_sentence(tmp_path: Path) -> None:
    sentence = "Nothing was answered yet, so there is nothing to report.\n"
    for more in ([], ["--format", "html"], ["--by", "slip"]):
        done = run(tmp_path / "none" / "ledger", *more)
        assert (done.exit_code, done.stdout) == (0, sentence)
    assert not (tmp_path / "none").exists()
    with Ledger.open(tmp_path / "ledger") as opened:
        opened.pose("ann", ONE)
    assert run(tmp_path / "ledger").stdout == sentence
    assert json.loads(run(tmp_path / "ledger", "--json").stdout)["tables"] == [{"by": "family", "rows": []}]


def test_empty_tables_have_their_heads() -> None:
    tables = [report([]).table(by) for by in ("item", "student", "slip")]
    assert [len(block.splitlines()) for block in as_text(tables).split("\n\n")] == [1, 1, 1]
    assert as_csv(tables).count("\n") == 5


# --- of a class ---


@pytest.fixture
def key(tmp_path: Path) -> Path:
    entries = tuple(Entry.of(n, Item("max-context", None, 1, Fraction(4)), e) for n, e in ((1, ONE), (2, TWO)))
    sheet = record_of(Sheet("Week 1", "C2FR-WQRK", entries))
    path = tmp_path / "key.json"
    path.write_text("".join(record(ProblemSet("Week 1", ()), [sheet])), encoding="utf-8")
    (tmp_path / "a.csv").write_text("student,1,2\nC2FR-WQRK,13,14\n", encoding="utf-8")
    return path


def test_a_class_is_reported_by_the_items_of_its_sheets(ledger: Path, key: Path) -> None:
    folder = key.parent
    submit = ["submit", "--answers", folder / "a.csv", "--key", key, "--ledger", ledger, "--out", folder / "g.csv"]
    assert CliRunner().invoke(app, list(map(str, submit))).exit_code == 0
    for source in (["--key", key], ["--gradebook", folder / "g.csv", "--key", key]):
        assert [line.split()[:4] for line in run(ledger, *source).stdout.splitlines()[1:]] == [
            ["1", "max-context", "1", "1"], ["2", "max-context", "1", "1"],
        ]  # fmt: skip
        slips = run(ledger, *source, "--by", "slip").stdout.splitlines()[1:]
        assert [line.split()[:3] for line in slips] == [["forgot-one", "max-context", "1"]]
    alone = run(ledger, "--gradebook", folder / "g.csv", "--format", "csv").stdout.splitlines()
    assert [line.split(",")[:5] for line in alone[1:]] == [["1a", "", "1", "1", "0.00"], ["2a", "", "1", "1", "1.00"]]
    refused = run(ledger, "--gradebook", folder / "g.csv", "--by", "slip")
    assert (refused.exit_code, "--key" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    "content", ["", "a,b\n1,2\n", "student,item,part,answer,verdict,points,of\nx,one,a,,correct,1,1\n"]
)
def test_what_is_no_gradebook_is_one_sentence(ledger: Path, tmp_path: Path, content: str) -> None:
    (tmp_path / "g.csv").write_text(content, encoding="utf-8")
    done = run(ledger, "--gradebook", tmp_path / "g.csv")
    assert done.exit_code == 2
    assert done.stderr.startswith(f"Error: {tmp_path / 'g.csv'} is ")
    missing = run(ledger, "--gradebook", tmp_path / "none.csv")
    assert "cannot be read (No such file or directory)" in missing.stderr
