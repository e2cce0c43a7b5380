"""Interview question 8: what a token of a larger model costs against one of a smaller, on a large GPU and a small."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from grader.amounts import rounded
from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, Given
from grader.exercise import exact
from spec import catalog, phases
from spec.memory import fits, kv_budget, kv_bytes_per_token
from spec.solving import Infeasible
from spec.stream import Stream

GB, GIB = 10**9, 2**30
TENTHS = 10
PAIRS = (
    *(("llama-2-7b", "llama-2-13b"), ("mistral-7b-v0.3", "llama-2-13b"), ("qwen3-8b", "llama-2-13b")),
    *(("gpt-j-6b", "gpt-neox-20b"), ("pythia-6.9b", "gpt-neox-20b"), ("opt-6.7b", "llama-2-13b")),
    *(("phi-2", "llama-2-7b"), ("gemma-2b", "gemma-7b"), ("llama-3.2-1b", "llama-3-8b"), ("gemma-2b", "llama-3-8b")),
)
LARGE = ("a100-80gb", "h100-80gb", "l40s", "a100-40gb")
SMALL = {"a100-80gb": "a100-40gb", "h100-80gb": "l40s", "l40s": "l4", "a100-40gb": "rtx-4090"}
NEAR = Fraction(3, 100)
LEAST = 4  # sequences of the larger model on the larger GPU


@dataclass(frozen=True, slots=True)
class Model:
    """A model: its name, tenths of a GB of weights, and bytes of cache of a token."""

    name: str
    tenths: int
    each: int

    @property
    def weights(self) -> Fraction:
        """The bytes of the weights."""
        return Fraction(self.tenths * GB, TENTHS)


@dataclass(frozen=True, slots=True)
class Upgrade:
    """Two models on GPUs, by name and GB; reserves in GB, and the context of every sequence."""

    smaller: Model
    larger: Model
    gpus: tuple[tuple[str, int], tuple[str, int]]
    activations: int
    margin: int
    context: int

    def held(self, model: Model, memory: int) -> int:
        """How many sequences of a model a GPU with so many GB holds."""
        budget = kv_budget(
            gpu_memory=memory * GB,
            weights=model.weights,
            activations=self.activations * GB,
            safety_margin=self.margin * GB,
        )
        if isinstance(budget, Infeasible):
            return 0
        found = fits.solve("concurrency", context=self.context, kv_bytes_per_token=model.each, kv_budget=budget)
        return 0 if isinstance(found, Infeasible) else int(found)

    def per_token(self, model: Model, batch: int) -> Fraction:
        """The bytes that a step reads for each token it gives."""
        read = phases.decode_bytes(
            weights=model.weights, cached_tokens=batch * self.context, kv_bytes_per_token=model.each
        )
        return Fraction(read) / batch

    def ratio(self, memory: int) -> Fraction | None:
        """The cost of a token of the larger model over that of the smaller one, each with a full batch."""
        batches = self.held(self.smaller, memory), self.held(self.larger, memory)
        if not all(batches):
            return None
        return self.per_token(self.larger, batches[1]) / self.per_token(self.smaller, batches[0])


def model(name: str) -> Model:
    """Read a model of the catalogue, at 16 bits for each weight and each cached element."""
    shape = catalog.model(name).quantities()
    each = kv_bytes_per_token(kv_width=2, **{n: shape[n] for n in ("layers", "kv_heads", "head_dim")})
    return Model(catalog.model(name).name, (2 * int(shape["parameters"]) + 5 * 10**7) // 10**8, int(each))


def draw(stream: Stream) -> Upgrade:
    """Draw two models and two GPUs."""
    smaller, larger = map(model, stream.choice(PAIRS))
    first = stream.choice(LARGE)
    gpus = [catalog.gpu(name) for name in (first, SMALL[first])]
    return Upgrade(
        smaller,
        larger,
        (
            (gpus[0].name, int(gpus[0].marketed.number)),
            (gpus[1].name, int(gpus[1].marketed.number)),
        ),
        stream.choice((1, 2, 3, 4, 5, 6, 8)),
        stream.choice((1, 2, 3, 4)),
        stream.choice((1000, 1024, 1500, 2000, 2048, 3000, 4000, 4096, 6000, 8000, 8192)),
    )


def keep(case: Upgrade) -> bool:
    """Keep contexts of both models, batches of some size on the larger GPU, and the smaller model on both."""
    windows = (catalog.model(each.name).window for each in (case.smaller, case.larger))
    if any(window is not None and case.context > window for window in windows):
        return False
    (_, large), (_, small) = case.gpus
    return case.held(case.larger, large) >= LEAST and case.held(case.smaller, small) > 0


def statement(case: Upgrade) -> str:
    """Tell of the upgrade."""
    (first, large), (second, small) = case.gpus
    return (
        f"{case.smaller.name} has {rounded(Fraction(case.smaller.tenths, TENTHS))} GB of weights and a KV cache of "
        f"{case.smaller.each:,} B/token; {case.larger.name}, which is to take its place, has "
        f"{rounded(Fraction(case.larger.tenths, TENTHS))} GB and {case.larger.each:,} B/token. Either runs alone on "
        f"one GPU: {first} with {large:,} GB of memory, or {second} with {small:,} GB. {case.activations} GB are "
        f"reserved for activations and {case.margin} GB as a safety margin. Every sequence has a context of "
        f"{case.context:,} tokens, and each model decodes with the largest batch whose caches fit. A decode step takes "
        "as long as it takes to read the weights once and all caches."
    )


def givens(case: Upgrade) -> tuple[Given, ...]:
    """List the sizes."""
    return (
        *(
            given
            for mark, each in (("1", case.smaller), ("2", case.larger))
            for given in (
                Given(f"weights_{mark}", f"W_{mark}", exact(Fraction(each.tenths, TENTHS)), "GB", f"of {each.name}"),
                Given(f"kv_bytes_per_token_{mark}", f"k_{mark}", str(each.each), "B/token", f"of {each.name}"),
            )
        ),
        Given("activations", "A", str(case.activations), "GB", "memory reserved for activations"),
        Given("safety_margin", "S", str(case.margin), "GB", "safety margin"),
        Given("context", "c", str(case.context), "token", "context per sequence"),
    )


def by_batches(case: Upgrade, memory: int) -> Fraction | None:
    """Compare the batches alone: no slip where both leave little unused, for then both steps take equally long."""
    wrong, right = Fraction(case.held(case.smaller, memory), case.held(case.larger, memory)), case.ratio(memory)
    return None if right is None or abs(wrong - right) <= NEAR * right else wrong


Wrong = Callable[[Upgrade, int], Fraction | int | None]


def asked(place: int) -> CaseAsk[Upgrade]:
    """Ask for the ratio on one of the two GPUs."""

    def memory(c: Upgrade) -> int:
        return c.gpus[place][1]

    def key(c: Upgrade) -> Fraction | None:
        return c.ratio(memory(c))

    def slip(slug: str, sentence: str, wrong: Wrong) -> CaseSlip[Upgrade]:
        def found(c: Upgrade) -> Fraction | int | None:
            try:
                return wrong(c, memory(c))
            except ZeroDivisionError:
                return None

        return CaseSlip(slug, sentence, found, lambda c: found(c) not in {None, key(c)})

    def reason(c: Upgrade) -> str:
        left = Fraction(memory(c) - c.activations - c.margin) - c.larger.weights / GB
        if left <= 0:
            return f"The weights of {c.larger.name} and the reserves take more than {memory(c):,} GB: no token is made."
        one = Fraction(c.context * c.larger.each, GB)
        return (
            f"{rounded(left)} GB are left, and one sequence of {c.larger.name} takes {rounded(one)} GB: no token is "
            "made, at any price."
        )

    return CaseAsk(
        asks=f"cost_ratio_{place + 1}",
        question=lambda c: (
            f"How many times as much does a decoded token of {c.larger.name} cost as one of {c.smaller.name} on the "
            f"{c.gpus[place][0]}?"
        ),
        kind="number",
        key=key,
        reason=reason,
        givens=lambda c: (Given("gpu_memory", "M", str(memory(c)), "GB", f"memory of the {c.gpus[place][0]}"),),
        slips=(
            slip(
                "parameters-alone",
                "That is the ratio of the weights; the caches and the batches change too.",
                lambda c, _: Fraction(c.larger.tenths, c.smaller.tenths),
            ),
            slip(
                "one-sequence-each",
                "That is the ratio for one sequence at a time; the batches are full.",
                lambda c, _: c.per_token(c.larger, 1) / c.per_token(c.smaller, 1),
            ),
            slip(
                "sequences-alone",
                "That is the ratio of the batches; their steps do not take equally long.",
                by_batches,
            ),
            slip(
                "caches-alone",
                "That is the ratio of the caches of a token; the weights are read too.",
                lambda c, _: Fraction(c.larger.each, c.smaller.each),
            ),
            slip(
                "same-batch",
                "Both were given the batch of the smaller model, which the larger one has no room for.",
                lambda c, m: c.per_token(c.larger, c.held(c.smaller, m)) / c.per_token(c.smaller, c.held(c.smaller, m)),
            ),
            slip(
                "weights-squared",
                "The ratio of the weights was squared.",
                lambda c, _: Fraction(c.larger.tenths, c.smaller.tenths) ** 2,
            ),
            slip(
                "upside-down",
                "The ratio is upside down.",
                lambda c, m: 1 / (c.ratio(m) or Fraction(0)),
            ),
        ),
        hints=lambda c: (
            "A GPU costs the same whatever runs on it: compare the tokens a second of two full batches.",
            "N = (M - W - A - S) / (c k), rounded down; a token takes (W + N c k) / N bytes to read.",
            (
                f"For {c.larger.name}: N = ({memory(c)} - {rounded(Fraction(c.larger.tenths, TENTHS))} - "
                f"{c.activations} - {c.margin}) GB / ({c.context:,} x {c.larger.each:,} B), rounded down."
            ),
        ),
        explained=lambda c: (
            *(
                Explained(
                    "fits",
                    fits.says,
                    f"{each.name}: ({memory(c)} - {rounded(Fraction(each.tenths, TENTHS))} - {c.activations} - "
                    f"{c.margin}) GB / ({c.context:,} x {each.each:,} B), rounded down: "
                    f"batch = {c.held(each, memory(c)):,}",
                )
                for each in (c.smaller, c.larger)
            ),
            *(
                Explained(
                    "decode_bytes",
                    phases.decode_bytes.says,
                    f"{each.name}: {rounded(c.per_token(each, c.held(each, memory(c))) / GB)} GB for each token",
                )
                for each in (c.smaller, c.larger)
                if c.held(each, memory(c))
            ),
            Explained(
                "cost_ratio",
                "The dearer token is the one for which more is read.",
                f"ratio = {'none' if key(c) is None else rounded(key(c) or 0)}",
            ),
        ),
    )


family: CaseFamily[Upgrade] = CaseFamily(
    draw=draw,
    statement=statement,
    ways=((asked(0), asked(1)),),
    givens=givens,
    keep=keep,
    rubric=(
        "Did you say which of weights, cache and batch the answer rests on?",
        "Did you say that there is no single ratio of two models, without a GPU and a context?",
        "Did you name the case in which the larger model makes no token at all?",
        "Did you name a way to hold the cost, such as fewer bits or a larger GPU, and what it changes in the sum?",
    ),
    objective="serving-capacity",
    section="scaling",
    infeasible=True,
)
