"""What contexts and sequences become when another model takes the place of the one that is served (F30)."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from grader.amounts import rounded
from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, Given, told_apart
from grader.exercise import exact
from grader.family import FINE
from grader.reckoned import shown
from grader.served import Model, served
from spec import catalog
from spec.change import context_change, fits_new_concurrency, fits_new_context, new_kv_budget
from spec.laws import Law
from spec.solving import Exact, Infeasible
from spec.stream import Stream
from spec.units import unit

GB, GIB, KIB = 10**9, int(unit("GiB").factor), 1024
MEMORY, WINDOW, BOTH = "memory", "window", "both"
MODELS = (
    *("llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "llama-3-70b", "mistral-7b-v0.3", "qwen2.5-7b"),
    *("qwen2.5-72b", "qwen3-8b", "gemma-7b", "falcon-7b", "phi-2", "gpt-j-6b", "gpt-neox-20b", "opt-6.7b"),
    "pythia-6.9b",
)
GPUS = (
    *("l4", "rtx-4090", "rtx-5090", "v100-32gb", "a100-40gb", "l40s", "a100-80gb", "h100-80gb", "h200", "b200-sxm"),
    "mi300x",
)


@dataclass(frozen=True, slots=True)
class Swap:
    """`old` leaves `budget` GB of a GPU with `memory` GB to the cache, and `new` takes its place."""

    old: Model
    new: Model
    gpu: str
    memory: int
    budget: Fraction
    sequences: int
    context: int

    @property
    def left(self) -> Fraction | None:
        """The bytes that the new model leaves to the cache; None where it does not fit."""
        return value(new_kv_budget(kv_budget=self.budget * GB, weights=self.old.size, new_weights=self.new.size))

    @property
    def change(self) -> Fraction:
        """The bytes that the weights change by."""
        return Fraction(self.new.size - self.old.size)

    def longest(self, size: Fraction | None, each: Fraction | int) -> int | None:
        """Return the longest context that all sequences reach."""
        known = {"concurrency": self.sequences, "new_kv_bytes_per_token": each, "new_kv_budget": size}
        return most(fits_new_context, "new_context", size, known)

    def held(self, size: Fraction | None, each: Fraction | int) -> int | None:
        """Return the sequences that reach the context."""
        known = {"context": self.context, "new_kv_bytes_per_token": each, "new_kv_budget": size}
        return most(fits_new_concurrency, "new_concurrency", size, known)

    @property
    def widest(self) -> Fraction | None:
        """The most bytes that a token may cache for all sequences to reach the context."""
        if not self.left:
            return None
        return value(
            fits_new_context.solve(
                "new_kv_bytes_per_token",
                concurrency=self.sequences,
                new_context=self.context,
                new_kv_budget=self.left,
            )
        )

    def factor(self, size: Fraction | None, old: Fraction | int, new: Fraction | int) -> Fraction | None:
        """Return the factor of contexts when a token caches `new` instead of `old`."""
        if not size:
            return None
        return value(
            context_change(
                kv_budget=self.budget * GB, new_kv_budget=size, kv_bytes_per_token=old, new_kv_bytes_per_token=new
            )
        )

    @property
    def inverted(self) -> Fraction:
        """The cache of a token, were the ratio of the caches taken the other way round."""
        return Fraction(self.old.each**2, self.new.each)


def value(found: Exact | Infeasible) -> Fraction | None:
    """Give the value of a law, or None where it has none."""
    return None if isinstance(found, Infeasible) else Fraction(found)


def most(law: Law, name: str, size: Fraction | None, known: dict[str, Any]) -> int | None:
    """Find how much of a quantity fits into so many bytes, None where not even one does."""
    found = None if size is None or size < 0 else value(law.solve(name, **known))
    return int(found) if found else None


def draw(stream: Stream) -> Swap:
    """Draw two models and a GPU; the reserves beside the first one's weights are whole GB."""
    old, new, gpu = served(stream.choice(MODELS)), served(stream.choice(MODELS)), catalog.gpu(stream.choice(GPUS))
    memory, reserves = int(gpu.marketed.number), stream.choice((2, 3, 4, 5, 6, 8, 10, 12))
    return Swap(
        old=old,
        new=new,
        gpu=gpu.name,
        memory=memory,
        budget=memory - reserves - Fraction(old.tenths, 10),
        sequences=stream.choice((2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 25, 32, 40, 48, 64, 96, 128)),
        context=stream.choice((500, 800, 1000, 1024, 1500, 2000, 2048, 3000, 4000, 4096, 6000, 8000, 12_000, 16_000)),
    )


def worth_asking(case: Swap) -> bool:
    """Keep models that differ, of which the old one runs, and a need within a factor of what the new one leaves."""
    if case.old.each == case.new.each or case.old.tenths == case.new.tenths or not case.new.window:
        return False
    wanted = case.sequences * case.context * case.new.each
    left = case.budget * GB - case.change
    fits = left <= 4 * wanted <= 32 * left or -case.memory * GB <= 2 * left <= 0
    return 8 * case.budget >= case.memory and fits and case.sequences * 100 * case.old.each <= case.budget * GB


def statement(case: Swap) -> str:
    """Say what is replaced."""
    return (
        f"One {case.gpu} with {case.memory:,} GB of memory serves {case.old.name}: its weights take "
        f"{case.old.weights} GB, {rounded(case.budget)} GB are left for the KV cache, and it caches "
        f"{case.old.each:,} B/token. Now {case.new.name} takes its place, with weights of {case.new.weights} GB. What "
        "is kept for activations and as a margin stays as it is."
    )


def givens(case: Swap) -> tuple[Given, ...]:
    """List the sizes."""
    return (
        Given("weights", "W", exact(Fraction(case.old.tenths, 10)), "GB", "weights of the old model"),
        Given("kv_budget", "B_kv", exact(case.budget), "GB", "memory left for the KV cache before"),
        Given("kv_bytes_per_token", "k", str(case.old.each), "B/token", "KV cache per token of the old model"),
        Given("new_weights", "W'", exact(Fraction(case.new.tenths, 10)), "GB", "weights of the new model"),
        Given("gpu_memory", "M", str(case.memory), "GB", "memory of one GPU"),
    )


def cache(case: Swap) -> Given:
    """Give the cache of a token of the new model."""
    return Given("new_kv_bytes_per_token", "k'", str(case.new.each), "B/token", "KV cache per token of the new model")


def sequences(case: Swap) -> Given:
    """Give the sequences."""
    return Given("concurrency", "N", str(case.sequences), "sequence", "sequences held at once")


def context(case: Swap) -> Given:
    """Give the context."""
    return Given("context", "c", str(case.context), "token", "context per sequence")


def reached(case: Swap) -> int | None:
    """Return the longest context after the change."""
    return case.longest(case.left, case.new.each)


def number(case: Swap) -> int | None:
    """Return the sequences after the change."""
    return case.held(case.left, case.new.each)


def ratio(case: Swap) -> Fraction | None:
    """Return the factor of contexts."""
    return case.factor(case.left, case.old.each, case.new.each)


def binding(case: Swap) -> str | None:
    """Name what limits contexts after the change."""
    longest = reached(case)
    if longest is None:
        return None
    return BOTH if longest == case.new.window else MEMORY if longest < case.new.window else WINDOW


def missing(case: Swap) -> str:
    """Say by how much the new model does not fit."""
    left = case.budget * GB - case.change
    if left < 0:
        return f"The new weights take {rounded(-left / GB, 4)} GB more than there are beside the reserves."
    if left == 0:
        return "The new weights take all that there is beside the reserves; nothing is left for the cache."
    return f"The {rounded(left / GB, 4)} GB that are left for the cache are too little."


KEPT = "The budget was taken as before; other weights leave another one."
SAME = "The cache of a token was taken as before; as many parameters do not mean as much cache."
INVERTED = "The ratio of the caches was taken the other way round; a larger cache of a token makes contexts shorter."
HALF = "Half the cache of a token was taken; it is that of key and value together."
IN_GIB = "The memory was read in GiB; it is given in GB."


def in_gib(case: Swap) -> Fraction | None:
    """Return what is left in GiB."""
    return None if case.left is None else case.left * Fraction(GIB, GB)


def left_line(case: Swap) -> Explained:
    """Write what the new model leaves."""
    left = (case.budget * GB - case.change) / GB
    return Explained(
        "new_kv_budget",
        new_kv_budget.says,
        f"{rounded(case.budget)} GB + {case.old.weights} GB - {case.new.weights} GB = {rounded(left, 6)} GB",
    )


FIRST = "The new weights leave another budget, and a token of the new model takes another cache."


def mistaken(
    find: Callable[[Swap, Fraction | None, Fraction | int], int | None], key: Callable[[Swap], int | None], what: str
) -> tuple[CaseSlip[Swap], ...]:
    """Make the misconceptions about what is left and what a token caches."""
    return (
        told_apart("cache-per-token-kept", SAME, lambda c: find(c, c.left, c.old.each), key),
        told_apart("budget-kept", KEPT, lambda c: find(c, c.budget * GB, c.new.each), key),
        told_apart(
            "nothing-changed",
            f"That is the {what} before the change.",
            lambda c: find(c, c.budget * GB, c.old.each),
            key,
        ),
        told_apart("ratio-inverted", INVERTED, lambda c: find(c, c.left, c.inverted), key),
        told_apart("values-forgotten", HALF, lambda c: find(c, c.left, Fraction(c.new.each, 2)), key),
        told_apart("memory-in-GiB", IN_GIB, lambda c: find(c, in_gib(c), c.new.each), key),
    )


def of_ratio(slug: str, sentence: str, wrong: Callable[[Swap, Fraction], Fraction | None]) -> CaseSlip[Swap]:
    """Make a misconception about the factor of contexts, where there is one."""
    return CaseSlip(slug, sentence, lambda c: wrong(c, ratio(c) or Fraction(1)), lambda c: ratio(c) is not None)


def of_width(slug: str, sentence: str, by: Callable[[Swap], Fraction | int]) -> CaseSlip[Swap]:
    """Make a misconception that multiplies what a token may cache, where anything is left to share."""
    return CaseSlip(slug, sentence, lambda c: (c.widest or Fraction(0)) * by(c), lambda c: c.widest is not None)


def given_sum(case: Swap) -> str:
    """Write what the new model leaves with the numbers."""
    return f"({rounded(case.budget)} GB + {case.old.weights} GB - {case.new.weights} GB)"


longest: CaseAsk[Swap] = CaseAsk(
    asks="new_context",
    question=lambda c: (
        f"The new model caches {c.new.each:,} B/token. By memory alone, what is the longest context, in tokens, "
        f"that all of {c.sequences:,} sequences can reach?"
    ),
    kind="count",
    unit="token",
    capacity=True,
    key=reached,
    reason=missing,
    givens=lambda c: (cache(c), sequences(c)),
    slips=(
        *mistaken(Swap.longest, reached, "context"),
        told_apart(
            "sequences-forgotten",
            "Those are the tokens of all sequences together; each has its share.",
            lambda c: c.longest(c.left, Fraction(c.new.each, c.sequences)),
            reached,
        ),
        CaseSlip(
            "rounded-up",
            "The number was rounded up; with a token more the caches do not fit.",
            lambda c: (reached(c) or 0) + 1,
            lambda c: reached(c) is not None and (c.left or 0) % (c.sequences * c.new.each) != 0,
        ),
    ),
    hints=lambda c: (
        FIRST,
        "c' = (B_kv + W - W') / (N k'), rounded down.",
        (f"c' = {given_sum(c)} / ({c.sequences:,} x {c.new.each:,} B), rounded down."),
    ),
    explained=lambda c: (
        left_line(c),
        Explained(
            "fits_new_context",
            fits_new_context.says,
            f"context = that / ({c.sequences:,} x {c.new.each:,} B), rounded down = {shown(reached(c), 'token')}",
        ),
    ),
)
limit: CaseAsk[Swap] = CaseAsk(
    asks="limit",
    question=lambda c: (
        f"The new model was published for contexts of up to {c.new.window:,} tokens. What keeps contexts shorter "
        "there: memory, the window of the model, or both at the same length?"
    ),
    kind="choice",
    options=lambda _: (MEMORY, WINDOW, BOTH),
    key=binding,
    reason=missing,
    givens=lambda c: (Given("window", "w", str(c.new.window), "token", "longest context that the new model knows"),),
    slips=(
        CaseSlip(
            "limits-exchanged",
            "The larger limit was taken to bind; the smaller one does.",
            lambda c: {MEMORY: WINDOW, WINDOW: MEMORY, BOTH: MEMORY}[binding(c) or BOTH],
            lambda c: binding(c) is not None,
        ),
    ),
    hints=lambda c: (
        "Compare the longest context that fits with the window.",
        "The shorter of the two binds.",
        f"Compare your answer to part a with {c.new.window:,} tokens.",
    ),
    explained=lambda c: (
        Explained(
            "both",
            "The shorter of the two binds.",
            f"{shown(reached(c), 'token')} by memory, {c.new.window:,} tokens by the window: {binding(c) or 'none'}",
        ),
    ),
)
concurrency: CaseAsk[Swap] = CaseAsk(
    asks="new_concurrency",
    question=lambda c: (
        f"The new model caches {c.new.each:,} B/token. By memory alone, how many sequences can all reach a "
        f"context of {c.context:,} tokens?"
    ),
    kind="count",
    unit="sequence",
    capacity=True,
    key=number,
    reason=missing,
    givens=lambda c: (cache(c), context(c)),
    slips=(
        *mistaken(Swap.held, number, "number"),
        CaseSlip(
            "rounded-up",
            "The number was rounded up; a sequence that does not fit whole does not count.",
            lambda c: (number(c) or 0) + 1,
            lambda c: number(c) is not None and (c.left or 0) % (c.context * c.new.each) != 0,
        ),
    ),
    hints=lambda c: (
        FIRST,
        "N' = (B_kv + W - W') / (c k'), rounded down.",
        (f"N' = {given_sum(c)} / ({c.context:,} x {c.new.each:,} B), rounded down."),
    ),
    explained=lambda c: (
        left_line(c),
        Explained(
            "fits_new_concurrency",
            fits_new_concurrency.says,
            f"sequences = that / ({c.context:,} x {c.new.each:,} B), rounded down = {shown(number(c), 'sequence')}",
        ),
    ),
)
times: CaseAsk[Swap] = CaseAsk(
    asks="context_change",
    question=lambda c: (
        f"The new model caches {c.new.each:,} B/token. By memory alone and for as many sequences, how many times "
        "as long as before can contexts be, not rounded to whole tokens?"
    ),
    kind="number",
    tolerance=FINE,
    key=ratio,
    reason=missing,
    givens=lambda c: (cache(c),),
    slips=(
        CaseSlip("budget-kept", KEPT, lambda c: Fraction(c.old.each, c.new.each)),
        of_ratio("cache-per-token-kept", SAME, lambda c, _: c.factor(c.left, 1, 1)),
        of_ratio("cache-not-inverted", INVERTED, lambda c, _: c.factor(c.left, c.new.each, c.old.each)),
        of_ratio("ratio-inverted", "That is how many times as long they were before.", lambda _, found: 1 / found),
        CaseSlip(
            "ratio-of-the-weights",
            "The ratio of the weights was taken; what they leave decides, and the cache of a token.",
            lambda c: Fraction(c.old.tenths, c.new.tenths),
        ),
    ),
    hints=lambda c: (
        FIRST,
        "The factor is (B_kv' / B_kv) x (k / k') with B_kv' = B_kv + W - W'.",
        (f"The factor is {given_sum(c)} / {rounded(c.budget)} GB x {c.old.each:,} / {c.new.each:,}."),
    ),
    explained=lambda c: (
        left_line(c),
        Explained(
            "context_change",
            context_change.says,
            f"that / {rounded(c.budget)} GB x {c.old.each:,} / {c.new.each:,} = {shown(ratio(c), '1', 6)}",
        ),
    ),
)
token: CaseAsk[Swap] = CaseAsk(
    asks="new_kv_bytes_per_token",
    question=lambda c: (
        f"At most how many bytes may a token of the new model cache so that {c.sequences:,} sequences can all reach a "
        f"context of {c.context:,} tokens?"
    ),
    kind="quantity",
    unit="B/token",
    tolerance=FINE,
    key=lambda c: c.widest,
    reason=missing,
    givens=lambda c: (sequences(c), context(c)),
    slips=(
        CaseSlip("budget-kept", KEPT, lambda c: c.budget * GB / (c.sequences * c.context)),
        of_width("sequences-forgotten", "One sequence was counted instead of all of them.", lambda c: c.sequences),
        of_width(
            "context-forgotten", "One token of each sequence was counted instead of its context.", lambda c: c.context
        ),
        of_width("memory-in-GiB", IN_GIB, lambda _: Fraction(GIB, GB)),
        of_width("halved", "The result was halved for key and value; a token caches both.", lambda _: Fraction(1, 2)),
        of_width("answer-in-KiB", "The number is the answer in KiB; it is asked in bytes.", lambda _: Fraction(1, KIB)),
    ),
    hints=lambda c: (
        "The new weights leave another budget, and all tokens share it.",
        "k' = (B_kv + W - W') / (N c).",
        (f"k' = {given_sum(c)} / ({c.sequences:,} x {c.context:,} tokens)."),
    ),
    explained=lambda c: (
        left_line(c),
        Explained(
            "fits_new_context",
            fits_new_context.says,
            f"that / ({c.sequences:,} x {c.context:,} tokens) = {shown(c.widest, 'B/token', 7)}",
        ),
    ),
)
family: CaseFamily[Swap] = CaseFamily(
    draw=draw,
    statement=statement,
    ways=((longest, limit), (concurrency,), (times,), (token,)),
    givens=givens,
    keep=worth_asking,
    infeasible=True,
    objective="model-change",
    section="scaling",
    revision=2,
)
