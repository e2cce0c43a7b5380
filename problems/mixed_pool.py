"""Short and long sequences in one pool of cached tokens: what long ones displace, and what is left for both (F38)."""

from dataclasses import dataclass
from fractions import Fraction

from grader.amounts import rounded
from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, Given, told_apart
from grader.family import FINE
from grader.reckoned import shown
from spec import catalog
from spec.memory import fits, kv_bytes_per_token, kv_bytes_total
from spec.solving import Infeasible
from spec.stream import Stream
from spec.units import unit

GB, GIB = 10**9, int(unit("GiB").factor)
KI, THOUSAND = 1024, 1000
MODELS = (
    *("llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "llama-3-70b", "mistral-7b-v0.3", "qwen2.5-7b"),
    *("qwen2.5-72b", "qwen3-8b", "gemma-7b", "phi-2", "gpt-j-6b", "gpt-neox-20b", "opt-6.7b", "pythia-6.9b"),
)


@dataclass(frozen=True, slots=True)
class Pool:
    """`budget` GB for caches of `each` bytes per token, some `longs` of `long` tokens and `shorts` of `short` ones."""

    model: str
    each: int
    budget: int
    short: int
    long: int
    longs: int
    shorts: int

    @property
    def size(self) -> int:
        """The bytes of the budget."""
        return self.budget * GB

    def takes(self, sequences: int, context: int) -> int:
        """Return the bytes that sequences of a context take."""
        return int(kv_bytes_total(cached_tokens=sequences * context, kv_bytes_per_token=self.each))

    def fit(self, size: Fraction | int, context: Fraction | int) -> int | None:
        """Return how many sequences of a context fit into so many bytes; None where there are less than none."""
        if size < 0:
            return None
        found = fits.solve("concurrency", context=context, kv_bytes_per_token=self.each, kv_budget=size)
        return 0 if isinstance(found, Infeasible) else int(found)

    def longest(self, size: Fraction | int, sequences: int) -> int | None:
        """Return the longest context that so many sequences can have in so many bytes."""
        if size < 0:
            return None
        found = fits.solve("context", concurrency=sequences, kv_bytes_per_token=self.each, kv_budget=size)
        return None if isinstance(found, Infeasible) else int(found)

    @property
    def beside_longs(self) -> int:
        """The bytes that the long ones leave, under zero where they do not fit."""
        return self.size - self.takes(self.longs, self.long)

    @property
    def beside_shorts(self) -> int:
        """The bytes that the short ones leave, under zero where they do not fit."""
        return self.size - self.takes(self.shorts, self.short)


def draw(stream: Stream) -> Pool:
    """Draw a model, a budget and two kinds of sequences."""
    model = catalog.model(stream.choice(MODELS))
    shape = model.quantities()
    each = kv_bytes_per_token(kv_width=2, **{n: shape[n] for n in ("layers", "kv_heads", "head_dim")})
    return Pool(
        model=model.name,
        each=int(each),
        budget=stream.choice((4, 6, 9, 12, 16, 20, 26, 32, 40, 54, 64, 80, 100)),
        short=stream.choice((500, 512, 800, 1000, 1024, 1500, 2000, 2048, 3000, 4000, 4096)),
        long=stream.choice((6000, 8000, 8192, 10_000, 12_000, 16_000, 16_384, 24_000, 32_000, 32_768, 50_000, 65_536)),
        longs=stream.choice((2, 3, 4, 5, 6, 8, 10, 12, 15, 20)),
        shorts=stream.choice((8, 10, 12, 16, 20, 25, 30, 40, 50, 64, 80, 100, 150, 200)),
    )


def worth_asking(case: Pool) -> bool:
    """Keep kinds of which each takes a fifth of the budget to a little more than all of it, and long ones that are."""
    longest = length_beside(case)
    return (longest is None or longest > case.short) and all(
        case.size <= 5 * taken <= 7 * case.size
        for taken in (case.takes(case.longs, case.long), case.takes(case.shorts, case.short))
    )


def statement(case: Pool) -> str:
    """Say what the sequences share."""
    return (
        f"{case.model} caches {case.each:,} B/token, and {case.budget:,} GB are there for the caches of all sequences. "
        f"A short sequence is reserved {case.short:,} tokens of cache, a long one more. "
        "Memory alone limits what fits, and a sequence that does not fit whole does not run."
    )


def given_of_short(case: Pool) -> tuple[Given, ...]:
    """List what both kinds share."""
    return (
        Given("kv_bytes_per_token", "k", str(case.each), "B/token", "KV cache per token"),
        Given("kv_budget", "B_kv", str(case.budget), "GB", "memory for the KV cache"),
        Given("short_context", "c_s", str(case.short), "token", "tokens reserved for a short sequence"),
    )


def long_one(case: Pool) -> Given:
    """Give the tokens of a long one."""
    return Given("long_context", "c_l", str(case.long), "token", "tokens reserved for a long sequence")


def longs(case: Pool) -> Given:
    """Give the number of long ones."""
    return Given("long_sequences", "x", str(case.longs), "sequence", "long sequences")


def shorts(case: Pool) -> Given:
    """Give the number of short ones."""
    return Given("short_sequences", "y", str(case.shorts), "sequence", "short sequences")


def short_beside(case: Pool) -> int | None:
    """Return the short ones that fit beside the long ones."""
    return case.fit(case.beside_longs, case.short) or None


def long_beside(case: Pool) -> int | None:
    """Return the long ones that fit beside the short ones."""
    return case.fit(case.beside_shorts, case.long) or None


def length_beside(case: Pool) -> int | None:
    """Return the longest context of the long ones beside the short ones."""
    return case.longest(case.beside_shorts, case.longs)


def of_thousands(tokens: int) -> int:
    """Take every 1,024 tokens as 1,000."""
    return tokens // KI * THOUSAND if tokens % KI == 0 else tokens


def all_shorts(case: Pool) -> int:
    """Return the short ones that fit without long ones."""
    return case.fit(case.size, case.short) or 0


def too_much(beside: int, kind: str, other: str) -> str:
    """Say by how much one kind exceeds the budget, or leaves less than one of the other takes."""
    if beside < 0:
        return f"The {kind} ones alone take {rounded(Fraction(-beside, GB), 4)} GB more than there are."
    return f"What the {kind} ones leave is less than one {other} one takes."


def gib(case: Pool, beside: int) -> Fraction:
    """Take the budget in GiB, and what is taken off it as it is."""
    return Fraction(beside + case.budget * (GIB - GB))


IN_GIB = "The budget was read in GiB; it is given in GB."
KILO = "1,024 tokens were taken as 1,000."
ROUNDED_UP = "The number was rounded up; what does not fit whole does not run."
AS_SLOTS = "One of a kind was counted for one of the other, as if slots were shared; the pool is shared by tokens."

displaced: CaseAsk[Pool] = CaseAsk(
    asks="displaced",
    question=lambda c: (
        f"A long one is reserved {c.long:,} tokens. "
        "How many times as much memory as a short one does it take, not rounded to whole sequences?"
    ),
    kind="number",
    tolerance=FINE,
    key=lambda c: Fraction(c.takes(1, c.long), c.takes(1, c.short)),
    givens=lambda c: (long_one(c),),
    slips=(
        CaseSlip("one-slot", AS_SLOTS, lambda _: 1),
        CaseSlip(
            "squared",
            "The square of the ratio was taken; scores grow with the square of the length, caches do not.",
            lambda c: Fraction(c.long, c.short) ** 2,
        ),
        CaseSlip("ratio-inverted", "The short one was divided by the long one.", lambda c: Fraction(c.short, c.long)),
        CaseSlip(
            "more-for-times",
            "That is how many more; it is asked how many times as much.",
            lambda c: Fraction(c.long - c.short, c.short),
        ),
        CaseSlip("difference", "That is the difference in tokens.", lambda c: c.long - c.short),
    ),
    hints=lambda c: (
        "A sequence takes memory for every token that is reserved for it.",
        "The ratio is c_l / c_s; the cache of a token cancels.",
        f"The ratio is {c.long:,} tokens / {c.short:,} tokens.",
    ),
    explained=lambda c: (
        Explained(
            "kv_bytes_per_sequence",
            "A sequence caches every token of its context.",
            f"{c.long:,} tokens / {c.short:,} tokens = {shown(Fraction(c.long, c.short), '1', 6)}",
        ),
    ),
)
count: CaseAsk[Pool] = CaseAsk(
    asks="short_sequences",
    question=lambda c: f"With {c.longs:,} sequences of that long kind in, how many short ones fit beside them at most?",
    kind="count",
    unit="sequence",
    capacity=True,
    key=short_beside,
    reason=lambda c: too_much(c.beside_longs, "long", "short"),
    givens=lambda c: (longs(c),),
    slips=(
        told_apart("slots-for-memory", AS_SLOTS, lambda c: max(all_shorts(c) - c.longs, 0), short_beside),
        told_apart("halves", "Half of the pool was kept for each kind.", lambda c: all_shorts(c) // 2, short_beside),
        told_apart(
            "one-long-forgotten",
            "One of the long ones was left out.",
            lambda c: c.fit(c.size - c.takes(c.longs - 1, c.long), c.short),
            short_beside,
        ),
        told_apart("longs-forgotten", "The long ones were left out.", all_shorts, short_beside),
        told_apart("budget-in-GiB", IN_GIB, lambda c: c.fit(gib(c, c.beside_longs), c.short), short_beside),
        told_apart(
            "thousand-for-1024",
            KILO,
            lambda c: c.fit(c.size - c.takes(c.longs, of_thousands(c.long)), of_thousands(c.short)),
            short_beside,
        ),
        CaseSlip(
            "rounded-up",
            ROUNDED_UP,
            lambda c: (short_beside(c) or 0) + 1,
            lambda c: c.beside_longs > 0 and c.beside_longs % c.takes(1, c.short) != 0,
        ),
    ),
    hints=lambda c: (
        "Take the caches of the long ones off the budget first.",
        "(B_kv - x c_l k) / (c_s k), rounded down.",
        f"({c.budget:,} GB - {c.longs:,} x {c.long:,} x {c.each:,} B) / ({c.short:,} x {c.each:,} B), rounded down.",
    ),
    explained=lambda c: (
        Explained(
            "kv_bytes_total",
            "The long ones come off the budget.",
            f"{c.budget:,} GB - {c.longs:,} x {c.long:,} x {c.each:,} B = "
            f"{rounded(Fraction(c.beside_longs, GB), 6)} GB",
        ),
        Explained(
            "fits",
            fits.says,
            f"short sequences = that / ({c.short:,} x {c.each:,} B), rounded down = {shown(short_beside(c), '1')}",
        ),
    ),
)
most: CaseAsk[Pool] = CaseAsk(
    asks="long_sequences",
    question=lambda c: (
        f"A long one is reserved {c.long:,} tokens. "
        f"How many long ones may be in at most so that {c.shorts:,} sequences of the short kind still fit?"
    ),
    kind="count",
    unit="sequence",
    capacity=True,
    key=long_beside,
    reason=lambda c: too_much(c.beside_shorts, "short", "long"),
    givens=lambda c: (long_one(c), shorts(c)),
    slips=(
        told_apart("slots-for-memory", AS_SLOTS, lambda c: max(all_shorts(c) - c.shorts, 0), long_beside),
        told_apart(
            "halves", "Half of the pool was kept for each kind.", lambda c: c.fit(c.size // 2, c.long), long_beside
        ),
        told_apart("shorts-forgotten", "The short ones were left out.", lambda c: c.fit(c.size, c.long), long_beside),
        told_apart(
            "one-short-counted",
            "One short one was taken off instead of all of them.",
            lambda c: c.fit(c.size - c.takes(1, c.short), c.long),
            long_beside,
        ),
        told_apart("budget-in-GiB", IN_GIB, lambda c: c.fit(gib(c, c.beside_shorts), c.long), long_beside),
        told_apart(
            "short-for-long",
            "The rest was divided by the tokens of a short one.",
            lambda c: c.fit(c.beside_shorts, c.short),
            long_beside,
        ),
        CaseSlip(
            "rounded-up",
            ROUNDED_UP,
            lambda c: (long_beside(c) or 0) + 1,
            lambda c: c.beside_shorts > 0 and c.beside_shorts % c.takes(1, c.long) != 0,
        ),
    ),
    hints=lambda c: (
        "Take the caches of the short ones off the budget first.",
        "x = (B_kv - y c_s k) / (c_l k), rounded down.",
        f"({c.budget:,} GB - {c.shorts:,} x {c.short:,} x {c.each:,} B) / ({c.long:,} x {c.each:,} B), rounded down.",
    ),
    explained=lambda c: (
        Explained(
            "kv_bytes_total",
            "The short ones come off the budget.",
            f"{c.budget:,} GB - {c.shorts:,} x {c.short:,} x {c.each:,} B = "
            f"{rounded(Fraction(c.beside_shorts, GB), 6)} GB",
        ),
        Explained(
            "fits",
            fits.says,
            f"long sequences = that / ({c.long:,} x {c.each:,} B), rounded down = {shown(long_beside(c), '1')}",
        ),
    ),
)
length: CaseAsk[Pool] = CaseAsk(
    asks="long_context",
    question=lambda c: (
        f"How many tokens may each of {c.longs:,} sequences of the long kind be reserved at most so that "
        f"{c.shorts:,} sequences of the short kind still fit?"
    ),
    kind="count",
    unit="token",
    capacity=True,
    key=length_beside,
    reason=lambda c: too_much(c.beside_shorts, "short", "long"),
    givens=lambda c: (longs(c), shorts(c)),
    slips=(
        CaseSlip("shorts-forgotten", "The short ones were left out.", lambda c: c.longest(c.size, c.longs)),
        CaseSlip(
            "all-longs-as-one",
            "Those are the tokens of all long ones together; each has its share.",
            lambda c: c.longest(c.beside_shorts, 1),
        ),
        told_apart(
            "shared-evenly",
            "The pool was shared evenly; the short ones need their tokens only.",
            lambda c: c.longest(c.size, c.longs + c.shorts),
            length_beside,
        ),
        told_apart(
            "halves",
            "Half of the pool was kept for each kind.",
            lambda c: c.longest(c.size // 2, c.longs),
            length_beside,
        ),
        CaseSlip("budget-in-GiB", IN_GIB, lambda c: c.longest(gib(c, c.beside_shorts), c.longs)),
        CaseSlip(
            "rounded-up",
            ROUNDED_UP,
            lambda c: (length_beside(c) or 0) + 1,
            lambda c: c.beside_shorts > 0 and c.beside_shorts % c.takes(c.longs, 1) != 0,
        ),
    ),
    hints=lambda c: (
        "Take the caches of the short ones off the budget first.",
        "c_l = (B_kv - y c_s k) / (x k), rounded down.",
        f"({c.budget:,} GB - {c.shorts:,} x {c.short:,} x {c.each:,} B) / ({c.longs:,} x {c.each:,} B), rounded down.",
    ),
    explained=lambda c: (
        Explained(
            "kv_bytes_total",
            "The short ones come off the budget.",
            f"{c.budget:,} GB - {c.shorts:,} x {c.short:,} x {c.each:,} B = "
            f"{rounded(Fraction(c.beside_shorts, GB), 6)} GB",
        ),
        Explained(
            "fits",
            fits.says,
            f"tokens of a long one = that / ({c.longs:,} x {c.each:,} B), rounded down = "
            f"{shown(length_beside(c), '1')}",
        ),
    ),
)
family: CaseFamily[Pool] = CaseFamily(
    draw=draw,
    statement=statement,
    ways=((displaced, count), (most,), (length,)),
    givens=given_of_short,
    keep=worth_asking,
    infeasible=True,
    objective="cache-capacity",
    section="scaling",
)
