"""A course of PrairieLearn: its questions pose, read and grade as that platform calls them, and give nothing away."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from uuid import UUID

import chevron
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from grader.cli.app import app
from grader.exercise import Exercise, Part, SlipValue, Step, exact
from grader.families import family
from grader.judging import CORRECT, INCORRECT, INVALID, judge
from grader.sets import Item, ProblemSet, Secret, Sheet, writer
from grader.sets.draws import first_draws, individual_sheet, places
from grader.sets.prairielearn.course import course
from grader.sets.prairielearn.vendored import vendored
from grader.sets.rendering import rendered
from tests.grader.every_family import judged_by
from tests.grader.prairielearn_platform import Data, Platform

SEEDS = 12
CHOSEN = sorted({*judged_by("prairielearn"), "exercise-3", "exercise-4", "max-context"})
ONE = Fraction(1)
TITLE = "Woche 3: <b>「負荷」</b> & $x_1$ 100 % \\\\ „Übung“"
OTHER_UNITS = {"GB": ("MB", 1000), "B": ("kB", Fraction(1, 1000)), "s": ("ms", 1000), "ms": ("s", Fraction(1, 1000))}
OWN = Path(__file__).with_name("prairielearn_own.py")


def problem_set() -> ProblemSet:
    items = [Item(slug, 0 if family(slug).preset else None, 1, Fraction(1)) for slug in CHOSEN]
    return ProblemSet(TITLE, tuple(items))


def class_of(asked: ProblemSet, size: int) -> Iterator[Sheet]:
    secret = Secret(b"a secret of the course")
    spots = places(asked, secret)
    for code in map(str, range(size)):
        draws = first_draws(asked.title, secret, spots, code)
        yield individual_sheet(asked, spots, code, f"Ada Quux{code}", draws)


def written(sheets: Sequence[Sheet], folder: Path) -> Path:
    for path, text in writer("prairielearn").class_files("key", sheets).items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        assert isinstance(text, str)
        file.write_text(text, encoding="utf-8")
    return folder / "prairielearn"


@pytest.fixture(scope="module")
def sheets() -> list[Sheet]:
    return list(class_of(problem_set(), SEEDS))


@pytest.fixture(scope="module")
def platform(sheets: list[Sheet], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    opened = Platform(written(sheets, tmp_path_factory.mktemp("course")))
    yield opened
    opened.close()


def exercise_of(variant: Data) -> Exercise:
    return Exercise.from_json(variant["correct_answers"]["record"])


def of(platform: Platform, slug: str) -> str:
    (found,) = [question for question in platform.questions if question.partition("/")[2][3:] == slug]
    return found


# What PrairieLearn calls.


@pytest.mark.differential
@pytest.mark.slow
@pytest.mark.parametrize("slug", CHOSEN)
def test_every_kind_of_answer_to_every_family_is_graded_as_here_with_its_diagnosis(
    platform: Platform, slug: str
) -> None:
    question = of(platform, slug)
    variants = [platform.variant(question, seed) for seed in range(SEEDS)]
    for variant in {variant["correct_answers"]["record"]: variant for variant in variants}.values():
        exercise = exercise_of(variant)
        right = {part.part: variant["correct_answers"][part.part] for part in exercise.parts}
        done = platform.submit(question, variant, right)
        assert (done["score"], done["format_errors"]) == (1, {})
        assert all(text.startswith("Correct.") for text in done["feedback"].values())
        for part in exercise.parts:
            for typed, verdict in wrong_and_right(part):
                done = platform.submit(question, variant, right | {part.part: typed})
                judged = judge(part, typed)
                assert judged.verdict == (verdict or judged.verdict), (exercise.id, typed)
                if judged.verdict == INVALID:
                    assert (done["gradable"], list(done["format_errors"])) == (False, [part.part])
                    assert "partial_scores" not in done
                    continue
                assert done["partial_scores"][part.part]["score"] == float(judged.score)
                scores = [judged.score if p is part else ONE for p in exercise.parts]
                assert done["score"] == float(sum(scores, Fraction(0)) / len(scores))
                for diagnosis in judged.diagnoses:
                    assert diagnosis.sentence in done["feedback"][part.part]


def wrong_and_right(part: Part) -> Iterator[tuple[str, str]]:
    """Give answers to a part, with the verdict where it can be told from the record."""
    for slip in part.slips:
        if slip.value is not None:
            yield f"{slip.value} {part.unit}".strip(), ""
    yield "none", CORRECT if part.key is None or (part.zero_is_none and part.key == "0") else INCORRECT
    yield "?", INVALID
    if part.kind != "counterexample":  # where it may be a list
        yield "7 7", INVALID
    unit, _, per = part.unit.partition("/")
    if part.key is not None and unit in OTHER_UNITS and part.units == "any" and part.tolerance.kind == "relative":
        other, factor = OTHER_UNITS[unit]
        yield f"{exact(Fraction(part.key) * factor)} {other}{f'/{per}' * bool(per)}", CORRECT


def test_the_slips_and_the_other_units_are_many() -> None:
    """Keep the test above from becoming empty."""
    exercises = [entry.exercise for sheet in class_of(problem_set(), 1) for entry in sheet.entries]
    tried = [(part, typed, verdict) for e in exercises for part in e.parts for typed, verdict in wrong_and_right(part)]
    assert len([typed for part, typed, _ in tried if judge(part, typed).diagnoses]) > 3 * len(CHOSEN)
    assert len([typed for _, typed, verdict in tried if verdict == CORRECT and typed != "none"]) >= 3
    assert {"expression", "count", "quantity"} <= {part.kind for part, _, _ in tried}
    assert any(part.key is None for part, _, _ in tried)
    assert any(len(e.parts) > 1 for e in exercises)


@pytest.mark.roundtrip
@pytest.mark.parametrize("kind", ["correct", "incorrect", "invalid"])
def test_a_question_tests_itself(platform: Platform, kind: str) -> None:
    for question in platform.questions:
        for seed in (1, 5, 2**32 - 1):
            variant = platform.variant(question, seed)
            wanted = platform.tried(question, variant, kind)
            got = platform.submit(question, variant, wanted["raw_submitted_answers"])
            assert wanted["format_errors"].keys() == got["format_errors"].keys()
            assert bool(wanted["format_errors"]) == (kind == "invalid")
            if kind != "invalid":
                assert (wanted["partial_scores"], wanted["score"]) == (got["partial_scores"], got["score"])
                assert (wanted["score"] == 1) == (kind == "correct")  # of a wrong answer some may be carried forward
                assert wanted["feedback"] == got["feedback"]


@pytest.mark.differential
@pytest.mark.skipif(
    not {"PRAIRIELEARN", "PRAIRIELEARN_PYTHON"} <= os.environ.keys(),
    reason="PRAIRIELEARN names no folder apps/prairielearn, or PRAIRIELEARN_PYTHON no Python with what it depends on",
)
def test_prairielearn_itself_finds_no_fault(platform: Platform) -> None:
    command = [os.environ["PRAIRIELEARN_PYTHON"], OWN, os.environ["PRAIRIELEARN"], platform.folder, "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 2 * 3 * len(platform.questions)
    assert not [line for line in lines if not line.endswith("as foretold")]


def test_a_part_may_stay_blank_and_a_sheet_may_not(platform: Platform) -> None:
    question = of(platform, "exercise-4")
    variant = platform.variant(question, 0)
    right = {letter: variant["correct_answers"][letter] for letter in "abcdef"}
    done = platform.submit(question, variant, right | {"b": "  "})
    assert done["gradable"]
    assert {letter: scored["score"] for letter, scored in done["partial_scores"].items()} == {
        **dict.fromkeys("abcdef", 1),
        "b": 0,
    }
    assert done["feedback"]["b"] == "Left blank."
    done = platform.submit(question, variant, dict.fromkeys("abcdef", ""))
    assert done["format_errors"] == dict.fromkeys("abcdef", "The answer is empty.")
    done = platform.submit(question, variant, {letter: right[letter] for letter in "acdef"})
    assert done["format_errors"] == {"b": "No submitted answer."}  # of the element, and left as it is


def test_parts_weigh_as_their_points(tmp_path: Path) -> None:
    parts = (("a", Fraction(1, 2)), ("b", Fraction(1)), ("c", Fraction(5, 4)), *((of, Fraction(1)) for of in "def"))
    item = Item("exercise-4", 0, 1, Fraction(23, 4), parts)
    platform = Platform(written(list(class_of(ProblemSet("t", (item,)), 1)), tmp_path))
    (question,) = platform.questions
    variant = platform.variant(question, 0)
    done = platform.submit(question, variant, dict.fromkeys("acdef", "none") | {"b": variant["correct_answers"]["b"]})
    platform.close()
    assert {letter: scored["weight"] for letter, scored in done["partial_scores"].items()} == {
        **dict.fromkeys("bdef", 4),
        "a": 2,
        "c": 5,
    }
    assert done["score"] == 4 / 23


def test_a_page_that_lost_an_input_is_refused(platform: Platform) -> None:
    question = of(platform, "exercise-4")
    variant = platform.variant(question, 0) | {"answers_names": dict.fromkeys("acdef", True)}
    refused = platform.ask(json.dumps([question, "prepare", variant]))
    assert refused == {"refused": "ValueError: question.html has no input for part b of this exercise"}


@pytest.mark.fuzz
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=80), st.integers(0, 10**6))
def test_no_answer_breaks_a_question_or_its_page(platform: Platform, typed: str, seed: int) -> None:
    question = platform.questions[seed % len(platform.questions)]
    variant = platform.variant(question, seed)
    done = platform.submit(question, variant, dict.fromkeys(platform.inputs(question), typed))
    assert not any("<" in error for error in done["format_errors"].values())
    assert all("\0" not in text for text in done["feedback"].values())  # the database would not take it


def test_markup_in_an_answer_stays_text(platform: Platform) -> None:
    question = of(platform, "max-context")
    variant = platform.variant(question, 0)
    for typed in ('a<img src=x onerror="alert(1)">', "5 {{params}} <pl-file-editor></pl-file-editor>"):
        done = platform.submit(question, variant, {"a": typed})
        assert "<" not in done["format_errors"]["a"]  # PrairieLearn shows it as HTML
        shown = chevron.render(platform.page(question), done)
        assert "<img" not in shown
        assert "<pl-file-editor" not in shown
    done = platform.submit(question, variant, {"a": "a<img"})
    assert "a&lt;img is none" in done["format_errors"]["a"]


# What a browser gets.


@pytest.mark.law
def test_what_may_be_seen_does_not_depend_on_the_key(sheets: list[Sheet]) -> None:
    for entry in [entry for sheet in sheets[:10] for entry in sheet.entries]:
        hidden = replace(entry, exercise=without_key(entry.exercise))
        files = [
            course([Sheet("t", "", (e,))], lambda sheet: rendered("key", sheet, "prairielearn"))
            for e in (entry, hidden)
        ]
        seen, blind = [json.loads(found[name]) for found in files for name in found if name.endswith(".jsonl")]
        assert seen["params"] == blind["params"]
        assert seen["correct_answers"] != blind["correct_answers"]
        name = next(name for name in files[0] if name.endswith("question.html"))
        steps = re.compile(r"<pl-answer-panel>.*?</pl-answer-panel>", re.DOTALL)
        assert steps.sub("", files[0][name]) == steps.sub("", files[1][name])


def without_key(exercise: Exercise) -> Exercise:
    """Give the same exercise to whoever reads it, with another key."""
    step = Step("kv_budget", "kv_budget", "1", "GB")
    parts = tuple(
        replace(
            part,
            key="1",
            slips=(SlipValue("x", "Something else.", "2"),),
            reason="",
            steps=(step,) if part.steps and {"gpu_memory", "weights"} <= {g.name for g in exercise.givens} else (),
        )
        for part in exercise.parts
    )
    return replace(exercise, seed=1, revision=exercise.revision + 1, parts=parts)


@pytest.mark.law
def test_only_the_answer_panel_shows_the_answers(platform: Platform) -> None:
    for question in platform.questions:
        page = re.sub(r"<pl-answer-panel>.*?</pl-answer-panel>", "", platform.page(question), flags=re.DOTALL)
        variant = platform.variant(question, 0)
        assert chevron.render(page, variant) == chevron.render(page, variant | {"correct_answers": {}})
        assert "correct" not in json.dumps(variant["params"])
        assert chevron.render(page, variant).count("{{") == 0


@pytest.mark.law
def test_saving_an_answer_says_how_it_is_read_and_nothing_of_right_or_wrong(platform: Platform) -> None:
    for question in platform.questions:
        variant = platform.variant(question, 3)
        for kind in ("correct", "incorrect"):
            typed = platform.tried(question, variant, kind)["raw_submitted_answers"]
            saved = platform.submit(
                question, variant, {name: f"{text} " for name, text in typed.items()}, save_only=True
            )
            assert saved["format_errors"] == {}
            assert all(re.fullmatch(r"Read as .*\.", text) for text in saved["feedback"].values())


def test_the_page_shows_the_statement_the_givens_the_question_and_afterwards_the_feedback(platform: Platform) -> None:
    question = of(platform, "exercise-4")
    variant = platform.variant(question, 0)
    exercise = exercise_of(variant)
    shown = chevron.render(platform.page(question), variant)
    for text in (exercise.statement, *(part.question for part in exercise.parts), exercise.convention):
        assert text in shown
    assert shown.count("<tr><td>") == len([*exercise.givens, *(g for part in exercise.parts for g in part.givens)])
    assert "\\frac{m}{r}" in shown  # the solution, for MathJax
    typed = {"a": "50/3", "b": "17", "c": "44 sequences", "d": "1", "e": "2", "f": "time"}
    done = platform.submit(question, variant, typed)
    shown = chevron.render(platform.page(question), done)
    assert "The time to first token was left out." in shown
    assert "- The safety margin was not taken off." in shown


def test_an_exercise_without_an_answer_says_why_in_its_solution(platform: Platform) -> None:
    question = of(platform, "exercise-3")
    variant = platform.variant(question, 0)
    assert variant["correct_answers"]["a"] == "none"
    (part,) = exercise_of(variant).parts
    assert part.reason in chevron.render(platform.page(question), variant)


# The files.


def properties(required: str, allowed: str = "") -> tuple[set[str], set[str]]:
    return set(required.split()), {*required.split(), *allowed.split()}


# Required and further properties, from the schemas in PrairieLearn's documentation (docs/schemas), as far as used.
SCHEMAS = {
    "infoCourse.json": properties("name title topics"),
    "infoCourseInstance.json": properties("uuid longName"),
    "infoAssessment.json": properties("uuid type title set number", "zones"),
    "info.json": properties("uuid type title topic", "singleVariant tags"),
}


def test_the_json_files_are_as_documented(platform: Platform) -> None:
    identifiers = []
    for path in platform.folder.rglob("*.json"):
        data = json.loads(path.read_text(encoding="utf-8"))
        required, allowed = SCHEMAS[path.name]
        assert required <= data.keys() <= allowed
        if "uuid" in data:
            assert str(UUID(data["uuid"])) == data["uuid"]
            identifiers.append(data["uuid"])
        assert all(isinstance(data[name], str) for name in required - {"topics"})
    assert len(set(identifiers)) == len(identifiers) == 2 + len(CHOSEN)
    (assessment,) = platform.folder.glob("courseInstances/*/assessments/*/infoAssessment.json")
    data = json.loads(assessment.read_text(encoding="utf-8"))
    assert (data["type"], data["title"]) == ("Homework", TITLE)
    ((zone,), infos) = (data["zones"], [json.loads(p.read_text("utf-8")) for p in platform.folder.rglob("info.json")])
    assert [question["id"] for question in zone["questions"]] == platform.questions
    assert all(question.keys() == {"id", "autoPoints", "triesPerVariant"} for question in zone["questions"])
    assert {info["type"] for info in infos} == {"v3"}
    topics = json.loads((platform.folder / "infoCourse.json").read_text(encoding="utf-8"))["topics"]
    assert sorted(topic["name"] for topic in topics) == sorted({info["topic"] for info in infos})


def test_who_all_have_the_same_exercise_have_a_single_variant(platform: Platform) -> None:
    for question in platform.questions:
        info = json.loads((platform.folder / "questions" / question / "info.json").read_text(encoding="utf-8"))
        variants = (
            (platform.folder / "questions" / question / "variants.jsonl").read_text(encoding="ascii").splitlines()
        )
        assert info["singleVariant"] == family(question.partition("/")[2][3:]).preset == (len(variants) == 1)
        seen = {json.dumps(platform.variant(question, seed)["params"]) for seed in range(len(variants))}
        assert len(seen) == len(variants)


@pytest.mark.law
def test_the_same_set_has_the_same_identifiers_and_names_that_no_other_has() -> None:
    def names(title: str, size: int) -> set[str]:
        item = Item("kv-per-token", None, 2, Fraction(1))
        files = course(class_of(ProblemSet(title, (item,)), size), lambda _: "")
        identifiers = re.findall(r'"uuid": "(.*)"', "".join(text for name, text in files.items() if "json" in name))
        assert len(set(identifiers)) == len(identifiers) == 4  # the instance, the assessment, the questions
        return {*identifiers, *(name for name in files if name.startswith("questions/"))}

    assert names("Week 1", 1) == names("Week 1", 2)
    shared = names("Week 1", 1) & names("Week (1)", 1)
    assert len(shared) == 1  # the course instance
    for title in ("練習", "x" * 300, "../..", TITLE):
        paths = [name for name in names(title, 1) if "/" in name]
        assert all(re.fullmatch(r"questions/[a-z0-9-]{1,60}/0[12]-kv-per-token/[a-z.]+", path) for path in paths)


def test_a_course_holds_no_name_and_no_code_and_nothing_of_it_is_handed_out(tmp_path: Path) -> None:
    (tmp_path / "set.toml").write_text(
        'title = "Week 1"\n[[items]]\nfamily = "kv-per-token"\ncount = 2\n', encoding="utf-8"
    )
    (tmp_path / "roster.csv").write_text("id,name\nu1001,Ada Quux\nu1002,Bo Quux\nu1003,Cy Quux\n", encoding="utf-8")
    out = tmp_path / "out"
    arguments = ["set", tmp_path / "set.toml", "--roster", tmp_path / "roster.csv", "--out", out, "--workers", "1"]
    for _ in range(2):
        done = CliRunner().invoke(app, [*map(str, arguments), "--format", "prairielearn"])
        assert done.exit_code == 0, done.output
    assert not (out / "sheets").exists() or not list((out / "sheets").rglob("*"))
    text = "".join(p.read_text("utf-8") for p in (out / "keys" / "prairielearn").rglob("*") if p.is_file())
    codes = [line.split(",")[0] for line in (out / "keys/roster.csv").read_text("utf-8").splitlines()[1:]]
    assert len(codes) == 3
    assert not [word for word in ("Quux", "u1001", *codes) if word in text]
    for variants in (out / "keys" / "prairielearn").rglob("variants.jsonl"):
        assert len(variants.read_text("utf-8").splitlines()) == 3
    everybody = CliRunner().invoke(
        app, ["set", str(tmp_path / "set.toml"), "--out", str(tmp_path / "all"), "--format", "prairielearn"]
    )
    assert everybody.exit_code == 0, everybody.output
    assert (tmp_path / "all/keys/prairielearn/infoCourse.json").is_file()


@pytest.mark.meta
def test_a_course_judges_with_what_it_brings_along(platform: Platform) -> None:
    for question in platform.questions:
        variant = platform.variant(question, 0)
        platform.submit(question, variant, platform.tried(question, variant, "incorrect")["raw_submitted_answers"])
    tops = {name.partition(".")[0] for name in platform.loaded()}
    assert "servespec" in tops
    assert tops - {"servespec"} <= sys.stdlib_module_names


@pytest.mark.meta
def test_what_is_brought_along_is_all_needed() -> None:
    text = "".join(vendored().values())
    for path in vendored():
        parent, _, last = path.removesuffix(".py").replace("/", ".").rpartition(".")
        used = rf"from {re.escape(parent)}\.{last} import|from {re.escape(parent)} import .*\b{last}\b"
        by_name = parent.endswith(".executing")  # what is executed is found by the name in the record
        assert last != "compound"
        assert by_name or last in {"__init__", "question"} or re.search(used, text), path
    assert not re.search(r"^ *(?:from|import) (?:grader|spec|problems)\b", text, re.MULTILINE)
