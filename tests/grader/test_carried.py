"""Error carried forward: the same rule wherever answers are judged, and what it must never do."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.answers import Answer, Grading, read_key
from grader.answers.policy import Policy
from grader.exercise import EXACT, NUMERIC, Exercise, Part, SlipValue, Tolerance
from grader.families import family, pose, slugs
from grader.family import Family
from grader.feedback import message
from grader.judging import CORRECT, INCORRECT, INVALID, PARTIAL, Judgement, judge
from grader.judging.carried import SHARE, judge_after
from grader.judging.judgement import is_carried
from grader.ledger import Ledger
from grader.reading.evaluate import exact
from grader.reading.grammar import read_formula
from grader.reporting.regrading import judged_again

pytestmark = pytest.mark.law

CHAINED = [
    slug
    for slug in slugs()
    if isinstance(of := family(slug), Family) and any(part.follows for part in pose(slug, 0).parts)
]
SEEDS = range(40)
NEAR = Tolerance("relative", "0.01")
# A budget of 40 GB, 100 MB for a token, 20 tokens for a sequence: 400 tokens, 20 sequences.
CHAIN = Exercise(
    "chain", 1, 7, "A budget.", (),
    (
        Part("a", "kv_budget", "How much?", "quantity", "40", "GB", NEAR, unit_in_question=True,
             slips=(SlipValue("margin-forgotten", "No margin.", "44"), SlipValue("thirds", "Thirds.", "100/3"))),
        Part("b", "token_capacity", "How many?", "count", "400", "token", EXACT, unit_in_question=True,
             zero_is_none=True, follows=("floor(a * 10)",),
             slips=(SlipValue("margin-forgotten", "No margin.", "440"), SlipValue("tenfold", "Ten times.", "4000"))),
        Part("c", "concurrency", "How many?", "count", "20", "sequence", EXACT, unit_in_question=True,
             zero_is_none=True, follows=("floor(b / 20)",), slips=(SlipValue("margin-forgotten", "No margin.", "22"),)),
        Part("d", "gpus", "How many?", "count", "6", "GPU", EXACT, unit_in_question=True,
             follows=("floor(100 / c) + 1",), slips=(SlipValue("rounded-down", "Down.", "5"),)),
    ),
)  # fmt: skip


def judged(part: str, text: str, **before: str | list[str]) -> Judgement:
    texts = {letter: [said] if isinstance(said, str) else said for letter, said in before.items()}
    return judge_after(CHAIN, CHAIN.part(part), text, texts)


def test_what_follows_from_a_wrong_answer_is_half_right_and_not_blamed() -> None:
    found = judged("b", "440", a="44 GB")
    assert (found.verdict, found.score, found.diagnoses) == (PARTIAL, SHARE, ())
    assert message(found, CHAIN.part("b")).endswith(
        "It follows from your answer to part a (44 GB), which is wrong. Carried forward it earns half at most."
    )
    assert [d.slip for d in judged("b", "440").diagnoses] == ["margin-forgotten"]


@pytest.mark.parametrize(
    ("part", "text", "before"),
    [
        ("b", "300 tokens", {"a": "30"}),
        ("b", "333", {"a": "33.33"}),
        ("c", "22", {"a": "44", "b": "440"}),  # b is carried itself
        ("c", "22", {"a": "44"}),  # b was not answered
        ("c", "22", {"a": "44", "b": "?"}),  # nor could it be read
        ("c", "10", {"a": "40", "b": "200"}),
        ("d", "5", {"c": "22"}),
        ("d", "3", {"a": "100", "b": "1000"}),
        ("b", "none", {"a": "0.05"}),  # no token fits
    ],
)
def test_it_is_carried_along_the_chain(part: str, text: str, before: dict[str, str]) -> None:
    assert is_carried(judged(part, text, **before))


@pytest.mark.parametrize(
    ("part", "text", "before", "code"),
    [
        ("b", "10", {"a": "1"}, "not-carried-trivial"),
        ("b", "0", {"a": "0"}, "not-carried-trivial"),
        ("b", "440", {"a": "44 s"}, ""),  # a slip of its own explains it
        ("b", "450", {"a": "45 s"}, "not-carried-no-number"),
        ("b", "450", {"a": "none"}, "not-carried-no-number"),
        ("b", "none", {"a": "-45"}, "not-carried-negative"),
        ("c", "12", {"b": "250.5"}, "not-carried-fraction"),
        ("b", "400010", {"a": "40001"}, "not-carried-far"),
        ("b", "399990", {"a": "39999"}, "carried"),
        ("b", "440", {}, ""),
        ("b", "441", {"a": "44"}, ""),
        ("c", "22", {"a": "44", "b": "400"}, ""),  # b is right
        ("a", "44", {"b": "440"}, ""),  # nothing is carried backwards
        ("d", "5", {"c": "20"}, ""),
    ],
)
def test_what_is_no_result_is_not_carried_and_that_is_said(
    part: str, text: str, before: dict[str, str], code: str
) -> None:
    found = judged(part, text, **before)
    assert [f.code for f in found.findings if "carried" in f.code] == [code] * bool(code)
    assert (found.verdict == INCORRECT) == (code != "carried")
    if code.startswith("not-"):
        assert "carried" in message(found, CHAIN.part(part))


def test_a_slip_at_the_end_of_a_part_explains_no_later_one() -> None:
    def with_slip(part: Part, value: str) -> Part:
        return replace(part, slips=(SlipValue("stopped-at-x", "A step.", value),))

    a, b, *rest = CHAIN.parts
    exercise = replace(CHAIN, parts=(with_slip(a, "12"), with_slip(b, "13"), *rest))
    found = judge_after(exercise, exercise.part("b"), "13", {"a": ["12"]})
    assert [d.slip for d in found.diagnoses] == ["stopped-at-x"]


def test_whoever_types_a_rounded_answer_goes_on_with_the_exact_one_of_its_slip() -> None:
    a, b, *rest = CHAIN.parts
    exercise = replace(CHAIN, parts=(a, replace(b, key="40000", follows=("floor(a * 1000)",)), *rest))
    for text in ("33333", "33330"):
        assert is_carried(judge_after(exercise, exercise.part("b"), text, {"a": ["33.33"]}))
    assert not is_carried(judge_after(exercise, exercise.part("b"), "33320", {"a": ["33.33"]}))


def test_the_last_answer_that_can_be_read_counts() -> None:
    assert is_carried(judged("b", "440", a=["40", "44", "what"]))
    assert not is_carried(judged("b", "440", a=["44", "40"]))


answers = st.one_of(
    st.sampled_from(
        ["40", "44", "400", "440", "20", "22", "6", "5", "none", "0", "1", "-3", "4 s", "x", "33.33", "1e9"]
    ),
    st.integers(0, 3000).map(str),
)


@given(st.lists(st.tuples(st.sampled_from("abcd"), answers), max_size=8), st.sampled_from("abcd"), answers)
def test_whatever_was_answered_before_nothing_gains_more_than_the_share(
    said: list[tuple[str, str]], letter: str, text: str
) -> None:
    before: dict[str, list[str]] = {}
    for part, answer in said:
        before.setdefault(part, []).append(answer)
    alone, found = judge(CHAIN.part(letter), text), judge_after(CHAIN, CHAIN.part(letter), text, before)
    if found.verdict != alone.verdict:
        assert (alone.verdict, found.verdict, found.score, found.diagnoses) == (INCORRECT, PARTIAL, SHARE, ())
        verdicts = [
            next((v for t in reversed(before.get(p, [])) if (v := judge(CHAIN.part(p), t).verdict) != INVALID), "")
            for p in "abcd"[: "abcd".index(letter)]
        ]
        assert INCORRECT in verdicts
    else:
        assert (found.score, found.diagnoses) == (alone.score, alone.diagnoses)


# Families


@cache
def drawn(slug: str) -> tuple[Exercise, ...]:
    return (pose(slug, 0),) if family(slug).preset else tuple(pose(slug, seed) for seed in SEEDS)


def typed(part: Part, value: str | None) -> str:
    return "none" if value is None else f"{value} {part.unit}".strip()


@pytest.mark.parametrize("slug", CHAINED)
def test_what_follows_from_right_answers_is_the_key(slug: str) -> None:
    for exercise in drawn(slug):
        letters = tuple(part.part for part in exercise.parts)
        keys = {part.part: part.key for part in exercise.parts}
        for part in exercise.parts:
            for way in part.follows:
                formula, used = read_formula(way, letters), letters_in(way, exercise)
                assert used
                assert used <= set(letters[: letters.index(part.part)])
                if all(keys[letter] is not None for letter in used):
                    value = exact(formula, [Fraction(keys[letter] or 0) if letter in used else 0 for letter in letters])
                    feasible = value is not None and value >= 0
                    assert (Fraction(part.key) if part.key is not None else None) == (value if feasible else None)


@pytest.mark.parametrize("slug", CHAINED)
def test_who_has_all_right_gets_all_right(slug: str) -> None:
    for exercise in drawn(slug):
        before = {part.part: [typed(part, part.key)] for part in exercise.parts}
        for part in exercise.parts:
            assert judge_after(exercise, part, before[part.part][0], before).verdict == CORRECT


def letters_in(way: str, exercise: Exercise) -> set[str]:
    letters = tuple(part.part for part in exercise.parts)
    return {letters[int(value)] for kind, value in read_formula(way, letters).program if kind == "symbol"}


def chains_of_slips(exercise: Exercise) -> Iterator[tuple[Part, SlipValue, dict[str, str]]]:
    """Give each slip with the part in which it first acts and what a learner who makes it answers to all parts."""
    letters = tuple(part.part for part in exercise.parts)
    for start, part in enumerate(exercise.parts):
        for slip in part.slips:
            first = next(p for p in exercise.parts if any(s.slip == slip.slip for s in p.slips))
            if first is not part or slip.value is None or slip.slip.startswith("answer-of-part-"):
                continue
            if part.kind not in NUMERIC:
                continue
            said = {p.part: Fraction(p.key) for p in exercise.parts[:start] if p.key is not None}
            said[part.part] = Fraction(slip.value)
            for later in exercise.parts[start + 1 :]:
                if later.kind not in NUMERIC:
                    continue
                again = next((s.value for s in later.slips if s.slip == slip.slip), None)
                if later.follows:
                    formula = read_formula(later.follows[-1], letters)
                    value = exact(formula, [said.get(letter, Fraction(0)) for letter in letters])
                else:
                    value = None if later.key is None else Fraction(later.key)
                if again is not None and not slip.slip.startswith(("stopped-at-", "answer-in-")):
                    value = Fraction(again)
                if value is None or value < 0:
                    break
                said[later.part] = Fraction(value)
            else:
                yield part, slip, {letter: str(value) for letter, value in said.items()}


@pytest.mark.parametrize("slug", CHAINED)
def test_a_slip_is_diagnosed_where_it_happens_and_carried_from_there(slug: str) -> None:
    carried = 0
    for exercise in drawn(slug):
        for part, slip, said in chains_of_slips(exercise):
            before = {letter: [text] for letter, text in said.items()}
            reached = {part.part}
            for other in exercise.parts:
                follows = any(letter in reached for way in other.follows for letter in letters_in(way, exercise))
                if not follows and other is not part:
                    continue
                if other.kind not in NUMERIC:
                    continue
                reached.add(other.part)
                found = judge_after(exercise, other, said[other.part], before)
                if other is part:
                    assert found.verdict == INCORRECT
                    assert slip.slip in {d.slip for d in found.diagnoses}, (exercise.id, slip)
                elif found.verdict != CORRECT:
                    # Not carried is only what came to 0 or 1 on the way, or to part of what is counted.
                    odd = any(f.code in {"not-carried-trivial", "not-carried-fraction"} for f in found.findings)
                    assert is_carried(found) or odd, (exercise.id, slip, other.part, said, found)
                    assert odd or not found.diagnoses
                    carried += is_carried(found)
    assert carried


# The same everywhere


def key_file(folder: Path, exercise: Exercise, policy: Policy | None = None) -> Path:
    parts = {part.part: "1" for part in exercise.parts}
    item = {"number": 1, "points": "4", "parts": parts, "exercise": json.loads(exercise.to_json())}
    key = {
        "schema": 1,
        "title": "",
        "policy": (policy or Policy()).to_data(),
        "sheets": [{"student": "", "items": [item]}],
    }
    path = folder / "key.json"
    path.write_text(json.dumps(key), encoding="utf-8")
    return path


SAID = [("a", "44"), ("b", "440 tokens"), ("c", "22"), ("d", "5"), ("a", "40"), ("c", "22"), ("b", "400"), ("d", "6")]


def graded(folder: Path, said: list[tuple[str, str]], policy: Policy | None = None) -> tuple[list[str], list[str]]:
    """Give the verdicts in the ledger and the points in the gradebook."""
    key = read_key(key_file(folder, CHAIN, policy))
    with Ledger.open(folder / "ledger.sqlite") as ledger:
        grading = Grading(key, ledger, "ada")
        for _ in grading.grade([Answer("f", n, "ada", 1, part, text) for n, (part, text) in enumerate(said)]):
            pass
        assert [again.changes for again in judged_again(ledger)] == [()]
        lines = list(grading.gradebook.lines("ada"))
        return [row.verdict for row in ledger.submissions("ada")], [str(line.points) for line in lines]


def test_a_class_is_graded_like_a_single_answer_and_again_the_same(tmp_path: Path) -> None:
    wanted: list[str] = []
    before: dict[str, list[str]] = {}
    for part, text in SAID:
        wanted.append(judge_after(CHAIN, CHAIN.part(part), text, before).verdict)
        before.setdefault(part, []).append(text)
    assert wanted == ["incorrect", *["partial"] * 3, "correct", "partial", "correct", "correct"]
    assert graded(tmp_path, SAID) == (wanted, ["1", "1", "1/2", "1"])
    assert graded(tmp_path, SAID) == (wanted, ["1", "1", "1/2", "1"])  # the same file again
    later = [("b", "440"), ("a", "44 GB"), ("b", "440")]
    again = [*wanted, "incorrect", "incorrect", "partial"]
    assert graded(tmp_path, later) == (again, ["0", "1/2", "0", "0"])
    assert graded(tmp_path, later) == (again, ["0", "1/2", "0", "0"])


def test_a_set_says_what_is_carried(tmp_path: Path) -> None:
    said = [("a", "44"), ("b", "440")]
    assert graded(tmp_path, said, Policy(carried=Fraction(1, 4)))[1][:2] == ["0", "1/4"]
    policy = Policy(carried=Fraction(0))
    assert Policy.from_data(policy.to_data()) == policy


SCRIPT = """
import sys
from grader.cli import main
try:
    main()
finally:
    print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""


def submitted(ledger: Path, *arguments: str) -> tuple[dict[str, object], set[str]]:
    command = [sys.executable, "-c", SCRIPT, "submit", "chain/7", *arguments, "--json", "--exit-zero"]
    done = subprocess.run(
        [*command, "--ledger", str(ledger), "--student", "ada"], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout), set(done.stderr.split())


def test_a_single_answer_is_carried_without_the_laws_and_a_dry_run_tells_nothing(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.sqlite"
    with Ledger.open(ledger) as opened:
        opened.pose("ada", CHAIN)
    assert submitted(ledger, "44", "--part", "a")[0]["verdict"] == "incorrect"
    dry, _ = submitted(ledger, "440", "--part", "b", "--dry-run")
    assert (dry["verdict"], dry["score"], dry["message"], "carried" in dry) == (
        None,
        None,
        "Read as 440 tokens.",
        False,
    )
    found, modules = submitted(ledger, "440", "--part", "b")
    assert (found["verdict"], found["score"], found["diagnoses"], found["carried"]) == ("partial", 0.5, [], ["a"])
    assert not modules & {"sympy", "jinja2", "problems"}
