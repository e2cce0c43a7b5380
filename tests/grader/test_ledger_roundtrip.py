"""What is recorded is read back the same, whatever was typed."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import count

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grader.exercise import Exercise, Given, Part
from grader.ledger import Ledger
from grader.ledger.rows import pack, unpack

pytestmark = pytest.mark.roundtrip

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
NASTY = "\0\\u0000 \\ \\\\ \ud800\udc00 \udfff \U0001f600 é é \r\n ' \" ; -- 10³"
SEEDS = st.integers(-(2**70), 2**256)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    with Ledger.open(tmp_path_factory.mktemp("ledger") / "ledger.sqlite") as opened:
        yield opened


@given(ANY_TEXT)
@example(NASTY)
def test_packed_text_is_clean_and_unpacks_to_itself(text: str) -> None:
    packed = pack(text)
    assert unpack(packed) == text
    assert "\0" not in packed
    assert packed.encode("utf-8").decode("utf-8") == packed


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\\")))
def test_ordinary_text_is_stored_as_it_is(text: str) -> None:
    assert pack(text) == text


@given(
    student=ANY_TEXT,
    part=ANY_TEXT,
    raw=ANY_TEXT,
    reading=ANY_TEXT,
    verdict=st.sampled_from(["correct", "partial", "incorrect", "invalid"]),
    score=st.fractions(),
    slips=st.lists(ANY_TEXT, max_size=3),
    seed=SEEDS,
    revision=st.integers(1, 2**63 - 1),
)
@example(NASTY, NASTY, NASTY, NASTY, "invalid", Fraction(-1, 3), [NASTY, ""], 10**80, 1)
def test_a_submission_comes_back_equal(
    ledger: Ledger,
    student: str,
    part: str,
    raw: str,
    reading: str,
    verdict: str,
    score: Fraction,
    slips: list[str],
    seed: int,
    revision: int,
) -> None:
    exercise = Exercise("ttft", revision, seed, "", (), ())
    row = ledger.submit(student, exercise, part, raw=raw, reading=reading, verdict=verdict, score=score, slips=slips)
    *_, stored = ledger.submissions(student, "ttft", seed, part)
    assert stored == row
    assert (row.student, row.family, row.revision, row.seed, row.part) == (student, "ttft", revision, seed, part)
    assert (row.raw, row.reading, row.verdict, row.score, row.slips) == (raw, reading, verdict, score, tuple(slips))
    assert type(stored.score) is Fraction


@given(student=ANY_TEXT, part=ANY_TEXT, kind=ANY_TEXT, level=st.integers(1, 100), seed=SEEDS)
def test_help_comes_back_equal(ledger: Ledger, student: str, part: str, kind: str, level: int, seed: int) -> None:
    exercise = Exercise("ttft", 1, seed, "", (), ())
    row = ledger.record_help(student, exercise, part, kind, level)
    assert ledger.help(student, exercise, part)[-1] == row
    assert (row.student, row.part, row.kind, row.level, row.seed) == (student, part, kind, level, seed)


FRESH = count()


@given(
    text=st.text(min_size=1),
    lone=st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF),
    seed=SEEDS,
    family=st.text(),
)
def test_an_exercise_comes_back_equal(ledger: Ledger, text: str, lone: str, seed: int, family: str) -> None:
    part = Part("a", text, lone, "count", text, text, names=(text, lone), symbols={text: lone})
    exercise = Exercise(family, 1, seed, text + lone, (Given(text, text, "1/3", text),), (part,), text)
    student = f"student {next(FRESH)}"
    assert ledger.pose(student, exercise)
    assert ledger.posed(student, family, seed) == exercise


def test_nothing_that_was_written_here_is_at_fault(ledger: Ledger) -> None:
    assert ledger.verify() == []
