"""A list of jobs on which one way of batching is to take longer than the other: both are run on it.

The setting: `slots`; `most` jobs of 1 to `longest` steps; `order` of the static batches, `given` or `longest-first`;
`padded`, `yes` or `no`; a step of B sequences takes max(`least`, `base` + `each` B) ms, a prefill pass `prefill` ms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.exercise import Part
from grader.judging.judgement import CORRECT, FULL, INCORRECT, ZERO, Finding, Judgement
from grader.reading.absence import says_no_value
from grader.reading.integers import read_integers
from grader.reading.text import Unreadable
from spec.serving.batching import Continuous, Static
from spec.serving.makespan import makespan


def makespans(steps: Sequence[int], setting: Mapping[str, str]) -> tuple[int, int]:
    """Return the milliseconds of continuous batching and of static batching."""
    slots, least, base, each, prefill = (int(setting[name]) for name in ("slots", "least", "base", "each", "prefill"))

    def step(size: int) -> int:
        return max(least, base + each * size)

    batched = sorted(steps, reverse=True) if setting["order"] == "longest-first" else steps
    static = Static(slots, 0, setting["padded"] == "yes")
    return makespan(steps, Continuous(slots), step, prefill), makespan(batched, static, step, prefill)


def judged(part: Part, typed: str) -> Judgement:
    """Run both on a list.

    Raises:
        Unreadable: it is no list within the limits.
        ValueError: the record has no setting.
    """
    if part.run is None:
        raise ValueError(f"part {part.part} does not say what is run")
    if says_no_value(typed):
        return absent(part, typed)
    most, longest = int(part.run.setting["most"]), int(part.run.setting["longest"])
    steps = read_integers(typed)
    if len(steps) > most:
        raise Unreadable("list-length", about={"given": str(len(steps)), "most": str(most)})
    outside = [count for count in steps if not 1 <= count <= longest]
    if outside:
        raise Unreadable("list-range", about={"text": str(outside[0]), "most": str(longest)})
    ours, theirs = makespans(steps, part.run.setting)
    about = {
        "first": "continuous batching",
        "second": "static batching",
        "ours": f"{ours} ms",
        "theirs": f"{theirs} ms",
    }
    return shown(part, typed, ", ".join(map(str, steps)), Finding("makespans", about), works=ours > theirs)


def absent(part: Part, typed: str) -> Judgement:
    """The answer that there is no example."""
    if part.key is None:
        return Judgement(CORRECT, FULL, "none", typed=typed)
    return Judgement(INCORRECT, ZERO, "none", (), (Finding("example-exists"),), typed)


def shown(part: Part, typed: str, reading: str, measured: Finding, *, works: bool) -> Judgement:
    """An example that was run, and what was measured. One that works is right, whatever the record says."""
    if works:
        return Judgement(CORRECT, FULL, reading, (), (measured,), typed)
    findings = (measured,) if part.key is not None else (measured, Finding("no-example", {"reason": part.reason}))
    return Judgement(INCORRECT, ZERO, reading, (), findings, typed)
