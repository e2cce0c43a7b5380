"""How many attention scores a prompt costs, the prompt behind a count, and how the count grows (F10)."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from grader.amounts import rounded
from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, Given
from grader.family import FINE
from spec import catalog
from spec.attention import (
    attention_scores,
    attention_scores_per_head,
    attention_scores_per_layer,
    causal_scores_per_head,
)
from spec.stream import Stream

MODELS = (
    *("gpt2", "gpt2-xl", "gpt-j-6b", "gpt-neox-20b", "opt-6.7b", "pythia-410m", "falcon-7b", "llama-2-7b"),
    *("llama-2-13b", "llama-2-70b", "llama-3-8b", "llama-3.2-1b", "mistral-7b-v0.3", "qwen2.5-7b", "qwen2.5-0.5b"),
    *("qwen3-8b", "gemma-2b", "gemma-7b", "phi-2"),
)
LENGTHS = (
    *(16, 20, 32, 50, 64, 96, 100, 128, 200, 256, 300, 400, 512, 600, 768, 1000, 1024, 1500, 2000, 2048, 3000, 4000),
    *(4096, 5000, 6000, 8000, 8192, 10_000, 12_000, 16_000, 16_384, 32_000, 32_768, 65_536, 100_000, 131_072),
)
HEAD, LAYER, MODEL = "one head of one layer", "all heads of one layer", "all heads of all layers"
SCOPES = (HEAD, LAYER, MODEL)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt of `tokens` in a model; scores are counted over `scope`, and `times` is by what it grows."""

    model: str
    layers: int
    heads: int
    tokens: int
    causal: bool
    scope: str
    times: int

    def of_head(self, *, causal: bool | None = None, tokens: int = 0) -> int:
        """Count the scores of one head."""
        law = causal_scores_per_head if (self.causal if causal is None else causal) else attention_scores_per_head
        return int(law(context=tokens or self.tokens))

    def over(self, scope: str, one_head: int) -> int:
        """Count them over a scope, from those of one head."""
        if scope == HEAD:
            return one_head
        layer = attention_scores_per_layer(heads=self.heads, attention_scores_per_head=one_head)
        return int(layer if scope == LAYER else attention_scores(layers=self.layers, attention_scores_per_layer=layer))

    @property
    def scores(self) -> int:
        """The scores that are asked for."""
        return self.over(self.scope, self.of_head())

    @property
    def matrices(self) -> int:
        """How many heads the scope has."""
        return self.over(self.scope, 1)

    @property
    def growth(self) -> Fraction:
        """By what factor the scores grow."""
        return Fraction(self.of_head(tokens=self.tokens * self.times), self.of_head())


def draw(stream: Stream) -> Prompt:
    """Draw a prompt and a model."""
    model = catalog.model(stream.choice(MODELS))
    shape = model.quantities()
    return Prompt(
        model=model.name,
        layers=int(shape["layers"]),
        heads=int(shape["heads"]),
        tokens=stream.choice(LENGTHS),
        causal=stream.choice((False, True)),
        scope=stream.choice(SCOPES),
        times=stream.choice((2, 3, 4, 5, 8, 10)),
    )


def statement(case: Prompt) -> str:
    """Say what scores with what."""
    which = (
        "Every token is scored against itself and every token before it (causal attention)."
        if case.causal
        else "Every token is scored against every token, itself included (the full matrix)."
    )
    return f"{case.model} has {case.layers} layers, each with {case.heads} heads for queries. {which}"


def givens(case: Prompt) -> tuple[Given, ...]:
    """List the shape."""
    return (
        Given("layers", "L", str(case.layers), "layer", "layers"),
        Given("heads", "n_h", str(case.heads), "head", "attention (query) heads of a layer"),
    )


def prompt(case: Prompt) -> tuple[Given, ...]:
    """Give the length."""
    return (Given("context", "n", str(case.tokens), "token", "tokens of the prompt"),)


def one_head_says(case: Prompt) -> tuple[str, str]:
    """Return the law of one head, and its formula."""
    law = causal_scores_per_head if case.causal else attention_scores_per_head
    return law.says, "n (n + 1) / 2" if case.causal else "n^2"


def formula(case: Prompt) -> str:
    """Return the formula of the scope."""
    each = one_head_says(case)[1]
    return {HEAD: each, LAYER: f"n_h x {each}", MODEL: f"L x n_h x {each}"}[case.scope]


def factors(case: Prompt) -> str:
    """Return the numbers before those of one head."""
    return {HEAD: "", LAYER: f"{case.heads} x ", MODEL: f"{case.layers} x {case.heads} x "}[case.scope]


def numbers(case: Prompt) -> str:
    """Return the line with its numbers."""
    n = case.tokens
    return factors(case) + (f"{n:,} x {n + 1:,} / 2" if case.causal else f"{n:,} x {n:,}")


def within(*scopes: str) -> Callable[[Prompt], bool]:
    """Say where a slip is one: for questions about these scopes."""
    return lambda case: case.scope in scopes


HEADS_FORGOTTEN = "One head was counted for each layer; every head has its own scores."
LAYERS_FORGOTTEN = "One layer was counted; every layer has its own heads."
TRIANGLE = "Later tokens were left out; here every token is scored against every token."
FULL_MATRIX = "The full matrix was counted; later tokens are not scored."

count: CaseAsk[Prompt] = CaseAsk(
    asks="attention_scores",
    question=lambda c: f"How many scores do {c.scope} compute for a prompt of {c.tokens:,} tokens?".replace(
        "do one head", "does one head"
    ),
    kind="count",
    unit="score",
    key=lambda c: c.scores,
    givens=prompt,
    slips=(
        CaseSlip(
            "heads-forgotten",
            HEADS_FORGOTTEN,
            lambda c: c.scores // c.heads,
            within(LAYER, MODEL),
        ),
        CaseSlip("layers-forgotten", LAYERS_FORGOTTEN, lambda c: c.scores // c.layers, within(MODEL)),
        CaseSlip("all-heads", "That is all heads of a layer.", lambda c: c.scores * c.heads, within(HEAD)),
        CaseSlip("all-layers", "That is all layers.", lambda c: c.scores * c.layers, within(HEAD, LAYER)),
        CaseSlip(
            "causal-count",
            TRIANGLE,
            lambda c: c.over(c.scope, c.of_head(causal=True)),
            lambda c: not c.causal,
        ),
        CaseSlip("full-matrix", FULL_MATRIX, lambda c: c.over(c.scope, c.of_head(causal=False)), lambda c: c.causal),
        CaseSlip(
            "linear",
            "The count was taken as linear in the length; the matrix has n rows and n columns.",
            lambda c: c.tokens * c.matrices,
        ),
        CaseSlip(
            "pairs-without-self",
            "Each pair of different tokens was counted once; a token is scored against itself too.",
            lambda c: c.tokens * (c.tokens - 1) // 2 * c.matrices,
        ),
    ),
    hints=lambda c: (
        one_head_says(c)[0] + ("" if c.scope == HEAD else " Every head of every layer counts its own."),
        f"Scores = {formula(c)}.",
        f"Scores = {numbers(c)}.",
    ),
    explained=lambda c: (
        Explained("attention_scores", one_head_says(c)[0], f"Scores = {formula(c)}"),
        Explained("attention_scores", "With the numbers.", f"{numbers(c)} = {c.scores:,} scores"),
    ),
)


def given_count(case: Prompt) -> tuple[Given, ...]:
    """Give the count."""
    return (Given("attention_scores", "s", str(case.scores), "score", "attention scores"),)


length: CaseAsk[Prompt] = CaseAsk(
    asks="context",
    question=lambda c: (
        f"For a prompt, {c.scope} compute{'s' if c.scope == HEAD else ''} {c.scores:,} scores. "
        "How many tokens does it have?"
    ),
    kind="count",
    unit="token",
    key=lambda c: c.tokens,
    givens=given_count,
    slips=(
        CaseSlip(
            "heads-forgotten",
            HEADS_FORGOTTEN,
            lambda c: root(c, c.scores * c.heads // c.matrices),
            within(LAYER, MODEL),
        ),
        CaseSlip(
            "layers-forgotten",
            LAYERS_FORGOTTEN,
            lambda c: root(c, c.scores * c.layers // c.matrices),
            within(MODEL),
        ),
        CaseSlip(
            "scores-of-one-head", "All scores were taken as one matrix.", lambda c: root(c, c.scores), within(MODEL)
        ),
        CaseSlip(
            "divided-by-heads",
            "The scores were divided among the heads; they are those of one head.",
            lambda c: root(c, c.scores // c.heads),
            within(HEAD),
        ),
        CaseSlip(
            "divided-by-layers",
            "The scores were divided among the layers; they are those of one layer.",
            lambda c: root(c, c.scores // c.matrices // c.layers),
            within(HEAD, LAYER),
        ),
        CaseSlip(
            "causal-count",
            TRIANGLE,
            lambda c: isqrt(2 * c.of_head()),
            lambda c: not c.causal,
        ),
        CaseSlip("full-matrix", FULL_MATRIX, lambda c: isqrt(c.of_head()), lambda c: c.causal),
        CaseSlip(
            "linear",
            "The count was taken as linear in the length; the matrix has n rows and n columns.",
            lambda c: c.of_head(),
        ),
        CaseSlip(
            "pairs-without-self",
            "Each pair of different tokens was counted once; a token is scored against itself too.",
            lambda c: c.tokens + 1,
            lambda c: c.causal,
        ),
    ),
    hints=lambda c: (
        one_head_says(c)[0] + " Find the scores of one head first.",
        f"Scores = {formula(c)}; solve it for n.",
        f"{c.scores:,} = {factors(c)}{one_head_says(c)[1]}.",
    ),
    explained=lambda c: (
        Explained("attention_scores", one_head_says(c)[0], f"{c.scores:,} = {factors(c)}{one_head_says(c)[1]}"),
        Explained(
            "attention_scores",
            "The scores of one head.",
            f"{one_head_says(c)[1]} = {c.of_head():,}, so n = {c.tokens:,} tokens",
        ),
    ),
)


def root(case: Prompt, one_head: int) -> int:
    """Return the prompt of which one head computes so many scores, rounded down."""
    return (isqrt(8 * one_head + 1) - 1) // 2 if case.causal else isqrt(one_head)


growth: CaseAsk[Prompt] = CaseAsk(
    asks="scores_growth",
    question=lambda c: (
        f"A prompt of {c.tokens:,} tokens becomes {c.times} times as long. By what factor does the number of scores of "
        f"{c.scope} grow?"
    ),
    kind="number",
    tolerance=FINE,
    key=lambda c: c.growth,
    givens=prompt,
    slips=(
        CaseSlip("linear", "The count was taken as linear in the length.", lambda c: c.times),
        CaseSlip("cubic", "The count was taken as cubic in the length.", lambda c: c.times**3),
        CaseSlip(
            "doubled",
            "The factor was doubled; it must be squared.",
            lambda c: 2 * c.times,
            lambda c: 2 * c.times != c.times**2,
        ),
        CaseSlip("heads-again", "The heads were counted again; they do not change.", lambda c: c.growth * c.heads),
        CaseSlip("increase", "That is the increase over the first count.", lambda c: c.growth - 1),
        CaseSlip("inverted", "The old count was divided by the new one.", lambda c: 1 / c.growth),
    ),
    hints=lambda c: (
        "Heads and layers stay what they are; only the matrix of one head grows.",
        f"Divide {one_head_says(c)[1]} of the new length by that of the old one.",
        f"The new length is {c.times} x {c.tokens:,} tokens.",
    ),
    explained=lambda c: (
        Explained(
            "attention_scores",
            "Only the matrix of one head grows.",
            f"{c.of_head(tokens=c.times * c.tokens):,} / {c.of_head():,} = {rounded(c.growth, 6)}",
        ),
    ),
)

family: CaseFamily[Prompt] = CaseFamily(
    draw=draw,
    statement=statement,
    ways=((count,), (length,), (growth,)),
    givens=givens,
    objective="attention-scores",
    section="attention",
    revision=2,
)
