"""The report on an answer as a page: one file, no script, and nothing that it would have to fetch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log

from grader.executing.session_policy.graded import FORETELLING, Graded, Timeline
from grader.executing.session_policy.report import component, report
from grader.executing.session_policy.scoring import CAPS, COMPONENTS, POINTS, Component
from grader.simulation.words import seconds

WIDTH, HEIGHT = 1000, 200  # of the timeline, in its own units; it is stretched to its place
MOST, MARKS = 200, 5  # columns of the timeline, and marks of its axis
FULL, ZERO = 20, 80  # where a curve has its two corners, in percent of its width
ENDS = {
    "done": "came to their end",
    "open": "were open at the end",
    "context": "ran out of context",
    "killed": "were killed",
    "max_age": "were ended for their age",
    "503": "were turned away",
    "oom": "were lost as memory ran out",
}
BAD = ("bad", "forgotten", *CAPS)


@dataclass(frozen=True, slots=True)
class Area:
    """What the sessions of one age hold over the time: its path, and the age."""

    path: str
    says: str


def page(title: str, verdict: str, graded: Graded, simplifications: Sequence[str]) -> str:
    """Write the page."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    from grader.sets.rendering import folder

    environment = Environment(
        loader=FileSystemLoader(folder()), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        autoescape=True,
    )  # fmt: skip
    said = [(line.code, line.about, str(line)) for line in report(graded)]
    safety = next(about for name, about, _ in said if name == "safety")
    first = graded.runs[0]
    return environment.get_template("session-policy.html.j2").render(
        title=title,
        verdict=verdict,
        score=f"{100 * float(graded.score):.1f}",
        reading=graded.reading,
        summary=said[0][2],
        limit=next(text for name, _, text in said if name.startswith(("most-", "weakest", "nothing"))),
        safety=safety,
        components=list(_components(graded)),
        factors=[text.removeprefix("- ") for name, _, text in said if name in BAD],
        foretelling=str(FORETELLING * POINTS),
        predictions=[about for name, about, _ in said if name == "prediction"],
        areas=list(_areas(first.timeline)),
        budget=f"{first.timeline.budget:,}",
        marks=_marks(first.timeline),
        ends=[(ENDS[how], count) for how, count in sorted(first.ends.items(), key=lambda end: -end[1]) if count],
        width=WIDTH,
        height=HEIGHT,
        corners=(FULL, ZERO),
        simplifications=simplifications,
    )


def _components(graded: Graded) -> Iterator[dict[str, str]]:
    for place, part in enumerate(COMPONENTS):
        points = sum((scored.points[place] for scored in graded.scored), Fraction(0)) / len(graded.runs)
        measured = graded.over(part.name)
        yield {
            **component(part, points, measured),
            "axis": " (logarithmic)" if part.curve.logarithmic else "",
            "at": "" if measured is None else f"{_along(part, measured):.1f}",
            "height": f"{100 * float(1 - part.curve.share(measured)):.1f}",
        }


def _along(part: Component, measured: Fraction) -> float:
    """Return where a value lies on the axis of a curve, in percent of the width."""
    full, zero, here = (float(number) for number in (part.curve.full, part.curve.zero, measured))
    if part.curve.logarithmic:
        full, zero, here = (log(max(number, 1e-6)) for number in (full, zero, here))
    return min(max(FULL + (ZERO - FULL) * (here - full) / (zero - full), 2), 98)


def _areas(timeline: Timeline) -> Iterator[Area]:
    """Pile the ages up, the oldest at the bottom."""
    each = -(-len(timeline.held[0]) // MOST)
    below = [0] * -(-len(timeline.held[0]) // each)
    for age, row in zip(reversed(timeline.ages), reversed(timeline.held), strict=True):
        columns = [row[start : start + each] for start in range(0, len(row), each)]
        above = [under + sum(column) // len(column) for under, column in zip(below, columns, strict=True)]
        yield Area(_between(below, above, timeline.budget), age)
        below = above


def _between(below: Sequence[int], above: Sequence[int], full: int) -> str:
    count = len(below)

    def point(place: int, tokens: int) -> str:
        return f"{WIDTH * place / max(count - 1, 1):.1f} {HEIGHT * (1 - tokens / full):.1f}"

    over = [point(place, tokens) for place, tokens in enumerate(above)]
    under = [point(place, tokens) for place, tokens in enumerate(below)]
    return f"M{'L'.join([*over, *reversed(under)])}Z"


def _marks(timeline: Timeline) -> list[str]:
    return [seconds(timeline.seconds * Fraction(n, MARKS - 1)) if n else "0 s" for n in range(MARKS)]
