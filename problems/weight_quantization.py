"""What narrower weights do to the number of sequences, and how narrow they must be for a number of them (F34)."""

from dataclasses import dataclass
from fractions import Fraction

from grader.amounts import rounded
from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, Given, told_apart
from grader.family import FINE
from grader.reckoned import shown
from spec import catalog
from spec.memory import fits, kv_budget, kv_bytes_per_token, weights
from spec.solving import Infeasible
from spec.stream import Stream
from spec.units import unit

GB, GIB = 10**9, int(unit("GiB").factor)
HUNDRED_MILLION, BEFORE, BITS_OF_A_BYTE = 10**8, 16, 8
NARROWER = (8, 6, 5, 4, 3)
MODELS = (
    *("llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "llama-3-70b", "mistral-7b-v0.3", "qwen2.5-7b"),
    *("qwen2.5-72b", "qwen3-8b", "gemma-7b", "phi-2", "gpt-j-6b", "gpt-neox-20b", "opt-6.7b", "pythia-6.9b"),
)
GPUS = (
    *("t4", "l4", "a10", "rtx-4090", "rtx-5090", "v100-32gb", "a100-40gb", "l40s", "a100-80gb", "h100-80gb", "h200"),
    *("b200-sxm", "mi300x"),
)


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Weights of 16 bits that get `bits`, on a GPU of `memory` GB with `activations` and a `margin`, in GB.

    A token takes `each` bytes of cache, a sequence `context` tokens; `wanted` sequences are to fit.
    """

    model: str
    parameters: int
    each: int
    gpu: str
    memory: int
    activations: int
    margin: int
    context: int
    bits: int
    wanted: int

    def takes(self, bits: Fraction | int) -> Fraction:
        """Return the bytes of the weights at a width."""
        return Fraction(weights(parameters=self.parameters, weight_bits=bits))

    def left(self, taken: Fraction | int) -> Fraction:
        """Return the bytes left beside weights that take so many, under zero where they do not fit."""
        found = kv_budget(
            gpu_memory=self.memory * GB,
            weights=taken,
            activations=self.activations * GB,
            safety_margin=self.margin * GB,
        )
        if isinstance(found, Infeasible):
            return -Fraction(found.deficit or 0)
        return Fraction(found)

    def holds(self, size: Fraction | int, each: Fraction | int) -> int:
        """Return how many sequences fit into so many bytes when a token takes `each`."""
        if size < 0:
            return 0
        found = fits.solve("concurrency", context=self.context, kv_bytes_per_token=each, kv_budget=size)
        return 0 if isinstance(found, Infeasible) else int(found)

    def at(self, bits: Fraction | int) -> int:
        """Return how many sequences fit at a width of the weights."""
        return self.holds(self.left(self.takes(bits)), self.each)

    @property
    def cache_narrowed(self) -> Fraction:
        """The cache of a token, were it narrowed too."""
        return Fraction(self.each * self.bits, BEFORE)

    @property
    def in_gib(self) -> int:
        """The sequences, were all sizes in GiB but the weights, which follow from the bytes of the parameters."""
        size = self.memory - self.activations - self.margin
        return self.holds(size * GIB - self.takes(self.bits), self.each)


def draw(stream: Stream) -> Narrowing:
    """Draw a model, a GPU and a width."""
    model, gpu = catalog.model(stream.choice(MODELS)), catalog.gpu(stream.choice(GPUS))
    shape = model.quantities()
    each = kv_bytes_per_token(kv_width=2, **{n: shape[n] for n in ("layers", "kv_heads", "head_dim")})
    return Narrowing(
        model=model.name,
        parameters=(int(shape["parameters"]) + HUNDRED_MILLION // 2) // HUNDRED_MILLION * HUNDRED_MILLION,
        each=int(each),
        gpu=gpu.name,
        memory=int(gpu.marketed.number),
        activations=stream.choice((1, 2, 3, 4, 6, 8)),
        margin=stream.choice((1, 2, 3, 4)),
        context=stream.choice((1000, 1024, 1500, 2000, 2048, 3000, 4000, 4096, 6000, 8000, 8192, 12_000, 16_000)),
        bits=stream.choice(NARROWER),
        wanted=stream.choice((2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 50, 64, 80, 100)),
    )


def worth_asking(case: Narrowing) -> bool:
    """Keep weights that are a part of the GPU worth saving, and reserves that are a small one."""
    wide, narrow = case.takes(BEFORE), case.takes(case.bits)
    return (
        6 * wide >= case.memory * GB
        and narrow <= Fraction(5, 4) * case.memory * GB
        and 4 * (case.activations + case.margin) <= case.memory
        and case.at(case.bits) <= 200  # noqa: PLR2004  no server runs more
        and 2 * case.at(NARROWER[0]) <= 3 * case.wanted <= 5 * max(case.at(NARROWER[-1]), 3)
    )


def statement(case: Narrowing) -> str:
    """Say what is there."""
    return (
        f"{case.model} has {case.parameters:,} parameters of 16 bits each and caches {case.each:,} B/token. "
        f"It is to be served on one {case.gpu} with {case.memory:,} GB of memory, of which activations "
        f"get {case.activations:,} GB and a margin of {case.margin:,} GB stays free; the cache gets what the weights "
        f"leave of the rest. Every sequence takes the cache of {case.context:,} tokens. The weights are now stored in "
        "fewer bits, without scales or other overhead, and the cache is as before."
    )


def givens(case: Narrowing) -> tuple[Given, ...]:
    """List the sizes."""
    return (
        Given("parameters", "P", str(case.parameters), "parameter", "parameters"),
        Given("kv_bytes_per_token", "k", str(case.each), "B/token", "KV cache per token"),
        Given("gpu_memory", "M", str(case.memory), "GB", "memory of one GPU"),
        Given("activations", "A", str(case.activations), "GB", "memory given to activations"),
        Given("safety_margin", "S", str(case.margin), "GB", "memory kept free"),
        Given("context", "c", str(case.context), "token", "context per sequence"),
    )


def width(case: Narrowing) -> tuple[Given, ...]:
    """Give the width after the change."""
    return (Given("weight_bits", "b_w", str(case.bits), "bit", "bits per weight"),)


def fitting(case: Narrowing) -> int | None:
    """Return the sequences that fit after the change."""
    return case.at(case.bits) or None


def gain(case: Narrowing) -> Fraction | None:
    """Return how many times as many they are."""
    before, after = case.at(BEFORE), case.at(case.bits)
    return Fraction(after, before) if before and after else None


def widest(case: Narrowing) -> str | None:
    """Return the widest of the narrower weights with which as many as wanted fit."""
    return next((str(bits) for bits in NARROWER if case.at(bits) >= case.wanted), None)


def next_wider(case: Narrowing) -> str | None:
    """Return the narrowest of the widths at which fewer than wanted fit."""
    return next((str(one) for one in reversed(NARROWER) if case.at(one) < case.wanted), None)


def short(case: Narrowing) -> str:
    """Say by how much the weights do not fit, or that the rest is less than a sequence."""
    left = case.left(case.takes(case.bits))
    if left < 0:
        return f"Even so weights and reserves take {rounded(-left / GB, 4)} GB more than there are."
    return f"What is left, {rounded(left / GB, 4)} GB, is less than the cache of one sequence."


def nothing_before(case: Narrowing) -> str:
    """Say why there is no factor."""
    if fitting(case) is None:
        return short(case)
    return "Before the change not a single sequence fits, and nothing is so many times none."


def too_many(case: Narrowing) -> str:
    """Say how many fit at best."""
    return f"Even at {NARROWER[-1]} bits only {case.at(NARROWER[-1]):,} fit."


def calculation(case: Narrowing, bits: int) -> str:
    """Write what is left beside the weights of a width."""
    return (
        f"{case.memory:,} GB - {case.activations:,} GB - {case.margin:,} GB - {case.parameters:,} x {bits} / 8 B = "
        f"{rounded(case.left(case.takes(bits)) / GB, 6)} GB"
    )


def caches(case: Narrowing, bits: int) -> str:
    """Write how many fit at a width."""
    return f"{bits} bits: {calculation(case, bits)}, which holds {case.at(bits):,}"


CACHE_TOO = "The cache was narrowed with the weights; it is as before."
NARROWED = "The gain was taken as that of the weights; they are one part of the memory."

number: CaseAsk[Narrowing] = CaseAsk(
    asks="concurrency",
    question=lambda c: f"By memory alone, how many sequences fit at most with weights of {c.bits} bits?",
    kind="count",
    unit="sequence",
    capacity=True,
    key=fitting,
    reason=short,
    givens=width,
    slips=(
        told_apart(
            "cache-narrowed-too",
            CACHE_TOO,
            lambda c: c.holds(c.left(c.takes(c.bits)), c.cache_narrowed),
            fitting,
        ),
        told_apart(
            "in-proportion",
            "The sequences were multiplied by the factor of the weights; the memory for caches grows by less or more.",
            lambda c: c.at(BEFORE) * BEFORE // c.bits,
            fitting,
        ),
        told_apart(
            "bits-as-bytes",
            "The bit width was used as a number of bytes.",
            lambda c: c.at(BITS_OF_A_BYTE * c.bits),
            fitting,
        ),
        told_apart("unchanged", "That is the number before the change.", lambda c: c.at(BEFORE), fitting),
        told_apart("memory-in-GiB", "The memory was read in GiB; it is given in GB.", lambda c: c.in_gib, fitting),
        told_apart(
            "weights-forgotten",
            "The weights were left out.",
            lambda c: c.holds((c.memory - c.activations - c.margin) * GB, c.each),
            fitting,
        ),
        told_apart(
            "reserves-forgotten",
            "The reserves were not taken off.",
            lambda c: c.holds(c.memory * GB - c.takes(c.bits), c.each),
            fitting,
        ),
        CaseSlip(
            "rounded-up",
            "The number was rounded up; a sequence that does not fit whole does not count.",
            lambda c: (fitting(c) or 0) + 1,
            lambda c: c.left(c.takes(c.bits)) > 0 and c.left(c.takes(c.bits)) % (c.context * c.each) != 0,
        ),
    ),
    hints=lambda c: (
        "Only the weights shrink; find what they leave for the cache, and divide by the cache of a sequence.",
        "(M - A - S - W) / (c k), rounded down, where W is what P weights of b_w bits take.",
        (
            f"({c.memory:,} GB - {c.activations:,} GB - {c.margin:,} GB - {c.parameters:,} x {c.bits} bits) / "
            f"({c.context:,} x {c.each:,} B), rounded down."
        ),
    ),
    explained=lambda c: (
        Explained("kv_budget", kv_budget.says, calculation(c, c.bits)),
        Explained(
            "fits",
            fits.says,
            f"that / ({c.context:,} x {c.each:,} B), rounded down = {shown(fitting(c), 'sequence')}",
        ),
    ),
)
times: CaseAsk[Narrowing] = CaseAsk(
    asks="gain",
    question=lambda _: "How many times as many whole sequences is that as with weights of 16 bits?",
    kind="number",
    tolerance=FINE,
    key=gain,
    reason=nothing_before,
    slips=(
        CaseSlip("factor-of-the-weights", NARROWED, lambda c: Fraction(BEFORE, c.bits)),
        CaseSlip(
            "cache-narrowed-too",
            CACHE_TOO,
            lambda c: Fraction(c.holds(c.left(c.takes(c.bits)), c.cache_narrowed), c.at(BEFORE)),
            lambda c: bool(c.at(BEFORE)),
        ),
        CaseSlip("unchanged", "The number was taken to stay as it is.", lambda _: 1),
        CaseSlip(
            "ratio-inverted", "The number before was divided by that after.", lambda c: 1 / Fraction(gain(c) or 1)
        ),
        CaseSlip("more-for-times", "That is how many more, not how many times as many.", lambda c: (gain(c) or 1) - 1),
        CaseSlip(
            "difference",
            "That is the difference between the two numbers.",
            lambda c: c.at(c.bits) - c.at(BEFORE),
            lambda c: gain(c) is not None,
        ),
    ),
    hints=lambda c: (
        "Find how many fit before the change too.",
        "(M - A - S - W) / (c k), rounded down, with W at 16 bits, is the number before; divide the one after by it.",
        (
            f"Before it is ({c.memory:,} GB - {c.activations:,} GB - {c.margin:,} GB - {c.parameters:,} x 16 bits) / "
            f"({c.context:,} x {c.each:,} B), rounded down."
        ),
    ),
    explained=lambda c: (
        Explained("fits", fits.says, caches(c, BEFORE)),
        Explained(
            "fits",
            "The number after over the number before.",
            f"{c.at(c.bits):,} / {c.at(BEFORE):,} = {shown(gain(c), '1', 6)}",
        ),
    ),
)
bits: CaseAsk[Narrowing] = CaseAsk(
    asks="weight_bits",
    question=lambda c: (
        f"The weights can have 8, 6, 5, 4 or 3 bits. Which of these is the widest at which {c.wanted:,} sequences fit?"
    ),
    kind="choice",
    options=lambda _: tuple(map(str, NARROWER)),
    key=widest,
    reason=too_many,
    givens=lambda c: (Given("concurrency", "N", str(c.wanted), "sequence", "sequences that are to fit"),),
    slips=(
        CaseSlip(
            "next-wider",
            "With that width one or more of the sequences do not fit.",
            next_wider,
            lambda c: next_wider(c) is not None,
        ),
        CaseSlip(
            "narrowest",
            "With that one they fit, but a wider one will do.",
            lambda _: str(NARROWER[-1]),
            lambda c: widest(c) not in {None, str(NARROWER[-1])},
        ),
        told_apart(
            "cache-narrowed-too",
            CACHE_TOO,
            lambda c: next(
                (
                    str(one)
                    for one in NARROWER
                    if c.holds(c.left(c.takes(one)), Fraction(c.each * one, BEFORE)) >= c.wanted
                ),
                None,
            ),
            widest,
        ),
        told_apart(
            "in-proportion",
            "The sequences were multiplied by the factor of the weights; the memory for caches grows by less or more.",
            lambda c: next((str(one) for one in NARROWER if c.at(BEFORE) * BEFORE // one >= c.wanted), None),
            widest,
        ),
        told_apart(
            "reserves-forgotten",
            "The reserves were not taken off.",
            lambda c: next(
                (str(one) for one in NARROWER if c.holds(c.memory * GB - c.takes(one), c.each) >= c.wanted), None
            ),
            widest,
        ),
    ),
    hints=lambda c: (
        "Find how much the caches of the sequences take, and what that leaves for the weights.",
        "P b_w / 8 must be at most M - A - S - N c k.",
        (
            f"{c.parameters:,} x b_w / 8 B must be at most {c.memory:,} GB - {c.activations:,} GB - {c.margin:,} GB - "
            f"{c.wanted:,} x {c.context:,} x {c.each:,} B."
        ),
    ),
    explained=lambda c: (
        *(Explained("fits", fits.says, caches(c, one)) for one in NARROWER),
        Explained("fits", "The widest with which they fit.", f"widest = {widest(c) or 'none'}"),
    ),
)


family: CaseFamily[Narrowing] = CaseFamily(
    draw=draw,
    statement=statement,
    ways=((number,), (number, times), (bits,)),
    givens=givens,
    keep=worth_asking,
    infeasible=True,
    revision=2,
    objective="model-change",
    section="memory-budgeting",
)
