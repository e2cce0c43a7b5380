"""The checks that a candidate is put to, and what comes out.

Two kinds: a function against the law that answers it, at drawn points; and every sentence of the invariants whose
functions the candidate has. Points are read from hashes, so that a run is the same everywhere, and what fails is made
small.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from spec.conformance import managing, padding
from spec.conformance.answers import Fault, attribute
from spec.conformance.asking import Asked, Values, asked
from spec.conformance.candidate import Candidate, Python
from spec.conformance.declared import Declared, Unusable, known, suggestion
from spec.conformance.judging import ANOTHER, Failed, Judge, Reply, Skipped
from spec.conformance.limits import TIME_LIMIT
from spec.conformance.looks_like import Likeness, looks_like
from spec.conformance.points import fixing, points
from spec.conformance.sentences import Adapted, Missing, about, broken, questions_of
from spec.conformance.shrinking import shrunk
from spec.index import laws as all_laws
from spec.invariants import Invariant
from spec.invariants.draws import Draws, sample
from spec.invariants.draws import Values as Point
from spec.solving import Exact

EXAMPLES = 40  # points of every check
FEWEST = 2  # below which a check sees too little
SLOW = {"hung", "crashed", "memory"}  # faults that nobody wants to see again and again
OTHERS = {padding.LAW: padding.SAYS} | managing.SENTENCES  # what is checked and is no law, by its name


@dataclass(frozen=True)
class Failure:
    """One check that failed.

    Attributes:
        check: its id.
        laws: the laws that are broken.
        says: the law or the sentence, in words.
        point: the shrunk counterexample, in the quantities' own units; empty where it is told in words.
        reply: the wrong answer there, beside the right one.
        likely: what it looks like.
        told: the counterexample and both answers in words, where they are no values of quantities.
    """

    check: str
    laws: tuple[str, ...]
    says: str
    point: Values = field(default_factory=dict)
    reply: Reply | None = None
    likely: tuple[Likeness, ...] = ()
    told: str = ""


@dataclass(frozen=True)
class Useless:
    """A function that gave an answer of no use, at the smallest such point that was found."""

    function: str
    fault: Fault
    laws: tuple[str, ...]
    point: Values | None


Outcome = Failure | Useless | Skipped | None


@dataclass(frozen=True, eq=False)
class Check:
    """One thing to check.

    Attributes:
        id: a readable name.
        laws: the laws it speaks of.
        says: what it checks, in words.
        direct: it looks at a function itself, not at a sentence about it.
        run: does it; None where it holds, Skipped where it could not be tried.
    """

    id: str
    laws: tuple[str, ...]
    says: str
    run: Callable[[], Outcome]
    direct: bool = True


class Suite:
    """All checks for one candidate.

    Attributes:
        judge: who asks the candidate.
        asked: every question it answers.
        unasked: the functions it has that answer no question, each with the reason.
    """

    def __init__(
        self, candidate: Candidate, examples: int = EXAMPLES, laws: Collection[str] = (), *, explains: bool = True
    ) -> None:
        """Find out what the candidate can be asked; with `laws`, only what these take part in.

        Unless it `explains`, counterexamples stay as they are found and nobody asks what they look like.

        Raises:
            Unusable: there is no law of such a name.
        """
        for name in laws:
            if name not in all_laws() and name not in OTHERS:
                raise Unusable(f"There is no law {name!r}{suggestion(name, [*all_laws(), *OTHERS])}.")
        self.candidate, self.examples, self.only, self.explains = candidate, examples, frozenset(laws), explains
        self.judge = Judge(candidate)
        found, self.unasked = asked(candidate)
        self.asked = [one for one in found if not laws or not self.only.isdisjoint(one.laws)]
        single = {(one.name, frozenset(one.given)): one for one in found if len(one.steps) <= 1}
        self.adapted = Adapted(self.judge, single)

    def checks(self) -> Iterator[Check]:
        """Give every check: the functions against their laws, then the sentences, then what is no law."""
        for one in self.asked:
            words = one.law.says if len(one.laws) == 1 else f"{one.law.says} (from {', '.join(one.laws)})"
            yield Check(one.call, one.laws, words, partial(self.agreement, one))
        for invariant in self._sentences():
            laws = tuple(dict.fromkeys(law for _, law in self._asks(invariant)))
            if laws and (not self.only or not self.only.isdisjoint(laws)):
                yield Check(invariant.id, laws, invariant.says, partial(self.sentence, invariant), direct=False)
        yield from self._others()

    def _sentences(self) -> list[Invariant]:
        single = self.adapted.single
        return about({name for name, _ in single}, list(dict.fromkeys(one.law for one in single.values())))

    def _asks(self, invariant: Invariant) -> list[tuple[object, str]]:
        """Return those questions of a sentence that the candidate answers, each with its law."""
        return [(asks, law) for asks, law in questions_of(invariant).items() if asks in self.adapted.single]

    @property
    def implemented(self) -> set[str]:
        """The laws that a function of the candidate can be held against."""
        return {law for one in self.asked for law in one.laws} | {law for one in self._others() for law in one.laws}

    def _others(self) -> Iterator[Check]:
        if padding.applies(self.candidate) and (not self.only or padding.LAW in self.only):
            yield Check(padding.LAW, (padding.LAW,), padding.SAYS, self._padding)
        manager = self.candidate.manager()
        if manager is not None and (not self.only or not self.only.isdisjoint(managing.SENTENCES)):
            trial = managing.Trial(manager, self.examples, self.candidate.time_limit)
            for name, words in managing.SENTENCES.items():
                yield Check(name, (name,), words, partial(self._manager, trial, name))

    def _padding(self) -> Outcome:
        told, likely = padding.check(self.candidate, self.examples)
        if isinstance(told, Fault):
            return Useless(padding.FUNCTION, told, (padding.LAW,), None)
        if not told:
            return None
        words = tuple(Likeness("padding", like, (padding.LAW,)) for like in likely)
        return Failure(padding.LAW, (padding.LAW,), padding.SAYS, likely=words, told=told)

    @staticmethod
    def _manager(trial: managing.Trial, name: str) -> Outcome:
        found = trial.found().get(name)
        if found is None:
            return Skipped("it has no such operation, or one that was stopped") if name in trial.left_out() else None
        return Failure(name, (name,), managing.SENTENCES[name], told=found)

    def agreement(self, one: Asked) -> Outcome:
        """Compare a function with its law at the points."""
        replies: list[tuple[Draws, Reply]] = []
        reason = "no point lies in its domain"
        for draws, values in points(one, self.examples, self.candidate.declared):
            try:
                replies.append((draws, self.judge.reply(one, values)))
            except Skipped as error:
                reason = str(error)
            except Failed as error:
                return self._useless(one, error.fault, draws, values)
        wrong = [(draws, reply) for draws, reply in replies if reply.wrong]
        if not wrong:
            return None if replies else Skipped(reason)
        draws, reply = next(((d, r) for d, r in wrong if r.wrong == ANOTHER), wrong[0])  # the plainest kind
        point = self._shrunk(draws, dict(reply.values), lambda values: self._wrong(one, values, reply.wrong))
        every = [reply for _, reply in replies] if self.explains else []
        likely = tuple(looks_like(every, self.candidate.declared)) if every else ()
        blamed = next((like.laws for like in likely if like.laws and like.slug != "negative"), (one.law.name,))
        laws = one.laws if len(one.laws) == 1 else blamed
        return Failure(one.call, laws, one.law.says, *self._again(one, point, reply), likely)

    def _again(self, one: Asked, point: Point, first: Reply) -> tuple[Values, Reply]:
        """Return a small point with the answer there, or the first one where the candidate now answers otherwise."""
        try:
            reply = self.judge.reply(one, point)
        except (Skipped, Failed):
            return first.values, first
        return (point, reply) if reply.wrong else (first.values, first)

    def _shrunk(self, draws: Draws, values: Point, fails: Callable[[Point], bool]) -> Point:
        if not self.explains:
            return values
        return shrunk(draws, values, fails, 10 * self.examples, self._plain)

    def _plain(self, name: str, value: Exact) -> Exact:
        return self.candidate.declared.stated(name, value) if name in known() else value

    def _wrong(self, one: Asked, values: Point, how: str) -> bool:
        try:
            return one.valid(values) and self.judge.reply(one, values).wrong == how
        except Skipped:
            return False
        except Failed as error:
            if error.fault.kind not in SLOW:
                self.judge.faults.pop(one.name)  # another fault than the one that is made small
            return False

    def _useless(self, one: Asked, fault: Fault, draws: Draws, values: Point) -> Useless:
        """Make the point small at which an answer is of no use; one that takes long or stops a program is kept."""

        def same(tried: Point) -> bool:
            first = self.judge.faults.pop(one.name)
            try:
                if one.valid(tried):
                    self.judge.reply(one, tried)
            except Failed as error:
                return error.fault.kind == fault.kind
            except Skipped:
                return False
            finally:
                self.judge.faults[one.name] = first
            return False

        small = values if fault.kind in SLOW else self._shrunk(draws, values, same)
        return Useless(one.name, fault, one.laws, small)

    def sentence(self, invariant: Invariant) -> Outcome:
        """Check a sentence at its fixed points."""
        draws = fixing(invariant.draws, self.candidate.declared.assumes)
        missing, tried = "", 0
        for values in sample(draws, min(self.examples, 24), invariant.id):
            try:
                failed = broken(invariant, self.adapted, values)
                tried += 1
            except Missing as error:
                missing = f"it does not answer {error}"
                continue
            except Failed as error:
                name = next(reversed(self.judge.faults))
                _, one, point = self.judge.faults[name]
                return Useless(name, error.fault, one.laws, point)
            if failed:
                return self._failure(invariant, draws, values)
        return None if tried else Skipped(missing)

    def _failure(self, invariant: Invariant, draws: Draws, values: Point) -> Failure:
        def fails(tried: Point) -> bool:
            try:
                return broken(invariant, self.adapted, tried)
            except (Missing, Failed):
                return False

        point = self._shrunk(draws, values, fails)
        self.adapted.wrong.clear()
        fails(point)
        reply = self.adapted.wrong[0] if self.adapted.wrong else None
        laws = () if reply is None else reply.asked.laws
        return Failure(invariant.id, laws, invariant.says, point, reply)


@dataclass
class Report:
    """What came out of a run.

    Attributes:
        title: the candidate.
        obeyed: the laws for which every check held.
        failures: what failed, in the order of the checks.
        useless: the functions that gave an answer of no use.
        missing: the laws that the candidate does not implement.
        skipped: the checks that could not be tried, by id, each with the reason.
        unasked: its functions that answer no question, each with the reason.
        held: the checks that held, by id.
        calls: how often the candidate was asked.
    """

    title: str
    obeyed: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    useless: list[Useless] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    unasked: Mapping[str, str] = field(default_factory=dict)
    held: list[str] = field(default_factory=list)
    calls: int = 0

    @property
    def broken(self) -> list[str]:
        """The laws that are broken, or whose function is of no use."""
        return list(dict.fromkeys(law for laws in self._broken() for law in laws))

    def _broken(self) -> Iterator[tuple[str, ...]]:
        yield from (found.laws for found in self.failures)
        yield from (found.laws for found in self.useless)


@dataclass
class Tally:
    """Collects outcomes into a report."""

    suite: Suite
    report: Report = field(init=False)
    _held: set[str] = field(default_factory=set)
    _left_out: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Begin an empty report."""
        self.report = Report(self.suite.candidate.title, unasked=self.suite.unasked)

    def add(self, check: Check, outcome: Outcome) -> None:
        """Take one outcome in."""
        report = self.report
        if isinstance(outcome, Failure):
            report.failures.append(outcome)
        elif isinstance(outcome, Useless):
            if outcome.function not in {known.function for known in report.useless}:
                report.useless.append(outcome)
        elif isinstance(outcome, Skipped):
            report.skipped[check.id] = str(outcome)
            self._left_out.update(check.laws if check.direct else ())
        else:
            report.held.append(check.id)
            self._held.update(check.laws if check.direct else ())

    def finished(self) -> Report:
        """Return the report with the laws sorted into obeyed and missing."""
        report, only = self.report, self.suite.only
        every = [name for name in [*all_laws(), *OTHERS] if not only or name in only]
        broken, implemented = set(report.broken), self.suite.implemented
        report.obeyed = [name for name in every if name in self._held - broken]
        left_out = self._left_out - self._held
        report.missing = [n for n in every if n not in broken and (n in left_out or n not in implemented)]
        report.calls = self.suite.judge.calls
        return report


def check(
    candidate: Any,
    *,
    examples: int = EXAMPLES,
    laws: Sequence[str] = (),
    time_limit: float = TIME_LIMIT,
    until_broken: bool = False,
) -> Report:
    """Put a candidate to every check that applies to it.

    Args:
        candidate: a module or object with functions named as quantities, or a Candidate.
        examples: the points of every check.
        laws: the names of laws, where only these are to be checked.
        time_limit: seconds that a call may last, where the candidate is a module or object.
        until_broken: end at the first check that fails, and explain nothing.

    Raises:
        Unusable: what the candidate declares cannot be understood, there is no such law, or the candidate is gone.
    """
    its = candidate if isinstance(attribute(candidate, "declared"), Declared) else None
    suite = Suite(its or Python(candidate, time_limit=time_limit), examples, laws, explains=not until_broken)
    tally = Tally(suite)
    for one in suite.checks():
        tally.add(one, one.run())
        if until_broken and tally.report.broken:
            break
    return tally.finished()
