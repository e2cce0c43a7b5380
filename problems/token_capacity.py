"""How many tokens a budget holds, in the one or the other convention of units, and the budget or the cache (F09)."""

from dataclasses import dataclass
from fractions import Fraction

from grader.amounts import rounded
from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, Given
from grader.family import FINE
from spec import catalog
from spec.memory import holds_tokens, kv_bytes_per_token
from spec.solving import Exact, Infeasible
from spec.stream import Stream
from spec.units import unit

MODELS = (
    *("gpt2", "gpt2-xl", "gpt-j-6b", "gpt-neox-20b", "opt-6.7b", "pythia-410m", "pythia-6.9b", "falcon-7b"),
    *("llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "llama-3.2-1b", "mistral-7b-v0.3", "qwen2.5-0.5b"),
    *("qwen2.5-7b", "qwen3-8b", "gemma-2b", "gemma-7b", "phi-2"),
)
BUDGETS = (3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 34, 38, 42, 46, 50, 54, 58, 62, 66, 72, 78)
HELD = (5000, 8000, 12_000, 16_000, 20_000, 25_000, 40_000, 50_000, 60_000, 80_000, 100_000, 120_000, 150_000, 200_000)
OTHER = {"GB": "GiB", "GiB": "GB"}
GB, KIB, MIB = 10**9, 1024, 2**20
LARGEST = 200 * GB
WORDS = Fraction(3, 4)  # words of English per token, as the rule of thumb has it


@dataclass(frozen=True, slots=True)
class Budget:
    """`size` of a unit for the cache of a model of `each` bytes per token, printed in KiB or bytes, or for `tokens`."""

    model: str
    each: int
    in_kib: bool
    size: int
    unit: str
    tokens: int

    @property
    def cache(self) -> str:
        """The cache of a token as printed."""
        return f"{self.each // KIB:,} KiB" if self.in_kib else f"{self.each:,} B"

    def size_in(self, name: str) -> int:
        """Return the bytes of the budget, were it given in this unit."""
        return int(self.size * unit(name).factor)

    def held(self, size: int, each: Fraction | int) -> int:
        """Return how many tokens so many bytes hold."""
        found = holds_tokens.solve("token_capacity", kv_budget=size, kv_bytes_per_token=each)
        return 0 if isinstance(found, Infeasible) else int(found)

    @property
    def holds(self) -> int:
        """The tokens that the budget holds."""
        return self.held(self.size_in(self.unit), self.each)

    @property
    def needed(self) -> int:
        """The bytes that the tokens need at least."""
        return int(_found(holds_tokens.solve("kv_budget", token_capacity=self.tokens, kv_bytes_per_token=self.each)))

    @property
    def largest(self) -> Exact:
        """The most bytes that a token may take."""
        size = self.size_in(self.unit)
        return _found(holds_tokens.solve("kv_bytes_per_token", token_capacity=self.tokens, kv_budget=size))

    @property
    def thousands(self) -> int:
        """The cache of a token, a KiB taken as a thousand bytes."""
        return self.each // KIB * 1000


def _found(value: Exact | Infeasible) -> Exact:
    if isinstance(value, Infeasible):
        raise TypeError(value)
    return value


def draw(stream: Stream) -> Budget:
    """Draw a model and a budget."""
    model = catalog.model(stream.choice(MODELS))
    shape = model.quantities()
    each = kv_bytes_per_token(kv_width=2, **{n: shape[n] for n in ("layers", "kv_heads", "head_dim")})
    return Budget(
        model=model.name,
        each=int(each),
        in_kib=stream.choice((False, True)),
        size=stream.choice(BUDGETS),
        unit=stream.choice(tuple(OTHER)),
        tokens=stream.choice(HELD),
    )


def in_whole_kib(case: Budget) -> bool:
    """Keep caches that are whole KiB, and tokens that need no less than a GB and no more than the largest GPUs have."""
    return case.each % KIB == 0 and GB <= case.needed <= LARGEST


def token(case: Budget) -> Given:
    """Give the cache of a token."""
    value, name = (case.each // KIB, "KiB/token") if case.in_kib else (case.each, "B/token")
    return Given("kv_bytes_per_token", "k", str(value), name, "KV cache per token")


def budget(case: Budget) -> Given:
    """Give the budget."""
    return Given("kv_budget", "B_kv", str(case.size), case.unit, "memory left for the KV cache")


def tokens(case: Budget) -> Given:
    """Give the tokens."""
    return Given("token_capacity", "T", str(case.tokens), "token", "tokens the KV budget holds")


MIXED = "A GB was turned into 1,000 MB, but a KiB into 1/1,024 MB: decimal and binary sizes were mixed."
BUDGET_MISREAD = "The budget was read in the other convention: GB are powers of 1,000, GiB of 1,024."
THOUSAND = "A KiB was taken as 1,000 bytes; it is 1,024."
STORY = (
    "A part of a GPU's memory is set aside for the KV cache of all sequences together. "
    "Tokens fill it one by one, and no other memory is used for them."
)
TWICE = "The factor 2 for keys and values was applied again; the cache per token has it."

capacity: CaseAsk[Budget] = CaseAsk(
    asks="token_capacity",
    question=lambda c: (
        f"The KV cache of {c.model} takes {c.cache}/token, and {c.size:,} {c.unit} are set aside for it. "
        "How many tokens does it hold at most?"
    ),
    kind="count",
    unit="token",
    key=lambda c: c.holds,
    givens=lambda c: (budget(c), token(c)),
    capacity=True,
    slips=(
        CaseSlip("budget-misread", BUDGET_MISREAD, lambda c: c.held(c.size_in(OTHER[c.unit]), c.each)),
        CaseSlip("thousand-for-KiB", THOUSAND, lambda c: c.held(c.size_in(c.unit), c.thousands)),
        CaseSlip(
            "both-misread",
            "The budget was read in the other convention, and a KiB as 1,000 bytes.",
            lambda c: c.held(c.size_in(OTHER[c.unit]), c.thousands),
        ),
        CaseSlip("conventions-mixed", MIXED, lambda c: c.held(c.size * 1000, Fraction(c.each, MIB))),
        CaseSlip("words", "Those are words; a token is about three quarters of one.", lambda c: int(c.holds * WORDS)),
        CaseSlip("doubled-again", TWICE, lambda c: c.held(c.size_in(c.unit), 2 * c.each)),
        CaseSlip(
            "rounded-up",
            "The number was rounded up; a part of one does not count.",
            lambda c: c.holds + 1,
            lambda c: c.size_in(c.unit) % c.each != 0,
        ),
    ),
    hints=lambda c: (
        "Divide the budget by the cache of a token, both in bytes; a part of a token does not count.",
        "T = floor(B_kv / k).",
        f"T = floor({c.size:,} {c.unit} / {c.cache}).",
    ),
    explained=lambda c: (
        Explained("holds_tokens", "The budget in bytes.", f"{c.size:,} {c.unit} = {c.size_in(c.unit):,} B"),
        *in_bytes(c),
        Explained(
            "holds_tokens",
            holds_tokens.says,
            f"floor({c.size_in(c.unit):,} B / {c.each:,} B/token) = {c.holds:,} tokens",
        ),
    ),
)


def in_bytes(case: Budget) -> tuple[Explained, ...]:
    """Write the cache of a token in bytes, where it is given in KiB."""
    if not case.in_kib:
        return ()
    return (Explained("holds_tokens", "The cache of a token in bytes.", f"{case.cache} = {case.each:,} B"),)


def needed_in(name: str) -> CaseAsk[Budget]:
    """Ask for the budget in a unit."""
    size, other = unit(name).factor, unit(OTHER[name]).factor
    return CaseAsk(
        asks="kv_budget",
        question=lambda c: (
            f"The KV cache of {c.model} takes {c.cache}/token. "
            f"How much memory must be set aside at least for {c.tokens:,} tokens, in {name}?"
        ),
        kind="quantity",
        unit=name,
        tolerance=FINE,
        key=lambda c: c.needed / size,
        givens=lambda c: (tokens(c), token(c)),
        slips=(
            CaseSlip(
                f"answer-in-{OTHER[name]}",
                f"The number is the answer in {OTHER[name]}; it is asked in {name}.",
                lambda c: c.needed / other,
            ),
            CaseSlip("thousand-for-KiB", THOUSAND, lambda c: c.tokens * c.thousands / size),
            CaseSlip("conventions-mixed", MIXED, lambda c: c.tokens * Fraction(c.each, MIB) / 1000),
            CaseSlip("words", "The tokens were taken as words and converted.", lambda c: c.needed / size / WORDS),
            CaseSlip("doubled-again", TWICE, lambda c: 2 * c.needed / size),
        ),
        hints=lambda c: (
            "Every token takes its cache.",
            "B_kv = T k.",
            f"B_kv = {c.tokens:,} tokens x {c.cache}/token, in {name}.",
        ),
        explained=lambda c: (
            *in_bytes(c),
            Explained(
                "holds_tokens",
                holds_tokens.says,
                f"{c.tokens:,} tokens x {c.each:,} B/token = {c.needed:,} B = {rounded(c.needed / size, 6)} {name}",
            ),
        ),
    )


largest: CaseAsk[Budget] = CaseAsk(
    asks="kv_bytes_per_token",
    question=lambda c: (
        f"The part has {c.size:,} {c.unit}, and {c.tokens:,} tokens are to fit. "
        "How many bytes may the KV cache take per token at most?"
    ),
    kind="quantity",
    unit="B/token",
    tolerance=FINE,
    key=lambda c: c.largest,
    givens=lambda c: (budget(c), tokens(c)),
    slips=(
        CaseSlip("budget-misread", BUDGET_MISREAD, lambda c: Fraction(c.size_in(OTHER[c.unit])) / c.tokens),
        CaseSlip(
            "answer-in-KiB",
            "The number is the answer in KiB; it is asked in bytes.",
            lambda c: c.largest / Fraction(KIB),
        ),
        CaseSlip("answer-in-bits", "The number is the answer in bits; it is asked in bytes.", lambda c: 8 * c.largest),
        CaseSlip(
            "halved", "The cache was halved for keys and values; it is that of both.", lambda c: c.largest / Fraction(2)
        ),
        CaseSlip("words", "The tokens were taken as words and converted.", lambda c: c.largest * WORDS),
    ),
    hints=lambda c: (
        "The tokens share the budget evenly.",
        "k = B_kv / T.",
        f"k = {c.size:,} {c.unit} / {c.tokens:,} tokens, in bytes.",
    ),
    explained=lambda c: (
        Explained("holds_tokens", "The budget in bytes.", f"{c.size:,} {c.unit} = {c.size_in(c.unit):,} B"),
        Explained(
            "holds_tokens",
            holds_tokens.says,
            f"{c.size_in(c.unit):,} B / {c.tokens:,} tokens = {rounded(c.largest, 6)} B/token",
        ),
    ),
)

family: CaseFamily[Budget] = CaseFamily(
    draw=draw,
    statement=lambda _: STORY,
    ways=((capacity,), (needed_in("GB"),), (needed_in("GiB"),), (largest,)),
    keep=in_whole_kib,
    convention="1 KiB = 1,024 bytes.",
    objective="kv-cache-size",
    section="memory-budgeting",
    revision=2,
)
