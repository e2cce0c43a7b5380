"""A run in a few lines of text: KV use, who waits and who is in flight, from left to right."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from grader.simulation.running import Played
from grader.simulation.words import seconds
from spec.serving.watch import Stretch

LEVELS, PLAIN_LEVELS = " ▁▂▃▄▅▆▇█", " .:-=+*#%@"
LABEL = 26


def columns(played: Played, most: int) -> tuple[list[Stretch], int]:
    """Put the stretches of a run together until there are no more than `most`; return them and the ticks of each."""
    watch = played.watch
    each = -(-len(watch.stretches) // most)
    found = []
    for start in range(0, len(watch.stretches), each):
        column = Stretch()
        for stretch in watch.stretches[start : start + each]:
            column.add(stretch)
        found.append(column)
    return found, each * watch.width


def timeline(played: Played, width: int, *, plain: bool) -> list[str]:
    """Draw a run.

    Args:
        played: the run.
        width: of a line.
        plain: in ASCII.
    """
    found, ticks = columns(played, max(width - LABEL, 10))
    levels, tick = PLAIN_LEVELS if plain else LEVELS, Fraction(1, played.run.ticks_per_second)
    blocks = played.server.blocks
    queue, flight = (max(values) for values in zip(*((c.most_waiting, c.most_running) for c in found), strict=True))
    lines = [
        _line("KV use, full at 100 %", [c.most_held for c in found], blocks, levels),
        _line(f"in flight, up to {flight:,}", [c.most_running for c in found], flight, levels),
        _line(f"waiting, up to {queue:,}", [c.most_waiting for c in found], queue, levels),
    ]
    marks = {crash.tick // ticks: "X" for crash in played.run.tally.crashes}
    if marks:
        lines.append(f"{'out of memory':<{LABEL}}{''.join(marks.get(n, ' ') for n in range(len(found)))}".rstrip())
    if played.metrics.preemptions:
        most = max(c.preemptions for c in found)
        lines.append(_line(f"preemptions, up to {most:,}", [c.preemptions for c in found], most, levels))
    end = seconds(played.run.end * tick)
    scale = f"0 s{end.rjust(max(len(found) - 3, len(end) + 1))}"
    return [*lines, f"{'':<{LABEL}}{scale}", f"{'':<{LABEL}}the most in each {seconds(ticks * tick)}"]


def _line(label: str, values: list[int], full: int, levels: str) -> str:
    return f"{label:<{LABEL}}{drawn(values, full, levels)}".rstrip()


def drawn(values: Sequence[int], full: int, levels: str) -> str:
    """Draw values from 0 to `full`; only 0 is drawn empty, and only what is full is drawn full."""
    top = len(levels) - 1
    return "".join(levels[0 if not v else top if v >= full else 1 + v * (top - 1) // full] for v in values)
