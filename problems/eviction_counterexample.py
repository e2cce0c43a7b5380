"""A sequence of accesses on which one cache misses more often than another, or that there is none."""

from dataclasses import dataclass

from grader.case import CaseAsk, CaseFamily, Explained, Run
from grader.executing.eviction_misses import misses, named
from spec.stream import Stream

NAMES = "abcdefghi"
ORDERS, SIZES, ROOM = "orders", "sizes", "room"  # LRU against FIFO, LRU with a block more, FIFO with a block more
KINDS = (ORDERS, SIZES, ORDERS, SIZES, ROOM)
SPARE = 3  # accesses more than blocks that it takes at least
ANOMALY = tuple("abcdabeabcde")  # the shortest on which FIFO misses more with 4 blocks than with 3
ANOMALOUS = 3  # blocks


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Two caches, the sizes of the entries in blocks, and how many accesses may be given."""

    kind: str
    first: str
    second: str
    sizes: tuple[int, ...]
    most: int

    @property
    def names(self) -> tuple[str, ...]:
        """The entries."""
        return tuple(NAMES[: len(self.sizes)])

    @property
    def blocks(self) -> tuple[int, int]:
        """The blocks of the two caches."""
        return int(self.first.split()[1]), int(self.second.split()[1])

    @property
    def setting(self) -> dict[str, str]:
        """What the grader runs answers under."""
        sizes = ",".join(f"{name}:{size}" for name, size in zip(self.names, self.sizes, strict=True))
        return {"first": self.first, "second": self.second, "sizes": sizes, "most": str(self.most)}


def _draw(stream: Stream) -> Circumstances:
    kind = stream.choice(KINDS)
    if kind == ROOM:
        sizes = (1,) * (ANOMALOUS + 1 + stream.below(4))
        return Circumstances(kind, f"fifo {ANOMALOUS + 1}", f"fifo {ANOMALOUS}", sizes, 8 + stream.below(10))
    if kind == SIZES:
        blocks = 3 + stream.below(7)
        sizes = tuple(1 + stream.below(blocks + stream.below(2)) for _ in range(3 + stream.below(4)))
        return Circumstances(kind, f"lru {blocks + 1}", f"lru {blocks}", sizes, 4 + stream.below(9))
    blocks = 2 + stream.below(5)
    caches = (f"lru {blocks}", f"fifo {blocks}")
    first, second = caches if stream.below(2) else caches[::-1]
    return Circumstances(kind, first, second, (1,) * (blocks + stream.below(4)), blocks + 1 + stream.below(9))


def _statement(case: Circumstances) -> str:
    policies = {case.first.split()[0], case.second.split()[0]}
    rules = {
        "lru": "LRU evicts the entry used longest ago, and each access to an entry is a use.",
        "fifo": "FIFO evicts the entry that came in first; an access to one that is there changes nothing.",
    }
    alike = set(case.sizes) == {1}
    entries = f"The entries are {', '.join(case.names)}, of one block each."
    if not alike:
        pairs = ", ".join(f"{name} of {size}" for name, size in zip(case.names, case.sizes, strict=True))
        entries = (
            f"The entries, with their blocks: {pairs}. Entries are evicted one after another until the new one fits. "
            "One that is larger than the whole cache is refused: that is a miss, and nothing is evicted."
        )
    return (
        f"Two caches, {named(case.first)} and {named(case.second)}, start empty and get the same accesses. An access "
        "to an entry that is not there is a miss; the entry then comes in, and others are evicted where there is no "
        f"room. {' '.join(rules[policy] for policy in sorted(policies))} {entries}"
    )


def _key(case: Circumstances) -> tuple[str, ...] | None:
    small = min(case.blocks)
    names = case.names
    if case.kind == ROOM:
        return ANOMALY if case.most >= len(ANOMALY) and len(names) > ANOMALOUS + 1 else None
    if case.kind == SIZES:
        fitting = [name for name, size in zip(names, case.sizes, strict=True) if size <= small]
        large = [name for name, size in zip(names, case.sizes, strict=True) if size == small + 1]
        return (fitting[0], large[0], fitting[0]) if fitting and large else None
    if len(names) <= small or case.most < small + SPARE:
        return None
    wanted = names[1] if case.first.startswith("lru") else names[0]
    return (*names[:small], names[0], names[small], wanted)


def _reason(case: Circumstances) -> str:
    small = min(case.blocks)
    if case.kind == SIZES:
        if min(case.sizes) > small:
            return "The smaller cache holds none of the entries, so that it misses every time."
        return (
            "Every entry fits into the smaller cache, and then what LRU keeps there is always a part of what it keeps "
            "in the larger one."
        )
    if len(case.sizes) <= max(case.blocks):
        return f"All entries fit into {max(case.blocks)} blocks, so that nothing is evicted there."
    needed = len(ANOMALY) if case.kind == ROOM else small + SPARE
    return f"It takes at least {needed} accesses."


def _hints(case: Circumstances) -> tuple[str, ...]:
    what = {
        ORDERS: "The two differ only once an entry that is there is used again.",
        SIZES: "A larger cache also lets in what a smaller one refuses.",
        ROOM: "What FIFO keeps with more blocks need not contain what it keeps with fewer.",
    }[case.kind]
    return (
        what,
        "Write down what each cache holds after every access, in the order in which it would go.",
        (
            f"{named(case.first)} and {named(case.second)}: look for an access after which the first lacks an entry "
            f"that the second holds, and ask for that entry next. At most {case.most} accesses are allowed."
        ),
    )


def _explained(case: Circumstances) -> tuple[Explained, ...]:
    found = _key(case)
    if found is None:
        return (Explained("counterexample", "No sequence does it.", _reason(case)),)
    ours, theirs = misses(found, case.setting)
    return (
        Explained(
            "counterexample",
            "One sequence on which it is so, run on both.",
            f"{', '.join(found)}: {named(case.first)} misses {ours} times, {named(case.second)} {theirs} times",
        ),
    )


def _question(case: Circumstances) -> str:
    return (
        f"On which sequence of at most {case.most} accesses does {named(case.first)} miss more often than "
        f"{named(case.second)}?"
    )


family = CaseFamily(
    draw=_draw,
    statement=_statement,
    ways=(
        (
            CaseAsk(
                asks="accesses",
                question=_question,
                kind="counterexample",
                key=_key,
                hints=_hints,
                explained=_explained,
                reason=_reason,
                options=lambda case: case.names,
                run=lambda case: Run("eviction-misses", case.setting),
            ),
        ),
    ),
    convention="Answer with the entries in the order of the accesses, with commas between. Any sequence that does it "
    "is right.",
    objective="kv-eviction",
    section="kv-cache",
    infeasible=True,
)
