"""Judge every row of a table of answers and report each disagreement: `python tests/answer_cases.py TABLE.tsv`.

A table is tab-separated with the columns id, kind, expected_answer, submitted, should, note, source; the answers are
bodies of JSON strings, `{{repeat:X:N}}` stands for X repeated N times, and policy words follow ` | `.
"""

# ruff: noqa: T201  a script prints

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from grader.exercise import EXACT, Part, Tolerance
from grader.judging import Judgement, judge
from grader.reading import compare
from grader.reading.absence import says_no_value
from grader.reading.quantity import read_quantity
from grader.reading.text import Unreadable, plain
from spec.units import NO_DIMENSION, TABLE

COLUMNS = ("id", "kind", "expected_answer", "submitted", "should")
KINDS = ("number", "quantity", "symbolic", "choice")
OUTCOMES = {"correct": "accept", "partial": "reject", "incorrect": "reject", "invalid": "invalid"}
USUAL = Tolerance("relative", "1e-12")
REPEAT = re.compile(r"\{\{repeat:(.+?):(\d+)\}\}")
DOMAINS = ("positive integers", "nonnegative integers", "integers", "positive", "real")


class MalformedTable(ValueError):
    """A table that cannot be read; the message is one sentence that says where and why."""


@dataclass(frozen=True)
class Row:
    """One row: the part it describes, what was submitted, and what should become of it."""

    id: str
    part: Part
    submitted: str
    should: str
    note: str = ""


def rows(path: Path) -> Iterator[Row]:
    """Read a table.

    Raises:
        MalformedTable: it is no table of this kind.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError:
        raise MalformedTable(f"{path}: not UTF-8 text") from None
    except OSError as error:
        raise MalformedTable(f"{path}: {error.strerror}") from None
    header = lines[0].rstrip("\r").split("\t")
    missing = [column for column in COLUMNS if column not in header]
    if missing:
        raise MalformedTable(f"{path}:1: the header lacks {', '.join(missing)}")
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.rstrip("\r").split("\t")
        if len(fields) < len(COLUMNS):
            raise MalformedTable(f"{path}:{number}: {len(fields)} fields instead of {len(header)}")
        try:
            yield _row(dict(zip(header, fields, strict=False)))
        except MalformedTable as error:
            raise MalformedTable(f"{path}:{number}: {error}") from None


def _row(fields: dict[str, str]) -> Row:
    if fields["should"] not in OUTCOMES.values():
        raise MalformedTable(f"should is {fields['should']!r}, not accept, reject or invalid")
    part = part_of(fields["kind"], decoded(fields["expected_answer"]))
    return Row(fields["id"], part, decoded(fields["submitted"]), fields["should"], fields.get("note", ""))


def decoded(field: str) -> str:
    """Decode a field: the body of a JSON string, with repetitions written out."""
    try:
        text: str = json.loads(f'"{field}"', strict=False)
    except json.JSONDecodeError as error:
        raise MalformedTable(f"{field[:40]!r} is not the body of a JSON string: {error.msg}") from None
    return REPEAT.sub(lambda match: match.group(1) * int(match.group(2)), text)


def part_of(kind: str, expected: str) -> Part:
    """Build the part that a kind and an expected answer with its policy words describe."""
    answer, _, policy = expected.partition(" | ")
    answer = answer.strip()
    build = {"number": _number, "quantity": _quantity, "symbolic": _symbolic, "choice": _choice}.get(kind)
    if build is None:
        raise MalformedTable(f"kind is {kind!r}, not one of {', '.join(KINDS)}")
    return build(answer, policy.strip())


def _empty(kind: str, key: str | None) -> Part:
    return Part(part="a", asks="", question="", kind=kind, key=key)


def _number(answer: str, policy: str) -> Part:
    key = None if says_no_value(answer) else _numeral(answer)
    return _with_policy(replace(_empty("number", key), tolerance=USUAL), policy)


def _numeral(text: str) -> str:
    if not re.fullmatch(r"[+-]?(?:\d+/\d+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)", text):
        raise MalformedTable(f"{text!r} is no number")
    return text


def _quantity(answer: str, policy: str) -> Part:
    part = replace(_empty("quantity", None), tolerance=USUAL)
    if not says_no_value(answer):
        number, _, unit = answer.partition(" ")
        try:
            of = read_quantity(plain(f"1 {unit}", len(unit) + 2).text, "en", "si", NO_DIMENSION).unit
        except Unreadable as error:
            raise MalformedTable(f"the unit of {answer!r} is unknown ({error.why})") from None
        part = replace(part, key=_numeral(number), unit=of.name())
    return _with_policy(part, policy)


def _symbolic(answer: str, policy: str) -> Part:
    if policy and policy not in DOMAINS:
        raise MalformedTable(f"unknown domain {policy!r}")
    if says_no_value(answer):
        return _empty("expression", None)
    names = re.findall(r"[A-Za-z_\u0370-\u03ff]\w*(?!\w|\s*\()", answer)
    symbols = dict.fromkeys(names, policy or "positive")
    try:
        compare.reference(answer, tuple(symbols), tuple(symbols.values()))
    except ValueError as error:
        raise MalformedTable(str(error)) from None
    return replace(_empty("expression", answer), symbols=symbols)


def _choice(answer: str, policy: str) -> Part:
    part = _empty("choices" if "multi" in policy.split() else "choice", answer)
    for word in policy.split():
        if word.startswith("options="):
            first, between, last = word.removeprefix("options=").partition("..")
            labels = [chr(c) for c in range(ord(first), ord(last) + 1)] if between else first.split(",")
            part = replace(part, options=tuple(labels))
        elif word != "multi":
            raise MalformedTable(f"unknown policy word {word!r}")
    if part.kind == "choices" and not part.options:
        letters = "".join(answer.replace(",", ""))
        part = replace(part, options=tuple("ABCDEFGH") if letters.isupper() and len(letters) < len(answer) else ())
    return part


WORDS: dict[str, dict[str, Any]] = {
    "int": {"kind": "count", "tolerance": EXACT},
    "percent-ok": {"percent": "ok"},
    "unit-in-prompt": {"unit_in_question": True},
}
FIELDS = {
    "units": ("units", ("any", "exact")),
    "locale": ("locale", ("en", "fr")),
    "conv": ("kilobyte", ("si", "binary")),
}


def _with_policy(part: Part, policy: str) -> Part:
    for word in policy.split():
        name, _, value = word.partition("=")
        if word in WORDS:
            part = replace(part, **WORDS[word])
        elif name in FIELDS and value in FIELDS[name][1]:
            part = replace(part, **{FIELDS[name][0]: value})
        elif word == "strict":
            part = replace(part, tolerance=replace(part.tolerance, strict=True))
        elif name == "unit" and value in TABLE:
            part = replace(part, unit=value, unit_in_question=True)
        else:
            part = replace(part, tolerance=_wider(part, _tolerance(name, value)))
    return part


def _wider(part: Part, tolerance: Tolerance) -> Tolerance:
    """The wider of a relative and an absolute tolerance where both are given; figures stay as strict as they were."""
    before = part.tolerance
    if {before.kind, tolerance.kind} != {"relative", "absolute"} or before == USUAL or before.unit or tolerance.unit:
        return replace(tolerance, strict=before.strict)
    widths = {t.kind: Fraction(t.value) for t in (before, tolerance)}
    widths["relative"] *= abs(Fraction(part.key or "0"))
    return Tolerance("absolute", str(max(widths.values())))


def _tolerance(name: str, value: str) -> Tolerance:
    kinds = {"rel": "relative", "abs": "absolute", "sf": "figures", "dp": "decimals"}
    match = re.fullmatch(r"([0-9.]+(?:e-?\d+)?)([A-Za-z/]*)", value)
    if match is None or name not in kinds:
        raise MalformedTable(f"unknown policy word {name}={value}" if value else f"unknown policy word {name}")
    return Tolerance(kinds[name], match.group(1), unit=match.group(2))


@dataclass(frozen=True)
class Outcome:
    """One row judged: what became of it, and how long that took in seconds."""

    row: Row
    judgement: Judgement
    seconds: float

    @property
    def agrees(self) -> bool:
        """Whether the verdict is the one the table expects."""
        return OUTCOMES[self.judgement.verdict] == self.row.should


def run(path: Path) -> list[Outcome]:
    """Judge every row of a table.

    Raises:
        MalformedTable: it is no table of this kind.
    """
    return [Outcome(row, *timed(row)) for row in list(rows(path))]


def timed(row: Row) -> tuple[Judgement, float]:
    """Judge one row and measure how many seconds that takes."""
    start = time.perf_counter()
    judgement = judge(row.part, row.submitted)
    return judgement, time.perf_counter() - start


def main(arguments: list[str]) -> int:
    """Report on one table; 0 if every row agrees, 1 if one does not, 2 if there is no table."""
    if len(arguments) != 1:
        print("usage: python tests/answer_cases.py TABLE.tsv", file=sys.stderr)
        return 2
    try:
        outcomes = run(Path(arguments[0]))
    except MalformedTable as error:
        print(error, file=sys.stderr)
        return 2
    failed = [outcome for outcome in outcomes if not outcome.agrees]
    for outcome in failed:
        row, judgement = outcome.row, outcome.judgement
        codes = ", ".join(finding.code for finding in judgement.findings)
        print(
            f"{row.id}: {row.submitted[:80]!a} for {row.part.key} {row.part.unit}: read as "
            f"{judgement.reading!r}, {judgement.verdict} ({codes}); should be {row.should}: {row.note}"
        )
    if outcomes:
        slowest = max(outcomes, key=lambda outcome: outcome.seconds)
        print(f"slowest row {slowest.row.id}: {slowest.seconds * 1000:.2f} ms")
    print(f"{len(outcomes) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
