"""Printing the kill table and the list of sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spec.invariants import Invariant
from spec.invariants.kills import Row
from spec.invariants.proving import proved

COLUMNS = ("law", "faults", "by a sentence", "only by a number", "the same law", "unnoticed")


def kill_table(title: str, rows: Sequence[Row]) -> str:
    """Print what became of the faults of each law, the totals, and every fault that no sentence notices."""
    counts = [
        (row.law, row.total, len(row.by_invariant), len(row.by_number), len(row.same), len(row.alive)) for row in rows
    ]
    totals = ("total", *(sum(column) for column in list(zip(*counts, strict=True))[1:]))
    lines = [_line(cells) for cells in [(title, *COLUMNS[1:]), *counts, totals]]
    return "\n".join([*lines, "", *_details(rows)])


def _line(cells: Sequence[object]) -> str:
    return f"{cells[0]!s:<28}" + "".join(f"{cell!s:>18}" for cell in cells[1:])


def _details(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        yield from (f"{row.law}: {fault.says}; only by a number ({number})" for fault, number in row.by_number)
        yield from (f"{row.law}: {fault.says}; the same law: {fault.same}" for fault in row.same)
        yield from (f"{row.law}: {fault.says}; UNNOTICED" for fault in row.alive)


def sentences(invariants: Sequence[Invariant]) -> str:
    """Print the invariants, one a line, a refuted one with its smallest counterexample."""
    return "\n".join(
        f"{_name(i)}: {i.says}" + ("" if i.refuted is None else f" FALSE: {_example(i)}. {i.why}") for i in invariants
    )


def proofs(invariants: Sequence[Invariant]) -> str:
    """Say of each invariant whether it is proved, sampled or refuted, one a line, and count them."""
    found = [
        (_name(i), "refuted" if i.refuted is not None else "proved" if proved(i) else "sampled") for i in invariants
    ]
    counts = ", ".join(f"{sum(mark == word for _, mark in found)} {word}" for word in ("proved", "sampled", "refuted"))
    return "\n".join([*(f"{name}: {mark}" for name, mark in found), "", counts])


def _name(invariant: Invariant) -> str:
    return f"{invariant.id} ({', '.join(invariant.also)})" if invariant.also else invariant.id


def _example(invariant: Invariant) -> str:
    return ", ".join(f"{name} = {value}" for name, value in (invariant.refuted or {}).items())
