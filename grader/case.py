"""Families of cases: a list of lengths, a trace, a queue of requests, whatever is no menu of quantities.

A case is drawn from a stream of integers. What is asked of it is computed by a function, and so is every known
misconception; a draw is kept only if none of them says the same as the key.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Generic, TypeVar

from grader.exercise import EXACT, NUMERIC, Exercise, Explained, Given, Part, Run, SlipValue, Tolerance, exact
from grader.judging.ranking import tau
from grader.menu import quantities_by_name
from grader.posing import ATTEMPTS, Rejected, also_said_in, first_accepted, reach, with_other_answers, without_answer
from grader.reading.ranking import ranking_of
from grader.wording import convention_of
from spec.solving import Exact
from spec.stream import Stream
from spec.units import unit

__all__ = ["Answer", "CaseAsk", "CaseFamily", "CaseSlip", "Explained", "Given", "Run", "told_apart"]

C = TypeVar("C")
Answer = Exact | str | tuple[str, ...] | None  # a number, an expression or label, several labels; None: there is none
LEAST = 4  # different wrong answers of a numeric question


def _everywhere(case: object) -> bool:  # noqa: ARG001  the signature of `applies`
    return True


def _nothing(case: object) -> tuple[()]:  # noqa: ARG001  the signature of what a case may bring
    return ()


@dataclass(frozen=True, slots=True)
class CaseSlip(Generic[C]):
    """A misconception: its stable name, the sentence for the learner, and the answer it leads to.

    `applies` says whether it is one at all in a case.
    """

    slug: str
    sentence: str
    value: Callable[[C], Answer]
    applies: Callable[[C], bool] = _everywhere


def told_apart(
    slug: str, sentence: str, value: Callable[[C], Answer], key: Callable[[C], Answer], *, ordered: bool = False
) -> CaseSlip[C]:
    """Return a misconception that is left out of the cases in which it leads to the right answer all the same.

    Labels are the same in any order, unless they are `ordered`.
    """

    def applies(case: C) -> bool:
        found, right = value(case), key(case)
        if isinstance(found, tuple) and isinstance(right, tuple) and not ordered:
            return set(found) != set(right)
        return found != right

    return CaseSlip(slug, sentence, value, applies)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseAsk(Generic[C]):
    """One question about a case.

    Attributes:
        asks: the name of what is asked for, as a quantity is named.
        question: the sentence that asks.
        kind: one of `grader.exercise.KINDS`.
        key: the right answer; None where there is none.
        slips: the misconceptions.
        hints: three levels: which rule, how it goes, with the numbers; none of them gives the key.
        explained: the worked solution; its last line ends with the key.
        reason: why there is no answer, where the key is None.
        unit: the unit of the answer.
        tolerance: exact for a count, and 1 % otherwise where it is None.
        capacity: the answers 0 and none mean the same.
        percent: whether a percentage is as good as a fraction.
        options: the labels to choose from.
        givens: givens of this question alone.
        symbols: domains of the symbols of an expression.
        names: spellings that may stand on the left of an equals sign.
        run: what is executed to judge the answer.
        least: the least number of different wrong answers of a case that is kept.
    """

    asks: str
    question: Callable[[C], str]
    kind: str
    key: Callable[[C], Answer]
    slips: tuple[CaseSlip[C], ...] = ()
    hints: Callable[[C], tuple[str, ...]]
    explained: Callable[[C], tuple[Explained, ...]]
    reason: Callable[[C], str] | None = None
    unit: str = ""
    tolerance: Tolerance | None = None
    capacity: bool = False
    percent: bool = False
    options: Callable[[C], tuple[str, ...]] = _nothing
    givens: Callable[[C], tuple[Given, ...]] = _nothing
    symbols: Callable[[C], dict[str, str]] | None = None
    names: tuple[str, ...] = ()
    run: Callable[[C], Run] | None = None
    least: int | None = None

    @property
    def judged_to(self) -> Tolerance:
        """The tolerance of the answer."""
        return self.tolerance or (EXACT if self.kind not in {"number", "quantity"} else Tolerance())

    @property
    def wrong_answers(self) -> int:
        """The least number of different wrong answers."""
        if self.least is not None:
            return self.least
        return LEAST if self.kind in NUMERIC else min(1, len(self.slips))


@dataclass(frozen=True, eq=False, kw_only=True)
class CaseFamily(Generic[C]):
    """A family of exercises about cases.

    Attributes:
        draw: makes a case from a stream.
        statement: tells it in full sentences.
        ways: the choices of questions, the forward one first; each is the parts `a`, `b`, ... of one exercise.
        givens: what of the case is a quantity with a unit; all of it stands in the statement too.
        keep: says whether a case makes a sensible story.
        convention: sentences on how to write the answer, beside those that kinds and units call for.
        rubric: questions for the learner's own review of an open answer.
        infeasible: some cases have no answer, and a share of the draws is taken from them.
        objective, section, revision: as in `grader.family.Family`.
    """

    draw: Callable[[Stream], C]
    statement: Callable[[C], str]
    ways: tuple[tuple[CaseAsk[C], ...], ...]
    objective: str
    section: str
    givens: Callable[[C], tuple[Given, ...]] = _nothing
    keep: Callable[[C], bool] = _everywhere
    convention: str = ""
    rubric: tuple[str, ...] = ()
    infeasible: bool = False
    revision: int = 1
    preset: bool = False

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of answer it asks for."""
        return tuple(dict.fromkeys(ask.kind for asks in self.ways for ask in asks))

    @property
    def grid(self) -> None:
        """Cases are drawn, not listed."""
        return

    def pose(self, slug: str, seed: int) -> Exercise:
        """Draw the exercise of a seed.

        Raises:
            Undrawable: no acceptable case was found.
        """
        return self.search(slug, seed)[0]

    def search(self, slug: str, seed: int) -> tuple[Exercise, int]:
        """Draw the exercise of a seed, and say how many cases were tried.

        Raises:
            Undrawable: no acceptable case was found.
        """
        stream = Stream(slug, self.revision, seed)
        feasible = not (self.infeasible and without_answer(slug, self.revision, seed))
        tries = (self._attempt(slug, seed, stream, feasible=feasible)[0] for _ in range(ATTEMPTS))
        return first_accepted(slug, seed, tries)

    def outcome(self, slug: str, point: int) -> tuple[Exercise | Rejected, list[str]]:
        """Make the exercise of one case of a sample, or say why it makes none; with the names of its slips."""
        stream = Stream(slug, self.revision, "sample", point)
        found, asks = self._attempt(slug, point, stream, feasible=None)
        return found, [slip.slug for ask in asks for slip in ask.slips]

    def _attempt(
        self, slug: str, seed: int, stream: Stream, *, feasible: bool | None
    ) -> tuple[Exercise | Rejected, tuple[CaseAsk[C], ...]]:
        asks, case = stream.choice(self.ways), self.draw(stream)
        return self._posed(slug, seed, case, asks, feasible=feasible), asks

    def _posed(
        self, slug: str, seed: int, case: C, asks: tuple[CaseAsk[C], ...], *, feasible: bool | None
    ) -> Exercise | Rejected:
        if not self.keep(case):
            return Rejected("outside the story")
        keys = [ask.key(case) for ask in asks]
        if feasible is not None and feasible == any(key is None for key in keys):
            return Rejected("has no answer" if feasible else "has an answer")
        parts = []
        for letter, ask, key in zip("abcdefgh", asks, keys, strict=False):
            part = part_of(letter, ask, key, case)
            if isinstance(part, Rejected):
                return part
            parts.append(part)
        givens = self.givens(case)
        every = (*givens, *(given for part in parts for given in part.givens))
        return Exercise(
            slug,
            self.revision,
            seed,
            self.statement(case),
            givens,
            tuple(with_other_answers(parts)),
            " ".join(filter(None, [self.convention, convention_of([given.unit for given in every], parts)])),
            self.rubric,
        )


def written(answer: Answer) -> str | None:
    """Write an answer as a record keeps it."""
    if answer is None or isinstance(answer, str):
        return answer
    return ",".join(answer) if isinstance(answer, tuple) else exact(answer)


def part_of(letter: str, ask: CaseAsk[C], key: Answer, case: C) -> Part | Rejected:
    """Make the part that asks a question about a case, or say why the case makes none."""
    part = Part(
        part=letter,
        asks=ask.asks,
        question=ask.question(case),
        kind=ask.kind,
        key=written(key),
        unit=ask.unit,
        tolerance=ask.judged_to,
        unit_in_question=ask.kind in NUMERIC,
        zero_is_none=ask.capacity,
        also=_also(ask),
        percent="ok" if ask.percent else "",
        options=ask.options(case),
        symbols={} if ask.symbols is None else ask.symbols(case),
        names=ask.names,
        reason=ask.reason(case) if key is None and ask.reason else "",
        givens=ask.givens(case),
        hints=ask.hints(case),
        explained=ask.explained(case),
        run=None if ask.run is None else ask.run(case),
    )
    slips = []
    for slip in ask.slips:
        if not slip.applies(case):
            continue
        value = slip.value(case)
        if isinstance(value, int | Fraction) and value < 0:
            continue  # nobody answers with less than nothing
        if key is not None and _says_the_same(part, value, key):
            return Rejected(f"{slip.slug} lands on the key")
        if key is not None or value is not None:
            slips.append(SlipValue(slip.slug, slip.sentence, written(value)))
    if key is not None and len({slip.value for slip in slips}) < ask.wrong_answers:
        return Rejected("too few different wrong answers")
    return replace(part, slips=tuple(slips))


def _also(ask: CaseAsk[C]) -> tuple[str, ...]:
    quantity, asked = quantities_by_name().get(ask.asks), unit(ask.unit or "1")
    if quantity is None or not any(unit(name).same_dimension(asked) for name in (quantity.unit.name, *quantity.also)):
        return ()
    return also_said_in(quantity, asked)


def _says_the_same(part: Part, value: Answer, key: Answer) -> bool:
    if value is None:
        return False
    if part.kind == "ranking":
        return tau(ranking_of(str(key)), ranking_of(str(value))) == 1
    if part.kind not in NUMERIC:
        arranged = set if part.kind == "choices" else list
        return arranged(_labels(value)) == arranged(_labels(key))
    near = reach(Fraction(part.key or 0), part.tolerance)
    return abs(Fraction(written(value) or 0) - Fraction(part.key or 0)) <= near


def _labels(answer: Answer) -> tuple[str, ...]:
    return answer if isinstance(answer, tuple) else (written(answer) or "",)
