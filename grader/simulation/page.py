"""A page with plots of runs: one file, no script, and nothing that it would have to fetch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median

from grader.simulation.running import Played
from grader.simulation.signals import signals
from grader.simulation.timeline import columns
from grader.simulation.words import rows, seconds, share
from spec.solving import Exact

WIDTH, HEIGHT = 1000, 200  # of a plot, in its own units; it is stretched to its place
MOST = 256  # columns of a plot
MARKS = 5  # of the time axis


@dataclass(frozen=True, slots=True)
class Shape:
    """A line or an area of a plot: `kind` names its style, `path` draws it and `says` explains it, once each."""

    kind: str
    path: str
    says: str


@dataclass(frozen=True, slots=True)
class Plot:
    """Values over the time.

    Attributes:
        title: what is to be seen.
        top: what the upper edge stands for; the lower one is 0.
        marks: what the time axis says, from left to right.
        shapes: the lines and areas.
        says: the same in a sentence, for those who do not see it.
    """

    title: str
    top: str
    marks: tuple[str, ...]
    shapes: tuple[Shape, ...]
    says: str


def page(title: str, says: str, assumed: str, all_played: Sequence[Played]) -> str:
    """Write the page of some runs."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    from grader.sets.rendering import folder

    environment = Environment(
        loader=FileSystemLoader(folder()), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        autoescape=True,
    )  # fmt: skip
    tables = [rows(played.metrics) for played in all_played]
    names = [name for name in tables[0] if any(table.get(name) for table in tables)]
    return environment.get_template("simulation.html.j2").render(
        title=title,
        says=says,
        assumed=assumed,
        names=[played.name for played in all_played],
        table=[(name, [table.get(name, "") for table in tables]) for name in names],
        runs=[(played, signals(played), list(_plots(played))) for played in all_played],
        width=WIDTH,
        height=HEIGHT,
    )


def _plots(played: Played) -> Iterator[Plot]:
    found, ticks = columns(played, MOST)
    run, blocks = played.run, played.server.blocks
    end = len(found) * ticks
    marks = tuple(seconds(Fraction(end * n, (MARKS - 1) * run.ticks_per_second)) if n else "0 s" for n in range(MARKS))
    alert = HEIGHT * (1 - played.server.rules.alert)
    crashes = "".join(f"M{_number(Fraction(WIDTH * c.tick, end))} 0V{HEIGHT}" for c in run.tally.crashes)
    most_held = max(c.most_held for c in found)
    shapes = [
        Shape("mean", _area([Fraction(c.held, c.ticks or 1) for c in found], blocks), "on average"),
        Shape("most", _steps([c.most_held for c in found], blocks), "at most"),
        Shape("alert", f"M0 {_number(alert)}H{WIDTH}", f"alert at {share(played.server.rules.alert)}"),
    ]
    says = f"KV use over the time, {share(Fraction(most_held, blocks))} at most"
    if crashes:
        shapes.append(Shape("crash", crashes, "out of memory"))
        says += f"; memory ran out {len(run.tally.crashes)} times"
    yield Plot("KV use", "100 %", marks, tuple(shapes), f"{says}.")

    most = max(1, *(max(c.most_waiting, c.most_running) for c in found))
    queue, flight = max(c.most_waiting for c in found), max(c.most_running for c in found)
    yield Plot(
        "Requests",
        f"{most:,}",
        marks,
        (
            Shape("mean", _area([c.most_waiting for c in found], most), "waiting"),
            Shape("most", _steps([c.most_running for c in found], most), "in flight"),
        ),
        f"Requests over the time: up to {queue:,} wait and up to {flight:,} are in flight.",
    )
    waits: list[list[int]] = [[] for _ in found]
    for job in run.jobs:
        if job.first_token is not None:
            waits[min(job.arrival // ticks, len(waits) - 1)].append(job.first_token - job.arrival)
    worst = max((max(each) for each in waits if each), default=0)
    if worst:
        top = seconds(Fraction(worst, run.ticks_per_second))
        yield Plot(
            "TTFT, by the time of arrival",
            top,
            marks,
            (
                Shape("mean", _area([median(each) if each else 0 for each in waits], worst), "median"),
                Shape("most", _steps([max(each, default=0) for each in waits], worst), "longest"),
            ),
            f"Time to the first token by the time of arrival, {top} at most.",
        )
    preempted = max(c.preemptions for c in found)
    if preempted:
        area = Shape("mean", _area([c.preemptions for c in found], preempted), "requests that had to leave")
        yield Plot("Preemptions", f"{preempted:,}", marks, (area,), f"Preemptions, up to {preempted:,} at a time.")


def _points(values: Iterable[float | Exact], full: float | Exact, count: int) -> Iterator[tuple[str, str, str]]:
    for number, value in enumerate(values):
        left, right = (_number(Fraction(WIDTH * n, count)) for n in (number, number + 1))
        yield left, right, _number(HEIGHT * (1 - Fraction(value) / Fraction(full)))


def _steps(values: Sequence[float | Exact], full: float | Exact) -> str:
    points = list(_points(values, full, len(values)))
    return f"M0 {points[0][2]}" + "".join(f"V{height}H{right}" for _, right, height in points)


def _area(values: Sequence[float | Exact], full: float | Exact) -> str:
    return f"{_steps(values, full)}V{HEIGHT}H0Z"


def _number(value: Exact) -> str:
    return f"{float(value):.1f}".removesuffix(".0")
