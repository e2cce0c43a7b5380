"""A sequence of accesses on which one cache is to miss more often than another: both are run on it.

The setting: at most `most` accesses; `sizes` of the entries as `a:1,b:2`; the two caches, `first` and `second`, as
`lru 3` or `fifo 3` with their blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.executing.batching_makespans import absent, shown
from grader.exercise import Part
from grader.judging.judgement import Finding, Judgement
from grader.reading.absence import says_no_value
from grader.reading.choice import read_labels
from grader.reading.text import Unreadable
from spec.serving.eviction import replay

LONGEST = 400


def named(cache: str) -> str:
    """Return a cache of the setting in words."""
    policy, _, blocks = cache.partition(" ")
    return f"{policy.upper()} with {blocks} blocks"


def misses(trace: Sequence[str], setting: Mapping[str, str]) -> tuple[int, int]:
    """Return how often the first and the second cache miss."""
    sizes = {name: int(size) for name, _, size in (pair.partition(":") for pair in setting["sizes"].split(","))}
    found = []
    for cache in (setting["first"], setting["second"]):
        policy, _, blocks = cache.partition(" ")
        accesses = [(name, sizes[name]) for name in trace]
        found.append(replay(accesses, int(blocks), refreshed=policy == "lru").misses)
    return found[0], found[1]


def judged(part: Part, typed: str) -> Judgement:
    """Run both on a sequence.

    Raises:
        Unreadable: it is no sequence within the limits.
        ValueError: the record has no setting.
    """
    if part.run is None:
        raise ValueError(f"part {part.part} does not say what is run")
    if not typed:
        raise Unreadable("blank")
    if len(typed) > LONGEST:
        raise Unreadable("too-long", about={"limit": str(LONGEST)})
    try:
        trace = read_labels(typed, part.options)
    except Unreadable:
        if says_no_value(typed):
            return absent(part, typed)
        raise
    most = part.run.setting["most"]
    if len(trace) > int(most):
        raise Unreadable("list-length", about={"given": str(len(trace)), "most": most})
    ours, theirs = misses(trace, part.run.setting)
    names = {"first": named(part.run.setting["first"]), "second": named(part.run.setting["second"])}
    counts = {"ours": str(ours), "theirs": str(theirs), "of": str(len(trace))}
    return shown(part, typed, ", ".join(trace), Finding("misses", names | counts), works=ours > theirs)
