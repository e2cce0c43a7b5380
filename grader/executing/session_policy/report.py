"""The report on an answer, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from grader.executing.session_policy.graded import FORETELLING, Graded, Timeline
from grader.executing.session_policy.predictions import Prediction, earned
from grader.executing.session_policy.scoring import CAPS, COMPONENTS, POINTS, SAFETY, Component
from grader.executing.session_policy.words import Line
from grader.simulation.words import often, seconds, share
from spec.solving import Exact

COLUMNS = 60  # of the timeline
LEVELS = " ▁▂▃▄▅▆▇█"
LABEL = 15


def report(graded: Graded) -> Iterator[Line]:
    """Give the report line by line."""
    totals = [scored.total for scored in graded.scored]
    yield Line(
        "score" if graded.unseen else "practice",
        {"points": decimal(graded.points), "runs": str(len(totals))}
        | {"low": decimal(min(totals)), "high": decimal(max(totals))},
    )
    ooms = sum(run.measures.ooms for run in graded.runs)
    about = {"what": "safety: memory", "points": decimal(_mean(graded, "safety")), "of": str(SAFETY)}
    yield Line("safety", about | {"ooms": times(ooms)})
    for place, part in enumerate(COMPONENTS):
        earned_here = sum(scored.points[place] for scored in graded.scored) / Fraction(len(totals))
        yield Line("component", component(part, earned_here, graded.over(part.name)))
    yield from (Line(code, about) for code, about in _factors(graded))
    yield limit(graded)
    yield from foretold(graded.predictions)
    yield Line("in-all", {"score": decimal(POINTS * graded.score)})
    yield from drawn(graded.runs[0].timeline)


def component(part: Component, points: Fraction, measured: Fraction | None) -> dict[str, str]:
    """Say of a component what it earned, what was measured, and its curve."""
    return {
        "says": part.says,
        "points": decimal(points),
        "of": str(part.points),
        "measured": value(measured, part.unit),
        "full": value(part.curve.full, part.unit),
        "zero": value(part.curve.zero, part.unit),
    }


def _factors(graded: Graded) -> Iterator[tuple[str, dict[str, str]]]:
    bad, forgotten = graded.over("bad") or Fraction(0), _mean(graded, "forgotten")
    if bad:
        yield "bad", {"share": share(bad), "points": decimal(_mean(graded, "bad"))}
    if forgotten:
        kept = graded.over("retention") or Fraction(0)
        yield "forgotten", {"share": share(kept), "points": decimal(forgotten)}
    for cap in CAPS:
        capped = [scored.capped for scored in graded.scored if scored.cap == cap]
        if capped:
            lost = sum(capped, Fraction(0)) / len(graded.runs)
            yield cap, {"runs": often(len(capped)), "points": decimal(lost)}


def limit(graded: Graded) -> Line:
    """Say what cost most."""
    if not graded.losses:
        return Line("nothing-lost", {})
    worst = graded.losses[0]
    names = {part.name: part.says for part in COMPONENTS}
    if worst.what in names:
        return Line("weakest", {"says": names[worst.what], "points": decimal(worst.points)})
    return Line(f"most-{worst.what}", {"points": decimal(worst.points)})


def foretold(predictions: tuple[Prediction, ...]) -> Iterator[Line]:
    """Put what was foretold beside what was measured."""
    of = FORETELLING * POINTS
    yield Line("predictions", {"points": decimal(of * earned(predictions)), "of": str(of)})
    for each in predictions:
        said = "nothing" if each.said is None else value(each.said, each.of.unit or "1")
        measured = value(each.measured if each.measured is None else Fraction(each.measured), each.of.unit or "1")
        share_of = {Fraction(1): "full points", Fraction(1, 2): "half the points"}.get(each.earned, "no points")
        yield Line("prediction", {"says": each.of.says, "said": said, "measured": measured, "earned": share_of})


def drawn(timeline: Timeline) -> Iterator[Line]:
    """Draw the cache over the time, a row for each age of a session."""
    width = len(timeline.held[0])
    each = -(-width // COLUMNS)
    most = max(1, *map(max, timeline.held))
    yield Line(
        "timeline",
        {"budget": f"{timeline.budget:,}", "most": f"{most:,}", "end": seconds(timeline.seconds)},
    )
    for age, row in zip(reversed(timeline.ages), reversed(timeline.held), strict=True):
        columns = [max(row[start : start + each]) for start in range(0, width, each)]
        yield Line("row", {"age": f"{age:<{LABEL}}", "row": bars(columns, most)})


def bars(values: list[int], full: int) -> str:
    """Draw values from 0 to `full`; only 0 is drawn empty."""
    top = len(LEVELS) - 1
    return "".join(LEVELS[0 if not v else min(top, 1 + v * top // (full + 1))] for v in values)


def value(number: Fraction | None, unit: str) -> str:
    """Write what was measured."""
    if number is None:
        return "nobody"
    if unit == "%":
        return share(number)
    return seconds(number) if unit == "s" else f"{float(number):.3g}"


def decimal(points: Exact) -> str:
    """Write points with one decimal, rounded down."""
    tenths = int(10 * points)
    return f"{tenths // 10}.{tenths % 10}"


def times(number: int) -> str:
    """Write how often memory ran out."""
    return f"ran out {often(number)}" if number else "never ran out"


def _mean(graded: Graded, name: str) -> Fraction:
    return sum((Fraction(getattr(scored, name)) for scored in graded.scored), Fraction(0)) / len(graded.runs)
