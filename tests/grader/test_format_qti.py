"""The package for Canvas, read as QTI 1.2 says, as Canvas takes it, and by a reader that others wrote."""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from dataclasses import replace
from fractions import Fraction
from html import escape, unescape
from pathlib import Path

import pytest
from click.testing import CliRunner
from lxml import etree

from grader.cli.app import app
from grader.exercise import NUMERIC, Exercise, exact
from grader.families import pose
from grader.judging import CORRECT, judge
from grader.reading.choice import labels_of
from grader.sets import Folder, Secret, Student, hand_out, read_set, showing
from grader.sets.formats.qti import writer
from grader.sets.handout import coded
from grader.sets.questions import NONE_OF_THESE, right_answer
from grader.sets.ranges import NONE, VALUE_EXISTS
from grader.solution import answer
from tests.grader.platforms import MARKUP, TABLES, Text, drawn, paragraphs, sheet

SCHEMA = etree.RelaxNG(etree.parse(Path(__file__).parents[1] / "data" / "qti.rng"))
QTI = "{http://www.imsglobal.org/xsd/ims_qtiasiv1p2}"
PACKAGING = "{http://www.imsglobal.org/xsd/imscp_v1p1}"


TYPES = {"choice": "multiple_choice_question", "choices": "multiple_answers_question"}


class Item:
    """An item, with the processing of responses that the standard describes."""

    def __init__(self, xml: etree._Element) -> None:
        self.xml = xml
        self.ident: str = xml.get("ident")
        self.fields = {
            f.findtext(f"{QTI}fieldlabel"): f.findtext(f"{QTI}fieldentry") for f in xml.iter(f"{QTI}qtimetadatafield")
        }
        self.feedback = {f.get("ident"): f.findtext(f".//{QTI}mattext") for f in xml.iter(f"{QTI}itemfeedback")}

    @property
    def asked(self) -> str:
        text: str = self.xml.findtext(f"{QTI}presentation/{QTI}material/{QTI}mattext")
        return text

    def conditions(self) -> list[etree._Element]:
        return list(self.xml.iter(f"{QTI}respcondition"))

    def process(self, number: Fraction | frozenset[str]) -> tuple[Fraction, list[str]]:
        """Try the conditions in order; one that holds sets variables and shows feedback, and ends it unless told."""
        score, shown = Fraction(0), []
        for condition in self.conditions():
            if not all(holds(test, number) for test in condition.find(f"{QTI}conditionvar")):
                continue
            for variable in condition.iterfind(f"{QTI}setvar"):
                score = Fraction(variable.text)
            shown += [f.get("linkrefid") for f in condition.iterfind(f"{QTI}displayfeedback")]
            if condition.get("continue") != "Yes":
                break
        return score / 100, [self.feedback[ident] for ident in shown if ident != "general_fb"]

    def right_for_canvas(self) -> list[tuple[Fraction, Fraction]]:
        """What Canvas takes for right: one importer where SCORE is set, the other where both limits stand."""
        sets, limits = [], []
        for condition in self.conditions():
            found = {name: condition.findtext(f".//{QTI}{name}") for name in ("varequal", "vargte", "varlte")}
            if condition.find(f"{QTI}setvar") is not None:
                sets.append((Fraction(found["vargte"]), Fraction(found["varlte"])))
            inside = condition.find(f".//{QTI}or") is not None or condition.find(f".//{QTI}and") is not None
            if inside and (found["vargte"] or found["varlte"]):
                margin = Fraction(found["varlte"]) - Fraction(found["varequal"])
                limits.append((Fraction(found["varequal"]) - margin, Fraction(found["varequal"]) + margin))
        assert len(sets) == len(limits)
        for one, other in zip(sets, limits, strict=True):
            assert all(abs(a - b) <= abs(a) / 10**18 for a, b in zip(one, other, strict=True))
        return sets


def holds(test: etree._Element, number: Fraction | frozenset[str]) -> bool:
    name = test.tag.removeprefix(QTI)
    if name == "other":
        return True
    if name == "not":
        return not holds(test[0], number)
    if name in {"or", "and"}:
        return (any if name == "or" else all)(holds(part, number) for part in test)
    assert test.get("respident") == "response1"
    if not isinstance(number, Fraction):
        return test.text in number
    limit = Fraction(test.text)
    return {
        "varequal": number == limit, "vargt": number > limit, "vargte": number >= limit,
        "varlt": number < limit, "varlte": number <= limit,
    }[name]  # fmt: skip


def unpacked(package: bytes) -> etree._Element:
    with zipfile.ZipFile(io.BytesIO(package)) as files:
        manifest = etree.fromstring(files.read("imsmanifest.xml"))
        (resource,) = manifest.iter(f"{PACKAGING}resource")
        (file,) = resource.iterfind(f"{PACKAGING}file")
        assert resource.get("type") == "imsqti_xmlv1p2"
        assert sorted(files.namelist()) == sorted(["imsmanifest.xml", file.get("href")])
        assert {info.date_time[0] for info in files.infolist()} == {1980}  # the same set, the same bytes
        root = etree.fromstring(files.read(file.get("href")))
    SCHEMA.assertValid(root)
    idents = [e.get("ident") for e in root.iter(f"{QTI}item", f"{QTI}section", f"{QTI}assessment")]
    assert len(set(idents)) == len(idents)
    assert resource.get("identifier") == root[0].get("ident")
    return root


def package(*exercises: Exercise, title: str = "Week 1") -> bytes:
    files = writer.class_files("key", [sheet(*exercises, title=title)])
    assert list(files) == ["qti.zip"]
    content = files["qti.zip"]
    assert isinstance(content, bytes)
    return content


def items(*exercises: Exercise, title: str = "Week 1") -> list[Item]:
    return [Item(item) for item in unpacked(package(*exercises, title=title)).iter(f"{QTI}item")]


@pytest.fixture(scope="module")
def everything() -> list[tuple[Exercise, int, Item]]:
    """Give every part of some exercises of all families, with the item that was read for it."""
    exercises = list(drawn())
    parts = [(exercise, n) for exercise in exercises for n in range(len(exercise.parts))]
    return [(e, n, found) for (e, n), found in zip(parts, items(*exercises), strict=True)]


@pytest.mark.differential
def test_every_key_is_right_and_every_slip_gets_what_the_judge_says(
    everything: list[tuple[Exercise, int, Item]],
) -> None:
    seen = 0
    for exercise, n, found in everything:
        part = exercise.parts[n]
        if part.kind not in NUMERIC:
            continue
        for text in (part.key, *(s.value for s in part.slips)):
            number = NONE if text is None else Fraction(text)
            judged = judge(part, "none" if number == NONE else exact(number))
            written = number if "/" not in exact(number) else Fraction(float(number))
            score, shown = found.process(written)
            assert score == (judged.verdict == CORRECT), (exercise.id, text)
            told = [] if score else [d.sentence for d in judged.diagnoses]
            said = {sentence for feedback in shown for sentence in paragraphs(feedback)}
            if part.kind != "count" or "/" not in exact(number):
                assert said - {VALUE_EXISTS} == set(told), (exercise.id, text)
            seen += bool(told)
    assert seen > 300


@pytest.mark.law
def test_what_canvas_takes_for_right_is_the_key_with_its_tolerance_and_nothing_else(
    everything: list[tuple[Exercise, int, Item]],
) -> None:
    for exercise, n, found in everything:
        part = exercise.parts[n]
        if part.kind not in NUMERIC:
            assert found.fields["question_type"] == TYPES.get(part.kind, "essay_question")
            assert part.kind in TYPES or found.right_for_canvas() == []
            continue
        assert found.fields["question_type"] == "numerical_question"
        right = {NONE: Fraction(0)} if part.key is None else {Fraction(part.key): Fraction(0)}
        if part.zero_is_none and part.key in {None, "0"}:
            right = {NONE: Fraction(0), Fraction(0): Fraction(0)}
        elif part.tolerance.kind == "relative":
            right = {key: abs(key) * Fraction(part.tolerance.value) * (part.key is not None) for key in right}
        read = found.right_for_canvas()
        assert len(read) == len(right), exercise.id
        for (key, width), (low, high) in zip(right.items(), read, strict=True):
            assert max(abs(low - (key - width)), abs(high - (key + width))) <= abs(key) / 10**18, exercise.id


@pytest.mark.differential
def test_the_right_options_score_and_nothing_else_does(everything: list[tuple[Exercise, int, Item]]) -> None:
    kinds = set()
    for exercise, n, found in everything:
        part = exercise.parts[n]
        if part.kind not in TYPES:
            continue
        labels = list(found.xml.iter(f"{QTI}response_label"))
        idents = {unescape(label.findtext(f".//{QTI}mattext")): label.get("ident") for label in labels}
        assert list(idents) == [*part.options, NONE_OF_THESE]
        key = set(labels_of(part.key)) if part.key is not None else {NONE_OF_THESE}
        key = {part.key} if part.key in part.options else key
        ways = [{text} for text in idents] if part.kind == "choice" else [key, *({*key} ^ {text} for text in idents)]
        for chosen in ways:
            score, shown = found.process(frozenset(idents[text] for text in chosen))
            assert score == (chosen == key), (exercise.id, chosen)
            if part.kind == "choice" and not chosen & {NONE_OF_THESE}:
                told = [d.sentence for d in judge(part, *chosen).diagnoses]
                assert [said for feedback in shown for said in paragraphs(feedback)] == told
        kinds.add(part.kind)
    assert kinds == set(TYPES)


@pytest.mark.law
def test_a_limit_of_the_tolerance_is_right_and_what_lies_beyond_is_not(
    everything: list[tuple[Exercise, int, Item]],
) -> None:
    edges = 0
    for exercise, n, found in everything:
        part = exercise.parts[n]
        if part.kind not in NUMERIC or part.key in {None, "0"} or "/" in (part.key or ""):
            continue
        key = Fraction(part.key or 0)
        width = key * Fraction(part.tolerance.value) if part.tolerance.kind == "relative" else Fraction(0)
        for side in (-1, 1):
            assert found.process(key + side * width)[0] == 1, exercise.id
            assert found.process(key + side * (width + key / 10**9))[0] == 0, exercise.id
            edges += bool(width)
    assert edges > 15


def test_an_item_says_all_that_is_asked_and_its_feedback_is_the_solution(
    everything: list[tuple[Exercise, int, Item]],
) -> None:
    for exercise, n, found in everything:
        part = exercise.parts[n]
        asked = paragraphs(found.asked)
        assert {*showing.paragraphs(exercise), part.question} <= set(asked)
        assert [line for line in showing.form(part) if escape(line) not in found.asked] == []
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
        assert right_answer(part) in " ".join(paragraphs(found.feedback["general_fb"]))
        wrong = " ".join(paragraphs(found.feedback.get("general_incorrect_fb", "")))
        if part.kind in NUMERIC:
            told = {s.sentence for s in part.slips if s.value not in {part.key, "0"}}
            assert not [sentence for sentence in told if sentence not in wrong], exercise.id
        assert not [s.sentence for s in part.slips if s.sentence in " ".join(asked)]
        assert not [name for name in found.feedback if name not in {"general_fb", "general_incorrect_fb"}
                    and not name.startswith(("slip_", "option_"))]  # fmt: skip


@pytest.mark.differential
def test_a_reader_of_the_standard_finds_the_same(everything: list[tuple[Exercise, int, Item]]) -> None:
    pyslet = pytest.importorskip("pyslet.qtiv1.xml")
    exercises = list(dict.fromkeys(e.id for e, _, _ in everything))[:12]
    mine = [(e, n, i) for e, n, i in everything if e.id in exercises]
    content = package(*{e.id: e for e, _, _ in mine}.values(), title=MARKUP)
    with zipfile.ZipFile(io.BytesIO(content)) as files:
        name = next(name for name in files.namelist() if name != "imsmanifest.xml")
        document = pyslet.QTIDocument()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the package is older than the interpreter
            document.read(src=io.BytesIO(files.read(name)))
    assert document.root.Assessment.title == MARKUP
    (root,) = document.root.Assessment.SectionMixin
    read = [item for section in root.SectionItemMixin for item in section.SectionItemMixin]
    assert len(read) == len(mine)
    for (exercise, _, own), item in zip(mine, read, strict=True):
        conditions = item.ResProcessing[0].ConditionMixin
        assert len(conditions) == len(own.conditions()), exercise.id
        assert [c.continueFlag for c in conditions] == [c.get("continue") == "Yes" for c in own.conditions()]
        assert [len(c.SetVar) for c in conditions] == [len(c.findall(f"{QTI}setvar")) for c in own.conditions()]
        assert len(item.ItemFeedback) == len(own.feedback)


def test_what_is_markup_elsewhere_is_text_here() -> None:
    exercise = pose("max-context", 7)
    part = exercise.parts[0]
    slips = tuple(replace(s, sentence=f"{MARKUP} {n}") for n, s in enumerate(part.slips))
    nasty = replace(exercise, statement=MARKUP, parts=(replace(part, question=f"{MARKUP}?", slips=slips),))
    (found,) = items(nasty, title=MARKUP)
    assert {MARKUP, f"{MARKUP}?"} <= set(paragraphs(found.asked))
    assert Text(found.asked).tags <= TABLES
    score, shown = found.process(Fraction(part.slips[0].value or 0))
    assert (score, f"{MARKUP} 0" in paragraphs(shown[0])) == (0, True)
    assert unpacked(package(exercise, title=MARKUP))[0].get("title") == MARKUP


def test_formulas_are_graded_by_hand_with_the_key_in_the_feedback() -> None:
    exercise = pose("parameter-formula", 3)
    (found,) = items(exercise)
    assert found.fields["question_type"] == "essay_question"
    assert found.process(Fraction(1)) == (0, [])
    assert f"Answer: {answer(exercise.parts[0])}" in paragraphs(found.feedback["general_fb"])


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


def test_a_class_has_a_group_for_each_place_that_draws_one_of_its_variants(tmp_path: Path) -> None:
    (tmp_path / "set.toml").write_text(SET, encoding="utf-8")
    students = [Student(f"u{1000 + n}", f"Ada Quux{n:03}", "", n + 2) for n in range(5)]
    secret = Secret(b"a secret of the course")
    for out in ("out", "again"):
        hand_out(
            read_set(tmp_path / "set.toml"), students, secret, ("qti",), Folder(tmp_path / out),
            workers=1, force=False, progress=lambda *_: None,
        )  # fmt: skip
    content = (tmp_path / "out/keys/qti.zip").read_bytes()
    assert content == (tmp_path / "again/keys/qti.zip").read_bytes()
    assert not list((tmp_path / "out").glob("sheets/**/*"))
    groups = list(unpacked(content)[0][0])
    assert [(g.get("title"), len(g.findall(f"{QTI}item"))) for g in groups] == [
        (f"Exercise {place}", n)
        for place, n in (("1", 5), *((f"2{letter}", 1) for letter in "abcdef"), ("3", 5), ("4", 5))
    ]
    assert [g.findtext(f".//{QTI}points_per_item") for g in groups] == [
        *("1", "1", "2", "3.5", "1", "2", "1"),
        *("1", "1"),
    ]
    text = etree.tostring(unpacked(content), encoding="unicode")
    seeds = json.loads((tmp_path / "out/keys/draws.json").read_text(encoding="utf-8"))["students"].values()
    codes = [student.code for student in coded(students, secret)]
    hidden = ["Quux", "u100", *codes, *(str(seed) for draws in seeds for seed, _ in draws if seed)]
    assert not [word for word in hidden if word in text]


def test_the_command_writes_the_package_below_keys_and_nothing_below_sheets(tmp_path: Path) -> None:
    (tmp_path / "set.toml").write_text(SET, encoding="utf-8")
    arguments = ["set", str(tmp_path / "set.toml"), "--out", str(tmp_path / "out"), "--format", "qti"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert sorted(p.name for p in (tmp_path / "out").rglob("*") if p.is_file()) == [
        "answers.csv",
        "key.json",
        "qti.zip",
    ]
    assert len(list(unpacked((tmp_path / "out/keys/qti.zip").read_bytes()).iter(f"{QTI}item"))) == 9
