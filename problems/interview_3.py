"""Interview question 3: how fast short and long prompts decode, and for which batches the two hardly differ."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from grader.amounts import rounded
from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, Given
from grader.exercise import exact
from spec import catalog, phases
from spec.domains import COUNT
from spec.memory import kv_bytes_per_token
from spec.solving import last
from spec.stream import Stream

GB, TENTHS, PER_CENT = 10**9, 10, 100
APART = Fraction(103, 100)  # what reading one cache must change to be told from reading all
MODELS = (
    *("llama-2-7b", "llama-2-13b", "llama-3-8b", "mistral-7b-v0.3", "qwen2.5-7b", "qwen3-8b", "gemma-7b"),
    *("gpt-j-6b", "gpt-neox-20b", "opt-6.7b", "pythia-6.9b", "falcon-7b", "phi-2"),
)
GPUS = ("a100-80gb", "a100-40gb", "h100-80gb", "h200", "l40s", "rtx-5090", "v100-32gb")
SHORT = (50, 100, 128, 150, 200, 250, 256, 300, 400, 500)
FACTORS = (5, 8, 10, 12, 16, 20, 25)
ALMOST = (2, 3, 5, 8, 10, 15, 20)  # per cent
REACH = 64  # batches to ask for, at most


@dataclass(frozen=True, slots=True)
class Server:
    """A model on a GPU, with tenths of a GB of weights, bytes of cache of a token and GB/s; contexts and a batch.

    `slower` is how many per cent of the speed may be lost.
    """

    model: str
    gpu: str
    tenths: int
    each: int
    bandwidth: int
    memory: int
    short: int
    long: int
    batch: int
    slower: int

    @property
    def weights(self) -> Fraction:
        """The bytes of the weights."""
        return Fraction(self.tenths * GB, TENTHS)

    def read(self, batch: int, context: int) -> Fraction:
        """The bytes that a step reads."""
        return Fraction(
            phases.decode_bytes(weights=self.weights, cached_tokens=batch * context, kv_bytes_per_token=self.each)
        )

    def rate(self, batch: int, context: int) -> Fraction:
        """The tokens per second of each sequence of a batch."""
        return Fraction(self.bandwidth * GB) / self.read(batch, context)

    def hardly_slower(self, batch: int) -> bool:
        """Whether the long prompts lose no more than is allowed."""
        return self.rate(batch, self.long) >= (1 - Fraction(self.slower, PER_CENT)) * self.rate(batch, self.short)

    @property
    def largest(self) -> int | None:
        """The largest batch for which that is so: the loss grows with every sequence."""
        return last(COUNT, self.hardly_slower)

    @property
    def room(self) -> Fraction:
        """How many sequences the allowed loss has room for, before rounding."""
        share = Fraction(self.slower, PER_CENT)
        return share * self.weights / (((1 - share) * self.long - self.short) * self.each)


def draw(stream: Stream) -> Server:
    """Draw a server."""
    model, gpu = catalog.model(stream.choice(MODELS)), catalog.gpu(stream.choice(GPUS))
    shape = model.quantities()
    each = kv_bytes_per_token(kv_width=2, **{n: shape[n] for n in ("layers", "kv_heads", "head_dim")})
    short = stream.choice(SHORT)
    return Server(
        model=model.name,
        gpu=gpu.name,
        tenths=(2 * int(shape["parameters"]) + 5 * 10**7) // 10**8,
        each=int(each),
        bandwidth=int(gpu.quantities()["bandwidth"]) // GB,
        memory=int(gpu.marketed.number),
        short=short,
        long=short * stream.choice(FACTORS),
        batch=stream.choice((4, 6, 8, 10, 12, 16, 20, 24, 25, 32)),
        slower=stream.choice(ALMOST),
    )


def keep(case: Server) -> bool:
    """Keep batches that fit, contexts of the model, and batches for the third question that one can ask for."""
    window = catalog.model(case.model).window
    if window is not None and case.long > window:
        return False
    loss = (1 - Fraction(case.slower, PER_CENT)) * case.long > case.short
    fits = case.read(case.batch, case.long) <= case.memory * GB
    largest = case.largest if loss else None
    if largest is not None and (largest > REACH or case.read(largest, case.long) > case.memory * GB):
        return False
    return loss and fits and largest != case.batch and case.rate(case.batch, case.short) <= 10**4


def statement(case: Server) -> str:
    """Tell what is compared."""
    return (
        f"{case.model} takes {rounded(Fraction(case.tenths, TENTHS))} GB of weights and caches {case.each:,} B/token; "
        f"it runs on one {case.gpu} with a memory bandwidth of {case.bandwidth:,} GB/s, all of which is reached. A "
        "decode step takes as long as it takes to read the weights once and the cache of every sequence. One batch "
        f"holds only sequences of {case.short:,} tokens each, prompt and what was generated together; another batch, "
        f"with as many sequences, holds only such of {case.long:,} tokens each."
    )


def givens(case: Server) -> tuple[Given, ...]:
    """List the sizes."""
    return (
        Given("weights", "W", exact(Fraction(case.tenths, TENTHS)), "GB", "weights"),
        Given("kv_bytes_per_token", "k", str(case.each), "B/token", "KV cache per token"),
        Given("bandwidth", "BW", str(case.bandwidth), "GB/s", "memory bandwidth"),
        Given("short", "c_s", str(case.short), "token", "short context"),
        Given("long", "c_l", str(case.long), "token", "long context"),
    )


def speed(long: bool) -> CaseAsk[Server]:  # noqa: FBT001  one of the two batches
    """Ask for the rate of a sequence of one of the two batches."""

    def context(c: Server) -> int:
        return c.long if long else c.short

    def slip(
        slug: str, sentence: str, value: Callable[[Server], Fraction], apart: Fraction = Fraction(1)
    ) -> CaseSlip[Server]:
        return CaseSlip(slug, sentence, value, lambda c: apart == 1 or value(c) > apart * c.rate(c.batch, context(c)))

    other = (
        slip(
            "as-the-short-one",
            "Both were given the same speed; a longer cache takes longer to read.",
            lambda c: c.rate(c.batch, c.short),
        ),
        slip(
            "slower-by-the-length",
            "The speed was taken to fall with the length; the weights are read all the same.",
            lambda c: c.rate(c.batch, c.short) * c.short / c.long,
        ),
    )
    return CaseAsk(
        asks="decode_rate_long" if long else "decode_rate_short",
        question=lambda c: (
            f"In batches of {c.batch} sequences, how many tokens per second does each sequence of {context(c):,} "
            "tokens get?"
        ),
        kind="quantity",
        unit="token/s",
        key=lambda c: c.rate(c.batch, context(c)),
        givens=lambda c: (Given("batch", "B", str(c.batch), "sequence", "sequences in the batch"),),
        slips=(
            *(other if long else ()),
            slip(
                "whole-batch",
                "That is the speed of the whole batch; each sequence gets one token a step.",
                lambda c: c.batch * c.rate(c.batch, context(c)),
            ),
            slip(
                "one-sequence",
                "Only one cache was read; a step reads that of every sequence.",
                lambda c: c.rate(1, context(c)),
                APART,
            ),
            slip(
                "weights-alone",
                "Only the weights were read; the caches are read too.",
                lambda c: Fraction(c.bandwidth * GB) / c.weights,
            ),
            slip(
                "weights-per-sequence",
                "The weights were read once for every sequence; a step reads them once.",
                lambda c: c.rate(1, context(c)) / c.batch,
            ),
            slip(
                "step-for-rate",
                "That is the time of a step in ms.",
                lambda c: 1000 / c.rate(c.batch, context(c)),
            ),
            slip(
                "half-of-the-bytes",
                "One byte was counted for a weight and for a cached element; these take two.",
                lambda c: 2 * c.rate(c.batch, context(c)),
            ),
        ),
        hints=lambda c: (
            "Every step gives each sequence one token: find how many bytes a step reads.",
            "rate = BW / (W + B c k).",
            (
                f"rate = {c.bandwidth:,} GB/s / ({rounded(Fraction(c.tenths, TENTHS))} GB + {c.batch} x "
                f"{context(c):,} x {c.each:,} B)."
            ),
        ),
        explained=lambda c: (
            Explained(
                "decode_bytes",
                phases.decode_bytes.says,
                f"{rounded(Fraction(c.tenths, TENTHS))} GB + {c.batch} x {context(c):,} x {c.each:,} B = "
                f"{rounded(c.read(c.batch, context(c)) / GB, 6)} GB",
            ),
            Explained(
                "decode_rate",
                "One sequence gets one token per step.",
                f"rate = {c.bandwidth:,} GB/s / {rounded(c.read(c.batch, context(c)) / GB, 6)} GB = "
                f"{rounded(c.rate(c.batch, context(c)))} tokens/s",
            ),
        ),
    )


def counted(slug: str, sentence: str, value: Callable[[Server], int]) -> CaseSlip[Server]:
    """Make a misconception about the largest batch."""
    return CaseSlip(slug, sentence, lambda c: value(c) or None, lambda c: (value(c) or None) not in {None, c.largest})


alike: CaseAsk[Server] = CaseAsk(
    asks="batch",
    question=lambda c: (
        f"What is the largest batch size for which a sequence of {c.long:,} tokens is at most {c.slower} % slower, in "
        f"tokens per second, than one of {c.short:,} tokens in a batch of the same size?"
    ),
    kind="count",
    unit="sequence",
    capacity=True,
    key=lambda c: c.largest,
    givens=lambda c: (Given("slower", "d", str(c.slower), "%", "what may be lost of the speed"),),
    reason=lambda c: (
        f"Even alone a sequence of {c.long:,} tokens has {rounded(c.rate(1, c.long) / c.rate(1, c.short) * 100)} % of "
        "the speed of the shorter one."
    ),
    slips=(
        counted(
            "step-instead-of-speed",
            "The step was allowed to last that much longer; the speed may be that much less.",
            lambda c: max(
                0,
                int(
                    Fraction(c.slower, PER_CENT)
                    * c.weights
                    / ((c.long - (1 + Fraction(c.slower, PER_CENT)) * c.short) * c.each)
                ),
            ),
        ),
        counted(
            "short-cache-free",
            "The cache of the short sequences is read too.",
            lambda c: int(
                Fraction(c.slower, PER_CENT) * c.weights / ((1 - Fraction(c.slower, PER_CENT)) * c.long * c.each)
            ),
        ),
        counted("rounded-up", "With that batch the loss is larger.", lambda c: (c.largest or 0) + 1),
        counted(
            "cache-against-weights",
            "That is where the long caches take as many bytes as the weights.",
            lambda c: int(c.weights / (c.long * c.each)),
        ),
        counted(
            "keys-only",
            "The cache of a token was halved; it holds keys and values already.",
            lambda c: int(2 * c.room),
        ),
        counted("the-printed-batch", "That is the batch of the other questions.", lambda c: c.batch),
        counted("alone-only", "More than one sequence do it too.", lambda _: 1),
        counted(
            "half-of-the-bytes",
            "One byte was counted for a weight and two for a cached element.",
            lambda c: int(c.room / 2),
        ),
    ),
    hints=lambda c: (
        "Both steps read the same weights; only the caches make the difference, and they grow with the batch.",
        "(W + B c_s k) / (W + B c_l k) is the share of the speed that is kept; solve for B and round down.",
        (
            f"(W + B x {c.short:,} x k) / (W + B x {c.long:,} x k) >= {rounded(1 - Fraction(c.slower, PER_CENT))} with "
            f"W = {rounded(Fraction(c.tenths, TENTHS))} GB and k = {c.each:,} B."
        ),
    ),
    explained=lambda c: (
        Explained(
            "decode_bytes",
            "The loss of speed grows with the batch, for only the weights are shared.",
            f"B <= {c.slower} % x W / (({100 - c.slower} % x {c.long:,} - {c.short:,}) x k) = "
            f"{rounded(c.room)}, rounded down: largest batch = {c.largest or 'none'}",
        ),
    ),
)
family: CaseFamily[Server] = CaseFamily(
    draw=draw,
    statement=statement,
    ways=((speed(long=False), speed(long=True), alike),),
    givens=givens,
    keep=keep,
    rubric=(
        "Did you tell the time to the first token, which prefill decides, from the speed after it?",
        "Did you say that sequences that share a batch step together, whatever their lengths?",
        "Did you name the condition under which the speeds agree: caches that are small against the weights?",
        "Did you say what a long prompt does to its neighbours while it is worked on?",
    ),
    objective="serving-speed",
    section="prefill-decode",
    infeasible=True,
    revision=2,
)
