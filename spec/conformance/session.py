"""What a run of pytest knows of its candidate: the checks as tests, and the report of what they found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import pytest

from spec.conformance import deviations, report
from spec.conformance.candidate import Candidate, load
from spec.conformance.declared import Unusable
from spec.conformance.judging import Skipped
from spec.conformance.limits import TIME_LIMIT
from spec.conformance.protocol import Program
from spec.conformance.suite import EXAMPLES, FEWEST, OTHERS, Check, Failure, Suite, Tally, Useless
from spec.conformance.wording import sentence, told
from spec.index import laws

Number = TypeVar("Number", int, float)


@dataclass
class Session:
    """One candidate under test.

    Attributes:
        candidate: it.
        suite: its checks.
        tally: what they found so far.
        known: the reasons of known deviations by name.
    """

    candidate: Candidate
    suite: Suite
    tally: Tally
    known: Mapping[str, str]

    def checks(self) -> Iterator[Check]:
        """Give every check, and one for each law that the candidate does not implement, which is skipped."""
        met: set[str] = set()
        for check in self.suite.checks():
            met.update(check.laws)
            yield check
        for name in [*laws(), *OTHERS]:
            if name not in met and (not self.suite.only or name in self.suite.only):
                yield Check(name, (name,), "", lambda: Skipped("not implemented"))

    def run(self, check: Check) -> None:
        """Run one check as the test of pytest that now runs."""
        try:
            outcome = check.run()
        except Unusable as error:
            pytest.fail(str(error), pytrace=False)
        self.tally.add(check, outcome)
        if outcome is None:
            return
        if isinstance(outcome, Skipped):
            pytest.skip(str(outcome))
        reason = deviations.reason_of(outcome, self.known)
        if reason is not None:
            pytest.xfail(reason)
        pytest.fail("\n".join(self._words(outcome)), pytrace=False)

    def _words(self, outcome: Failure | Useless) -> list[str]:
        if isinstance(outcome, Useless):
            return [sentence(outcome, self.candidate.declared)]
        return [f"{', '.join(outcome.laws)}: {outcome.says}", *told(outcome, self.candidate.declared)]

    def text(self) -> str:
        """Return the table of all that was run, if anything was; each fault was told by its test."""
        found = self.tally.finished()
        if not (found.held or found.broken or found.skipped):
            return ""
        declared = self.candidate.declared
        return report.text(found, deviations.sorted_out(found, self.known), declared, faults=False)


def session(config: pytest.Config) -> Session:
    """Load the candidate that the options name.

    Raises:
        pytest.UsageError: it cannot be used.
    """
    where, command = config.getoption("candidate"), config.getoption("candidate_command")
    limit = _else(config.getoption("candidate_time_limit"), TIME_LIMIT)
    examples = _else(config.getoption("candidate_examples"), EXAMPLES)
    file = config.getoption("candidate_deviations")
    if where and command:
        raise pytest.UsageError("Name a candidate or a program, not both: --candidate or --candidate-command.")
    if examples < FEWEST:
        raise pytest.UsageError(f"--candidate-examples {examples} is too few; a check has {FEWEST} points or more.")
    try:
        known = deviations.read(file) if file else {}
        candidate: Candidate = load(where, limit) if where else Program(command, limit)
        suite = Suite(candidate, examples, config.getoption("candidate_law"))
    except Unusable as error:
        raise pytest.UsageError(str(error)) from None
    return Session(candidate, suite, Tally(suite), known)


def _else(given: Number | None, default: Number) -> Number:
    return default if given is None else given


def name_of(check: Check) -> str:
    """Return the name of the test of a check: the law, then the call or the sentence."""
    law = check.laws[-1] if check.direct else check.laws[0]
    return check.id if check.id.startswith(f"{law}:") or check.id == law else f"{law}: {check.id}"
