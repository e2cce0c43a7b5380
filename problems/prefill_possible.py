"""Whether a quoted prefill rate is physically possible, and which rate or model would be (F13)."""

from fractions import Fraction

from grader.case import CaseAsk, CaseFamily, Explained
from grader.family import FINE
from grader.menu import Draw, Menu, weights_in_gb
from grader.reckoned import Reckoning, Values, Wrong, gpu_of, model_of, shown
from spec import quantities as q
from spec.phases import flops_per_token, required_mfu

USUAL = Fraction(3, 5)  # what servers reach at best
A100_COMPUTE, H100_COMPUTE = 312 * 10**12, 989 * 10**12  # FLOP/s, dense
LABELS = ("usual", "doubtful", "impossible")
MENU = Menu(
    model=(
        *("llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "llama-3-70b", "mistral-7b-v0.3", "qwen2.5-7b"),
        *("qwen2.5-72b", "qwen3-8b", "gemma-7b", "falcon-7b", "phi-2", "gpt-j-6b", "gpt-neox-20b", "opt-6.7b"),
    ),
    gpu=("a100-80gb", "a100-40gb", "h100-80gb", "h200", "l40s", "rtx-4090", "a10", "l4"),
    weights=weights_in_gb,
    prefill_rate=(500, 800, 1000, 1500, 2000, 3000, 4000, 5000, 6000, 8000, 10_000, 15_000, 20_000, 30_000, 50_000),
    mfu=("0.3", "0.35", "0.4", "0.45", "0.5", "0.55", "0.6"),
)
QUOTED = Reckoning(
    (q.parameters, q.prefill_rate, q.weights, q.compute, q.bandwidth),
    (q.flops_per_token, q.required_mfu),
    (flops_per_token, required_mfu),
)
OF_A_MODEL = Reckoning(
    (q.parameters, q.mfu, q.weights, q.compute, q.bandwidth), (q.flops_per_token,), (flops_per_token,)
)
OF_A_RATE = Reckoning((q.prefill_rate, q.mfu, q.compute), (), ())


def keep(case: Draw) -> bool:
    """Keep shares between a tenth and five, off the borders between the verdicts."""
    share = QUOTED.values(case)["required_mfu"]
    off = all(abs(share - border) * 20 > border for border in (USUAL, 1))
    return off and share <= 5 <= 50 * share  # noqa: PLR2004  a range of shares


def verdict(share: Fraction) -> str:
    """Say what a share of the peak means."""
    return LABELS[(share > USUAL) + (share > 1)]


def right_verdict(v: Values) -> str:
    """Say what the share that a rate needs means."""
    return verdict(v["required_mfu"])


def with_h100(v: Values) -> Fraction | None:
    """Take the peak of an H100 for that of an A100."""
    return v["required_mfu"] * A100_COMPUTE / H100_COMPUTE if v["compute"] == A100_COMPUTE else None


def reading(v: Values) -> Fraction:
    """Compare the weights read for every token with the bandwidth."""
    return v["weights"] * v["prefill_rate"] / v["bandwidth"]


def wrong_verdict(of: Wrong) -> Wrong:
    """Say what a wrong share would mean."""

    def value(v: Values) -> str | None:
        found = of(v)
        return None if found is None else verdict(Fraction(found))

    return value


WRONG_SHARES: tuple[tuple[str, str, Wrong], ...] = (
    (
        "one-operation",
        "One operation per parameter was counted; a multiply and an add make two.",
        lambda v: v["required_mfu"] / 2,
    ),
    (
        "sparse-peak",
        "The peak for sparse matrices was used, twice as high; these are dense.",
        lambda v: v["required_mfu"] / 2,
    ),
    (
        "training",
        "Six operations per parameter are for training; a forward pass takes two.",
        lambda v: 3 * v["required_mfu"],
    ),
    (
        "weights-per-token",
        "The weights were read for every token; a prefill reads them once for all of its tokens.",
        reading,
    ),
    ("peak-of-an-h100", "The peak of an H100 was used for an A100.", with_h100),
)

share: CaseAsk[Draw] = CaseAsk(
    asks="required_mfu",
    question=lambda c: (
        f"Prefill of {model_of(c)} with {c.amounts['parameters']}, which take "
        f"{c.amounts['weights']}, is said to run at {c.amounts['prefill_rate']}; what share of the peak, as a number "
        "that may exceed 1, would that need?"
    ),
    kind="number",
    key=lambda c: QUOTED.values(c)["required_mfu"],
    tolerance=FINE,
    givens=lambda c: QUOTED.givens(c, q.parameters, q.weights, q.prefill_rate),
    slips=(
        *(QUOTED.slip(*row) for row in WRONG_SHARES),
        QUOTED.slip("ratio-inverted", "The peak was divided by the need.", lambda v: 1 / v["required_mfu"]),
    ),
    hints=lambda c: QUOTED.hints(c, ""),
    explained=QUOTED.lines,
)
possible: CaseAsk[Draw] = CaseAsk(
    asks="verdict",
    question=lambda _: (
        "Is that rate usual, with at most 0.6 of the peak as servers reach it, doubtful, with at most the whole peak, "
        "or impossible?"
    ),
    kind="choice",
    options=lambda _: LABELS,
    key=lambda c: right_verdict(QUOTED.values(c)),
    slips=(
        *(QUOTED.slip(slug, sentence, wrong_verdict(of), right_verdict) for slug, sentence, of in WRONG_SHARES),
        QUOTED.slip(
            "quoted-is-possible",
            "The rate was believed as it is quoted; compare what it needs with the peak.",
            lambda _: LABELS[0],
            right_verdict,
        ),
    ),
    hints=lambda _: (
        "Compare the share of the peak with what is reached and with what exists.",
        "Over 1 no GPU can do it; over 0.6 servers do not reach it.",
        "Compare your answer to part a with 0.6 and with 1.",
    ),
    explained=lambda c: QUOTED.lines(
        c,
        Explained(
            "verdict",
            "Over 1 the rate is impossible, and over 0.6 doubtful.",
            f"{shown(QUOTED.values(c)['required_mfu'], '1')}: {right_verdict(QUOTED.values(c))}",
        ),
    ),
)


def fastest(v: Values) -> Fraction:
    """Give the rate at which the arithmetic takes all that is reached."""
    return v["compute"] * v["mfu"] / v["flops_per_token"]


def largest(v: Values) -> Fraction:
    """Give the parameters whose arithmetic takes all that is reached."""
    return v["compute"] * v["mfu"] / (2 * v["prefill_rate"])


rate: CaseAsk[Draw] = CaseAsk(
    asks="prefill_rate",
    question=lambda c: (
        f"At what rate, in tokens/s, can {model_of(c)} with {c.amounts['parameters']}, which take "
        f"{c.amounts['weights']}, be prefilled at most if arithmetic reaches {c.amounts['mfu']} of the peak?"
    ),
    kind="quantity",
    unit="token/s",
    key=lambda c: fastest(OF_A_MODEL.values(c)),
    tolerance=FINE,
    givens=lambda c: OF_A_MODEL.givens(c, q.parameters, q.weights, q.mfu),
    slips=(
        OF_A_MODEL.slip(*WRONG_SHARES[0][:2], lambda v: 2 * fastest(v)),
        OF_A_MODEL.slip(*WRONG_SHARES[1][:2], lambda v: 2 * fastest(v)),
        OF_A_MODEL.slip(*WRONG_SHARES[2][:2], lambda v: fastest(v) / 3),
        OF_A_MODEL.slip(*WRONG_SHARES[3][:2], lambda v: v["bandwidth"] / v["weights"]),
        OF_A_MODEL.slip(
            *WRONG_SHARES[4][:2],
            lambda v: fastest(v) * H100_COMPUTE / A100_COMPUTE if v["compute"] == A100_COMPUTE else None,
        ),
        OF_A_MODEL.slip(
            "full-efficiency",
            "The peak was used as it is; only a share of it is reached.",
            lambda v: fastest(v) / v["mfu"],
        ),
    ),
    hints=lambda c: OF_A_MODEL.hints(c, "The rate follows from the peak that is reached.", "Then r = F x MFU / f."),
    explained=lambda c: OF_A_MODEL.lines(
        c,
        Explained(
            "required_mfu",
            "The rate needs the share of the peak that is reached.",
            f"prefill_rate = {c.amounts['compute']} * {c.amounts['mfu']} / flops_per_token = "
            f"{shown(fastest(OF_A_MODEL.values(c)), 'token/s')}",
        ),
    ),
)
size: CaseAsk[Draw] = CaseAsk(
    asks="parameters",
    question=lambda c: (
        f"How many parameters may a model have at most to be prefilled at {c.amounts['prefill_rate']} if arithmetic "
        f"reaches {c.amounts['mfu']} of the peak?"
    ),
    kind="quantity",
    unit="parameter",
    key=lambda c: largest(OF_A_RATE.values(c)),
    tolerance=FINE,
    givens=lambda c: OF_A_RATE.givens(c, q.prefill_rate, q.mfu),
    slips=(
        OF_A_RATE.slip(*WRONG_SHARES[0][:2], lambda v: 2 * largest(v)),
        OF_A_RATE.slip(*WRONG_SHARES[1][:2], lambda v: 2 * largest(v)),
        OF_A_RATE.slip(*WRONG_SHARES[2][:2], lambda v: largest(v) / 3),
        OF_A_RATE.slip(
            *WRONG_SHARES[4][:2],
            lambda v: largest(v) * H100_COMPUTE / A100_COMPUTE if v["compute"] == A100_COMPUTE else None,
        ),
        OF_A_RATE.slip(
            "full-efficiency",
            "The peak was used as it is; only a share of it is reached.",
            lambda v: largest(v) / v["mfu"],
        ),
        OF_A_RATE.slip(
            "bytes-for-parameters",
            "That is the size of the weights in bytes; a parameter takes two.",
            lambda v: 2 * largest(v),
        ),
        OF_A_RATE.slip(
            "rate-ignored",
            "That is what a single token would allow; the rate asks for many in a second.",
            lambda v: largest(v) * v["prefill_rate"],
        ),
    ),
    hints=lambda c: (
        "Every token of the prompt takes two operations per parameter.",
        "The rate takes 2 x P x r of the F x MFU that are reached.",
        f"P = {c.amounts['compute']} x {c.amounts['mfu']} / (2 x {c.amounts['prefill_rate']}).",
    ),
    explained=lambda c: (
        Explained(
            "required_mfu",
            "A prefill rate needs 2 P r operations in every second.",
            f"parameters = {c.amounts['compute']} * {c.amounts['mfu']} / (2 * {c.amounts['prefill_rate']}) = "
            f"{shown(largest(OF_A_RATE.values(c)), 'parameter')}",
        ),
    ),
)

family = CaseFamily(
    draw=lambda stream: MENU.at(stream.below(MENU.size)),
    statement=lambda c: (
        f"An {gpu_of(c)} peaks at {c.amounts['compute']} for dense matrices and reads "
        f"{c.amounts['bandwidth']}. Count two operations per parameter and token, and neglect attention."
    ),
    givens=lambda c: QUOTED.givens(c, q.compute, q.bandwidth),
    ways=((share, possible), (rate,), (size,)),
    keep=keep,
    objective="roofline",
    section="ttft",
    revision=2,
)
