"""Which limit binds, the slots of a server or the memory of its cache, and where the two cross (F37)."""

from dataclasses import dataclass, replace
from fractions import Fraction

from grader.amounts import rounded
from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, Given, told_apart
from grader.family import FINE
from grader.reckoned import shown
from spec import catalog
from spec.memory import fits, holds_tokens, kv_bytes_per_token
from spec.scaling import slots_bind
from spec.solving import Exact, Infeasible
from spec.stream import Stream
from spec.units import unit

GB, MIB = 10**9, 2**20
SLOTS, MEMORY, BOTH = "slots", "memory", "both"
MODELS = (
    *("llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "llama-3-70b", "mistral-7b-v0.3", "qwen2.5-7b"),
    *("qwen2.5-72b", "qwen3-8b", "gemma-7b", "phi-2", "gpt-j-6b", "gpt-neox-20b", "opt-6.7b", "pythia-6.9b"),
)


@dataclass(frozen=True, slots=True)
class Server:
    """`slots` for sequences of `context` tokens, and `budget` GB for caches of `each` bytes per token."""

    model: str
    each: int
    budget: int
    slots: int
    context: int

    def tokens(self, size: Fraction | int, each: Fraction | int) -> int:
        """Return how many tokens a budget holds."""
        return int(found(holds_tokens.solve("token_capacity", kv_budget=size, kv_bytes_per_token=each)))

    @property
    def capacity(self) -> int:
        """The tokens that the budget holds."""
        return self.tokens(self.budget * GB, self.each)

    def in_memory(self, context: int) -> int:
        """Return how many sequences of a context the memory holds."""
        held = fits.solve("concurrency", context=context, kv_bytes_per_token=self.each, kv_budget=self.budget * GB)
        return int(found(held))

    def crossing(self, tokens: int) -> int:
        """Return the longest context at which so many tokens fill all slots, 0 where there is none."""
        value = slots_bind.solve("slot_limit_context", slots=self.slots, token_capacity=tokens)
        return 0 if isinstance(value, Infeasible) else int(value)

    @property
    def all_full(self) -> int:
        """The tokens with which all slots can be in use."""
        return int(found(slots_bind.solve("token_capacity", slots=self.slots, slot_limit_context=self.context)))

    @property
    def need(self) -> Fraction:
        """The same in GB."""
        return found(holds_tokens.solve("kv_budget", token_capacity=self.all_full, kv_bytes_per_token=self.each)) / GB


def found(value: Exact | Infeasible) -> Fraction:
    """Give the value of a law that has one here.

    Raises:
        TypeError: it has none.
    """
    if isinstance(value, Infeasible):
        raise TypeError(value)
    return Fraction(value)


def draw(stream: Stream) -> Server:
    """Draw a model, a budget, slots, and a context at which one of the limits binds or now and then both do."""
    model = catalog.model(stream.choice(MODELS))
    shape = model.quantities()
    each = kv_bytes_per_token(kv_width=2, **{n: shape[n] for n in ("layers", "kv_heads", "head_dim")})
    server = Server(
        model=model.name,
        each=int(each),
        budget=stream.choice((4, 6, 8, 10, 12, 15, 18, 20, 24, 28, 32, 40, 48, 54, 60, 64, 72, 80, 100, 120)),
        slots=stream.choice((8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)),
        context=stream.choice((250, 300, 400, 512, 600, 800, 1000, 1500, 2000, 2048, 3000, 4000, 4096, 6000, 8000)),
    )
    if stream.below(4):
        return server
    near = server.crossing(server.capacity) + stream.choice((-2, -1, -1, 1))
    return replace(server, context=max(1, near))


def worth_asking(case: Server) -> bool:
    """Keep contexts within a factor of eight of the crossing, and crossings that are contexts."""
    crossing = case.crossing(case.capacity)
    return 100 <= crossing <= 20_000 and crossing <= 8 * case.context <= 64 * crossing  # noqa: PLR2004  a range


def statement(case: Server) -> str:
    """Say what the limits are."""
    return (
        f"A server runs {case.model}, which caches {case.each:,} B/token. "
        "Every sequence that runs takes one slot, and memory for its whole context; all have the same context."
    )


def token(case: Server) -> tuple[Given, ...]:
    """Give the cache of a token."""
    return (Given("kv_bytes_per_token", "k", str(case.each), "B/token", "KV cache per token"),)


def budget(case: Server) -> Given:
    """Give the budget."""
    return Given("kv_budget", "B_kv", str(case.budget), "GB", "memory for the KV cache")


def slots_of(case: Server) -> Given:
    """Give the slots."""
    return Given("slots", "n_s", str(case.slots), "1", "batch slots of the server")


def context(case: Server) -> Given:
    """Give the context."""
    return Given("context", "c", str(case.context), "token", "context per sequence")


def label(by_slots: int, by_memory: int) -> str:
    """Name the smaller limit."""
    return BOTH if by_slots == by_memory else SLOTS if by_slots < by_memory else MEMORY


def binding(case: Server) -> str:
    """Name the limit that binds."""
    return label(case.slots, case.in_memory(case.context))


def other(case: Server) -> str:
    """Name the limit that does not bind."""
    return {SLOTS: MEMORY, MEMORY: SLOTS, BOTH: MEMORY}[binding(case)]


IN_GIB = "The budget was read in GiB; it is given in GB."
MIXED = "A GB was turned into 1,000 MB, but bytes into MB of 1,024 x 1,024: decimal and binary sizes were mixed."
TWICE = "The factor 2 for keys and values was applied again; the cache per token has it."
UP = "The number was rounded up; with a token more one of the sequences does not fit."

limit: CaseAsk[Server] = CaseAsk(
    asks="limit",
    question=lambda c: (
        f"There are {c.slots:,} slots and {c.budget:,} GB for caches. Which limit allows fewer sequences at a context "
        f"of {c.context:,} tokens: slots, memory, or both the same?"
    ),
    kind="choice",
    options=lambda _: (SLOTS, MEMORY, BOTH),
    key=binding,
    givens=lambda c: (slots_of(c), budget(c), context(c)),
    slips=(
        CaseSlip("limits-exchanged", "The larger limit was taken to bind; the smaller one does.", other),
        told_apart(
            "context-forgotten",
            "The tokens were compared with the slots; each sequence takes as many tokens as its context has.",
            lambda c: label(c.slots, c.capacity),
            binding,
        ),
        told_apart(
            "part-counted",
            "The sequences in memory were not rounded down; a part of one does not run.",
            lambda c: (
                MEMORY if c.capacity < c.slots * c.context else SLOTS if c.capacity > c.slots * c.context else BOTH
            ),
            binding,
        ),
    ),
    hints=lambda c: (
        "Find how many sequences the memory holds, and compare with the slots.",
        "B_kv / (c k), rounded down, against n_s.",
        f"{c.budget:,} GB / ({c.context:,} x {c.each:,} B), rounded down, against {c.slots:,}.",
    ),
    explained=lambda c: (
        Explained(
            "fits",
            fits.says,
            f"{c.budget:,} GB / ({c.context:,} x {c.each:,} B), rounded down = {c.in_memory(c.context):,}",
        ),
        Explained(
            "both", "The smaller limit binds.", f"{c.slots:,} slots, {c.in_memory(c.context):,} in memory: {binding(c)}"
        ),
    ),
)
crossing: CaseAsk[Server] = CaseAsk(
    asks="slot_limit_context",
    question=lambda _: "What is the longest context, in tokens, at which all slots can be in use at once?",
    kind="count",
    unit="token",
    key=lambda c: c.crossing(c.capacity),
    slips=(
        CaseSlip(
            "bytes-for-tokens",
            "That is the share of a slot in bytes; a token takes its cache.",
            lambda c: c.budget * GB // c.slots,
        ),
        CaseSlip("budget-in-GiB", IN_GIB, lambda c: c.crossing(c.tokens(c.budget * int(unit("GiB").factor), c.each))),
        CaseSlip("conventions-mixed", MIXED, lambda c: c.crossing(c.tokens(c.budget * 1000, Fraction(c.each, MIB)))),
        CaseSlip("doubled-again", TWICE, lambda c: c.crossing(c.capacity // 2)),
        CaseSlip(
            "slots-forgotten",
            "Those are the tokens of all slots together; each has its share.",
            lambda c: c.capacity,
        ),
        CaseSlip("ratio-inverted", "The slots were divided by the tokens.", lambda c: Fraction(c.slots, c.capacity)),
        CaseSlip("rounded-up", UP, lambda c: c.crossing(c.capacity) + 1, lambda c: c.capacity % c.slots != 0),
    ),
    hints=lambda c: (
        "Find how many tokens the budget holds; all slots share them evenly.",
        "c* = B_kv / (k n_s), rounded down.",
        f"c* = {c.budget:,} GB / ({c.each:,} B x {c.slots:,}), rounded down.",
    ),
    explained=lambda c: (
        Explained(
            "holds_tokens",
            holds_tokens.says,
            f"{c.budget:,} GB / {c.each:,} B, rounded down = {c.capacity:,} tokens",
        ),
        Explained(
            "slots_bind",
            slots_bind.says,
            f"{c.capacity:,} tokens / {c.slots:,} slots, rounded down = {shown(c.crossing(c.capacity), 'token')}",
        ),
    ),
)
tokens: CaseAsk[Server] = CaseAsk(
    asks="token_capacity",
    question=lambda c: (
        f"How many tokens must the cache hold at least so that all {c.slots:,} slots can be in use with a context of "
        f"{c.context:,} tokens?"
    ),
    kind="count",
    unit="token",
    key=lambda c: c.all_full,
    givens=lambda c: (slots_of(c), context(c)),
    slips=(
        CaseSlip("slots-forgotten", "One slot was counted instead of all of them.", lambda c: c.context),
        CaseSlip("context-forgotten", "One token was counted instead of the context.", lambda c: c.slots),
        CaseSlip(
            "keys-and-values",
            "Keys and values were counted as tokens of their own; a token has both.",
            lambda c: 2 * c.all_full,
        ),
        CaseSlip("one-slot-less", "A slot was left out.", lambda c: c.all_full - c.context),
        CaseSlip("added", "Slots and context were added; every slot has the context.", lambda c: c.slots + c.context),
    ),
    hints=lambda c: (
        "Every slot takes the tokens of a whole context.",
        "T = n_s c.",
        f"T = {c.slots:,} x {c.context:,} tokens.",
    ),
    explained=lambda c: (
        Explained(
            "slots_bind", slots_bind.says, f"{c.slots:,} slots x {c.context:,} tokens = {shown(c.all_full, 'token')}"
        ),
    ),
)
needed: CaseAsk[Server] = CaseAsk(
    asks="kv_budget",
    question=lambda _: "How much memory, in GB, do the caches need at least for that?",
    kind="quantity",
    unit="GB",
    tolerance=FINE,
    key=lambda c: c.need,
    slips=(
        CaseSlip("slots-forgotten", "One slot was counted instead of all of them.", lambda c: c.need / c.slots),
        CaseSlip("context-forgotten", "One token was counted instead of the context.", lambda c: c.need / c.context),
        CaseSlip("doubled-again", TWICE, lambda c: 2 * c.need),
        CaseSlip(
            "answer-in-GiB",
            "The number is the answer in GiB; it is asked in GB.",
            lambda c: c.need * GB / unit("GiB").factor,
        ),
        CaseSlip("tokens-for-GB", "Those are tokens; each takes its cache.", lambda c: c.all_full),
    ),
    hints=lambda c: (
        "Every slot takes the cache of a whole context.",
        "B_kv = n_s c k.",
        f"B_kv = {c.slots:,} x {c.context:,} tokens x {c.each:,} B/token.",
    ),
    explained=lambda c: (
        Explained("slots_bind", slots_bind.says, f"{c.slots:,} slots x {c.context:,} tokens = {c.all_full:,} tokens"),
        Explained(
            "holds_tokens",
            holds_tokens.says,
            f"{c.all_full:,} tokens x {c.each:,} B/token = {rounded(c.need, 6)} GB",
        ),
    ),
)
useful: CaseAsk[Server] = CaseAsk(
    asks="slots",
    question=lambda c: (
        f"For caches of sequences with a context of {c.context:,} tokens there are {c.budget:,} GB. "
        "From how many slots on does a further one allow no further sequence to run?"
    ),
    kind="count",
    unit="sequence",
    key=lambda c: c.in_memory(c.context),
    givens=lambda c: (context(c), budget(c)),
    slips=(
        told_apart(
            "budget-in-GiB",
            IN_GIB,
            lambda c: c.tokens(c.budget * int(unit("GiB").factor), c.each) // c.context,
            lambda c: c.in_memory(c.context),
        ),
        told_apart(
            "conventions-mixed",
            MIXED,
            lambda c: c.tokens(c.budget * 1000, Fraction(c.each, MIB)) // c.context,
            lambda c: c.in_memory(c.context),
        ),
        CaseSlip("doubled-again", TWICE, lambda c: c.capacity // (2 * c.context)),
        CaseSlip(
            "context-forgotten",
            "Those are tokens; a sequence takes as many as its context has.",
            lambda c: c.capacity,
        ),
        CaseSlip(
            "bytes-for-tokens",
            "The budget in bytes was divided by tokens; a token takes its cache.",
            lambda c: c.budget * GB // c.context,
        ),
        CaseSlip(
            "rounded-up",
            "The number was rounded up; a sequence that does not fit whole does not run.",
            lambda c: c.in_memory(c.context) + 1,
            lambda c: c.budget * GB % (c.context * c.each) != 0,
        ),
    ),
    hints=lambda c: (
        "More slots help as long as the memory holds a further sequence.",
        "n_s = B_kv / (c k), rounded down.",
        f"n_s = {c.budget:,} GB / ({c.context:,} tokens x {c.each:,} B/token), rounded down.",
    ),
    explained=lambda c: (
        Explained(
            "fits",
            fits.says,
            f"{c.budget:,} GB / ({c.context:,} x {c.each:,} B), rounded down = {c.in_memory(c.context):,}",
        ),
    ),
)
family: CaseFamily[Server] = CaseFamily(
    draw=draw,
    statement=statement,
    ways=((limit, crossing), (tokens, needed), (useful,)),
    givens=token,
    keep=worth_asking,
    objective="cache-capacity",
    section="scaling",
    revision=2,
)
