"""Known deviations: a file in which an implementer says where the candidate differs from the laws, and why."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from spec.conformance.declared import Unusable, known, suggestion
from spec.conformance.suite import OTHERS, Failure, Report, Useless
from spec.index import laws
from spec.invariants import true


@dataclass(frozen=True)
class Sorted:
    """The faults of a report, told apart by what was known of them.

    Attributes:
        faults: those that nobody declared.
        useless: the functions of no use that nobody declared.
        deviations: the declared ones, each with its reason.
        over: what was declared and checked and no longer occurs.
    """

    faults: tuple[Failure, ...]
    useless: tuple[Useless, ...]
    deviations: tuple[tuple[Failure | Useless, str], ...]
    over: tuple[str, ...]

    @property
    def broken(self) -> list[str]:
        """The laws with a fault that nobody declared."""
        names = [law for fault in self.faults for law in fault.laws]
        return list(dict.fromkeys([*names, *(law for one in self.useless for law in one.laws)]))

    @property
    def deviating(self) -> list[str]:
        """The laws with none but declared faults."""
        names = dict.fromkeys(law for fault, _ in self.deviations for law in fault.laws)
        return [name for name in names if name not in self.broken]


def read(path: str) -> dict[str, str]:
    """Read a file of lines `name = "reason"`: a law, a function or a sentence by its id.

    Raises:
        Unusable: it cannot be read, names nothing that is known, or gives no reason.
    """
    try:
        found = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise Unusable(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise Unusable(f"{path} is not TOML: {error}.") from None
    names = {*laws(), *OTHERS, *known(), *(invariant.id for invariant in true())}
    for name, reason in found.items():
        if name not in names:
            raise Unusable(f"{path} names {name!r}, which is no law, function or sentence{suggestion(name, names)}.")
        if not isinstance(reason, str) or not reason.strip():
            raise Unusable(f"{path} gives {name} no reason; a reason is a text.")
    return found


def names_of(fault: Failure | Useless) -> tuple[str, ...]:
    """Return the names under which a fault may be declared."""
    if isinstance(fault, Useless):
        return (fault.function, *fault.laws)
    function = () if fault.reply is None else (fault.reply.asked.name,)
    return (fault.check, *fault.laws, *function)


def reason_of(fault: Failure | Useless, deviations: Mapping[str, str]) -> str | None:
    """Return the declared reason for a fault, or None."""
    return next((deviations[name] for name in names_of(fault) if name in deviations), None)


def sorted_out(report: Report, deviations: Mapping[str, str]) -> Sorted:
    """Tell the declared faults of a report from the others."""
    every: list[Failure | Useless] = [*report.failures, *report.useless]
    declared = [(fault, reason) for fault in every if (reason := reason_of(fault, deviations)) is not None]
    met = {name for fault in every for name in names_of(fault)}
    checked = {*report.obeyed, *report.held}
    return Sorted(
        tuple(fault for fault in report.failures if reason_of(fault, deviations) is None),
        tuple(one for one in report.useless if reason_of(one, deviations) is None),
        tuple(declared),
        tuple(name for name in deviations if name not in met and name in checked),
    )
