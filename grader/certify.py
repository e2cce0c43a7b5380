"""Certificates: what holds for the draws of each family, found by going through its grid.

`python -m grader.certify [FAMILY...]` writes `problems/certificates/*.toml` and prints a table. A certificate is the
same on every machine; a test computes a slice of it again and says when it is out of date.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from statistics import median_low

from grader.directions import directions
from grader.exercise import NUMERIC, Exercise, Part
from grader.families import CERTIFICATES as FOLDER
from grader.families import MISTAKE, Poses, family, mistakes_in, slugs
from grader.family import Family
from grader.posing import Rejected, Undrawable
from grader.preset import Preset

WHOLE_GRID = 20_000  # points: a larger grid is sampled
SAMPLE = 15_000
CASES = 1500  # sampled where there is no grid
SEEDS = 300
DISTINCT = 1000
SLICE = 150  # points whose outcome a test computes again

Outcome = Exercise | Rejected


@dataclass(slots=True)
class Tally:
    """What was counted over some points of a grid.

    Attributes:
        feasible, infeasible: exercises with an answer, and without one.
        rejected: points that make no exercise, by reason.
        slips: for each exercise with an answer, how many different wrong answers its slips give.
        same: slips left out of an exercise because they say the same there or lead nowhere, by name.
        relative: the least distance of a slip from a key, in tolerances.
        absolute: the same from keys that are exact, in the unit of the answer.
    """

    feasible: int = 0
    infeasible: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    slips: list[int] = field(default_factory=list)
    same: Counter[str] = field(default_factory=Counter)
    relative: Fraction | None = None
    absolute: Fraction | None = None

    def count(self, outcome: Outcome, known: Sequence[str]) -> None:
        """Count one point; `known` names every slip that its parts might have."""
        if isinstance(outcome, Rejected):
            self.rejected[outcome.reason] += 1
            return
        feasible = all(part.key is not None for part in outcome.parts)
        self.feasible += feasible
        self.infeasible += not feasible
        if feasible:
            self.slips.append(min(len({slip.value for slip in part.slips}) for part in outcome.parts))
            present = Counter(slip.slip for part in outcome.parts for slip in part.slips)
            self.same.update(Counter(known) - present)
            for part in outcome.parts:
                self._measure(part)

    def _measure(self, part: Part) -> None:
        if part.kind not in NUMERIC or not part.slips:
            return
        key = Fraction(part.key or 0)
        least = min(abs(Fraction(s.value) - key) for s in part.slips if s.value and not s.unrounded)
        if part.tolerance.kind == "exact":
            self.absolute = least if self.absolute is None else min(self.absolute, least)
        else:
            found = least / (Fraction(part.tolerance.value) * abs(key))
            self.relative = found if self.relative is None else min(self.relative, found)


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is certified of one family; `text` is the file."""

    slug: str
    revision: int
    grid: int | None
    tally: Tally
    infeasible_seeds: int
    attempts: tuple[int, ...]
    distinct: int
    digest: str

    @property
    def tried(self) -> int:
        """The number of points that were looked at."""
        return self.tally.feasible + self.tally.infeasible + self.tally.rejected.total()

    def text(self) -> str:
        """Write the certificate as TOML."""
        tally = self.tally
        lines = [
            "# Computed by `make certify`; not to be edited.",
            f'family = "{self.slug}"',
            f"revision = {self.revision}",
            *([] if self.grid is None else [f"grid = {self.grid}"]),
            f"tried = {self.tried}",
            f"with_an_answer = {tally.feasible}",
            f"without_an_answer = {tally.infeasible}",
            "",
            "[seeds]",
            f"tried = {SEEDS}",
            f"without_an_answer = {self.infeasible_seeds}",
            f'points_per_seed_mean = "{_decimals(Fraction(sum(self.attempts), SEEDS))}"',
            f"points_per_seed_max = {max(self.attempts)}",
            f"different_in_{DISTINCT} = {self.distinct}",
            "",
            "[slips] # different wrong answers of an exercise that has an answer",
            f"min = {min(tally.slips)}",
            f"median = {median_low(tally.slips)}",
            f"max = {max(tally.slips)}",
            "",
            "[closest] # slip to key: in tolerances, and in the unit of the answer where the key is exact",
            *([f'relative = "{_decimals(tally.relative)}"'] if tally.relative is not None else []),
            *([f'absolute = "{_decimals(tally.absolute)}"'] if tally.absolute is not None else []),
            "",
            "[rejected] # points that make no exercise, by reason",
            *(f'"{reason}" = {count}' for reason, count in _ranked(tally.rejected)),
            "",
            "[same] # slips left out because they say the same as the law there",
            *(f"{slip} = {count}" for slip, count in _ranked(tally.same)),
            "",
            "[slice] # the first points, computed again by a test",
            f"points = {SLICE}",
            f'digest = "{self.digest}"',
        ]
        return "\n".join(lines) + "\n"


def _ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _decimals(value: Fraction) -> str:
    """Write a number with two decimals, cut off, so that every machine writes the same."""
    hundredths = int(value * 100)
    return f"{hundredths // 100}.{hundredths % 100:02}"


def order(grid: int) -> Iterator[int]:
    """Go through a grid in steps that spread evenly over all of its dimensions."""
    step = max(1, grid * 618_034 // 1_000_000)
    while math.gcd(step, grid) != 1:
        step += 1
    return (i * step % grid for i in range(grid))


def outcomes(slug: str, of: Poses, points: int) -> Iterator[tuple[Outcome, list[str]]]:
    """Yield what the first points of the order make, with the names of all slips that might be there."""
    for point, _ in zip(range(points) if of.grid is None else order(of.grid), range(points), strict=False):
        yield of.outcome(slug, point)


def digest(slug: str, of: Poses) -> str:
    """Digest what the first points make."""
    made = (o.reason if isinstance(o, Rejected) else o.to_json() for o, _ in outcomes(slug, of, SLICE))
    return sha256("\n".join(made).encode()).hexdigest()


def certificate(slug: str, of: Poses) -> Certificate:
    """Go through the grid and the seeds of a family."""
    tally = Tally()
    points = CASES if of.grid is None else of.grid if of.grid <= WHOLE_GRID else SAMPLE
    for outcome, known in outcomes(slug, of, points):
        tally.count(outcome, known)
    seen: set[str] = set()
    attempts, infeasible = [], 0
    for seed in range(DISTINCT):
        posed, tried = of.search(slug, seed)
        seen.add(repr((posed.statement, [part.question for part in posed.parts])))
        if seed < SEEDS:
            attempts.append(tried)
            infeasible += any(part.key is None for part in posed.parts)
    return Certificate(slug, of.revision, of.grid, tally, infeasible, tuple(attempts), len(seen), digest(slug, of))


def preset_text(slug: str, of: Family) -> str:
    """Write what is recorded of an exercise printed in the chapter: its keys, and the slips that equal them."""
    exercise = of.pose(slug, 0)
    lines = ["# Computed by `make certify`; not to be edited.", f'family = "{slug}"', f"revision = {of.revision}"]
    lines.append("preset = true # printed in the chapter: no choice of numbers, so no promise about them")
    known = [[slip.slug for slip in question.slips] for question in directions(of)[0].questions]
    known += [[slip.slug for slip in ask.slips] for ask in of.more] if isinstance(of, Preset) else []
    for slugs_of_part, part in zip(known, exercise.parts, strict=True):
        kept = {slip.slip for slip in part.slips}
        dropped = [slug for slug in slugs_of_part if slug not in kept]
        names = ", ".join(f'"{name}"' for name in dropped)
        key = "none" if part.key is None else f"{part.key} {part.unit}".strip()
        lines += ["", f"[part_{part.part}]", f'key = "{key}"', f"slips = {len(part.slips)}"]
        lines += [f"dropped = [{names}] # they equal the key, say the same or lead nowhere here"]
    return "\n".join(lines) + "\n"


HEAD = ("family", "seeds", "no answer", "points/seed", "slips", "closest/tolerance", "rejected")


def row(found: Certificate) -> tuple[str, ...]:
    """Return the certificate as one line of the table."""
    tally = found.tally
    relative = "" if tally.relative is None else _decimals(tally.relative)
    absolute = "" if tally.absolute is None else f"{_decimals(tally.absolute)} (exact)"
    reasons = ", ".join(f"{reason} {100 * n // found.tried} %" for reason, n in _ranked(tally.rejected)[:4])
    return (
        found.slug,
        str(SEEDS),
        f"{_decimals(Fraction(100 * found.infeasible_seeds, SEEDS))} %",
        f"{_decimals(Fraction(sum(found.attempts), SEEDS))} (max {max(found.attempts)})",
        f"{min(tally.slips)} to {max(tally.slips)}",
        " and ".join(filter(None, [relative, absolute])),
        f"{100 * tally.rejected.total() // found.tried} %: {reasons}" if reasons else "0 %",
    )


def _hiding_mistakes(slug: str, of: Poses) -> list[tuple[str, Poses]]:
    """Return the family that hides mistakes in the solutions of another one, where there is one."""
    if not isinstance(of, Family):
        return []
    name, hiding = f"{slug}{MISTAKE}", mistakes_in(slug)
    try:
        hiding.pose(name, 0)
    except Undrawable:
        return []
    return [(name, hiding)]


def _write(slug: str, text: str) -> None:
    (FOLDER / f"{slug}.toml").write_text(text, encoding="utf-8")


def main(chosen: Sequence[str]) -> None:
    """Write the certificates of the chosen families, or of all, and print the table."""
    FOLDER.mkdir(exist_ok=True)
    rows: list[tuple[str, ...]] = [HEAD]
    for slug in chosen or [slug for slug in slugs() if not slug.endswith(MISTAKE)]:
        of: Poses = family(slug)
        if isinstance(of, Family) and of.preset:
            _write(slug, preset_text(slug, of))
            continue
        for name, one in [(slug, of), *_hiding_mistakes(slug, of)]:
            found = certificate(name, one)
            rows.append(row(found))
            _write(name, found.text())
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for cells in rows:
        line = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        sys.stdout.write(line.rstrip() + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
