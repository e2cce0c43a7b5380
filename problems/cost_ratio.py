"""What a token of another model costs on the same GPU with full batches, and where that stays under a factor (F35)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from grader.amounts import rounded
from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, Given, told_apart
from grader.family import FINE
from grader.reckoned import shown
from grader.served import Model, served
from spec import catalog
from spec.batching import throughput
from spec.memory import fits, kv_budget
from spec.phases import decode_bytes
from spec.solving import Infeasible
from spec.stream import Stream

GB, BARELY = 10**9, Fraction(1, 200)
MODELS = (
    *("llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "llama-3-70b", "mistral-7b-v0.3", "qwen2.5-7b"),
    *("qwen2.5-72b", "qwen3-8b", "gemma-7b", "phi-2", "gpt-j-6b", "gpt-neox-20b", "opt-6.7b", "pythia-6.9b"),
)
LISTS = (
    ("rtx-5090", "l40s", "a100-80gb"),
    ("v100-32gb", "a100-40gb", "h100-80gb", "h200"),
    ("l4", "a100-40gb", "a100-80gb", "h200"),
    ("l40s", "h100-80gb", "h200", "mi300x"),
    ("a100-40gb", "a100-80gb", "h200", "b200-sxm"),
)
CONTEXTS = ((512, 1024, 2048, 4096), (1000, 2000, 4000, 8000), (500, 1500, 4000, 12_000), (1000, 3000, 6000, 10_000))


@dataclass(frozen=True, slots=True)
class Change:
    """The first and the second model on one of several GPUs, names with their GB in order, with reserves in GB."""

    first: Model
    second: Model
    gpus: tuple[tuple[str, int], ...]
    place: int
    activations: int
    margin: int
    context: int
    contexts: tuple[int, ...]
    factor: Fraction

    @property
    def gpu(self) -> tuple[str, int]:
        """The name and the GB of the GPU that is looked at."""
        return self.gpus[self.place]

    def left(self, model: Model) -> Fraction:
        """Return the bytes left for caches, under zero where the weights do not fit."""
        found = kv_budget(
            gpu_memory=self.gpu[1] * GB,
            weights=model.size,
            activations=self.activations * GB,
            safety_margin=self.margin * GB,
        )
        return -Fraction(found.deficit or 0) if isinstance(found, Infeasible) else Fraction(found)

    def batch(self, model: Model) -> int:
        """Return the largest batch of a model."""
        left = self.left(model)
        if left < 0:
            return 0
        found = fits.solve("concurrency", context=self.context, kv_bytes_per_token=model.each, kv_budget=left)
        return 0 if isinstance(found, Infeasible) else int(found)

    def rate(self, model: Model, batch: int) -> Fraction:
        """Return the tokens per second of a batch, if a second reads a byte."""
        step = decode_bytes(weights=model.size, cached_tokens=batch * self.context, kv_bytes_per_token=model.each)
        return Fraction(throughput(batch=batch, decode_step_time=step))

    def ratio(self) -> Fraction | None:
        """Return what a token of the second model costs over one of the first, None where one of them does not run."""
        return _ratio(self)


@lru_cache(maxsize=256)
def _ratio(case: Change) -> Fraction | None:
    first, second = case.batch(case.first), case.batch(case.second)
    return case.rate(case.first, first) / case.rate(case.second, second) if first and second else None


def draw(stream: Stream) -> Change:
    """Draw two models, GPUs and what is asked of them; the factor is near what a token costs on one of the GPUs."""
    gpus = tuple(map(catalog.gpu, stream.choice(LISTS)))
    case = Change(
        first=served(stream.choice(MODELS)),
        second=served(stream.choice(MODELS)),
        gpus=tuple((gpu.name, int(gpu.marketed.number)) for gpu in gpus),
        place=stream.below(len(gpus)),
        activations=stream.choice((1, 2, 3, 4, 6, 8)),
        margin=stream.choice((1, 2, 3, 4)),
        context=stream.choice((500, 512, 1000, 1024, 1500, 2000, 2048, 3000, 4000, 4096, 6000, 8000, 8192, 12_000)),
        contexts=stream.choice(CONTEXTS),
        factor=Fraction(stream.choice((60, 80, 95, 98, 102, 105, 120, 140)), 100),
    )
    if not sensible(case):
        return case
    return replace(case, factor=Fraction(max(1, round(20 * case.factor * (case.ratio() or 2))), 20))


def sensible(case: Change) -> bool:
    """Keep models of different sizes, of which the first one runs everywhere and the second one nearly."""
    room = (case.gpus[0][1] - case.activations - case.margin) * GB - case.first.size
    apart = abs(case.first.tenths - case.second.tenths) * 10 >= case.first.tenths
    longest_cache = max(*case.contexts, case.context) * case.first.each
    return apart and longest_cache <= room and case.second.tenths <= 15 * case.gpu[1]


def within(found: Fraction | None, case: Change) -> bool:
    """Say whether a ratio is no more than the factor."""
    return found is not None and found <= case.factor


def keep(case: Change) -> bool:
    """Keep also factors that not every GPU and every context meets, and that none of them barely meets or misses."""
    return sensible(case) and not any(
        all(within(found, case) for found in ratios)
        or any(found is not None and abs(found - case.factor) <= BARELY * case.factor for found in ratios)
        for ratios in ([one.ratio() for one in ends] for ends in (on_each_gpu(case), at_each_context(case)))
    )


def on_each_gpu(case: Change) -> list[Change]:
    """Put the models on each of the GPUs."""
    return [replace(case, place=place) for place in range(len(case.gpus))]


def at_each_context(case: Change) -> list[Change]:
    """Give the sequences each of the contexts, the longest first."""
    return [replace(case, context=context) for context in reversed(case.contexts)]


def statement(case: Change) -> str:
    """Say what is compared."""
    return (
        f"{case.first.name} has weights of {case.first.weights} GB and caches {case.first.each:,} B/token; "
        f"{case.second.name} has weights of {case.second.weights} GB and caches {case.second.each:,} B/token. Of a "
        f"GPU's memory {case.activations:,} GB {'is' if case.activations == 1 else 'are'} given to activations and "
        f"{case.margin:,} GB {'is' if case.margin == 1 else 'are'} kept free; the cache gets what the weights leave "
        "of the rest. Each model is served alone on one GPU, in the largest batch that fits, and every sequence takes "
        "the cache of the same number of tokens. Count decoding alone: a step gives every sequence one token and takes "
        "as long as reading the weights once and all caches. An hour of the GPU costs the same for both."
    )


def givens(case: Change) -> tuple[Given, ...]:
    """List the sizes."""
    return (
        Given("weights", "W", case.first.weights.replace(",", ""), "GB", "weights of the first model"),
        Given("kv_bytes_per_token", "k", str(case.first.each), "B/token", "KV cache per token of the first model"),
        Given("new_weights", "W'", case.second.weights.replace(",", ""), "GB", "weights of the second model"),
        Given("new_kv_bytes_per_token", "k'", str(case.second.each), "B/token", "KV cache per token of the second"),
        Given("activations", "A", str(case.activations), "GB", "memory given to activations"),
        Given("safety_margin", "S", str(case.margin), "GB", "memory kept free"),
    )


def memory(case: Change) -> Given:
    """Give the memory of the GPU."""
    return Given("gpu_memory", "M", str(case.gpu[1]), "GB", "memory of one GPU")


def context(case: Change) -> Given:
    """Give the context."""
    return Given("context", "c", str(case.context), "token", "context per sequence")


def missing(case: Change) -> str:
    """Say that the second model does not run."""
    left = case.left(case.second)
    if left < 0:
        return f"Weights and reserves of {case.second.name} take {rounded(-left / GB, 4)} GB more than there are."
    return (
        f"The {rounded(left / GB, 4)} GB that are left with {case.second.name} are less than the cache of a sequence."
    )


def by_weights(case: Change) -> Fraction:
    """Return the ratio of the weights."""
    return Fraction(case.second.tenths, case.first.tenths)


def by_cache(case: Change) -> Fraction:
    """Return the ratio of the caches of a token."""
    return Fraction(case.second.each, case.first.each)


def by_batches(case: Change) -> Fraction | None:
    """Return the ratio of the batches."""
    first, second = case.batch(case.first), case.batch(case.second)
    return Fraction(first, second) if second else None


def alone(case: Change) -> Fraction:
    """Return the ratio for batches of one."""
    return case.rate(case.first, 1) / case.rate(case.second, 1)


def each_batch(case: Change) -> str:
    """Write both batches."""
    return ", ".join(
        f"{one.name}: ({case.gpu[1]:,} - {one.weights} - {case.activations:,} - {case.margin:,}) GB / "
        f"({case.context:,} x {one.each:,} B), rounded down = {case.batch(one):,}"
        for one in (case.first, case.second)
    )


def compared(case: Change) -> str:
    """Write the ratio with both batches."""
    first, second = case.batch(case.first), case.batch(case.second)
    return (
        f"({case.second.weights} GB + {second:,} x {case.context:,} x {case.second.each:,} B) / {second:,} over "
        f"({case.first.weights} GB + {first:,} x {case.context:,} x {case.first.each:,} B) / {first:,}"
    )


TELL = (
    "The cost of a token is the time of a step over the batch; the price of the hour and the bandwidth cancel.",
    "With N = (M - W - A - S) / (c k), rounded down, a token costs (W + N c k) / N for each model.",
)
OF_WEIGHTS = "The ratio of the weights was taken; a token shares them with its batch and reads its own cache too."
OF_CACHES = "The ratio of the caches was taken; the weights are read too, and shared by different batches."
OF_BATCHES = "The ratio of the batches was taken; their steps do not last equally long."
ALONE = "That holds for batches of one sequence; the largest that fit share the weights."

ratio: CaseAsk[Change] = CaseAsk(
    asks="cost_ratio",
    question=lambda c: (
        f"On one {c.gpu[0]} with {c.gpu[1]:,} GB and with {c.context:,} tokens in each cache, how many times as much "
        f"does a token of {c.second.name} cost as one of {c.first.name}?"
    ),
    kind="number",
    tolerance=FINE,
    key=lambda c: c.ratio(),
    reason=missing,
    givens=lambda c: (memory(c), context(c)),
    slips=(
        CaseSlip("ratio-of-the-weights", OF_WEIGHTS, by_weights),
        CaseSlip("ratio-of-the-caches", OF_CACHES, by_cache),
        CaseSlip(
            "squared",
            "The ratio of the weights was squared, once for the batch and once for the step; neither goes that way.",
            lambda c: by_weights(c) ** 2,
        ),
        CaseSlip("ratio-of-the-batches", OF_BATCHES, by_batches, lambda c: by_batches(c) is not None),
        CaseSlip("batch-of-one", ALONE, alone),
        CaseSlip(
            "ratio-inverted",
            "The cost of the first was divided by that of the second.",
            lambda c: 1 / Fraction(c.ratio() or 1),
            lambda c: c.ratio() is not None,
        ),
        CaseSlip(
            "ratio-of-the-steps",
            "That is how long the steps last; they give different numbers of tokens.",
            lambda c: Fraction(c.ratio() or 1) / Fraction(by_batches(c) or 1),
            lambda c: c.ratio() is not None,
        ),
    ),
    hints=lambda c: (TELL[0], TELL[1], f"The batches: {each_batch(c)}."),
    explained=lambda c: (
        Explained("fits", "The largest batch of each model.", each_batch(c)),
        Explained(
            "cost_per_token",
            "Cost is proportional to the time of a step over the batch.",
            f"{compared(c)} = {shown(c.ratio(), '1')}" if c.ratio() else "the second does not run = none",
        ),
    ),
)


Measure = Callable[[Change], Fraction | None]


def smallest(case: Change, of: Measure = Change.ratio) -> str | None:
    """Return the smallest GPU on which a ratio is no more than the factor."""
    return next((one.gpu[0] for one in on_each_gpu(case) if within(of(one), case)), None)


def longest(case: Change, of: Measure = Change.ratio) -> str | None:
    """Return the longest context at which a ratio is no more than the factor."""
    return next((str(one.context) for one in at_each_context(case) if within(of(one), case)), None)


def ratios(cases: list[Change], names: list[str]) -> str:
    """List the ratios."""
    return ", ".join(
        f"{name}: {shown(found, '1', 4) if found is not None else 'does not run'}"
        for name, found in zip(names, (case.ratio() for case in cases), strict=True)
    )


def names_of(case: Change) -> list[str]:
    """Name the GPUs."""
    return [name for name, _ in case.gpus]


def too_dear(case: Change) -> str:
    """Say that the factor is missed everywhere."""
    return f"A token of {case.second.name} costs more than that in every one of these, or it does not run."


def wrong_choices(
    key: Callable[[Change], str | None], of: Callable[[Change, Measure], str | None]
) -> tuple[CaseSlip[Change], ...]:
    """Make the slips of choosing by a wrong ratio."""
    return (
        told_apart("ratio-of-the-weights", OF_WEIGHTS, lambda c: of(c, by_weights), key),
        told_apart("ratio-of-the-caches", OF_CACHES, lambda c: of(c, by_cache), key),
        told_apart("ratio-of-the-batches", OF_BATCHES, lambda c: of(c, by_batches), key),
        told_apart("batch-of-one", ALONE, lambda c: of(c, alone), key),
    )


def factor(case: Change) -> Given:
    """Give the factor."""
    return Given("cost_ratio", "g", rounded(case.factor), "1", "cost of a token of the second over one of the first")


gpu: CaseAsk[Change] = CaseAsk(
    asks="gpu",
    question=lambda c: (
        "To choose from are the GPUs "
        + ", ".join(f"{name} with {size:,} GB" for name, size in c.gpus)
        + f". With {c.context:,} tokens in each cache, which is the smallest of these on which a token of "
        f"{c.second.name} costs at most {rounded(c.factor)} times as much as one of {c.first.name}?"
    ),
    kind="choice",
    options=lambda c: tuple(names_of(c)),
    key=smallest,
    reason=too_dear,
    givens=lambda c: (context(c), factor(c)),
    slips=(
        *wrong_choices(smallest, smallest),
        told_apart("largest", "There it does, but on a smaller one too.", lambda c: c.gpus[-1][0], smallest),
        told_apart("smallest-of-all", "On that one it costs more, or does not run.", lambda c: c.gpus[0][0], smallest),
    ),
    hints=lambda c: (
        TELL[0],
        TELL[1] + " Try the GPUs from the smallest on.",
        f"On one {c.gpus[0][0]}: {each_batch(replace(c, place=0))}.",
    ),
    explained=lambda c: (
        Explained("cost_per_token", TELL[1], ratios(on_each_gpu(c), names_of(c))),
        Explained("cost_per_token", "The smallest with at most the factor.", f"smallest = {smallest(c) or 'none'}"),
    ),
)
length: CaseAsk[Change] = CaseAsk(
    asks="context",
    question=lambda c: (
        f"On one {c.gpu[0]} with {c.gpu[1]:,} GB the caches may have "
        f"{', '.join(f'{one:,}' for one in c.contexts[:-1])} or {c.contexts[-1]:,} tokens each. Which of these is the "
        f"longest context at which a token of {c.second.name} costs at most {rounded(c.factor)} times as much as one "
        f"of {c.first.name}?"
    ),
    kind="choice",
    options=lambda c: tuple(map(str, c.contexts)),
    key=longest,
    reason=too_dear,
    givens=lambda c: (memory(c), factor(c)),
    slips=(
        *wrong_choices(longest, longest),
        told_apart("shortest", "There it does, but at a longer one too.", lambda c: str(c.contexts[0]), longest),
        told_apart(
            "longest-of-all", "At that one it costs more, or does not run.", lambda c: str(c.contexts[-1]), longest
        ),
    ),
    hints=lambda c: (
        TELL[0],
        TELL[1] + " Try the contexts from the longest on.",
        f"At {c.contexts[-1]:,} tokens: {each_batch(at_each_context(c)[0])}.",
    ),
    explained=lambda c: (
        Explained(
            "cost_per_token", TELL[1], ratios(at_each_context(c), [f"{one:,} tokens" for one in reversed(c.contexts)])
        ),
        Explained("cost_per_token", "The longest with at most the factor.", f"longest = {longest(c) or 'none'}"),
    ),
)
family: CaseFamily[Change] = CaseFamily(
    draw=draw,
    statement=statement,
    ways=((ratio,), (gpu,), (length,)),
    givens=givens,
    keep=keep,
    infeasible=True,
    objective="model-change",
    section="scaling",
)
