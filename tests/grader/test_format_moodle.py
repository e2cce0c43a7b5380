"""The question bank for Moodle, by a reader that grades as Moodle documents it and knows nothing of the writer."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from html import escape
from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner
from lxml import etree

from grader.cli.app import app
from grader.exercise import NUMERIC, Exercise, Part, exact
from grader.families import pose
from grader.judging import CORRECT, judge
from grader.sets import Folder, Secret, Student, hand_out, read_set, showing
from grader.sets.formats.moodle import category, units, writer
from grader.sets.handout import coded
from grader.sets.questions import NONE_OF_THESE, right_answer, rule
from grader.sets.ranges import NONE, VALUE_EXISTS
from grader.solution import answer
from spec.units import unit
from tests.grader.every_family import first_of_each
from tests.grader.platforms import MARKUP, TABLES, Text, drawn, paragraphs, sheet

SCHEMA = etree.RelaxNG(etree.parse(Path(__file__).parents[1] / "data" / "moodle.rng"))
EPSILON = 1e-14  # `precision` of PHP unless an installation says else


@dataclass
class Read:
    """A question as Moodle stores it."""

    category: str
    xml: etree._Element

    def text(self, path: str) -> str:
        return self.xml.findtext(path) or ""

    @property
    def units(self) -> dict[str, float]:
        return {u.findtext("unit_name"): float(u.findtext("multiplier")) for u in self.xml.iterfind("units/unit")}

    def grade(self, typed: str, chosen: str | None = None) -> tuple[float, str]:
        """Grade as the documentation says: the first answer in whose tolerance the number lies, in the first unit.

        A list of units (showunits 2) must be used. The digits alone are tried too, and cost the unit penalty.
        """
        assert (chosen is not None) == (self.text("showunits") == "2")
        number = float(typed)
        scaled = number / self.units[chosen] if chosen else number
        for found in self.xml.iterfind("answer"):
            key, tolerance = float(found.findtext("text")), float(found.findtext("tolerance"))
            slack = tolerance + EPSILON * max(tolerance, abs(key), EPSILON)
            near = [key - slack <= value <= key + slack for value in (scaled, number)]
            if any(near):
                fraction = float(found.get("fraction")) / 100
                penalty = float(self.text("unitpenalty")) if self.text("unitgradingtype") == "1" else 0.0
                return fraction * (1 if near[0] else 1 - penalty), found.findtext("feedback/text")
        return 0.0, ""


def read(content: str) -> list[Read]:
    root = etree.fromstring(content.encode())
    SCHEMA.assertValid(root)
    found, place = [], ""
    for element in root:
        if element.get("type") == "category":
            place = element.findtext("category/text")
        else:
            found.append(Read(place, element))
    return found


def bank(*exercises: Exercise, title: str = "Week 1") -> list[Read]:
    files = writer.class_files("key", [sheet(*exercises, title=title)])
    assert list(files) == ["moodle.xml"]
    content = files["moodle.xml"]
    assert isinstance(content, str)
    return read(content)


@pytest.fixture(scope="module")
def everything() -> list[tuple[Exercise, int, Read]]:
    """Give every part of some exercises of all families, with the question that was read for it."""
    exercises = list(drawn())
    parts = [(exercise, n) for exercise in exercises for n in range(len(exercise.parts))]
    return [(e, n, found) for (e, n), found in zip(parts, bank(*exercises), strict=True)]


@pytest.mark.differential
def test_every_key_is_right_and_every_slip_gets_what_the_judge_says(
    everything: list[tuple[Exercise, int, Read]],
) -> None:
    seen = 0
    for exercise, n, found in everything:
        part = exercise.parts[n]
        if part.kind not in NUMERIC:
            continue
        first = next(iter(found.units), None)
        for text in (part.key, *(s.value for s in part.slips)):
            number = NONE if text is None else Fraction(text)
            judged = judge(part, "none" if number == NONE else exact(number))
            fraction, feedback = found.grade(repr(float(number)), first)
            assert fraction == (judged.verdict == CORRECT), (exercise.id, text)
            told = [] if fraction else [d.sentence for d in judged.diagnoses]
            assert set(paragraphs(feedback)) - {VALUE_EXISTS} == set(told), (exercise.id, text)
            seen += bool(told)
    assert seen > 300


@pytest.mark.law
def test_a_limit_of_the_tolerance_is_right_and_what_lies_beyond_is_not(
    everything: list[tuple[Exercise, int, Read]],
) -> None:
    for exercise, n, found in everything:
        part = exercise.parts[n]
        if part.kind not in NUMERIC or part.key in {None, "0"}:
            continue
        first = next(iter(found.units), None)
        key = Fraction(part.key or 0)
        width = key * Fraction(part.tolerance.value) if part.tolerance.kind == "relative" else Fraction(0)
        for side in (-1, 1):
            assert found.grade(repr(float(key + side * width)), first)[0] == 1, exercise.id
            assert found.grade(repr(float(key + side * (width + key / 10**9))), first)[0] == 0, exercise.id


@pytest.mark.law
def test_the_key_is_right_in_every_unit_and_its_digits_in_the_first_alone(
    everything: list[tuple[Exercise, int, Read]],
) -> None:
    chosen_from = 0
    for exercise, n, found in everything:
        part = exercise.parts[n]
        if not found.units:
            assert found.xml.get("type") in {"essay", "multichoice"} or (found.text("showunits"), units(part)) == (
                "3",
                [],
            )
            continue
        assert next(iter(found.units.values())) == 1
        for name, multiplier in found.units.items():
            if part.key is None:
                assert found.grade("-1", name)[0] == (multiplier == 1)
                continue
            in_unit = repr(float(Fraction(part.key)) * multiplier)
            assert found.grade(in_unit, name)[0] == 1, (exercise.id, name)
            assert found.grade(repr(float(Fraction(part.key))), name)[0] == (multiplier == 1), (exercise.id, name)
            chosen_from += 1
    assert chosen_from > 50


def test_units_to_choose_from_are_those_that_moodle_keeps_in_full() -> None:
    part = pose("exercise-2", 0).parts[0]
    assert units(part) == [("ms", "1"), ("us", "1000"), ("s", "0.001")]  # a minute has no finite multiplier
    for asked in ("GB", "KiB/token", "request/min", "token/s"):
        found = dict(units(replace(part, unit=asked)))
        assert len(found) > 2
        for name, multiplier in found.items():
            of = re.sub(r"^(token|request|bit)s", r"\1", name)
            ratio = unit(asked).factor / unit(of).factor
            assert abs(float(multiplier) / ratio - 1) < 1e-15
            assert len(multiplier.partition(".")[2]) <= 19
    assert units(replace(part, kind="count")) == units(replace(part, unit="GPU")) == units(replace(part, unit="")) == []


def test_a_question_says_all_that_is_asked_and_its_feedback_is_the_solution(
    everything: list[tuple[Exercise, int, Read]],
) -> None:
    for exercise, n, found in everything:
        part = exercise.parts[n]
        asked = paragraphs(found.text("questiontext/text"))
        assert {*showing.paragraphs(exercise), part.question} <= set(asked)
        assert [line for line in showing.form(part) if escape(line) not in found.text("questiontext/text")] == []
        wanted = {
            "count": "Answer with a whole number.",
            "choice": "",
            "policy": "",
            "choices": "Choose all that apply.",
            "sequence": "Answer in order",
            "ranking": "Answer with the best first",
            "expression": "powers with",
            "invariant": "Compare with",
            "mistake": "Answer with the number of the line",
            "counterexample": "Answer with",
        }
        assert wanted.get(part.kind, "Give ") in " ".join(asked)
        assert not [words for words in ("answer: none", "without a unit", "in part") if words in " ".join(asked)]
        assert {g.says for g in (*exercise.givens, *part.givens)} <= set(asked)
        assert right_answer(part) in " ".join(paragraphs(found.text("generalfeedback/text")))
        hidden = [s.sentence for s in part.slips] + [exercise.family, str(exercise.seed) + "a"]
        assert not [h for h in hidden if h in " ".join(asked)]


@pytest.mark.differential
def test_each_option_earns_what_the_judge_says(everything: list[tuple[Exercise, int, Read]]) -> None:
    kinds = set()
    for exercise, n, found in everything:
        part = exercise.parts[n]
        if part.kind not in {"choice", "choices"}:
            assert found.xml.get("type") != "multichoice"
            continue
        assert found.text("single") == {"choice": "true", "choices": "false"}[part.kind]
        earned = {a.findtext("text"): Fraction(a.get("fraction")) / 100 for a in found.xml.iterfind("answer")}
        assert list(earned) == [*map(escape, part.options), NONE_OF_THESE]
        for chosen in combinations(part.options, 1 if part.kind == "choice" else 2):
            judged = judge(part, ", ".join(chosen))
            total = max(Fraction(0), sum((earned[escape(option)] for option in chosen), Fraction(0)))
            assert abs(total - judged.score) < Fraction(1, 10**4), (exercise.id, chosen)
        assert (earned[NONE_OF_THESE] == 1) == (judge(part, "none").verdict == CORRECT)
        told = {a.findtext("text"): paragraphs(a.findtext("feedback/text")) for a in found.xml.iterfind("answer")}
        for option in part.options if part.kind == "choice" else ():
            assert told[escape(option)] == [d.sentence for d in judge(part, option).diagnoses]
        kinds.add(part.kind)
    assert kinds == {"choice", "choices"}


def test_what_no_platform_compares_is_graded_by_a_person_with_a_rule() -> None:
    rules = {part.kind: rule(part) for exercise in first_of_each() for part in exercise.parts if part.key is not None}
    assert rules["mistake"].endswith(": half of the points for the line, half for its value.")
    for kind in ("invariant", "counterexample", "policy"):
        assert re.fullmatch(r"Right is, for example, .*\. To judge another answer: grade submit\.", rules[kind])
    nothing = Part("a", "x", "?", "counterexample", None, reason="It cannot be.")
    assert rule(nothing) == "Right is that there is none. It cannot be."


def test_formulas_are_graded_by_hand_with_the_key_at_hand() -> None:
    exercise = pose("parameter-formula", 3)
    (found,) = bank(exercise)
    assert found.xml.get("type") == "essay"
    assert f"Right is whatever equals {answer(exercise.parts[0])}." in paragraphs(found.text("graderinfo/text"))
    assert "-1" not in found.text("questiontext/text")


def test_what_is_markup_elsewhere_is_text_here() -> None:
    exercise = pose("max-context", 7)
    part = exercise.parts[0]
    slips = tuple(replace(s, sentence=f"{MARKUP} {n}") for n, s in enumerate(part.slips))
    nasty = replace(exercise, statement=MARKUP, parts=(replace(part, question=f"{MARKUP}?", slips=slips),))
    (found,) = bank(nasty, title=MARKUP)
    asked = found.text("questiontext/text")
    assert {MARKUP, f"{MARKUP}?"} <= set(paragraphs(asked))
    assert Text(asked).tags <= TABLES
    fraction, feedback = found.grade(part.slips[0].value or "")
    assert (fraction, f"{MARKUP} 0" in paragraphs(feedback)) == (0, True)
    parts = re.split(r"(?<!/)/(?!/)", found.category.replace("////", "\0").replace("//", "\0"))
    assert len(parts) == 4
    assert found.category.startswith(f"$course$/top/{category(MARKUP)}/")


SET = """\
title = "Week 1"
[[items]]
family = "max-context"
[[items]]
family = "exercise-4"
points = { a = 1, b = 2, c = 3.5, d = 1, e = 2, f = 1 }
[[items]]
family = "gpu-count"
count = 2
"""


def test_a_class_has_a_category_for_each_place_with_a_variant_for_each_student(tmp_path: Path) -> None:
    (tmp_path / "set.toml").write_text(SET, encoding="utf-8")
    students = [Student(f"u{1000 + n}", f"Ada Quux{n:03}", "", n + 2) for n in range(5)]
    secret = Secret(b"a secret of the course")
    done = hand_out(
        read_set(tmp_path / "set.toml"), students, secret, ("moodle",),
        Folder(tmp_path / "out"), workers=1, force=False, progress=lambda *_: None,
    )  # fmt: skip
    assert tmp_path / "out/keys/moodle.xml" in done.files
    assert not list((tmp_path / "out").glob("sheets/**/*"))
    content = (tmp_path / "out/keys/moodle.xml").read_text(encoding="utf-8")
    found = read(content)
    places = [question.category.rpartition(" ")[2] for question in found]
    assert places == [
        p for p, n in (("1", 5), *((f"2{letter}", 1) for letter in "abcdef"), ("3", 5), ("4", 5)) for _ in range(n)
    ]
    assert [q.text("defaultgrade") for q in found[5:11]] == ["1", "2", "3.5", "1", "2", "1"]
    assert len({q.text("idnumber") for q in found}) == len(found)
    assert len({q.text("questiontext/text") for q in found}) == len(found)
    codes = [student.code for student in coded(students, secret)]
    assert not [hidden for hidden in ("Quux", "u100", *codes) if hidden in content]


def test_the_command_writes_the_bank_below_keys_and_nothing_below_sheets(tmp_path: Path) -> None:
    (tmp_path / "set.toml").write_text(SET, encoding="utf-8")
    arguments = ["set", str(tmp_path / "set.toml"), "--out", str(tmp_path / "out"), "--format", "moodle"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert sorted(p.name for p in (tmp_path / "out").rglob("*") if p.is_file()) == [
        "answers.csv",
        "key.json",
        "moodle.xml",
    ]
    assert len(read((tmp_path / "out/keys/moodle.xml").read_text(encoding="utf-8"))) == 9
