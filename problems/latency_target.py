"""Whether any batch meets a latency target, and which rate of a sequence or length of a request does (F18)."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from grader.case import CaseAsk, CaseFamily, Explained
from grader.menu import Draw, Menu
from grader.reckoned import Reckoning, Values, shown
from spec import quantities as q
from spec.phases import meets_latency_target
from spec.solving import Infeasible, whole

LABELS = ("met", "missed")
MILLISECONDS = 1000
RANGE = 8  # the time of a request over the target, and the other way
MENU = Menu(
    output=(25, 40, 60, 80, 100, 120, 150, 180, 200, 250, 300, 400, 500, 600, 800),
    decode_rate=(18, 22, 26, 30, 34, 38, 42, 45, 50, 55, 60, 66, 75, 85, 90, 110),
    latency_target=(
        *("450 ms", "500 ms", "650 ms", "750 ms", "850 ms", "1250 ms", "1500 ms", "1750 ms", "2250 ms"),
        *("2500 ms", "3500 ms", "4250 ms", "5500 ms", "7500 ms", "9500 ms"),
    ),
    slots=(4, 6, 8, 12, 16, 24, 32, 48, 64),
)
EVERY = Reckoning((q.output, q.decode_rate, q.latency_target, q.slots), (), ())
OF_A_RATE = Reckoning((q.decode_rate, q.latency_target, q.slots), (), ())
OF_A_REQUEST = Reckoning((q.output, q.latency_target, q.slots), (), ())


def keep(case: Draw) -> bool:
    """Keep the target off equality, where a rounded quotient may say either, and within a factor of the request."""
    wanted, allowed = case.values["output"], case.values["latency_target"] * case.values["decode_rate"]
    return wanted != allowed and allowed <= RANGE * wanted <= RANGE**2 * allowed


def edge(asks: q.Quantity, v: Values) -> Fraction:
    """Give the least rate, or the most tokens, with which the target is met; 0 where there is none."""
    known = {name: whole(v[name]) for name in meets_latency_target.symbols if name in v and name != asks.name}
    found = meets_latency_target.solve(asks.name, **known)
    return Fraction(0 if isinstance(found, Infeasible) else found)


least_rate = partial(edge, q.decode_rate)
most_tokens = partial(edge, q.output)


def verdict(v: Values) -> str:
    """Say whether a sequence is fast enough; no batch changes that."""
    return LABELS[v["output"] > v["latency_target"] * v["decode_rate"]]


def largest(v: Values) -> Fraction | None:
    """Give the largest batch: all slots or none."""
    return v["slots"] if verdict(v) == LABELS[0] else None


def request(case: Draw) -> str:
    """Tell how long a request takes against its target."""
    v = EVERY.values(case)
    return (
        f"{case.amounts['output']} / {case.amounts['decode_rate']} = {shown(v['output'] / v['decode_rate'], 's')} "
        f"{'<=' if verdict(v) == LABELS[0] else '>'} {case.amounts['latency_target']}"
    )


def reason(case: Draw) -> str:
    """Say by how much a sequence on its own misses the target."""
    v = EVERY.values(case)
    missed = MILLISECONDS * (v["output"] / v["decode_rate"] - v["latency_target"])
    return f"A sequence on its own misses the target by {shown(missed, 'ms')}, whatever the batch."


RULE = "A request takes its output tokens over the rate of one sequence: m / r <= T_max."
NUMBERS_OF_A_BATCH: tuple[tuple[str, str, Callable[[Values], Fraction]], ...] = (
    (
        "tokens-in-time",
        "That is how many tokens one sequence gets in the time allowed; it says nothing of a batch.",
        lambda v: v["latency_target"] * v["decode_rate"],
    ),
    (
        "seconds-per-request",
        "That is how many seconds one request takes; it says nothing of a batch.",
        lambda v: v["output"] / v["decode_rate"],
    ),
    (
        "product-over-target",
        "The rate times the tokens was divided by the milliseconds of the target.",
        lambda v: v["output"] * v["decode_rate"] / (MILLISECONDS * v["latency_target"]),
    ),
    (
        "times-the-target",
        "The time of one request was multiplied by the target; the two must be compared.",
        lambda v: v["latency_target"] * v["output"] / v["decode_rate"],
    ),
    (
        "tokens-over-milliseconds",
        "The tokens were divided by the milliseconds of the target.",
        lambda v: v["output"] / (MILLISECONDS * v["latency_target"]),
    ),
    (
        "rate-times-tokens",
        "The rate was multiplied by the tokens of a request.",
        lambda v: v["decode_rate"] * v["output"],
    ),
)

batch: CaseAsk[Draw] = CaseAsk(
    asks="batch",
    question=lambda c: (
        f"Each sequence decodes at {c.amounts['decode_rate']} however many there are, and every request asks for "
        f"{c.amounts['output']} of output. What is the largest batch with which every request meets its target?"
    ),
    kind="count",
    unit="sequence",
    capacity=True,
    key=lambda c: largest(EVERY.values(c)),
    reason=reason,
    givens=lambda c: EVERY.givens(c, q.output, q.decode_rate),
    slips=(
        *(EVERY.slip(*row) for row in NUMBERS_OF_A_BATCH),
        EVERY.slip(
            "slots-anyway",
            "A free slot does not help: a sequence on its own is too slow for the target.",
            lambda v: v["slots"] if largest(v) is None else None,
        ),
    ),
    hints=lambda c: (
        f"{RULE} The batch is on neither side of it.",
        f"{RULE} If that holds, all slots may be filled; if not, no batch helps.",
        f"m = {c.amounts['output']}, r = {c.amounts['decode_rate']}, T_max = {c.amounts['latency_target']}.",
    ),
    explained=lambda c: (
        Explained("meets_latency_target", RULE, request(c)),
        Explained(
            "within_slots",
            "No sequence slows another one down: all slots may be filled if the target is met, and none if not.",
            f"batch = {shown(largest(EVERY.values(c)), 'sequence')}",
        ),
    ),
)

possible: CaseAsk[Draw] = CaseAsk(
    asks="verdict",
    question=lambda c: (
        f"Each sequence decodes at {c.amounts['decode_rate']} however many there are, and every request asks for "
        f"{c.amounts['output']} of output. Is the target met with some batch, or missed with every one?"
    ),
    kind="choice",
    options=lambda _: LABELS,
    key=lambda c: verdict(EVERY.values(c)),
    givens=lambda c: EVERY.givens(c, q.output, q.decode_rate),
    slips=(
        EVERY.slip(
            "batch-helps",
            "A batch of another size helps no request: each waits for its own tokens.",
            lambda _: LABELS[0],
            verdict,
        ),
        EVERY.slip(
            "rate-of-all",
            "The rate of all slots together was used; a request gets that of one sequence.",
            lambda v: LABELS[v["output"] > v["latency_target"] * v["decode_rate"] * v["slots"]],
            verdict,
        ),
        EVERY.slip(
            "rate-shared-by-slots",
            "The rate was divided among the slots; it is already that of one sequence.",
            lambda v: LABELS[v["output"] * v["slots"] > v["latency_target"] * v["decode_rate"]],
            verdict,
        ),
        EVERY.slip(
            "latency-target-in-s",
            "Latency target of one request: read in s, given in ms.",
            lambda v: LABELS[v["output"] > MILLISECONDS * v["latency_target"] * v["decode_rate"]],
            verdict,
        ),
    ),
    hints=lambda c: (
        RULE,
        f"{RULE} The batch is on neither side of it.",
        f"m = {c.amounts['output']}, r = {c.amounts['decode_rate']}, T_max = {c.amounts['latency_target']}.",
    ),
    explained=lambda c: (
        Explained("meets_latency_target", RULE, f"{request(c)}: {verdict(EVERY.values(c))}, whatever the batch"),
    ),
)

rate: CaseAsk[Draw] = CaseAsk(
    asks="decode_rate",
    question=lambda c: (
        f"At what rate, in tokens/s, must each sequence decode at least so that {c.amounts['output']} of output meet "
        "the target?"
    ),
    kind="quantity",
    unit="token/s",
    key=lambda c: least_rate(OF_A_REQUEST.values(c)),
    slips=(
        OF_A_REQUEST.slip(
            "ratio-inverted", "The target was divided by the tokens.", lambda v: v["latency_target"] / v["output"]
        ),
        OF_A_REQUEST.slip(
            "latency-target-in-s",
            "Latency target of one request: read in s, given in ms.",
            lambda v: least_rate(v) / MILLISECONDS,
        ),
        OF_A_REQUEST.slip(
            "answer-in-min",
            "The number is the answer in tokens/min; it is asked in tokens/s.",
            lambda v: 60 * least_rate(v),
        ),
        OF_A_REQUEST.slip(
            "rate-of-all",
            "That is the rate of all slots together; the target binds each sequence on its own.",
            lambda v: v["slots"] * least_rate(v),
        ),
        OF_A_REQUEST.slip(
            "rate-shared-by-slots",
            "The rate was divided among the slots; each sequence needs all of it.",
            lambda v: least_rate(v) / v["slots"],
        ),
        OF_A_REQUEST.slip(
            "product", "The tokens were multiplied by the target.", lambda v: v["output"] * v["latency_target"]
        ),
    ),
    hints=lambda c: (
        RULE,
        f"{RULE} At the least rate both sides are equal.",
        f"m = {c.amounts['output']}, T_max = {c.amounts['latency_target']}.",
    ),
    explained=lambda c: (
        Explained(
            "meets_latency_target",
            f"{RULE} At the least rate both sides are equal.",
            f"decode_rate = {c.amounts['output']} / {c.amounts['latency_target']} = "
            f"{shown(least_rate(OF_A_REQUEST.values(c)), 'token/s')}",
        ),
    ),
)

tokens: CaseAsk[Draw] = CaseAsk(
    asks="output",
    question=lambda c: (
        f"Each sequence decodes at {c.amounts['decode_rate']} however many there are. How many output tokens "
        "may a request ask for at most to meet the target?"
    ),
    kind="count",
    unit="token",
    key=lambda c: most_tokens(OF_A_RATE.values(c)),
    givens=lambda c: OF_A_RATE.givens(c, q.decode_rate),
    slips=(
        OF_A_RATE.slip(
            "ratio-inverted",
            "The rate was divided by the target.",
            lambda v: v["decode_rate"] / v["latency_target"] // 1,
            most_tokens,
        ),
        OF_A_RATE.slip(
            "latency-target-in-s",
            "Latency target of one request: read in s, given in ms.",
            lambda v: MILLISECONDS * v["latency_target"] * v["decode_rate"],
        ),
        OF_A_RATE.slip(
            "decode-rate-in-min",
            "Decode rate of one sequence: read in tokens/min, given in tokens/s.",
            lambda v: v["latency_target"] * v["decode_rate"] / 60 // 1,
        ),
        OF_A_RATE.slip(
            "tokens-of-all",
            "These are the tokens of all slots together; the target binds each request on its own.",
            lambda v: v["slots"] * v["latency_target"] * v["decode_rate"] // 1,
        ),
        OF_A_RATE.slip(
            "rate-shared-by-slots",
            "The rate was divided among the slots; it is already that of one sequence.",
            lambda v: v["latency_target"] * v["decode_rate"] // v["slots"],
        ),
        OF_A_RATE.slip(
            "rounded-up",
            "The number was rounded up; a part of a token does not count.",
            lambda v: -(-v["latency_target"] * v["decode_rate"] // 1),
            most_tokens,
        ),
    ),
    hints=lambda c: (
        RULE,
        f"{RULE} The most tokens that keep it, rounded down.",
        f"r = {c.amounts['decode_rate']}, T_max = {c.amounts['latency_target']}.",
    ),
    explained=lambda c: (
        Explained(
            "meets_latency_target",
            f"{RULE} A part of a token does not count.",
            f"output = floor({c.amounts['latency_target']} * {c.amounts['decode_rate']}) = "
            f"{shown(most_tokens(OF_A_RATE.values(c)), 'token')}",
        ),
    ),
)

family = CaseFamily(
    draw=lambda stream: MENU.at(stream.below(MENU.size)),
    statement=lambda c: (
        f"A server decodes up to {c.amounts['slots']} at once. Every request must be answered within "
        f"{c.amounts['latency_target']}; neglect prefill and waiting: every output token, the first one too, is a "
        "decode step."
    ),
    givens=lambda c: EVERY.givens(c, q.latency_target, q.slots),
    ways=(*((batch,),) * 4, (possible, rate), (tokens,)),  # all cases without an answer are of the first
    keep=keep,
    objective="latency-target",
    section="exercises",
    infeasible=True,
    revision=3,
)
