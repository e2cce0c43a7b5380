"""The exercise record: everything that is needed to judge an answer, and nothing else.

A record is drawn once by a family (`grader.family`), stored, and judged for ever after from itself.
Every number in it is an exact integer, decimal or `p/q` string in the unit of its part.
This module imports the standard library only, so that judging stays cheap to start.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any

KINDS = (
    *("count", "number", "quantity", "expression", "choice", "choices", "sequence", "ranking"),
    *("counterexample", "mistake", "invariant", "policy"),
)
NUMERIC = frozenset({"count", "number", "quantity"})
NOT_ROUNDED = "not-rounded"  # the slip of a count that is right before it is rounded


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far an answer may lie from the key; the limit itself is still right.

    `kind` is `exact`, `relative`, `absolute` (in `unit`, or in the unit of the part), `figures` or `decimals`
    (equal after rounding to `value` significant figures or decimals; `strict` counts the typed figures too).
    """

    kind: str = "relative"
    value: str = "0.01"
    unit: str = ""
    strict: bool = False


REQUIRED = frozenset({"part", "asks", "question", "kind", "key"})  # fields of a part that stay in its JSON when empty
EXACT = Tolerance("exact", "0")


@dataclass(frozen=True, slots=True)
class SlipValue:
    """What one slip makes of this exercise: `value` as in `Part.key`, None where the slip finds no answer."""

    slip: str
    sentence: str
    value: str | None

    @property
    def unrounded(self) -> bool:
        """Say whether it is the right count before it is rounded, which a whole number is not."""
        return self.slip == NOT_ROUNDED


@dataclass(frozen=True, slots=True)
class Given:
    """One printed given. `value` is exact, in `unit`; `says` is the meaning."""

    name: str
    symbol: str
    value: str
    unit: str
    says: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One line of the derivation: law `law` gave quantity `gives` the exact `value` in `unit`.

    `value` is None where the law has no solution, and after that; `deficit` says by how much it is missed, in `unit`.
    A requirement gives nothing: `gives` is empty, and `value` is what room it leaves.
    """

    law: str
    gives: str
    value: str | None
    unit: str
    deficit: str | None = None


@dataclass(frozen=True, slots=True)
class Explained:
    """One line of a worked solution that is written when the exercise is drawn: law or rule, its sentence, the line."""

    law: str
    says: str
    text: str
    latex: str = ""


@dataclass(frozen=True, slots=True)
class WorkedLine:
    """The right value of a line of a worked solution with a mistake, as in `Part.key`, and the one that it shows."""

    key: str
    shown: str
    unit: str
    kind: str


@dataclass(frozen=True, slots=True)
class Mutant:
    """One wrong way to write a function, and what is wrong with it in a sentence."""

    expression: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Function:
    """A function that a property may name: its arguments with their domains, right ways to write it, and wrong ones.

    Expressions are those of the answer language over the arguments; the domains are those of `Part.symbols`.
    """

    name: str
    arguments: dict[str, str]
    right: tuple[str, ...]
    mutants: tuple[Mutant, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """What is executed to judge an answer: a module of `grader/executing`, and the circumstances it is run under."""

    what: str
    setting: dict[str, str]


@dataclass(frozen=True, slots=True)
class Part:
    """One question with its key and everything that judging it takes.

    Attributes:
        part: `a`, `b`, ...
        asks: name of the quantity that is asked for.
        question: the sentence that asks.
        kind: one of `KINDS`.
        key: exact number in `unit`, expression, label or comma-separated labels; a ranking puts `>` between labels,
            the best first, and `=` between equal ones; of a mistake the number of its line; an example of what is right
            where answers are executed. None where no such value exists.
        unit: the unit of `key`; empty for plain numbers, expressions and choices.
        tolerance_of: whose the tolerance is: empty for the family's, `set` for one that a set file gives.
        unit_in_question: a bare number is read in `unit`.
        also: other units that say the same here, such as `token/sequence` for a context.
        units: `any` convertible unit is right, or only the `exact` one.
        percent: `ok` reads `50 %` as 1/2; empty treats a percent sign as any other unit.
        locale: how separators are read, `en` or `fr`.
        kilobyte: how the sloppy `KB` is read: `si` 1000, `binary` 1024; empty asks back.
        options: the labels of a choice.
        zero_is_none: a capacity: the answers `0` and `none` mean the same.
        symbols: domain of each symbol of an expression: `positive`, `real`, `positive integers`.
        names: spellings of the asked quantity that may stand on the left of an equals sign.
        slips: values of known slips, in `unit`.
        reason: why there is no value, where `key` is None.
        steps: the derivation.
        givens: givens that hold for this part alone.
        follows: the answer from those of earlier parts: expressions in their letters, each in the unit of its part.
        hints: hints that are written when the exercise is drawn, where there are no `steps` to make them from.
        explained: the same of the worked solution.
        worked: the right values of the lines in which a mistake is planted; `options` has the lines themselves.
        functions: what a property may name.
        needs: the share of the mutants that a property must tell from what is right.
        run: what is executed to judge an answer.
    """

    part: str
    asks: str
    question: str
    kind: str
    key: str | None
    unit: str = ""
    tolerance: Tolerance = EXACT
    tolerance_of: str = ""
    unit_in_question: bool = False
    also: tuple[str, ...] = ()
    units: str = "any"
    percent: str = ""
    locale: str = "en"
    kilobyte: str = ""
    options: tuple[str, ...] = ()
    zero_is_none: bool = False
    symbols: dict[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    slips: tuple[SlipValue, ...] = ()
    reason: str = ""
    steps: tuple[Step, ...] = ()
    givens: tuple[Given, ...] = ()
    follows: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    explained: tuple[Explained, ...] = ()
    worked: tuple[WorkedLine, ...] = ()
    functions: tuple[Function, ...] = ()
    needs: str = ""
    run: Run | None = None


@dataclass(frozen=True, slots=True)
class Exercise:
    """A drawn exercise. `(family, revision, seed)` determines it for ever.

    `rubric` is for the learner's own review of an open answer; it is shown with the solution and carries no points.
    """

    family: str
    revision: int
    seed: int
    statement: str
    givens: tuple[Given, ...]
    parts: tuple[Part, ...]
    convention: str = ""
    rubric: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The address people type: `max-context/10`."""
        return f"{self.family}/{self.seed}"

    @property
    def altered(self) -> bool:
        """Whether it has a tolerance that its family did not give it."""
        return any(part.tolerance_of for part in self.parts)

    def part(self, name: str) -> Part:
        """Return one part by its letter.

        Raises:
            KeyError: there is no such part.
        """
        for part in self.parts:
            if part.part == name:
                return part
        raise KeyError(name)

    def to_json(self) -> str:
        """Write the record as one line of JSON, keys in a fixed order."""
        return json.dumps(_without_defaults(self), ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Exercise:
        """Read a record back; the inverse of `to_json`."""
        data: dict[str, Any] = json.loads(text)
        data["givens"] = tuple(Given(**g) for g in data["givens"])
        data["parts"] = tuple(_part(p) for p in data["parts"])
        data["rubric"] = tuple(data.get("rubric", ()))
        return cls(**data)


def _part(data: dict[str, Any]) -> Part:
    data = dict(data)
    if "tolerance" in data:
        data["tolerance"] = Tolerance(**data["tolerance"])
    data["slips"] = tuple(SlipValue(**s) for s in data.get("slips", ()))
    data["steps"] = tuple(Step(**s) for s in data.get("steps", ()))
    data["givens"] = tuple(Given(**g) for g in data.get("givens", ()))
    for name in ("options", "names", "also", "follows", "hints"):
        data[name] = tuple(data.get(name, ()))
    for name, record in (("explained", Explained), ("worked", WorkedLine)):
        data[name] = tuple(record(**line) for line in data.get(name, ()))
    data["functions"] = tuple(_function(f) for f in data.get("functions", ()))
    data["run"] = Run(**data["run"]) if data.get("run") else None
    return Part(**data)


def _function(data: dict[str, Any]) -> Function:
    mutants = tuple(Mutant(**mutant) for mutant in data["mutants"])
    return Function(data["name"], data["arguments"], tuple(data["right"]), mutants)


def _without_defaults(exercise: Exercise) -> dict[str, Any]:
    data = asdict(exercise)
    data["parts"] = [
        {k: v for k, v in p.items() if v not in ("", (), {}, False, None) or k in REQUIRED} for p in data["parts"]
    ]
    if not data["rubric"]:
        del data["rubric"]
    return data


def exact(value: int | Fraction) -> str:
    """Write an exact number as JSON carries it: an integer, a finite decimal, else `p/q`."""
    if value.denominator == 1:
        return str(value.numerator)
    two_five, twos, fives = value.denominator, 0, 0
    while two_five % 2 == 0:
        two_five, twos = two_five // 2, twos + 1
    while two_five % 5 == 0:
        two_five, fives = two_five // 5, fives + 1
    if two_five != 1:
        return f"{value.numerator}/{value.denominator}"
    places = max(twos, fives)
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"
