"""Interview question 1: what grows with the length, with its square or in between, and by which factor."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from grader.amounts import rounded
from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained
from grader.family import FINE
from grader.menu import Draw, Menu, cache_of_a_token, in_tb_per_second, weights_in_gb
from grader.reckoned import Reckoning, gpu_of, model_of
from spec import attention, memory, phases
from spec import quantities as q
from spec.stream import Stream

APART, MS = Fraction(103, 100), 1000
SQUARE, LINEAR = "square", "linear"
GROWS = {
    "scores": SQUARE,
    "stored-scores": SQUARE,
    "attention-work": SQUARE,
    "cache": LINEAR,
    "matrix-work": LINEAR,
    "hidden-states": LINEAR,
    "prefill-work": "between",
    "ttft": "between",
    "weights": "constant",
}
SAYS = {
    "scores": "the attention scores of one head",
    "stored-scores": "the memory of all attention scores where they are stored",
    "attention-work": "the operations of attention in a prefill",
    "cache": "the KV cache of the sequence",
    "matrix-work": "the operations of the weight matrices in a prefill",
    "hidden-states": "the memory of the hidden states of one layer",
    "prefill-work": "all operations of a prefill",
    "ttft": "the time to first token without any wait",
    "weights": "the bytes of the weights",
}
ASKED = 6  # labels of a question
MENU = Menu(
    model=(
        *("llama-2-7b", "llama-2-13b", "llama-3-8b", "mistral-7b-v0.3", "qwen2.5-7b", "qwen3-8b", "gemma-7b"),
        *("falcon-7b", "gpt-neox-20b"),
    ),
    gpu=("a100-80gb", "h100-80gb", "h200", "l40s", "a100-40gb"),
    weights=weights_in_gb,
    kv_bytes_per_token=cache_of_a_token,
    bandwidth=in_tb_per_second,
    mfu=("0.3", "0.4", "0.5", "0.6"),
    mbu=("0.8",),
    prompt=(1000, 1024, 1500, 2000, 2048, 3000, 4000, 4096, 5000, 6000, 8000, 8192, 16_000),
    wait=("100 ms", "200 ms", "300 ms", "400 ms", "500 ms", "800 ms"),
)


@dataclass(frozen=True, slots=True)
class Growth:
    """A point of the menu, by which factor the prompt grows, and the labels to choose from."""

    point: Draw
    times: int
    labels: tuple[str, ...]
    law: str

    @property
    def prompts(self) -> tuple[int, int]:
        """The prompt and the longer one."""
        n = int(self.point.values["prompt"])
        return n, self.times * n

    def work(self, prompt: int, *, full: bool = False) -> Fraction:
        """The operations of a prefill; of the full matrix of scores instead of its half, if wanted."""
        return self.matrices(prompt) + (1 + full) * self.scores_work(prompt)

    def matrices(self, prompt: int) -> Fraction:
        """The operations of the matrices."""
        return prompt * Fraction(phases.flops_per_token(parameters=self.point.values["parameters"]))

    def scores_work(self, prompt: int) -> Fraction:
        """The operations of attention."""
        shape = {name: self.point.values[name] for name in ("layers", "heads", "head_dim")}
        return Fraction(phases.prefill_attention_flops(prompt=prompt, **shape))

    def prefill(self, prompt: int) -> Fraction:
        """The seconds of a prefill."""
        v = self.point.values
        moved = phases.prefill_bytes(prompt=prompt, weights=v["weights"], kv_bytes_per_token=v["kv_bytes_per_token"])
        return Fraction(
            phases.prefill_time(
                prefill_flops=self.work(prompt),
                prefill_bytes=moved,
                **{name: v[name] for name in ("compute", "bandwidth", "mfu", "mbu")},
            )
        )

    def ttft(self, prompt: int) -> Fraction:
        """The seconds to the first token."""
        return Fraction(phases.ttft_of_prefill(wait=self.point.values["wait"], prefill_time=self.prefill(prompt)))

    def factor(self, of: Callable[[int], Fraction]) -> Fraction:
        """By which factor something grows with the prompt."""
        short, long = self.prompts
        return of(long) / of(short)


def scores(prompt: int) -> Fraction:
    """Give the scores of one head."""
    return Fraction(attention.attention_scores_per_head(context=prompt))


def cache(c: Growth) -> Callable[[int], Fraction]:
    """Give the cache of a sequence by its length."""
    each = c.point.values["kv_bytes_per_token"]
    return lambda n: Fraction(memory.kv_bytes_per_sequence(context=n, kv_bytes_per_token=each))


def draw(stream: Stream) -> Growth:
    """Draw a point, a factor, and labels of which some grow as is asked and some do not."""
    law = stream.choice((SQUARE, LINEAR))
    labels = list(GROWS)
    while len(labels) > ASKED:
        labels.remove(stream.choice(labels))
    return Growth(MENU.at(stream.below(MENU.size)), stream.choice((2, 3, 4, 5)), tuple(labels), law)


def keep(case: Growth) -> bool:
    """Keep prompts that the model takes, labels of which some are right, and factors that differ."""
    window = case.point.model.window if case.point.model else None
    too_long = window is not None and case.prompts[1] > window
    if too_long or case.point.values["weights"] >= case.point.values["gpu_memory"]:
        return False
    right = sum(GROWS[label] == case.law for label in case.labels)
    bound = case.prefill(case.prompts[0]) > case.prefill(case.prompts[0] // 2)
    return right > 1 and bound and case.factor(case.work) > APART * case.times


GIVEN = Reckoning(
    (
        *(q.parameters, q.layers, q.heads, q.head_dim, q.weights, q.kv_bytes_per_token, q.compute, q.bandwidth),
        *(q.mfu, q.mbu, q.prompt, q.wait),
    ),
    (),
    (),
)


def statement(case: Growth) -> str:
    """Tell which prompts are compared."""
    a = case.point.amounts
    return (
        f"{model_of(case.point)} has {a['parameters']} with {a['weights']} of weights, and {a['layers']} with "
        f"{a['heads']} for queries, each of size {a['head_dim']}; it caches {a['kv_bytes_per_token']}. An "
        f"{gpu_of(case.point)} peaks at {a['compute']} and {a['bandwidth']}; the shares reached are {a['mfu']} of the "
        f"compute and {a['mbu']} of the bandwidth. A prefill takes two operations per parameter and token, and causal "
        "attention over half of the matrix of scores: 2 L n_h d_h n^2 operations in all. It takes the longer of its "
        "arithmetic and its traffic, which is the weights once and the cache that is written. A prompt of "
        f"{a['prompt']} is compared with one of {case.prompts[1]:,} tokens; before either a request waits "
        f"{a['wait']}."
    )


def square_or_linear(case: Growth, law: str) -> tuple[str, ...]:
    """Give the labels that grow so."""
    return tuple(label for label in case.labels if GROWS[label] == law)


def right(case: Growth) -> tuple[str, ...]:
    """Give the labels to choose."""
    return square_or_linear(case, case.law)


def chosen(slug: str, sentence: str, more: Callable[[Growth], tuple[str, ...]]) -> CaseSlip[Growth]:
    """Make a misconception about the labels."""
    return CaseSlip(slug, sentence, more, lambda c: bool(more(c)) and set(more(c)) != set(right(c)) and bool(right(c)))


labels: CaseAsk[Growth] = CaseAsk(
    asks="growth",
    question=lambda c: (
        f"Which of these grow exactly {'with the square of' if c.law == SQUARE else 'in step with'} the length of the "
        f"prompt, however long it is: {'; '.join(f'{label} ({SAYS[label]})' for label in c.labels)}?"
    ),
    kind="choices",
    options=lambda c: c.labels,
    key=right,
    slips=(
        chosen(
            "between-counted",
            "What has a linear and a quadratic part follows neither exactly.",
            lambda c: tuple(n for n in c.labels if GROWS[n] in {c.law, "between"}),
        ),
        chosen(
            "prefill-counted",
            "All operations of a prefill have a linear part, and a quadratic one from attention.",
            lambda c: (
                tuple(n for n in c.labels if GROWS[n] == c.law or n == "prefill-work") if "ttft" in c.labels else ()
            ),
        ),
        chosen(
            "other-law",
            "These follow the other law.",
            lambda c: square_or_linear(c, LINEAR if c.law == SQUARE else SQUARE),
        ),
        chosen(
            "cache-with-the-square",
            "The cache keeps one key and one value vector per token: it grows in step with the length.",
            lambda c: (
                tuple(n for n in c.labels if GROWS[n] == SQUARE or n == "cache")
                if c.law == SQUARE
                else tuple(n for n in c.labels if GROWS[n] == LINEAR and n != "cache")
            ),
        ),
        chosen("everything", "Not everything grows alike.", lambda c: c.labels),
    ),
    hints=lambda _: (
        "Write down each as a polynomial of the prompt length n.",
        "Attention pairs every token with every other; matrices and caches work on each token once.",
        "Two terms of different powers follow neither power exactly; and some things do not depend on n at all.",
    ),
    explained=lambda c: (
        *(
            Explained("growth", f"{SAYS[label][0].upper()}{SAYS[label][1:]}.", f"{label}: {GROWS[label]}")
            for label in c.labels
        ),
        Explained("growth", "Those that grow as is asked.", ", ".join(right(c))),
    ),
)


def factor(
    asks: str,
    what: str,
    key: Callable[[Growth], Fraction],
    slips: tuple[CaseSlip[Growth], ...],
    hints: tuple[str, str, str],
    line: Callable[[Growth], str],
    says: str,
) -> CaseAsk[Growth]:
    """Ask by which factor something grows."""
    return CaseAsk(
        asks=asks,
        question=lambda c: f"By which factor does {what} grow from {c.prompts[0]:,} to {c.prompts[1]:,} tokens?",
        kind="number",
        tolerance=FINE,
        key=key,
        slips=slips,
        hints=lambda _: hints,
        explained=lambda c: (Explained(asks, says, f"{line(c)}: factor = {rounded(key(c), 5)}"),),
    )


def differing(
    slug: str, sentence: str, value: Callable[[Growth], Fraction | int], key: Callable[[Growth], Fraction]
) -> CaseSlip[Growth]:
    """Make a misconception that is none where it leads to the key."""
    return CaseSlip(slug, sentence, value, lambda c: value(c) != key(c))


def scores_factor(c: Growth) -> Fraction:
    """Give the growth of the scores."""
    return c.factor(scores)


def cache_factor(c: Growth) -> Fraction:
    """Give the growth of the cache."""
    return c.factor(cache(c))


def work_factor(c: Growth) -> Fraction:
    """Give the growth of the operations."""
    return c.factor(c.work)


def ttft_factor(c: Growth) -> Fraction:
    """Give the growth of the time to the first token."""
    return c.factor(c.ttft)


of_scores = factor(
    "scores_factor",
    "the number of attention scores of one head, the full matrix counted,",
    scores_factor,
    (
        differing("linear", "Scores pair every token with every other.", lambda c: c.times, scores_factor),
        differing("cubed", "Two tokens make a pair, not three.", lambda c: c.times**3, scores_factor),
        differing("doubled-twice", "The factor was doubled instead of squared.", lambda c: 2 * c.times, scores_factor),
        differing("added", "The square was taken of the growth alone.", lambda c: c.times**2 - 1, scores_factor),
        differing("power-of-two", "The factor is the square, not a power of two.", lambda c: 2**c.times, scores_factor),
        differing(
            "by-layers",
            "The layers do not grow with the prompt.",
            lambda c: c.times * int(c.point.values["layers"]),
            scores_factor,
        ),
    ),
    (
        "How many pairs of tokens are there?",
        "The number of scores is n^2.",
        "Divide the square of the longer prompt by that of the shorter.",
    ),
    lambda c: f"{c.prompts[1]:,}^2 / {c.prompts[0]:,}^2",
    "Every token is scored against every other.",
)
of_cache = factor(
    "cache_factor",
    "the KV cache of the sequence",
    cache_factor,
    (
        differing("squared", "Each token is cached once, whatever the others are.", lambda c: c.times**2, cache_factor),
        differing("keys-and-values-again", "Keys and values are in both caches.", lambda c: 2 * c.times, cache_factor),
        differing("unchanged", "The cache grows with every token.", lambda _: 1, cache_factor),
        differing(
            "growth-alone", "That is by how much more; asked is the factor.", lambda c: c.times - 1, cache_factor
        ),
        differing("cubed", "The cache grows in step with the length.", lambda c: c.times**3, cache_factor),
        differing("halved", "The factor is upside down.", lambda c: Fraction(1, c.times), cache_factor),
    ),
    (
        "What is kept of each token?",
        "The cache is n k.",
        "Divide the longer prompt by the shorter.",
    ),
    lambda c: f"{c.prompts[1]:,} / {c.prompts[0]:,}",
    "A sequence caches every token of its context.",
)
of_work = factor(
    "prefill_factor",
    "the number of operations of a prefill",
    work_factor,
    (
        differing("all-linear", "Attention grows with the square.", lambda c: c.times, work_factor),
        differing("all-quadratic", "The matrices grow in step with the prompt.", lambda c: c.times**2, work_factor),
        differing(
            "full-matrix",
            "The full matrix was counted; later tokens are masked.",
            lambda c: c.factor(lambda n: c.work(n, full=True)),
            work_factor,
        ),
        differing(
            "mean-of-both",
            "The two parts do not weigh the same.",
            lambda c: Fraction(c.times + c.times**2, 2),
            work_factor,
        ),
        differing(
            "one-operation",
            "One operation per parameter was counted; a multiply and an add make two.",
            lambda c: c.factor(lambda n: c.matrices(n) / 2 + c.scores_work(n)),
            work_factor,
        ),
        differing(
            "growth-alone", "That is by how much more; asked is the factor.", lambda c: work_factor(c) - 1, work_factor
        ),
    ),
    (
        "A prefill has a part that grows in step with the prompt and one that grows with its square.",
        "operations = 2 P n + 2 L n_h d_h n^2.",
        "Put both prompts into 2 P n + 2 L n_h d_h n^2, and divide.",
    ),
    lambda c: f"{rounded(c.work(c.prompts[1]) / 10**12, 5)} TFLOP / {rounded(c.work(c.prompts[0]) / 10**12, 5)} TFLOP",
    "The matrices work on every prompt token, and attention on every pair.",
)
of_ttft = factor(
    "ttft_factor",
    "the time to first token, the wait included,",
    ttft_factor,
    (
        differing("wait-forgotten", "The wait does not grow.", lambda c: c.factor(c.prefill), ttft_factor),
        differing("all-linear", "Neither prefill nor the wait follows the length.", lambda c: c.times, ttft_factor),
        differing("all-quadratic", "Only attention grows with the square.", lambda c: c.times**2, ttft_factor),
        differing(
            "attention-forgotten",
            "The attention term, quadratic in the prompt, was left out.",
            lambda c: c.factor(lambda n: c.point.values["wait"] + c.prefill(n) * c.matrices(n) / c.work(n)),
            ttft_factor,
        ),
        differing(
            "full-efficiency",
            "The peak was taken as reached.",
            lambda c: c.factor(lambda n: c.point.values["wait"] + c.prefill(n) * c.point.values["mfu"]),
            ttft_factor,
        ),
        differing("seconds-for-factor", "That is the longer time in s.", lambda c: c.ttft(c.prompts[1]), ttft_factor),
        differing(
            "growth-alone", "That is by how much more; asked is the factor.", lambda c: ttft_factor(c) - 1, ttft_factor
        ),
    ),
    (
        "Find the time to first token of each prompt: the wait, and the prefill.",
        "time = wait + (2 P n + 2 L n_h d_h n^2) / (F MFU).",
        "Put both prompts into that, and divide.",
    ),
    lambda c: f"{rounded(c.ttft(c.prompts[1]) * MS, 5)} ms / {rounded(c.ttft(c.prompts[0]) * MS, 5)} ms",
    "The first token comes after the wait and the prefill.",
)
family: CaseFamily[Growth] = CaseFamily(
    draw=draw,
    statement=statement,
    ways=((labels, of_scores, of_cache, of_work, of_ttft),),
    givens=lambda c: GIVEN.givens(c.point),
    keep=keep,
    rubric=(
        "Did you say what is quadratic, scores and the work of attention, and what is not?",
        "Did you say that fused kernels store no matrix of scores, so that this memory is no longer quadratic?",
        "Did you give the share of attention in the work at the lengths in question?",
        "Did you say which resource ends first when contexts get longer: memory, time to first token, or throughput?",
    ),
    objective="attention-scores",
    section="attention",
    revision=2,
)
