"""How many times as much work a prompt of twice the length is, and from which length on it is so many times (F36)."""

from fractions import Fraction

from grader.case import CaseAsk, CaseFamily, Explained
from grader.family import FINE
from grader.menu import Draw, Menu
from grader.reckoned import Reckoning, Values, model_of, shown
from spec import quantities as q
from spec.cost import prefill_cost_ratio_of_length
from spec.domains import COUNT
from spec.phases import attention_flops_per_pair, flops_per_token
from spec.solving import last

LEAST = Fraction(203, 100)  # a ratio that is told from 2
LONGEST = 200_000  # tokens of a prompt that is asked for
POWER = 4096  # a number to so high a power has so many times its logarithm of bits
DOUBLE, TRIPLE, QUADRUPLE = 2, 3, 4
MENU = Menu(
    model=(
        *("llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "llama-3-70b", "mistral-7b-v0.3", "qwen2.5-7b"),
        *("qwen2.5-72b", "qwen3-8b", "gemma-2b", "gemma-7b", "falcon-7b", "phi-2", "gpt-j-6b", "gpt-neox-20b"),
        *("opt-6.7b", "pythia-6.9b", "gpt2-xl", "llama-3.2-1b", "qwen2.5-0.5b"),
    ),
    prompt=(
        *(256, 400, 512, 600, 800, 1000, 1024, 1200, 1500, 2000, 2048, 2500, 3000, 4000, 4096, 5000, 6000, 8000, 8192),
        *(10_000, 12_000, 15_000, 16_000, 16_384, 20_000, 24_000, 30_000, 32_000, 32_768, 50_000, 64_000, 65_536),
    ),
    prefill_cost_ratio=(
        *("2.05", "2.1", "2.15", "2.2", "2.25", "2.3", "2.4", "2.5", "2.6", "2.7", "2.75", "2.8", "2.9", "3"),
        *("3.1", "3.2", "3.25", "3.3", "3.4", "3.5", "3.6", "4", "4.2", "4.5", "5", "6"),
    ),
)
SHAPE = (q.parameters, q.layers, q.heads, q.head_dim)
LAWS = (flops_per_token, attention_flops_per_pair, prefill_cost_ratio_of_length)
ON_THE_WAY = (q.flops_per_token, q.attention_flops_per_pair)
RATIO = Reckoning((*SHAPE, q.prompt), (*ON_THE_WAY, q.prefill_cost_ratio), LAWS)
PARTS = Reckoning((*SHAPE, q.prompt), ON_THE_WAY, LAWS)
LENGTH = Reckoning((*SHAPE, q.prefill_cost_ratio), ON_THE_WAY, LAWS)


def ratio(v: Values, **instead: Fraction | int) -> Fraction:
    """Give the ratio when some of the numbers are taken otherwise."""
    v = {**v, **{name: Fraction(value) for name, value in instead.items()}}
    return Fraction(
        prefill_cost_ratio_of_length(
            flops_per_token=v["flops_per_token"],
            attention_flops_per_pair=v["attention_flops_per_pair"],
            prompt=int(v["prompt"]),
        )
    )


def full(v: Values) -> Fraction:
    """Give the ratio where the whole matrix of scores is computed."""
    return ratio(v, attention_flops_per_pair=2 * v["attention_flops_per_pair"])


def shortest(v: Values, **instead: Fraction | int) -> int | None:
    """Give the length from which on the ratio is as wanted."""
    if v["prefill_cost_ratio"] >= QUADRUPLE:
        return None
    return (last(COUNT, lambda prompt: ratio(v, prompt=prompt, **instead) < v["prefill_cost_ratio"]) or 0) + 1


def n_log_n(prompt: Fraction) -> Fraction:
    """Give the ratio of n log n, with the logarithm rounded down by less than a thousandth."""
    logarithm = Fraction((int(prompt) ** POWER).bit_length() - 1, POWER)
    return 2 * (logarithm + 1) / logarithm


def keep(case: Draw) -> bool:
    """Keep ratios that are told from two, and lengths that somebody may want."""
    v, wanted = RATIO.values(case), LENGTH.values(case)
    return v["prefill_cost_ratio"] >= LEAST and (shortest(wanted) or 1) <= LONGEST


ALL = "A part of the work, attention, was taken for all of it; the matrices cost twice as much."
MATRICES = "The work of the matrices was taken for all of it; attention costs four times as much."
BETWEEN = "The mean of two and four was taken; how much of the work is attention decides."
TELL = (
    "Twice the tokens mean twice the work of the matrices, and four times that of attention.",
    "The ratio is (2 f + 4 f_2 n) / (f + f_2 n), with f = 2 P per token and f_2 n for attention.",
)

causal: CaseAsk[Draw] = CaseAsk(
    asks="prefill_cost_ratio",
    question=lambda c: (
        f"How many times as many operations does the prefill of twice as many tokens take as that of "
        f"{c.amounts['prompt']}, if attention is causal: exactly half of each matrix is computed?"
    ),
    kind="number",
    tolerance=FINE,
    key=lambda c: RATIO.values(c)["prefill_cost_ratio"],
    givens=lambda c: RATIO.givens(c, q.prompt),
    slips=(
        RATIO.slip("quadruples", ALL, lambda _: QUADRUPLE),
        RATIO.slip("doubles", MATRICES, lambda _: DOUBLE),
        RATIO.slip("triples", BETWEEN, lambda _: TRIPLE),
        RATIO.slip("full-matrix", "The full matrix was counted; masked scores are not computed.", full),
        RATIO.slip(
            "n-log-n",
            "The work was taken as n log n; a part of it is linear and a part quadratic.",
            lambda v: n_log_n(v["prompt"]),
        ),
        RATIO.slip(
            "one-operation",
            "One operation per parameter was counted; a multiply and an add make two.",
            lambda v: ratio(v, flops_per_token=v["flops_per_token"] / 2),
        ),
        RATIO.slip(
            "one-layer",
            "The attention of one layer was counted; every layer has its own.",
            lambda v: ratio(v, attention_flops_per_pair=v["attention_flops_per_pair"] / v["layers"]),
        ),
    ),
    hints=lambda c: RATIO.hints(c, *TELL),
    explained=RATIO.lines,
)
whole: CaseAsk[Draw] = CaseAsk(
    asks="prefill_cost_ratio_of_full_matrices",
    question=lambda _: "How many times as many is it if masked scores are computed too, so that each matrix is full?",
    kind="number",
    tolerance=FINE,
    key=lambda c: full(PARTS.values(c)),
    slips=(
        PARTS.slip("quadruples", ALL, lambda _: QUADRUPLE),
        PARTS.slip("doubles", MATRICES, lambda _: DOUBLE),
        PARTS.slip("triples", BETWEEN, lambda _: TRIPLE),
        PARTS.slip("causal-count", "Only half of each matrix was counted; here it is full.", ratio),
        PARTS.slip(
            "doubled-again",
            "The matrix was counted as twice its size.",
            lambda v: ratio(v, attention_flops_per_pair=4 * v["attention_flops_per_pair"]),
        ),
    ),
    hints=lambda c: PARTS.hints(c, TELL[0], TELL[1] + " Full matrices take twice the f_2 of causal ones."),
    explained=lambda c: PARTS.lines(
        c,
        Explained(
            "prefill_cost_ratio_of_length",
            "A full matrix is twice the work of a causal one.",
            f"(2 f + 4 x 2 f_2 n) / (f + 2 f_2 n), with n = {c.amounts['prompt']}, = "
            f"{shown(full(PARTS.values(c)), '1', 6)}",
        ),
    ),
)
length: CaseAsk[Draw] = CaseAsk(
    asks="prompt",
    question=lambda c: (
        "Attention is causal: exactly half of each matrix is computed. From which length on, in tokens, does the "
        f"prefill of a prompt of twice the length take at least {c.amounts['prefill_cost_ratio']} times as many "
        "operations?"
    ),
    kind="count",
    unit="token",
    key=lambda c: shortest(LENGTH.values(c)),
    reason=lambda _: (
        "Twice the tokens mean twice the work of the matrices and four times that of attention: less than four "
        "together, however long the prompt."
    ),
    givens=lambda c: LENGTH.givens(c, q.prefill_cost_ratio),
    slips=(
        LENGTH.slip(
            "full-matrix",
            "The full matrix was counted; masked scores are not computed.",
            lambda v: shortest(v, attention_flops_per_pair=2 * v["attention_flops_per_pair"]),
        ),
        LENGTH.slip(
            "one-operation",
            "One operation per parameter was counted; a multiply and an add make two.",
            lambda v: shortest(v, flops_per_token=v["flops_per_token"] / 2),
        ),
        LENGTH.slip(
            "training",
            "Six operations per parameter are for training; a forward pass takes two.",
            lambda v: shortest(v, flops_per_token=3 * v["flops_per_token"]),
        ),
        LENGTH.slip(
            "one-layer",
            "The attention of one layer was counted; every layer has its own.",
            lambda v: shortest(v, attention_flops_per_pair=v["attention_flops_per_pair"] / v["layers"]),
        ),
        LENGTH.slip(
            "longer-prompt",
            "That is the length of the longer prompt.",
            lambda v: None if shortest(v) is None else 2 * (shortest(v) or 0),
        ),
        LENGTH.slip(
            "attention-as-large",
            "That is where attention takes as much work as the matrices, which makes the ratio three.",
            lambda v: shortest({**v, "prefill_cost_ratio": Fraction(TRIPLE)}),
            shortest,
        ),
        LENGTH.slip(
            "rounded-down",
            "The number was rounded down; there the ratio is still a little less.",
            lambda v: None if shortest(v) is None else (shortest(v) or 0) - 1,
        ),
    ),
    hints=lambda c: LENGTH.hints(c, TELL[0], TELL[1] + " Solve for n and round up."),
    explained=lambda c: LENGTH.lines(
        c,
        Explained(
            "prefill_cost_ratio_of_length",
            prefill_cost_ratio_of_length.says,
            f"(2 f + 4 f_2 n) / (f + f_2 n) >= {c.amounts['prefill_cost_ratio']}: prompt = "
            f"{shown(shortest(LENGTH.values(c)), 'token')}",
        ),
    ),
)
family = CaseFamily(
    draw=lambda stream: MENU.at(stream.below(MENU.size)),
    statement=lambda c: (
        f"{model_of(c)} has {c.amounts['parameters']} and {c.amounts['layers']} with {c.amounts['heads']} for queries, "
        f"each of size {c.amounts['head_dim']}. For the prefill of one prompt, count two operations per parameter and "
        "token, and beside them the attention of every head: for n tokens, its n-by-n matrix has a score for "
        "every pair of them, and a score that is computed takes four operations per element of the head."
    ),
    givens=lambda c: RATIO.givens(c, *SHAPE),
    ways=((causal, whole), (length,)),
    keep=keep,
    infeasible=True,
    revision=2,
    objective="ttft",
    section="ttft",
)
