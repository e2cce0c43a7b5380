"""Judging counts, numbers and quantities: the dimension first, then the magnitude, then the form."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from grader.exercise import Part, SlipValue
from grader.judging.judgement import (
    CORRECT,
    FULL,
    HALF,
    INCORRECT,
    PARTIAL,
    ZERO,
    Diagnosis,
    Finding,
    Judgement,
    located,
    value_given,
    without_value,
)
from grader.reading import nearness
from grader.reading.absence import says_no_value
from grader.reading.latex import without_latex
from grader.reading.nearness import Nearness, exact_value
from grader.reading.number import Number, figures, simplest, written
from grader.reading.quantity import Quantity, read_quantity
from grader.reading.text import Unreadable, plain
from grader.reading.unit_names import COUNTED, symbols
from grader.reading.unit_reader import ReadUnit, asked_unit
from spec.units import TABLE, dimension_words

LONGEST = 200


def judge_number(part: Part, typed: str) -> Judgement:
    """Judge a count, a number or a quantity.

    Raises:
        Unreadable: it is none.
    """
    if says_no_value(typed):
        return without_value(part, typed)
    text = plain(typed, LONGEST)
    asked = asked_unit_of(part.unit)
    try:
        text = without_latex(text)
        read = read_quantity(text.text, part.locale, part.kilobyte, asked.dimension)
        return _read_number(part, read, asked, typed)
    except Unreadable as complaint:
        raise located(complaint, text) from None


@lru_cache(maxsize=512)
def asked_unit_of(name: str) -> ReadUnit:
    """The unit of a part, read once."""
    return asked_unit(name)


def _read_number(part: Part, read: Quantity, asked: ReadUnit, typed: str) -> Judgement:
    unit = read.unit
    if not unit.given:
        return _in_asked_unit(part, read, asked, typed)
    if unit.foreign or not (unit.dimension == asked.dimension or _says_the_same(unit, part)):
        return _other_dimension(part, read, asked, typed)
    if other := _other_count(unit, asked):
        about = {"text": other, "wanted": asked.name(plural=True)}
        return Judgement(INCORRECT, ZERO, _echo(part, read, typed), (), (Finding("other-count", about),), typed)
    factor = unit.factor / asked.factor
    value = read.number if factor == 1 else simplest(read.number * factor)
    return _valued(part, read, asked, value, typed)


def _says_the_same(unit: ReadUnit, part: Part) -> bool:
    return any(asked_unit_of(name).dimension == unit.dimension for name in part.also)


def _other_count(unit: ReadUnit, asked: ReadUnit) -> str:
    """The name of another part of a model than the one that is asked for: layers for heads."""
    if any(unit.dimension) or not asked.powers:
        return ""
    wanted = {name for name, _ in asked.powers}
    return next((name for name, _ in unit.powers if name in COUNTED and wanted & COUNTED and name not in wanted), "")


def _in_asked_unit(part: Part, read: Quantity, asked: ReadUnit, typed: str) -> Judgement:
    """A bare number: in the unit the question names, if it names one."""
    counted = not any(asked.dimension) and asked.factor == 1
    if not (part.unit_in_question or counted):
        raise Unreadable("unit-missing", -1, {"reading": read.echo(part.locale)})
    in_unit = Quantity(read.number, read.literal, asked, read.at) if asked.powers else read
    return _valued(part, in_unit, asked, read.number, typed)


def _other_dimension(part: Part, read: Quantity, asked: ReadUnit, typed: str) -> Judgement:
    """A unit that measures another thing than what is asked for."""
    unit, reading = read.unit, _echo(part, read, typed)
    if not any(asked.dimension) and not unit.foreign:
        if unit.dimension in _COUNTS and part.unit != "%":
            raise Unreadable("plain-number", read.at, {"text": unit.name()})
        if unit.typed == ("B",):
            raise Unreadable("byte-or-billion", read.at, {"number": written(read.number, part.locale)})
    if part.key is None:
        return value_given(part, reading, typed)
    wanted = dimension_words(asked.dimension)
    if unit.foreign:
        findings = [Finding("foreign-unit", {"text": unit.foreign, "wanted": wanted})]
    else:
        findings = [Finding("wrong-dimension", {"got": dimension_words(unit.dimension), "wanted": wanted})]
    if not unit.foreign and any(unit.dimension) and tuple(-e for e in unit.dimension) == asked.dimension:
        findings.append(Finding("reciprocal", {"reading": reading}))
    return Judgement(INCORRECT, ZERO, reading, (), tuple(findings), typed)


_COUNTS = frozenset(TABLE[name].dimension for name in ("token", "sequence", "request", "GPU"))


def _valued(part: Part, read: Quantity, asked: ReadUnit, value: Number, typed: str) -> Judgement:
    """A number in the dimension that is asked for, `value` in the unit of the part."""
    reading = _echo(part, read, typed)
    if part.key is None and part.zero_is_none and value == 0:
        return Judgement(CORRECT, FULL, reading, typed=typed, value=value)
    of = nearness_of(part)
    if part.key is None:
        return value_given(part, reading, typed, value, _diagnoses(part, of, read, value))
    if of.near(value, part.key):
        findings = _form_findings(part, read, asked)
        if findings:
            return Judgement(PARTIAL, HALF, reading, (), findings, typed, value)
        return Judgement(CORRECT, FULL, reading, typed=typed, value=value)
    findings = tuple(_explanations(part, read, asked, value, of, typed))
    return Judgement(INCORRECT, ZERO, reading, _diagnoses(part, of, read, value), findings, typed, value)


def _diagnoses(part: Part, of: Nearness, read: Quantity, value: Number) -> tuple[Diagnosis, ...]:
    return tuple(Diagnosis(s.slip, s.sentence) for s in part.slips if _is_slip(part, of, read, value, s))


def _echo(part: Part, read: Quantity, typed: str) -> str:
    """How the answer was read, or the text itself where that would be too long to be read back."""
    echo = read.echo(part.locale)
    return echo if len(echo) <= LONGEST else typed


def nearness_of(part: Part) -> Nearness:
    """The tolerance of a part; a count is exact whatever the record says."""
    if part.kind == "count":
        return Nearness("exact", "0", "", part.unit)
    return Nearness.of_part(part.tolerance, part.unit)


def _form_findings(part: Part, read: Quantity, asked: ReadUnit) -> tuple[Finding, ...]:
    """What is wrong with the form of a right value: its figures, its unit, a percent sign."""
    tolerance, findings = part.tolerance, []
    if tolerance.strict and tolerance.kind in {"figures", "decimals"}:
        wanted = int(tolerance.value)
        typed = figures(read.literal) if read.literal else None
        fits = typed is not None and (
            typed.decimals == wanted if tolerance.kind == "decimals" else typed.least <= wanted <= typed.most
        )
        if not fits:
            findings.append(Finding(f"strict-{tolerance.kind}", {"wanted": str(wanted)}))
    if part.units == "exact" and read.unit.factor != asked.factor:
        findings.append(Finding("unit-not-asked", {"wanted": asked.name(plural=True)}))
    if "%" in dict(read.unit.powers) and asked.factor == 1 and part.percent != "ok":
        findings.append(Finding("percent-not-asked"))
    return tuple(findings)


def _is_slip(part: Part, of: Nearness, read: Quantity, value: Number, known: SlipValue) -> bool:
    """Whether the answer is the value of a slip: very near it, or for a count the same where either was rounded."""
    if known.value is None:
        return False
    if of.closer().near(value, known.value):
        return True
    if part.kind != "count":
        return False
    slip = exact_value(known.value)
    if value in nearness.multiples(exact_value(part.key or "0"), slip):
        return True
    if slip.denominator == 1:
        return False
    if value.denominator == 1:
        return value - 1 < slip < value + 1 and not known.unrounded
    places = figures(read.literal).decimals if read.literal else 0
    return 0 < places <= len(read.literal) and value in {
        *nearness.both_rounded(slip, "decimals", places),
        nearness.truncated(slip, "decimals", places),
    }


_SEPARATED = re.compile(r"\d{1,3}[.,]\d{3}(?!\d)", re.ASCII)


def _explanations(
    part: Part, read: Quantity, asked: ReadUnit, value: Number, of: Nearness, typed: str
) -> list[Finding]:
    """Name what a wrong value of the right dimension has in common with the right one."""
    key = exact_value(part.key or "0")
    of = of.closer()
    findings = []
    if part.kind == "count" and value.denominator != 1:
        findings.append(Finding("unrounded"))
    if value and of.near_value(-value, key):
        return [Finding("sign")]
    factor = nearness.familiar_factor(value, key, asked.dimension, of, Fraction(asked.factor))
    if factor is not None:
        findings.append(_named_factor(factor, read, value / factor.ratio, asked, of, typed))
    elif of.kind in {"figures", "decimals"} and value == nearness.truncated(key, of.kind, int(of.value)):
        findings.append(Finding("truncated"))
    elif read.literal and _is_coarse(read.literal, value, key):
        findings.append(Finding("coarse"))
    elif value and not any(asked.dimension) and of.near_value(simplest(1 / Fraction(value)), key):
        findings.append(Finding("reciprocal"))
    return findings


def _named_factor(
    factor: nearness.Factor, read: Quantity, right: Number, asked: ReadUnit, of: Nearness, typed: str
) -> Finding:
    thousand = factor.ratio in {1000, Fraction(1, 1000)}
    if thousand and _SEPARATED.search(typed) and read.unit.factor == asked.factor:
        return Finding("separator")
    for name in read.unit.typed:
        twin = symbols().get(name.swapcase()) or symbols().get(name[:1].swapcase() + name[1:])
        named = symbols().get(name)
        if factor.code == "prefix" and twin and named and twin.dimension == named.dimension and twin != named:
            scaled = simplest(right * factor.ratio * twin.factor / named.factor)
            if of.near_value(scaled, simplest(right)):
                return Finding("case", {"text": name, "meant": twin.powers[0][0]})
    return Finding(factor.code, {"first": factor.first, "second": factor.second, "ratio": str(factor.ratio)})


def _is_coarse(literal: str, value: Number, key: Number) -> bool:
    """Whether the answer is the right value rounded to the few figures that were typed."""
    typed = figures(literal)
    return bool(value) and value in nearness.both_rounded(key, "figures", typed.most)
