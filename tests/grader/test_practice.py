"""What is asked next: the rule holds for every history, and finds whoever makes one slip within a few exercises."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.exercise import Exercise
from grader.families import family, pose, slugs
from grader.judging import judge
from grader.ledger import Ledger, Submission
from grader.practising import (
    OBJECTIVES,
    Entry,
    History,
    Objective,
    UnknownObjective,
    choose,
    draw,
    families,
    found,
    history,
    pose_next,
    table,
    trained,
    unfinished,
)
from grader.practising.history import ENOUGH, LAST
from grader.practising.objectives import objective
from grader.practising.showing import READ, shown, shown_by, typed

pytestmark = pytest.mark.law

FEW = 5  # exercises within which a slip is to be met
ADA = "ada"
NOTHING = Entry("ttft", preset=False, slips=frozenset())


@pytest.fixture(scope="module")
def by() -> dict[str, Entry]:
    return families()


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "ledger.sqlite") as opened:
        yield opened


def answer(ledger: Ledger, exercise: Exercise, *slips: str, part: str = "", right: bool | None = None) -> Submission:
    """Submit a right answer, or a wrong one that slips explain."""
    score = Fraction(not slips if right is None else right)
    return ledger.submit(
        ADA,
        exercise,
        part or exercise.parts[0].part,
        raw="x",
        reading="x",
        verdict="correct" if score else "incorrect",
        score=score,
        slips=slips,
    )


def finish(ledger: Ledger, exercise: Exercise) -> None:
    for part in exercise.parts:
        answer(ledger, exercise, part=part.part)


def showing(ledger: Ledger, by: dict[str, Entry], slip: str, of: Objective) -> int:
    """Practise as somebody who makes one slip wherever it applies; return the exercise whose judgement names it alone.

    Zero where none of many does.
    """
    for number in range(1, 2 * FEW + 1):
        exercise = pose_next(ledger, ADA, history(ledger, ADA), by, [of])
        assert exercise is not None
        for part in exercise.parts:
            wrong = next((typed(part, each) for each in part.slips if each.slip == slip), None)
            if wrong is None or part.kind not in READ:
                answer(ledger, exercise, part=part.part)
                continue
            names = [diagnosis.slip for diagnosis in judge(part, wrong).diagnoses]
            if names == [slip]:
                return number
            answer(ledger, exercise, *names, part=part.part, right=False)
    return 0


def test_every_family_trains_one_of_the_six_objectives_of_the_chapter() -> None:
    # A new objective of a family is to be added to grader/practising/objectives.py.
    own = {slug: family(slug).objective for slug in slugs()}
    assert {slug: name for slug, name in own.items() if objective(name) is None} == {}
    assert len(OBJECTIVES) == 6
    assert all(sum(name in each.covers for each in OBJECTIVES) == 1 for name in own.values())


def test_objectives_are_found_by_their_names_and_by_those_of_families() -> None:
    own = ["ttft", "littles-law"]
    assert [found(name, own).name for name in ("first-token", "batching", "ttft")] == [
        "first-token",
        "batching",
        "ttft",
    ]
    assert found("littles-law", own).covers == {"littles-law"}
    for name in ("kv-cache", "flying"):
        with pytest.raises(UnknownObjective, match="first-token"):
            found(name, own)


def test_the_table_says_what_the_families_do(by: dict[str, Entry]) -> None:
    # `python -m grader.practising` writes it anew.
    assert list(by) == slugs()
    for slug, entry in by.items():
        seen = table.looked_at(slug, 3 if entry.slips else 0)
        assert (entry.objective, entry.preset) == (seen.objective, seen.preset)
        assert seen.slips <= entry.slips


@pytest.mark.roundtrip
def test_the_table_is_read_back_as_it_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = {
        slug: Entry(slug, preset=slug == "ttft", slips=frozenset({"a", "b"} if slug < "l" else ())) for slug in slugs()
    }
    monkeypatch.setattr(table, "TABLE", tmp_path / "families.toml")
    table.TABLE.write_text(table.text(made.items()), encoding="utf-8")
    assert families() == made


def test_an_entry_of_another_state_of_the_family_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = {slug: Entry("flying", preset=True, slips=frozenset()) for slug in slugs()}
    text = table.text(wrong.items())
    monkeypatch.setattr(table, "TABLE", tmp_path / "families.toml")
    monkeypatch.setattr(table, "slugs", lambda: ["ttft"])
    table.TABLE.write_text(text.replace(table.source("ttft"), "0"), encoding="utf-8")
    assert families() == {"ttft": NOTHING}


def narrow() -> list[Objective]:
    """Give the objectives that families have as their own."""
    names = {of.objective for of in map(family, slugs()) if not of.preset}
    return [Objective(name, "", frozenset({name})) for name in sorted(names)]


@pytest.fixture(scope="module")
def met(by: dict[str, Entry], tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Exercise]]:
    """Give the first exercises that are met in each objective by whoever makes one slip, until the slip applies."""
    found: dict[str, list[Exercise]] = {}
    for of in narrow():
        with Ledger.open(tmp_path_factory.mktemp("ledger") / "ledger.sqlite") as ledger:
            exercises = found.setdefault(of.name, [])
            while len(exercises) < FEW:
                exercise = pose_next(ledger, ADA, history(ledger, ADA), by, [of])
                assert exercise is not None
                exercises.append(exercise)
                finish(ledger, exercise)
    return found


def test_whoever_makes_a_slip_meets_a_family_that_shows_it_within_a_few_exercises(
    by: dict[str, Entry], met: dict[str, list[Exercise]]
) -> None:
    # Six families with slips of their own are too many for one objective: give some of them a finer one.
    missing = {}
    for of in narrow():
        seen = frozenset[str]().union(*(by[exercise.family].slips for exercise in met[of.name]))
        rest = frozenset[str]().union(*(by[slug].slips for slug in trained(by, of, drawn=True))) - seen
        if rest:
            missing[of.name] = rest
    assert missing == {}


def test_three_of_four_slips_are_named_alone_within_a_few_exercises(
    by: dict[str, Entry], met: dict[str, list[Exercise]]
) -> None:
    total = named = 0
    for of in narrow():
        slips = frozenset[str]().union(*(by[slug].slips for slug in trained(by, of, drawn=True)))
        total += len(slips)
        named += len(slips & frozenset[str]().union(*map(shown, met[of.name])))
    assert 4 * named >= 3 * total


@pytest.mark.parametrize("name", ["latency-target", "ttft"])
def test_every_slip_of_a_family_is_told_to_whoever_makes_it_alone(
    name: str, by: dict[str, Entry], tmp_path: Path
) -> None:
    alone = {name: by[name]}
    for slip in by[name].slips:
        with Ledger.open(tmp_path / f"{slip}.sqlite") as ledger:
            assert 0 < showing(ledger, alone, slip, Objective(name, "", frozenset({name}))) <= FEW, slip


@settings(max_examples=3)
@given(data=st.data())
def test_no_draw_comes_twice_and_none_of_the_chapter(
    data: st.DataObject, by: dict[str, Entry], tmp_path_factory: pytest.TempPathFactory
) -> None:
    cheap = {slug: entry for slug, entry in by.items() if slug in {"ttft", "littles-law", "kv-per-token", "exercise-2"}}
    met = []
    with Ledger.open(tmp_path_factory.mktemp("ledger") / "ledger.sqlite") as ledger:
        for _ in range(6):
            exercise = pose_next(ledger, ADA, history(ledger, ADA), cheap, OBJECTIVES)
            assert exercise is not None
            met.append((exercise.family, exercise.seed))
            names = [slip.slip for slip in exercise.parts[0].slips]
            slips = data.draw(st.lists(st.sampled_from(names), max_size=1))
            if data.draw(st.booleans()):
                answer(ledger, exercise, *slips)
    assert len(set(met)) == len(met)
    assert all(not by[slug].preset for slug, _ in met)


def test_the_next_exercise_shows_the_slip_that_was_made_until_it_is_avoided(
    ledger: Ledger, by: dict[str, Entry]
) -> None:
    first = pose("littles-law", 1)
    slip = "service-time-in-ms" if "service-time-in-ms" in shown(first) else min(shown(first))
    answer(ledger, first, slip)
    of = found("littles-law", ["littles-law"])
    for _ in range(3):
        known = history(ledger, ADA)
        assert slip in known.made
        exercise = pose_next(ledger, ADA, known, by, [of])
        assert exercise is not None
        assert slip in shown(exercise)
        answer(ledger, exercise, slip)
    exercise = pose_next(ledger, ADA, history(ledger, ADA), by, [of])
    assert exercise is not None
    finish(ledger, exercise)
    assert slip not in history(ledger, ADA).made


def test_a_family_that_shows_a_slip_made_comes_before_one_that_shows_more_untested_ones() -> None:
    by = {
        "aaa": Entry("ttft", preset=False, slips=frozenset({"other", "more"})),
        "bbb": Entry("ttft", preset=False, slips=frozenset({"mine"})),
        "ccc": Entry("ttft", preset=True, slips=frozenset({"mine"})),
    }
    known = History()
    assert choose(known, by, OBJECTIVES) == "aaa"
    known.made.add("mine")
    assert choose(known, by, OBJECTIVES) == "bbb"
    assert choose(known, {"ccc": by["ccc"]}, OBJECTIVES) is None


def test_objectives_take_turns_and_the_weaker_one_comes_more_often(ledger: Ledger) -> None:
    by = {
        "ttft": Entry("ttft", preset=False, slips=frozenset()),
        "littles-law": Entry("littles-law", preset=False, slips=frozenset()),
    }
    for _ in range(LAST):
        finish(ledger, draw(history(ledger, ADA), "ttft", NOTHING))
    posed = []
    for _ in range(12):
        exercise = pose_next(ledger, ADA, history(ledger, ADA), by, OBJECTIVES)
        assert exercise is not None
        posed.append(exercise.family)
        answer(ledger, exercise, right=exercise.family == "ttft")
    assert posed[0] == "littles-law"
    assert 1 <= posed.count("ttft") < posed.count("littles-law")


def test_an_exercise_met_under_another_seed_comes_again_only_where_there_is_no_other(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pose("ttft", 1), pose("ttft", 2)

    class Two:
        def pose(self, slug: str, seed: int) -> Exercise:
            return replace(other if seed == 3 else one, family=slug, seed=seed)

    monkeypatch.setattr("grader.practising.choosing.family", lambda _: Two())
    drawn = []
    for _ in range(3):
        drawn.append(draw(history(ledger, ADA), "ttft", NOTHING))
        finish(ledger, drawn[-1])
    assert {drawn[0].statement, drawn[1].statement} == {one.statement, other.statement}
    assert len({exercise.seed for exercise in drawn}) == 3


@given(st.lists(st.sampled_from([0, 1]), max_size=8))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10)
def test_the_last_few_first_answers_are_the_mastery(
    tmp_path_factory: pytest.TempPathFactory, rights: list[int]
) -> None:
    with Ledger.open(tmp_path_factory.mktemp("l") / "ledger.sqlite") as ledger:
        for seed, right in enumerate(rights, 1):
            exercise = pose("ttft", seed)
            answer(ledger, exercise, right=bool(right))
            answer(ledger, exercise, right=not right)  # a second answer changes nothing
        standing = history(ledger, ADA).standing(["ttft"])
        assert list(standing.scores) == rights[-LAST:]
        assert standing.mastered == (sum(rights[-LAST:]) >= ENOUGH)
        assert history(ledger, ADA).standing(["littles-law"]).scores == ()


def test_help_before_the_first_answer_and_a_solution_without_one_count_as_not_right(ledger: Ledger) -> None:
    hinted, solved, after, unread = (pose("ttft", seed) for seed in (1, 2, 3, 4))
    ledger.record_help(ADA, hinted, "a", "hint", 1)
    answer(ledger, hinted)
    ledger.record_help(ADA, solved, "a", "solution", 1)
    answer(ledger, after)
    ledger.record_help(ADA, after, "a", "hint", 1)
    ledger.submit(ADA, unread, "a", raw="?", reading="", verdict="invalid", score=Fraction(0))
    assert history(ledger, ADA).standing(["ttft"]).scores == (0, 0, 1)


def test_the_marks_that_count_now_are_those_of_the_last_regrade(ledger: Ledger) -> None:
    row = answer(ledger, pose("ttft", 1), "per-minute", right=False)
    assert history(ledger, ADA).made == {"per-minute"}
    ledger.regrade(row, reading="x", verdict="correct", score=Fraction(1), slips=[], reason="The key was wrong.")
    known = history(ledger, ADA)
    assert (known.standing(["ttft"]).scores, known.made) == ((1,), set())


def test_the_newest_exercise_is_unfinished_until_each_part_is_right_or_was_solved(ledger: Ledger) -> None:
    assert unfinished(ledger, history(ledger, ADA), slugs()) is None
    exercise = pose("exercise-4", 0)
    ledger.pose(ADA, exercise)
    for part, right in (("a", False), *((letter, True) for letter in "abcde")):
        answer(ledger, exercise, part=part, right=right)
        assert unfinished(ledger, history(ledger, ADA), slugs()) == exercise
    assert unfinished(ledger, history(ledger, ADA), ["ttft"]) is None
    ledger.record_help(ADA, exercise, "f", "solution", 1)
    assert unfinished(ledger, history(ledger, ADA), slugs()) is None


def test_what_a_part_shows_is_what_the_judge_names_alone() -> None:
    for slug in ("max-context", "kv-per-token", "latency-target"):
        part = pose(slug, 1).parts[0]
        values = [slip.value for slip in part.slips]
        for slip in part.slips:
            if values.count(slip.value) > 1:
                assert slip.slip not in shown_by(part)
        assert shown_by(part)
