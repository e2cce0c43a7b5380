"""What an LRU cache evicts along a trace, what is left, how often it hits, and how much room it takes (F29)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from grader.amounts import digits, rounded
from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, told_apart
from spec.serving.eviction import Replay, replay
from spec.solving import whole
from spec.stream import Stream

NAMES = "abcdef"
FEWEST, MOST = 5, 20  # accesses
LARGEST = 6  # blocks
ROW = 4  # accesses told in a line of the solution

Outcome = tuple[tuple[str, ...], tuple[str, ...], int]  # what is evicted, what is left, the hits


@dataclass(frozen=True, slots=True)
class Accesses:
    """Who is used, and how many blocks it then takes; the capacity, how many misses are allowed, and who is pinned."""

    trace: tuple[tuple[str, int], ...]
    capacity: int
    misses: int
    pinned: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The entries, in the order of the alphabet."""
        return tuple(sorted({name for name, _ in self.trace}))

    @property
    def largest(self) -> dict[str, int]:
        """The most blocks that each entry takes."""
        return {name: max(blocks for there, blocks in self.trace if there == name) for name in self.names}


@lru_cache(maxsize=4096)
def _replayed(trace: tuple[tuple[str, int], ...], capacity: int, pinned: tuple[str, ...]) -> Replay:
    return replay(trace, capacity, pinned=frozenset(pinned))


def _run(case: Accesses) -> Replay:
    return _replayed(case.trace, case.capacity, case.pinned)


def _unpinned(case: Accesses) -> Accesses:
    return replace(case, pinned=())


def _draw(stream: Stream) -> Accesses:
    kinds = 4 + stream.below(3)
    sizes = {name: 1 + stream.below(LARGEST - 1) for name in NAMES[:kinds]}
    grows = stream.below(3) == 0
    trace: list[tuple[str, int]] = []
    for _ in range(FEWEST + stream.below(MOST - FEWEST + 1)):
        others = [name for name in NAMES[:kinds] if not trace or name != trace[-1][0]]
        name = stream.choice(others)
        if grows and sizes[name] < 2 * LARGEST and any(name == used for used, _ in trace) and stream.below(2):
            sizes[name] += 1 + stream.below(2)
        trace.append((name, sizes[name]))
    case = Accesses(tuple(trace), 1, 1)
    compulsory = len(case.names)
    scarce = stream.below(3) == 0
    return Accesses(
        case.trace,
        max(3, _together(case) * (4 + stream.below(4)) // 10),
        compulsory - 1 - stream.below(2) if scarce else compulsory + stream.below(2 + len(trace) // 4),
        tuple(sorted({stream.choice(case.names) for _ in range(1 + stream.below(2))})) if stream.below(2) else (),
    )


def _keep(case: Accesses) -> bool:
    """Keep traces on which LRU works, pins matter, and what is refused once is refused for a size that is its only."""
    run = _run(case)
    refused_at_one_size = all(len({b for name, b in case.trace if name == each}) == 1 for each in run.refused)
    pins_matter = not case.pinned or (
        set(case.pinned) <= set(run.resident) - set(run.refused) and run.evicted != _run(_unpinned(case)).evicted
    )
    return len(run.evicted) > 1 and run.hits > 0 and case.misses > 0 and refused_at_one_size and pins_matter


def _statement(case: Accesses) -> str:
    used = ", ".join(f"{name}:{blocks}" for name, blocks in case.trace)
    grows = pinned = refused = ""
    if any(blocks < case.largest[name] for name, blocks in case.trace):
        grows = (
            "An entry that is there and needs more blocks than before is a hit: it keeps those it has, counts as just "
            "used, and gets the others, for which others may be evicted. "
        )
    if case.pinned:
        are = "is pinned for a running sequence: once in the cache, it is"
        if len(case.pinned) > 1:
            are = "are pinned for running sequences: once in the cache, they are"
        pinned = (
            f"{'Entry' if len(case.pinned) == 1 else 'Entries'} {' and '.join(case.pinned)} {are} never evicted, and "
            "the next in line goes instead. An entry that would not fit even with all but the pinned ones evicted is "
            "refused: that is a miss, and nothing is evicted for it. "
        )
    elif max(case.largest.values()) > case.capacity:
        refused = "An entry larger than the whole cache is refused: that is a miss, and nothing is evicted for it. "
    return (
        "A cache starts empty and keeps whole entries. Where a new one needs room, it evicts the entry used longest "
        f"ago (LRU), one after another until the new one fits. Every access is a use. {grows}{pinned}{refused}"
        f"These are the accesses in order, each as the entry and the blocks that it takes: {used}."
    )


# Misconceptions: other rules of eviction, on a list of who is there, the next to go first.

Held = list[tuple[str, int]]


def _otherwise(case: Accesses, victim: Callable[[Held], int], *, refreshed: bool = True, once: bool = False) -> Outcome:
    """Return what is evicted, what is left, and the hits, where `victim` says which place of those not pinned goes."""
    held: Held = []
    evicted: list[str] = []
    hits = 0
    for name, blocks in case.trace:
        place = next((n for n, (there, _) in enumerate(held) if there == name), None)
        hits += place is not None
        if blocks + sum(size for other, size in held if other in case.pinned and other != name) > case.capacity:
            continue
        old = held[:]
        if place is not None:
            del held[place]
        idle = [entry for entry in held if entry[0] not in case.pinned]
        gone = 0
        while idle and sum(size for _, size in held) + blocks > case.capacity and not (once and gone):
            out = idle.pop(victim(idle))
            held.remove(out)
            evicted.append(out[0])
            gone += 1
        if place is None or refreshed:
            held.append((name, blocks))
        else:
            held.insert(sum(there in held for there in old[:place]), (name, blocks))
    return tuple(evicted), tuple(name for name, _ in held), hits


def _fifo(case: Accesses) -> Outcome:
    return _otherwise(case, lambda _: 0, refreshed=False)


def _mru(case: Accesses) -> Outcome:
    return _otherwise(case, lambda held: len(held) - 1)


def _newest(case: Accesses) -> Outcome:
    return _otherwise(case, lambda held: len(held) - 1, refreshed=False)


def _largest(case: Accesses) -> Outcome:
    return _otherwise(case, lambda held: max(range(len(held)), key=lambda place: held[place][1]))


def _one(case: Accesses) -> Outcome:
    return _otherwise(case, lambda _: 0, once=True)


def _no_pins(case: Accesses) -> Outcome:
    return _otherwise(_unpinned(case), lambda _: 0)


RULES = (
    (
        "first-in-first-out",
        "Entries went in the order in which they came; each use makes an entry the last to go.",
        _fifo,
    ),
    ("most-recent-first", "The entry used last was evicted; it is the one used longest ago that goes.", _mru),
    (
        "last-in-first-out",
        "The entry that came in last was evicted; it is the one used longest ago that goes.",
        _newest,
    ),
    ("largest-first", "The largest entry was evicted; it is the one used longest ago that goes.", _largest),
    ("one-eviction-each", "Only one entry was evicted each time; it goes on until the new one fits.", _one),
    (
        "pin-ignored",
        "Pinned entries were evicted like all others; they stay, and the next in line goes instead.",
        _no_pins,
    ),
)


def _evicted(case: Accesses) -> tuple[str, ...]:
    return _run(case).evicted


def _resident(case: Accesses) -> tuple[str, ...]:
    return tuple(sorted(_run(case).resident))


def _rate(case: Accesses) -> int | Fraction:
    return whole(Fraction(_run(case).hits, len(case.trace)))


def _followed(case: Accesses) -> tuple[Explained, ...]:
    """Follow the trace: after each access, who is there, the next to go first."""
    lines = []
    for count, (name, blocks) in enumerate(case.trace):
        before, after = (_replayed(case.trace[:end], case.capacity, case.pinned) for end in (count, count + 1))
        gone = after.evicted[len(before.evicted) :]
        what = "hit" if after.hits > before.hits else "miss"
        refused = ", refused" * (len(after.refused) > len(before.refused))
        out = f", out {' '.join(gone)}" if gone else ""
        idle = " ".join(there for there in after.resident if there not in case.pinned)
        stays = " ".join(there for there in after.resident if there in case.pinned)
        holds = " and ".join(filter(None, (idle, stays and f"pinned {stays}"))) or "nothing"
        lines.append(f"{name}:{blocks} {what}{refused}{out}, holds {holds}")
    told = ["; ".join(lines[start : start + ROW]) for start in range(0, len(lines), ROW)]
    starts = [f"From access {start + 1} on" for start in range(0, len(lines), ROW)]
    return tuple(
        Explained("LRU", f"{start}{', with the next to go listed first' * (start == starts[0])}.", line)
        for start, line in zip(starts, told, strict=True)
    )


def _hits_told(case: Accesses) -> str:
    hits = [_replayed(case.trace[:end], case.capacity, case.pinned).hits for end in range(len(case.trace) + 1)]
    found = zip(case.trace, pairwise(hits), strict=True)
    return ", ".join(f"access {n} ({name})" for n, ((name, _), (old, new)) in enumerate(found, 1) if new > old)


def _rate_told(case: Accesses) -> str:
    found = _rate(case)
    written = (f"{_run(case).hits}/{len(case.trace)}", digits(found), *[rounded(found)] * ("/" in digits(found)))
    return " = ".join(("hit rate", *dict.fromkeys(written)))


def _hints(case: Accesses, last: str) -> tuple[str, ...]:
    first, (name, blocks) = next((n, used) for n, used in enumerate(case.trace, 1) if used[1] <= case.capacity)
    passing = ", passing over those that are pinned" if case.pinned else ""
    move = "At each access: move the entry to the end if it is there; then take others from the front until all fits"
    return (
        "Keep a list of what is there, the entry used longest ago first, and the sum of its blocks.",
        f"{move}{passing}.",
        f"After access {first} the cache holds {name} with {blocks} of its {case.capacity} blocks. {last}",
    )


EVICTED: CaseAsk[Accesses] = CaseAsk(
    asks="evicted",
    question=lambda c: (
        f"Name an entry each time that it is evicted. With {c.capacity} blocks, which entries are evicted, in order?"
    ),
    kind="sequence",
    key=_evicted,
    options=lambda c: c.names,
    slips=tuple(
        told_apart(slug, says, lambda c, rule=rule: rule(c)[0], _evicted, ordered=True)  # type: ignore[misc]
        for slug, says, rule in RULES
    ),
    hints=lambda c: _hints(c, f"{len(c.trace)} accesses follow one another; the same entry can be evicted twice."),
    explained=lambda c: (
        *_followed(c),
        Explained("result", "Evicted one after another.", f"evicted = {', '.join(_evicted(c))}"),
    ),
    least=2,
)

RESIDENT: CaseAsk[Accesses] = CaseAsk(
    asks="resident",
    question=lambda c: f"With {c.capacity} blocks, which entries are in the cache at the end?",
    kind="choices",
    key=_resident,
    options=lambda c: c.names,
    slips=(
        *(
            told_apart(slug, says, lambda c, rule=rule: tuple(sorted(rule(c)[1])), _resident)  # type: ignore[misc]
            for slug, says, rule in RULES
        ),
        told_apart(
            "nothing-evicted", "Those are all entries; the cache is too small for them.", lambda c: c.names, _resident
        ),
    ),
    hints=lambda c: _hints(c, "What is left is what the list holds after the last access."),
    explained=lambda c: (
        replace(_followed(c)[-1], says="Part a follows the trace, which ends so."),
        Explained("result", "Left at the end.", f"resident = {', '.join(_resident(c))}"),
    ),
    least=2,
)

RATE: CaseAsk[Accesses] = CaseAsk(
    asks="hit_rate",
    question=lambda c: f"With {c.capacity} blocks, what share of the accesses finds its entry in the cache?",
    kind="number",
    key=_rate,
    percent=True,
    slips=(
        CaseSlip("miss-rate", "That is the share that does not.", lambda c: 1 - Fraction(_rate(c))),
        CaseSlip(
            "hits-to-misses", "The hits were divided by the misses.", lambda c: Fraction(_run(c).hits, _run(c).misses)
        ),
        told_apart(
            "nothing-evicted",
            "Nothing was taken to be evicted.",
            lambda c: 1 - Fraction(len(c.names), len(c.trace)),
            _rate,
        ),
        told_apart("first-in-first-out", RULES[0][1], lambda c: Fraction(_fifo(c)[2], len(c.trace)), _rate),
        told_apart("most-recent-first", RULES[1][1], lambda c: Fraction(_mru(c)[2], len(c.trace)), _rate),
        told_apart("pin-ignored", RULES[5][1], lambda c: Fraction(_no_pins(c)[2], len(c.trace)), _rate),
        told_apart(
            "refused-left-out",
            "An access that is refused is an access too, and a miss.",
            lambda c: Fraction(_run(c).hits, len(c.trace) - len(_run(c).refused)),
            _rate,
        ),
        CaseSlip(
            "hits-per-entry", "The hits were divided by the entries.", lambda c: Fraction(_run(c).hits, len(c.names))
        ),
        told_apart(
            "evictions",
            "An eviction was counted as the only miss; the first access to an entry misses, too.",
            lambda c: 1 - Fraction(len(_evicted(c)), len(c.trace)),
            _rate,
        ),
    ),
    hints=lambda c: _hints(c, f"There are {len(c.trace)} accesses; the first to an entry cannot hit."),
    explained=lambda c: (
        Explained("LRU", "Part a follows the trace, in which these hit.", _hits_told(c)),
        Explained(
            "result",
            "Hits over accesses.",
            _rate_told(c),
            rf"\frac{{{_run(c).hits}}}{{{len(c.trace)}}}",
        ),
    ),
)


def _room(case: Accesses) -> int:
    """The smallest capacity with which nothing is refused: pinned entries that have come stay beside each other one."""
    return next(blocks for blocks in range(1, _together(case) + 1) if not _run(replace(case, capacity=blocks)).refused)


def _together(case: Accesses) -> int:
    return sum(case.largest.values())


def _smallest(case: Accesses) -> int | None:
    """Where nothing is refused, a block more never costs LRU a miss, so that the first that does is the least."""
    for capacity in range(_room(case), _together(case) + 1):
        if _replayed(case.trace, capacity, case.pinned).misses <= case.misses:
            return capacity
    return None


def _smallest_by(case: Accesses, rule: Callable[[Accesses], Outcome]) -> int | None:
    for capacity in range(_room(case), _together(case) + 1):
        if len(case.trace) - rule(replace(case, capacity=capacity))[2] <= case.misses:
            return capacity
    return None


def _smallest_explained(case: Accesses) -> tuple[Explained, ...]:
    found = _smallest(case)
    if found is None:
        return (
            Explained(
                "first accesses",
                "The first access to each entry misses.",
                f"misses >= {len(case.names)} > {case.misses}",
            ),
        )
    tried = [
        f"{capacity} blocks: {_replayed(case.trace, capacity, case.pinned).misses} misses"
        for capacity in range(max(_room(case), found - 1), found + 1)
    ]
    least = f"nothing is refused from {_room(case)} blocks on"
    return (
        *_followed(replace(case, capacity=found)),
        Explained(
            "smallest capacity",
            "Where nothing is refused, a block more never costs a miss.",
            f"{least}; {'; '.join(tried)}; smallest = {found} blocks",
        ),
    )


SMALLEST: CaseAsk[Accesses] = CaseAsk(
    asks="capacity",
    question=lambda c: (
        f"If {'no access may be refused' if c.pinned else 'every entry must fit'}, what is the smallest number of "
        f"blocks with which at most {c.misses} of these {len(c.trace)} accesses miss?"
    ),
    kind="count",
    key=_smallest,
    reason=lambda c: f"The first access to each of the {len(c.names)} entries misses, however large the cache is.",
    slips=(
        CaseSlip(
            "all-entries",
            "That holds all entries at once; less will do.",
            _together,
            lambda c: _smallest(c) not in {None, _together(c)},
        ),
        told_apart(
            "largest-entry",
            "With so few blocks nothing is refused, but more accesses miss than may.",
            _room,
            _smallest,
        ),
        told_apart("first-in-first-out", RULES[0][1], lambda c: _smallest_by(c, _fifo), _smallest),
        told_apart("most-recent-first", RULES[1][1], lambda c: _smallest_by(c, _mru), _smallest),
        told_apart("pin-ignored", RULES[5][1], lambda c: _smallest(_unpinned(c)), _smallest),
        told_apart(
            "first-accesses-free",
            "The first access to each entry is a miss as well.",
            lambda c: _smallest(replace(c, misses=c.misses + len(c.names))),
            _smallest,
        ),
        told_apart(
            "fewer-misses",
            "The misses that are allowed may all be used.",
            lambda c: _smallest(replace(c, misses=c.misses - 1)),
            _smallest,
        ),
        told_apart(
            "hits-for-misses",
            "The number was taken for the hits.",
            lambda c: _smallest(replace(c, misses=len(c.trace) - c.misses)),
            _smallest,
        ),
    ),
    hints=lambda c: (
        "Begin with the fewest blocks that refuse nothing and go up: a larger LRU cache holds all that a smaller does.",
        "For each number of blocks follow the list of what is there; the first access to an entry is always a miss.",
        f"Of the {len(c.trace)} accesses at most {c.misses} may miss.",
    ),
    explained=_smallest_explained,
)

family = CaseFamily(
    draw=_draw,
    statement=_statement,
    ways=((EVICTED, RESIDENT, RATE), (SMALLEST,)),
    keep=_keep,
    objective="kv-eviction",
    section="kv-cache",
    infeasible=True,
    revision=2,
)
