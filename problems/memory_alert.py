"""When an alert on a full KV cache is raised, and at how much memory (F28)."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from grader.amounts import digits, rounded
from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, Given, told_apart
from grader.exercise import exact
from spec import catalog, memory
from spec.serving.admission import Admission, Rules
from spec.serving.cache import CacheManager
from spec.solving import Infeasible, whole
from spec.stream import Stream

MODELS = ("llama-2-7b", "llama-3-8b", "mistral-7b-v0.3", "qwen2.5-7b", "llama-2-13b", "qwen3-8b")
GPUS = ("a100-80gb", "a100-40gb", "h100-80gb", "h200", "l40s")
SHARES = (80, 85, 90, 90, 90, 95)  # in hundredths of the budget
OTHERS = {80: 90, 85: 90, 90: 80, 95: 90}  # what is taken instead
LATE = 95  # what is taken where a smaller share is set
STEP = 10**7  # bytes; amounts are printed in hundredths of a GB
GB, MB, MIB, KIB = 10**9, 10**6, 2**20, 1024


@dataclass(frozen=True, slots=True)
class Server:
    """A model on a GPU, what is kept beside the weights, the share for an alert, and readings of the cache.

    `activations` and `margin` are GB, `share` hundredths, readings 0.01 GB.
    """

    model: str
    gpu: str
    activations: int
    margin: int
    share: int
    readings: tuple[int, ...]

    @property
    def total(self) -> int:
        """Memory of the GPU, in 0.01 GB."""
        return _memory(self.gpu)

    @property
    def weights(self) -> int:
        """Weights, in 0.01 GB."""
        return _weights(self.model)

    @property
    def budget(self) -> int:
        """What is left for the cache, in 0.01 GB; 0 where nothing is."""
        found = memory.kv_budget(
            gpu_memory=self.total * STEP,
            weights=self.weights * STEP,
            activations=self.activations * GB,
            safety_margin=self.margin * GB,
        )
        return 0 if isinstance(found, Infeasible) else int(found // STEP)


@cache
def _memory(gpu: str) -> int:
    of = catalog.gpu(gpu).marketed
    return int(of.number * of.unit.factor / STEP)


@cache
def _weights(model: str) -> int:
    return ((catalog.model(model).parameters or 0) * 2 + 5 * STEP) // (10 * STEP) * 10


@cache
def _token(model: str) -> int:
    """Return the bytes that a token takes in the cache, at 16 bits."""
    of = catalog.model(model)
    return int(memory.kv_bytes_per_token(layers=of.layers, kv_heads=of.kv_heads, head_dim=of.head_dim, kv_width=2))


def _draw(stream: Stream) -> Server:
    share = stream.choice(SHARES)
    bare = Server(stream.choice(MODELS), stream.choice(GPUS), 2 + stream.below(8), 1 + stream.below(6), share, ())
    budget = bare.budget
    if budget <= 0:
        return bare
    reading, readings = budget * (35 + stream.below(30)) // 100, []
    rising = 7 + stream.below(6)
    for _ in range(8 + stream.below(5)):
        reading = min(budget, max(budget // 5, reading + budget * (stream.below(2 * rising) - 4) // 100))
        readings.append(reading)
    over = [place for place, reading in enumerate(readings) if 100 * reading >= share * budget]
    if over and share * budget % 100 == 0 and stream.below(2):
        readings[over[0]] = share * budget // 100
    return Server(bare.model, bare.gpu, bare.activations, bare.margin, share, tuple(readings))


def _keep(case: Server) -> bool:
    return bool(case.readings) and 8 * case.budget > case.total and not _alerting(case, case.readings[0])


@cache
def _alerts(budget: int, share: int, reading: int) -> bool:
    """Say whether a server with so much in flight alerts."""
    admission = Admission(CacheManager(budget), Rules(alert=Fraction(share, 100)))
    admission.cache.reserve("in flight", reading)
    admission.cache.pin("in flight")
    return admission.alerting


def _alerting(case: Server, reading: int) -> bool:
    return _alerts(case.budget, case.share, reading)


def _statement(case: Server) -> str:
    return (
        f"One {catalog.gpu(case.gpu).name} with {digits(whole(_gb(case.total)))} GB of memory serves "
        f"{case.model} in 16 bits. The weights take {digits(whole(_gb(case.weights)))} GB, activations are given "
        f"{case.activations} GB, a safety margin of {case.margin} GB is kept free, and all that is left is the KV "
        f"budget. An alert is raised as soon as the KV cache of the requests in flight takes {case.share} % of the "
        "KV budget or more."
    )


def _gb(steps: Fraction | int) -> Fraction:
    return Fraction(steps) * STEP / GB


def _threshold(case: Server) -> Fraction | int:
    return whole(_gb(case.budget) * case.share / 100)


def _budget_explained(case: Server) -> Explained:
    total, weights, budget = (digits(whole(_gb(part))) for part in (case.total, case.weights, case.budget))
    return Explained(
        "kv_budget",
        "What weights, activations and the margin leave is for the cache.",
        f"{total} - {weights} - {case.activations} - {case.margin} = {budget} GB",
    )


def _threshold_explained(case: Server) -> tuple[Explained, ...]:
    return (
        _budget_explained(case),
        Explained(
            "alert",
            "The alert looks at a share of the budget.",
            f"{case.share} % of {digits(whole(_gb(case.budget)))} GB = {digits(_threshold(case))} GB",
        ),
    )


THRESHOLD: CaseAsk[Server] = CaseAsk(
    asks="alert_threshold",
    question=lambda _: "At how many GB of KV cache is the alert raised?",
    kind="quantity",
    unit="GB",
    key=_threshold,
    slips=(
        CaseSlip(
            "share-of-the-gpu",
            "The share was taken of the memory of the GPU; the alert looks at the budget of the cache.",
            lambda c: _gb(c.total) * c.share / 100,
        ),
        CaseSlip(
            "share-of-what-weights-leave",
            "Activations and the safety margin do not belong to the budget.",
            lambda c: _gb(c.total - c.weights) * c.share / 100,
        ),
        CaseSlip(
            "other-share",
            "Another share was taken than the one that is set.",
            lambda c: _gb(c.budget) * OTHERS[c.share] / 100,
        ),
        CaseSlip(
            "late-share",
            "95 % of the budget was taken; the share that is set is smaller.",
            lambda c: _gb(c.budget) * LATE / 100,
            lambda c: c.share < LATE,
        ),
        CaseSlip("whole-budget", "That is the whole budget; the alert comes before.", lambda c: _gb(c.budget)),
        CaseSlip(
            "what-is-left",
            "That is what is left of the budget when the alert is raised.",
            lambda c: _gb(c.budget) * (100 - c.share) / 100,
        ),
        CaseSlip(
            "share-of-the-gpu-less-the-rest",
            "The share was taken of the memory of the GPU before the rest was taken off.",
            lambda c: _gb(c.total) * c.share / 100 - _gb(c.total - c.budget),
        ),
    ),
    hints=lambda c: (
        "First find what is left for the cache; the alert looks at a share of that.",
        "threshold = share x (memory - weights - activations - margin).",
        f"The memory is {digits(whole(_gb(c.total)))} GB, and the share {c.share} %.",
    ),
    explained=_threshold_explained,
)


def _tokens(case: Server) -> int:
    return -(-case.share * case.budget * STEP // (100 * _token(case.model)))


def _of_tokens(case: Server, steps: Fraction | int, token: int | None = None) -> int:
    found = Fraction(steps) * STEP * case.share / 100 / (token or _token(case.model))
    return -(-found.numerator // found.denominator)


TOKENS: CaseAsk[Server] = CaseAsk(
    asks="alert_tokens",
    question=lambda c: (
        f"A token takes {digits(_token(c.model) // KIB)} KiB in the cache. How many tokens must be cached at least for "
        "the alert?"
    ),
    kind="count",
    unit="token",
    key=_tokens,
    givens=lambda c: (
        Given(
            "kv_bytes_per_token",
            "k",
            exact(_token(c.model) // KIB),
            "KiB",
            "key-value cache of a token",
        ),
    ),
    slips=(
        CaseSlip(
            "thousands-for-1024",
            "A KiB was taken as 1,000 bytes; it is 1,024.",
            lambda c: _of_tokens(c, c.budget, _token(c.model) // KIB * 1000),
        ),
        CaseSlip(
            "conventions-mixed",
            "A GB was turned into 1,000 MB, but a KiB into 1/1,024 MB: decimal and binary sizes were mixed.",
            lambda c: _of_tokens(c, c.budget * Fraction(MIB, MB)),
        ),
        CaseSlip(
            "rounded-down",
            "With that many tokens the share is not reached yet; it rounds up.",
            lambda c: _tokens(c) - 1,
        ),
        CaseSlip(
            "whole-budget",
            "That fills the whole budget; the alert comes before.",
            lambda c: c.budget * STEP // _token(c.model),
        ),
        CaseSlip(
            "share-of-the-gpu",
            "The share was taken of the memory of the GPU; the alert looks at the budget of the cache.",
            lambda c: _of_tokens(c, c.total),
        ),
        CaseSlip(
            "share-of-what-weights-leave",
            "Activations and the safety margin do not belong to the budget.",
            lambda c: _of_tokens(c, c.total - c.weights),
        ),
        CaseSlip(
            "gib-for-gb",
            "The budget was taken in GiB; it is given in GB.",
            lambda c: _of_tokens(c, c.budget * Fraction(2**30, GB)),
        ),
    ),
    hints=lambda c: (
        "The threshold in bytes, divided by the bytes of a token; the alert needs at least so many.",
        "tokens = ceil(threshold / bytes per token).",
        f"{digits(_token(c.model) // KIB)} KiB are {digits(_token(c.model))} bytes.",
    ),
    explained=lambda c: (
        *_threshold_explained(c),
        Explained(
            "token capacity",
            "The least whole number that reaches it.",
            f"ceil({digits(_threshold(c))} x 10^9 / {digits(_token(c.model))}) = {digits(_tokens(c))} tokens",
        ),
    ),
)


def _first(case: Server) -> int | None:
    return next((n for n, reading in enumerate(case.readings, 1) if _alerting(case, reading)), None)


def _first_from(case: Server, limit: Fraction) -> int | None:
    return next((n for n, reading in enumerate(case.readings, 1) if reading >= limit), None)


def _over(case: Server) -> int | None:
    return next((n for n, reading in enumerate(case.readings, 1) if 100 * reading > case.share * case.budget), None)


def _for_good(case: Server) -> int | None:
    below = [n for n, reading in enumerate(case.readings, 1) if not _alerting(case, reading)]
    last = max(below, default=0)
    return last + 1 if last < len(case.readings) else None


def _highest(case: Server) -> int:
    return case.readings.index(max(case.readings)) + 1


def _read(case: Server, minute: int) -> str:
    return digits(whole(_gb(case.readings[minute - 1])))


FIRST: CaseAsk[Server] = CaseAsk(
    asks="alert_minute",
    question=lambda c: (
        "Read once a minute, the requests in flight take "
        f"{', '.join(_read(c, minute) for minute in range(1, len(c.readings) + 1))} GB of cache in minutes 1 to "
        f"{len(c.readings)}. In which minute is the alert raised first?"
    ),
    kind="count",
    unit="min",
    key=_first,
    reason=lambda c: f"The threshold is {digits(_threshold(c))} GB, and no reading reaches it.",
    slips=(
        told_apart(
            "share-of-the-gpu",
            "The share was taken of the memory of the GPU; the alert looks at the budget of the cache.",
            lambda c: _first_from(c, Fraction(c.total * c.share, 100)),
            _first,
        ),
        told_apart(
            "share-of-what-weights-leave",
            "Activations and the safety margin do not belong to the budget.",
            lambda c: _first_from(c, Fraction((c.total - c.weights) * c.share, 100)),
            _first,
        ),
        told_apart("strictly-over", "Exactly the share is enough.", _over, _first),
        told_apart(
            "other-share",
            "Another share was taken than the one that is set.",
            lambda c: _first_from(c, Fraction(c.budget * OTHERS[c.share], 100)),
            _first,
        ),
        told_apart(
            "late-share",
            "95 % of the budget was taken; the share that is set is smaller.",
            lambda c: _first_from(c, Fraction(c.budget * LATE, 100)),
            _first,
        ),
        CaseSlip(
            "highest-reading",
            "That is the highest reading; an earlier one is enough.",
            _highest,
            lambda c: _first(c) not in {None, _highest(c)},
        ),
        CaseSlip(
            "for-good",
            "That is from when on it stays over; the first time counts.",
            _for_good,
            lambda c: _for_good(c) not in {None, _first(c)},
        ),
        told_apart(
            "counted-from-zero",
            "Minutes are counted from 1.",
            lambda c: None if (found := _first(c)) is None else found - 1,
            _first,
        ),
        told_apart(
            "first-rise-to-half",
            "That is half of the budget; the share that is set is larger.",
            lambda c: _first_from(c, Fraction(c.budget, 2)),
            _first,
        ),
    ),
    hints=lambda c: (
        "Find the threshold first: a share of what is left for the cache.",
        "The first reading >= share x (memory - weights - activations - margin).",
        f"The budget is {digits(whole(_gb(c.budget)))} GB, and the share {c.share} %.",
    ),
    explained=lambda c: (
        *_threshold_explained(c),
        Explained(
            "first reading",
            "The first that is not under it.",
            (f"minute = {_first(c)}" if _first(c) else "no minute")
            + f", with {_read(c, _first(c) or _highest(c))} GB{'' if _first(c) else ' at most'}"
            + f", against {rounded(Fraction(_threshold(c)), 6)} GB",
        ),
    ),
)

family = CaseFamily(
    draw=_draw,
    statement=_statement,
    ways=((THRESHOLD, TOKENS), (FIRST,)),
    keep=_keep,
    givens=lambda c: (
        Given("gpu_memory", "M", exact(_gb(c.total)), "GB", "memory of the GPU"),
        Given("weights", "W", exact(_gb(c.weights)), "GB", "weights"),
        Given("activations", "A", exact(c.activations), "GB", "reserve for activations"),
        Given("safety_margin", "S", exact(c.margin), "GB", "safety margin"),
    ),
    objective="cache-capacity",
    section="memory-budgeting",
    infeasible=True,
    revision=2,
)
