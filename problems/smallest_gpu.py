"""The memory that a load needs when reserves are shares of it, and the smallest GPU of a list that has it (F07)."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from grader.amounts import rounded
from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, Given, told_apart
from grader.family import FINE
from spec import catalog
from spec.memory import kv_budget_by_shares, kv_bytes_per_token, kv_bytes_total
from spec.stream import Stream
from spec.units import unit

GB, GIB = 10**9, int(unit("GiB").factor)
MODELS = (
    *("llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "llama-3-70b", "mistral-7b-v0.3", "qwen2.5-7b"),
    *("qwen3-8b", "gemma-7b", "phi-2", "gpt-j-6b", "gpt-neox-20b", "opt-6.7b", "pythia-6.9b"),
)
LISTS = (
    ("t4", "l4", "rtx-5090", "l40s", "a100-80gb"),
    ("l4", "v100-32gb", "a100-40gb", "h100-80gb"),
    ("t4", "rtx-4090", "a100-40gb", "a100-80gb", "h200"),
    ("l4", "l40s", "h100-80gb", "h200", "mi300x"),
    ("a100-40gb", "a100-80gb", "h200", "b200-sxm", "b300-sxm"),
)


@dataclass(frozen=True, slots=True)
class Load:
    """Sequences of a model. `weights` are tenths of a GB, shares are per cent, `gpus` names with their GB in order."""

    model: str
    weights: int
    each: int
    sequences: int
    context: int
    activations: int
    margin: int
    gpus: tuple[tuple[str, int], ...]

    @property
    def weight(self) -> Fraction:
        """The GB of the weights."""
        return Fraction(self.weights, 10)

    @property
    def cache(self) -> Fraction:
        """The GB of all caches."""
        return _found(kv_bytes_total(cached_tokens=self.sequences * self.context, kv_bytes_per_token=self.each)) / GB

    @property
    def shares(self) -> tuple[Fraction, Fraction]:
        """The shares as numbers: of what the weights leave, and of the whole."""
        return Fraction(self.activations, 100), Fraction(self.margin, 100)

    @property
    def need(self) -> Fraction:
        """The GB that a GPU needs."""
        a, s = self.shares
        found = kv_budget_by_shares.solve(
            "gpu_memory",
            weights=self.weight * GB,
            kv_budget=self.cache * GB,
            activation_share_of_remaining=a,
            safety_share_of_total=s,
        )
        return _found(found) / GB

    def smallest(self, need: Fraction) -> str | None:
        """Return the smallest GPU with so many GB."""
        return next((name for name, memory in self.gpus if memory >= need), None)


def _found(value: object) -> Fraction:
    if not isinstance(value, int | Fraction):
        raise TypeError(value)
    return Fraction(value)


def draw(stream: Stream) -> Load:
    """Draw a model, its sequences and a list of GPUs."""
    model = catalog.model(stream.choice(MODELS))
    shape = model.quantities()
    each = kv_bytes_per_token(kv_width=2, **{n: shape[n] for n in ("layers", "kv_heads", "head_dim")})
    gpus = map(catalog.gpu, stream.choice(LISTS))
    return Load(
        model=model.name,
        weights=(2 * int(shape["parameters"]) + 5 * 10**7) // 10**8,
        each=int(each),
        sequences=stream.choice((4, 6, 8, 10, 12, 16, 20, 24, 25, 32, 40, 48, 64, 96)),
        context=stream.choice((512, 1000, 1024, 1500, 2000, 2048, 3000, 4000, 4096, 6000, 8000, 8192, 16_000)),
        activations=stream.choice((5, 8, 10, 12, 15, 18, 20, 25)),
        margin=stream.choice((3, 4, 5, 6, 8, 10)),
        gpus=tuple((gpu.name, int(gpu.marketed.number)) for gpu in gpus),
    )


def worth_asking(case: Load) -> bool:
    """Keep caches that are a good part of the need, and a need that is no more than twice the largest GPU."""
    window = catalog.model(case.model).window
    fits_window = window is None or case.context <= window
    return fits_window and 4 * case.cache >= case.weight and case.need <= 2 * case.gpus[-1][1]


def statement(case: Load) -> str:
    """Say what is to be held."""
    return (
        f"The weights of {case.model} take {rounded(case.weight)} GB, and its KV cache takes {case.each:,} B/token. "
        f"One GPU is to hold {case.sequences:,} sequences of {case.context:,} tokens each. "
        f"Of the memory that the weights leave, {case.activations} % is given to activations; "
        f"of the GPU's whole memory, {case.margin} % is kept free as a safety margin; the cache gets the rest."
    )


def givens(case: Load) -> tuple[Given, ...]:
    """List the sizes."""
    return (
        Given("weights", "W", rounded(case.weight), "GB", "weights"),
        Given("kv_bytes_per_token", "k", str(case.each), "B/token", "KV cache per token"),
        Given("concurrency", "N", str(case.sequences), "sequence", "sequences held at once"),
        Given("context", "c", str(case.context), "token", "context per sequence"),
        Given("activation_share_of_remaining", "a", str(case.activations), "%", "share of what the weights leave"),
        Given("safety_share_of_total", "s", str(case.margin), "%", "share of the whole memory"),
    )


def without_reserves(case: Load) -> Fraction:
    """Weights and cache alone."""
    return case.weight + case.cache


def shares_added(case: Load) -> Fraction:
    """Put the shares on top."""
    return without_reserves(case) * (1 + sum(case.shares))


def without_weights(case: Load) -> Fraction:
    """Count the cache alone."""
    return case.cache / (1 - sum(case.shares))


def without_margin(case: Load) -> Fraction:
    """Leave the margin out."""
    return case.weight + case.cache / (1 - case.shares[0])


def both_of_total(case: Load) -> Fraction:
    """Take both shares of the whole memory."""
    return without_reserves(case) / (1 - sum(case.shares))


def in_gib(case: Load) -> Fraction:
    """Count in GiB."""
    return case.need * GB / GIB


memory: CaseAsk[Load] = CaseAsk(
    asks="gpu_memory",
    question=lambda _: "How much memory must the GPU have at least, in GB?",
    kind="quantity",
    unit="GB",
    tolerance=FINE,
    key=lambda c: c.need,
    slips=(
        CaseSlip(
            "shares-added",
            "The shares were added on top of weights and cache; they are shares of the memory that is asked for.",
            shares_added,
        ),
        CaseSlip("weights-forgotten", "Only the cache was counted; the weights take memory too.", without_weights),
        CaseSlip(
            "reserves-forgotten",
            "Weights and cache alone were added; the reserves take memory too.",
            without_reserves,
        ),
        CaseSlip("margin-forgotten", "The safety margin was left out.", without_margin),
        CaseSlip("both-of-total", "Both shares were taken of the whole memory.", both_of_total),
        CaseSlip("answer-in-GiB", "The number is the answer in GiB; it is asked in GB.", in_gib),
        CaseSlip("cache-only", "That is the cache alone.", lambda c: c.cache),
    ),
    hints=lambda c: (
        "What the cache takes must be what weights, activations and margin leave of the memory.",
        "N c k = M - W - a (M - W) - s M; solve it for M.",
        (
            f"M = ({rounded(c.weight)} GB x (1 - {c.activations} %) + {c.sequences:,} x {c.context:,} x {c.each:,} B) "
            f"/ (1 - {c.activations} % - {c.margin} %)."
        ),
    ),
    explained=lambda c: (
        Explained(
            "kv_bytes_total",
            kv_bytes_total.says,
            f"{c.sequences:,} x {c.context:,} tokens x {c.each:,} B/token = {rounded(c.cache, 6)} GB",
        ),
        Explained(
            "kv_budget_by_shares",
            kv_budget_by_shares.says,
            f"M = ({rounded(c.weight)} GB x (1 - {c.activations} %) + {rounded(c.cache, 6)} GB) / "
            f"(1 - {c.activations} % - {c.margin} %) = {rounded(c.need, 6)} GB",
        ),
    ),
)


def right(case: Load) -> str | None:
    """Return the GPU to choose."""
    return case.smallest(case.need)


def by(slug: str, sentence: str, need: Callable[[Load], Fraction]) -> CaseSlip[Load]:
    """Return the slip of choosing by a wrong need."""
    return told_apart(slug, sentence, lambda case: case.smallest(need(case)), right)


def below(case: Load) -> str | None:
    """Return the largest GPU that is too small."""
    return next((name for name, memory in reversed(case.gpus) if memory < case.need), None)


choice: CaseAsk[Load] = CaseAsk(
    asks="gpu",
    question=lambda c: f"Which is the smallest of {listed(c)} that will do?",
    kind="choice",
    key=right,
    reason=lambda c: (
        f"{rounded(c.need, 6)} GB are needed and the largest has {c.gpus[-1][1]:,} GB: "
        "the model must be split over several GPUs."
    ),
    options=lambda c: tuple(name for name, _ in c.gpus),
    slips=(
        by("reserves-forgotten", "Weights and cache fit there, but the reserves do not.", without_reserves),
        by("margin-forgotten", "Without the safety margin that would do.", without_margin),
        by("weights-forgotten", "The cache fits there, but not with the weights.", without_weights),
        by("both-of-total", "Both shares were taken of the whole memory.", both_of_total),
        by("in-GiB", "The need in GiB was compared with memories in GB.", in_gib),
        CaseSlip(
            "largest-that-does-not",
            "That one is too small; a need goes up to the next larger GPU.",
            below,
            lambda c: below(c) is not None,
        ),
        CaseSlip(
            "largest",
            "That one does, but a smaller one does too.",
            lambda c: c.gpus[-1][0],
            lambda c: right(c) not in {None, c.gpus[-1][0]},
        ),
    ),
    hints=lambda c: (
        "Compare the memory of each with what is needed, from the smallest up.",
        "The first GPU with at least M of memory.",
        f"They have {', '.join(str(memory) for _, memory in c.gpus)} GB.",
    ),
    explained=lambda c: (
        *(
            Explained(
                "fits",
                "Enough memory or not.",
                f"{name}: {memory:,} GB {'is enough' if memory >= c.need else 'is too little'}",
            )
            for name, memory in c.gpus
        ),
        Explained("fits", "The first that has enough.", f"smallest = {right(c) or 'none'}"),
    ),
)


def listed(case: Load) -> str:
    """List the GPUs with their memory."""
    *most, last = [f"{name} ({memory:,} GB)" for name, memory in case.gpus]
    return f"{', '.join(most)} and {last}"


family: CaseFamily[Load] = CaseFamily(
    draw=draw,
    statement=statement,
    ways=((memory, choice),),
    givens=givens,
    keep=worth_asking,
    infeasible=True,
    objective="gpu-choice",
    section="memory-budgeting",
    revision=2,
)
