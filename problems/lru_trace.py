"""What an LRU cache evicts along a trace, what is left, how often it hits, and how much room it takes (F29)."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from grader.amounts import digits, rounded
from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, told_apart
from spec.serving.eviction import Replay, replay
from spec.solving import whole
from spec.stream import Stream

NAMES = "abcdef"
FEWEST, MORE = 7, 8  # accesses
LARGEST = 6  # blocks


@dataclass(frozen=True, slots=True)
class Accesses:
    """Who is used, and how many blocks it then takes; the capacity, and how many misses are allowed."""

    trace: tuple[tuple[str, int], ...]
    capacity: int
    misses: int

    @property
    def names(self) -> tuple[str, ...]:
        """The entries, in the order of the alphabet."""
        return tuple(sorted({name for name, _ in self.trace}))


@lru_cache(maxsize=4096)
def _replayed(trace: tuple[tuple[str, int], ...], capacity: int) -> Replay:
    return replay(trace, capacity)


def _run(case: Accesses) -> Replay:
    return _replayed(case.trace, case.capacity)


def _draw(stream: Stream) -> Accesses:
    kinds = 4 + stream.below(3)
    sizes = {name: 1 + stream.below(LARGEST - 1) for name in NAMES[:kinds]}
    grows = stream.below(3) == 0
    trace: list[tuple[str, int]] = []
    for _ in range(FEWEST + stream.below(MORE)):
        others = [name for name in NAMES[:kinds] if not trace or name != trace[-1][0]]
        name = stream.choice(others)
        if grows and any(name == used for used, _ in trace) and stream.below(2):
            sizes[name] += 1 + stream.below(2)
        trace.append((name, sizes[name]))
    together = sum(max(blocks for name, blocks in trace if name == each) for each in {name for name, _ in trace})
    capacity = max(3, together * (4 + stream.below(4)) // 10)
    compulsory = len({name for name, _ in trace})
    allowed = compulsory - 1 - stream.below(2) if stream.below(4) == 0 else compulsory + stream.below(3)
    return Accesses(tuple(trace), capacity, allowed)


def _keep(case: Accesses) -> bool:
    run = _run(case)
    refused_once = {
        name for name in run.refused if any(blocks <= case.capacity for n, blocks in case.trace if n == name)
    }
    return len(run.evicted) > 1 and run.hits > 0 and case.misses > 0 and not refused_once


def _statement(case: Accesses) -> str:
    used = ", ".join(f"{name} {blocks}" for name, blocks in case.trace)
    largest = {name: max(blocks for there, blocks in case.trace if there == name) for name in case.names}
    grows = refused = ""
    if any(blocks < largest[name] for name, blocks in case.trace):
        grows = (
            "An entry that is there and needs more blocks than before is a hit: it keeps those it has, counts as just "
            "used, and gets the others, for which others may be evicted. "
        )
    if max(largest.values()) > case.capacity:
        refused = "An entry larger than the whole cache is refused: that is a miss, and nothing is evicted for it. "
    return (
        "A cache starts empty and keeps whole entries. Where a new one needs room, it evicts the entry used longest "
        f"ago (LRU), one after another until the new one fits. Every access is a use. {grows}{refused}"
        f"The entries are used in this order, each with the blocks that it takes: {used}."
    )


# Misconceptions: other rules of eviction, on a list of who is there, the next to go first.

Held = list[tuple[str, int]]


def _otherwise(
    case: Accesses, victim: Callable[[Held], int], *, refreshed: bool = True, once: bool = False
) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    """Return what is evicted, what is left, and the hits, where `victim` says which place of the list goes."""
    held: Held = []
    evicted: list[str] = []
    hits = 0
    for name, blocks in case.trace:
        place = next((n for n, (there, _) in enumerate(held) if there == name), None)
        hits += place is not None
        if blocks > case.capacity:
            continue
        old = held[:]
        if place is not None:
            del held[place]
        gone = 0
        while held and sum(size for _, size in held) + blocks > case.capacity and not (once and gone):
            evicted.append(held.pop(victim(held))[0])
            gone += 1
        if place is None or refreshed:
            held.append((name, blocks))
        else:
            held.insert(sum(there in held for there in old[:place]), (name, blocks))
    return tuple(evicted), tuple(name for name, _ in held), hits


def _fifo(case: Accesses) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    return _otherwise(case, lambda _: 0, refreshed=False)


def _mru(case: Accesses) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    return _otherwise(case, lambda held: len(held) - 1)


def _newest(case: Accesses) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    return _otherwise(case, lambda held: len(held) - 1, refreshed=False)


def _largest(case: Accesses) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    return _otherwise(case, lambda held: max(range(len(held)), key=lambda place: held[place][1]))


def _one(case: Accesses) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    return _otherwise(case, lambda _: 0, once=True)


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
)


def _evicted(case: Accesses) -> tuple[str, ...]:
    return _run(case).evicted


def _resident(case: Accesses) -> tuple[str, ...]:
    return tuple(sorted(_run(case).resident))


def _rate(case: Accesses) -> int | Fraction:
    return whole(Fraction(_run(case).hits, len(case.trace)))


def _table(case: Accesses) -> str:
    """Follow the trace: after each access, who is there, the next to go first."""
    lines = []
    for count in range(1, len(case.trace) + 1):
        before, after = _replayed(case.trace[: count - 1], case.capacity), _replayed(case.trace[:count], case.capacity)
        name, blocks = case.trace[count - 1]
        gone = after.evicted[len(before.evicted) :]
        what = "hit" if after.hits > before.hits else "miss"
        out = f", out {' '.join(gone)}" if gone else ""
        lines.append(f"{name} {blocks}: {what}{out}, holds {' '.join(after.resident) or 'nothing'}")
    return "; ".join(lines)


def _hints(case: Accesses, last: str) -> tuple[str, ...]:
    name, blocks = case.trace[0]
    return (
        "Keep a list of what is there, the entry used longest ago first, and the sum of its blocks.",
        "At each access: move the entry to the end if it is there; else take entries from the front until it fits.",
        f"After the first access the cache holds {name} with {blocks} of its {case.capacity} blocks. {last}",
    )


def _explained(case: Accesses, says: str, end: str, latex: str = "") -> tuple[Explained, ...]:
    return (
        Explained("LRU", "The entry used longest ago stands first.", _table(case)),
        Explained("result", says, end, latex),
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
    explained=lambda c: _explained(c, "Evicted one after another.", f"evicted = {', '.join(_evicted(c))}"),
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
    explained=lambda c: _explained(c, "Left at the end.", f"resident = {', '.join(_resident(c))}"),
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
    explained=lambda c: _explained(
        c,
        "Hits over accesses.",
        f"hit rate = {_run(c).hits}/{len(c.trace)} = {digits(_rate(c))}"
        + f" = {rounded(_rate(c))}" * ("/" in digits(_rate(c))),
        rf"\frac{{{_run(c).hits}}}{{{len(c.trace)}}}",
    ),
)


def _smallest(case: Accesses) -> int | None:
    """From the largest entry on, a block more never costs LRU a miss, so that the first that does is the least."""
    for capacity in range(_largest_entry(case), _together(case) + 1):
        if _replayed(case.trace, capacity).misses <= case.misses:
            return capacity
    return None


def _largest_entry(case: Accesses) -> int:
    return max(blocks for _, blocks in case.trace)


def _together(case: Accesses) -> int:
    return sum(max(blocks for name, blocks in case.trace if name == each) for each in case.names)


def _smallest_by(
    case: Accesses, rule: Callable[[Accesses], tuple[tuple[str, ...], tuple[str, ...], int]]
) -> int | None:
    for capacity in range(_largest_entry(case), _together(case) + 1):
        tried = Accesses(case.trace, capacity, case.misses)
        if len(case.trace) - rule(tried)[2] <= case.misses:
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
        f"{capacity} blocks: {_replayed(case.trace, capacity).misses} misses"
        for capacity in range(max(_largest_entry(case), found - 1), found + 1)
    ]
    return (
        Explained("LRU", "The entry used longest ago stands first.", _table(Accesses(case.trace, found, case.misses))),
        Explained(
            "smallest capacity", "A block more never costs a miss.", f"{'; '.join(tried)}; smallest = {found} blocks"
        ),
    )


SMALLEST: CaseAsk[Accesses] = CaseAsk(
    asks="capacity",
    question=lambda c: (
        f"If every entry must fit, what is the smallest number of blocks with which at most {c.misses} of these "
        f"{len(c.trace)} accesses miss?"
    ),
    kind="count",
    key=_smallest,
    reason=lambda c: f"The first access to each of the {len(c.names)} entries misses, however large the cache is.",
    slips=(
        told_apart("all-entries", "That holds all entries at once; less will do.", _together, _smallest),
        told_apart(
            "largest-entry",
            "That holds the largest entry; count the misses with so few blocks.",
            _largest_entry,
            _smallest,
        ),
        told_apart("first-in-first-out", RULES[0][1], lambda c: _smallest_by(c, _fifo), _smallest),
        told_apart("most-recent-first", RULES[1][1], lambda c: _smallest_by(c, _mru), _smallest),
        told_apart(
            "first-accesses-free",
            "The first access to each entry is a miss as well.",
            lambda c: _smallest(Accesses(c.trace, c.capacity, c.misses + len(c.names))),
            _smallest,
        ),
        told_apart(
            "fewer-misses",
            "The misses that are allowed may all be used.",
            lambda c: _smallest(Accesses(c.trace, c.capacity, c.misses - 1)),
            _smallest,
        ),
        told_apart(
            "hits-for-misses",
            "The number was taken for the hits.",
            lambda c: _smallest(Accesses(c.trace, c.capacity, len(c.trace) - c.misses)),
            _smallest,
        ),
    ),
    hints=lambda c: (
        "A larger LRU cache holds all that a smaller one does, so go up until few enough accesses miss.",
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
)
