"""The cache of a set of sequences, in tokens or in whole blocks, and the sequence or the number that fills it (F04)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from grader.amounts import rounded
from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, Given, told_apart
from grader.family import EXACT, FINE
from spec import catalog
from spec.memory import blocks_per_sequence, fits, holds_tokens, kv_bytes_per_token, kv_bytes_total
from spec.solving import Exact, Infeasible
from spec.stream import Stream
from spec.units import unit

GB, GIB, K = 10**9, int(unit("GiB").factor), 1024
MODELS = (
    *("llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "llama-3-70b", "llama-3.2-1b", "mistral-7b-v0.3"),
    *("qwen2.5-0.5b", "qwen2.5-7b", "qwen2.5-72b", "qwen3-8b", "gemma-2b", "gemma-7b"),
)
LENGTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)  # in K tokens
PLAIN = (
    *(16, 17, 24, 40, 64, 75, 100, 130, 250, 333, 500, 700, 1000, 1210, 1500, 2010, 3000, 4001, 5000, 6100, 7500, 9001),
    *(20_000, 50_000, 131_072),
)
BLOCK = 16
FEW, MORE = 3, 10  # sequences of different length: the fewest, and how many numbers of them there are


@dataclass(frozen=True, slots=True)
class Sequences:
    """Sequences of a model. `lengths` are K tokens, those of `others` are tokens.

    `number` sequences of `length` K tokens are equal ones. `budget` is for the former, `pool` for the latter, in GB.
    """

    model: str
    layers: int
    kv_heads: int
    head_dim: int
    lengths: tuple[int, ...]
    others: tuple[int, ...]
    number: int
    length: int
    budget: int
    pool: int

    @property
    def each(self) -> int:
        """The bytes of a token."""
        found = kv_bytes_per_token(layers=self.layers, kv_heads=self.kv_heads, head_dim=self.head_dim, kv_width=2)
        return int(_found(found))

    @property
    def tokens(self) -> int:
        """The tokens of the sequences of different length."""
        return K * sum(self.lengths)

    @property
    def together(self) -> int:
        """The tokens of the equal ones."""
        return self.number * self.length * K

    def takes(self, tokens: int) -> int:
        """Return the bytes of so many tokens."""
        return int(_found(kv_bytes_total(cached_tokens=tokens, kv_bytes_per_token=self.each)))

    def room(self, tokens: int, *, size: int = GB, each: int = 0) -> int | None:
        """Return how many more tokens the budget holds beside others; None where it is not one."""
        found = holds_tokens.solve("token_capacity", kv_budget=self.budget * size, kv_bytes_per_token=each or self.each)
        left = int(_found(found)) - tokens
        return left if left > 0 else None

    def fitting(self, *, size: int = GB, each: int = 0, thousand: int = K) -> int | None:
        """Return how many sequences of equal length fit; None where no one does."""
        found = fits.solve(
            "concurrency",
            kv_budget=self.pool * size,
            kv_bytes_per_token=each or self.each,
            context=self.length * thousand,
        )
        return int(_found(found)) or None

    @property
    def blocks(self) -> int:
        """The whole blocks of the other sequences."""
        return sum(self.blocks_of(tokens) for tokens in self.others)

    def blocks_of(self, tokens: int) -> int:
        """Return the whole blocks of so many tokens in a row."""
        return int(_found(blocks_per_sequence(context=tokens, block_size=BLOCK)))


def _found(value: Exact | Infeasible) -> Exact:
    if isinstance(value, Infeasible):
        raise TypeError(value)
    return value


def draw(stream: Stream) -> Sequences:
    """Draw a model, sequences of several kinds within its window, and budgets of about their size."""
    model = catalog.model(stream.choice(MODELS))
    shape, window = model.quantities(), model.window or 0
    lengths = [length for length in LENGTHS if length * K <= window]
    case = Sequences(
        model=model.name,
        layers=int(shape["layers"]),
        kv_heads=int(shape["kv_heads"]),
        head_dim=int(shape["head_dim"]),
        lengths=tuple(stream.choice(lengths) for _ in range(FEW + stream.below(MORE))),
        others=tuple(stream.choice([n for n in PLAIN if n <= window]) for _ in range(FEW + stream.below(MORE))),
        number=stream.choice((2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)),
        length=stream.choice(lengths),
        budget=0,
        pool=0,
    )
    return replace(
        case,
        budget=in_gb(case.takes(case.tokens) * stream.choice((60, 80, 110, 130, 160, 200, 250))),
        pool=in_gb(case.takes(case.length * K) * stream.choice((50, 80, 150, 350, 600, 900, 1200, 2000, 3000))),
    )


def in_gb(hundredths: int) -> int:
    """Return hundredths of bytes in whole GB, no less than two."""
    return max(2, hundredths // (100 * GB))


def of_some_size(case: Sequences) -> bool:
    """Keep lengths that differ, and caches that are worth a budget."""
    return len(set(case.lengths)) >= FEW <= len(set(case.others)) and case.takes(case.tokens) >= GB


def statement(case: Sequences) -> str:
    """Tell the shape of the model."""
    heads = f"{case.kv_heads} key-value head{'s' if case.kv_heads > 1 else ''}"
    return (
        f"{case.model} has {case.layers} layers with {heads} of size {case.head_dim} each; "
        "a cached element takes 2 B. A length of 1K is 1,024 tokens."
    )


def givens(case: Sequences) -> tuple[Given, ...]:
    """List the shape."""
    return (
        Given("layers", "L", str(case.layers), "layer", "layers"),
        Given("kv_heads", "n_kv", str(case.kv_heads), "1", "key-value heads"),
        Given("head_dim", "d_h", str(case.head_dim), "1", "size of one head"),
        Given("kv_width", "b", "2", "B", "bytes per cached element"),
    )


def budget(size: int) -> tuple[Given, ...]:
    """Give the memory for caches, in GB."""
    return (Given("kv_budget", "B_kv", str(size), "GB", "memory for the KV cache"),)


def listed(lengths: tuple[int, ...], mark: str = "") -> str:
    """Write lengths in a sentence."""
    *most, last = [f"{length:,}{mark}" for length in lengths]
    return f"{', '.join(most)} and {last}"


def summed(lengths: tuple[int, ...]) -> str:
    """Write the sum of lengths in K."""
    return f"({' + '.join(map(str, lengths))}) x 1,024"


def shape(case: Sequences) -> str:
    """Write the cache of a token with its numbers."""
    return f"2 x {case.layers} x {case.kv_heads} x {case.head_dim} x 2 B"


def per_token(case: Sequences) -> Explained:
    """Explain the cache of a token."""
    return Explained("kv_bytes_per_token", kv_bytes_per_token.says, f"{shape(case)} = {case.each:,} B/token")


KEYS_ALONE = "The factor 2 is missing: a key and a value are kept."
ONE_LAYER = "One layer was counted; every layer keeps its own keys and values."
THOUSAND = "K was taken as 1,000; here it is 1,024."
IN_GIB = "All sizes: read in GiB, given in GB."
TOO_FAR_UP = "The number was rounded up; a part of one does not count."


def added_up(
    lengths: Callable[[Sequences], tuple[int, ...]],
    told: Callable[[Sequences], str],
    added: Callable[[Sequences], str],
    *more: CaseSlip[Sequences],
) -> CaseAsk[Sequences]:
    """Ask for the bytes of sequences of different lengths in tokens, which are `told` in words and `added` in a sum."""

    def takes(c: Sequences) -> int:
        return c.takes(sum(lengths(c)))

    return CaseAsk(
        asks="kv_bytes_total",
        question=lambda c: f"Sequences of {told(c)} tokens are cached. How many bytes do their caches take together?",
        kind="quantity",
        unit="B",
        tolerance=EXACT,
        key=takes,
        slips=(
            CaseSlip("values-forgotten", KEYS_ALONE, lambda c: takes(c) // 2),
            CaseSlip("layers-forgotten", ONE_LAYER, lambda c: takes(c) // c.layers),
            CaseSlip("longest-only", "Only the longest sequence was counted.", lambda c: c.takes(max(lengths(c)))),
            CaseSlip(
                "all-as-longest",
                "Every sequence was counted as long as the longest.",
                lambda c: c.takes(max(lengths(c)) * len(lengths(c))),
            ),
            *more,
        ),
        hints=lambda c: (
            "The caches add up, so the tokens do; then comes the cache of a token.",
            "K = (n_1 + n_2 + ...) x 2 L n_kv d_h b.",
            f"K = {added(c)} tokens x {shape(c)}.",
        ),
        explained=lambda c: (
            Explained("cached_tokens", "All tokens together.", f"{added(c)} = {sum(lengths(c)):,} tokens"),
            per_token(c),
            Explained(
                "kv_bytes_total",
                kv_bytes_total.says,
                f"{sum(lengths(c)):,} tokens x {c.each:,} B/token = {takes(c):,} B",
            ),
        ),
    )


total = added_up(
    lambda c: tuple(K * length for length in c.lengths),
    lambda c: listed(c.lengths, "K"),
    lambda c: summed(c.lengths),
    CaseSlip("thousand-for-K", THOUSAND, lambda c: c.takes(1000 * sum(c.lengths))),
    CaseSlip("K-forgotten", "The lengths were taken as tokens, not K of them.", lambda c: c.takes(sum(c.lengths))),
)
total_of_tokens = added_up(
    lambda c: c.others,
    lambda c: listed(c.others),
    lambda c: f"({' + '.join(f'{tokens:,}' for tokens in c.others)})",
    told_apart(
        "whole-blocks",
        f"Blocks of {BLOCK} tokens were counted; here a token takes its own bytes and no more.",
        lambda c: c.takes(BLOCK * c.blocks),
        lambda c: c.takes(sum(c.others)),
    ),
)

equal: CaseAsk[Sequences] = CaseAsk(
    asks="kv_bytes_of_equal",
    question=lambda c: (
        f"There are {c.number} sequences of {c.length}K tokens each. How much do their caches take together, in GB?"
    ),
    kind="quantity",
    unit="GB",
    tolerance=FINE,
    key=lambda c: Fraction(c.takes(c.together), GB),
    givens=lambda c: (Given("concurrency", "N", str(c.number), "sequence", "sequences held at once"),),
    slips=(
        CaseSlip("values-forgotten", KEYS_ALONE, lambda c: Fraction(c.takes(c.together), 2 * GB)),
        CaseSlip("layers-forgotten", ONE_LAYER, lambda c: Fraction(c.takes(c.together), c.layers * GB)),
        CaseSlip("thousand-for-K", THOUSAND, lambda c: Fraction(c.takes(c.together) * 1000, K * GB)),
        CaseSlip("longest-only", "One sequence was counted.", lambda c: Fraction(c.takes(c.length * K), GB)),
        CaseSlip(
            "all-for-each",
            "The cache of all sequences was counted for each of them.",
            lambda c: Fraction(c.number * c.takes(c.together), GB),
        ),
        CaseSlip(
            "answer-in-GiB",
            "The number is the answer in GiB; it is asked in GB.",
            lambda c: Fraction(c.takes(c.together), GIB),
        ),
    ),
    hints=lambda c: (
        "The tokens of all sequences, times the cache of a token.",
        "K = N c x 2 L n_kv d_h b.",
        f"K = {c.number} x {c.length} x 1,024 tokens x {shape(c)}.",
    ),
    explained=lambda c: (
        Explained("cached_tokens", "All tokens together.", f"{c.number} x {c.length} x 1,024 = {c.together:,} tokens"),
        per_token(c),
        Explained(
            "kv_bytes_total",
            kv_bytes_total.says,
            f"{c.together:,} tokens x {c.each:,} B/token = {rounded(Fraction(c.takes(c.together), GB), 6)} GB",
        ),
    ),
)

one_more: CaseAsk[Sequences] = CaseAsk(
    asks="context",
    question=lambda c: (
        f"There are {c.budget:,} GB for caches, of which sequences of {listed(c.lengths, 'K')} tokens are to have "
        "theirs first. "
        "By memory alone, how many tokens can one more sequence have at most?"
    ),
    kind="count",
    unit="token",
    capacity=True,
    key=lambda c: c.room(c.tokens),
    givens=lambda c: budget(c.budget),
    reason=lambda c: (
        f"The others take {rounded(Fraction(c.takes(c.tokens), GB), 4)} GB, and there are {c.budget:,} GB."
    ),
    slips=(
        told_apart(
            "values-forgotten", KEYS_ALONE, lambda c: c.room(c.tokens, each=c.each // 2), lambda c: c.room(c.tokens)
        ),
        CaseSlip(
            "others-forgotten", "The others were forgotten: they take their part of the budget.", lambda c: c.room(0)
        ),
        CaseSlip("longest-only", "Of the others only the longest was counted.", lambda c: c.room(max(c.lengths) * K)),
        told_apart("thousand-for-K", THOUSAND, lambda c: c.room(1000 * sum(c.lengths)), lambda c: c.room(c.tokens)),
        told_apart("all-in-GiB", IN_GIB, lambda c: c.room(c.tokens, size=GIB), lambda c: c.room(c.tokens)),
        CaseSlip(
            "rounded-up",
            TOO_FAR_UP,
            lambda c: (c.room(c.tokens) or 0) + 1,
            lambda c: c.room(c.tokens) is not None and c.budget * GB % c.each != 0,
        ),
    ),
    hints=lambda c: (
        "Take what the others cache off the tokens that the budget holds.",
        "n = floor(B_kv / (2 L n_kv d_h b)) - (n_1 + n_2 + ...).",
        f"n = floor({c.budget:,} GB / ({shape(c)})) - {summed(c.lengths)}.",
    ),
    explained=lambda c: (
        per_token(c),
        Explained(
            "holds_tokens",
            holds_tokens.says,
            f"floor({c.budget:,} GB / {c.each:,} B/token) = {c.room(0) or 0:,} tokens",
        ),
        Explained("cached_tokens", "Those of the others.", f"{summed(c.lengths)} = {c.tokens:,} tokens"),
        Explained(
            "holds_tokens",
            "What is left.",
            f"{c.room(0) or 0:,} - {c.tokens:,} = {(c.room(0) or 0) - c.tokens:,} tokens",
        ),
    ),
)

how_many: CaseAsk[Sequences] = CaseAsk(
    asks="concurrency",
    question=lambda c: (
        f"The caches have {c.pool:,} GB. How many sequences of {c.length}K tokens each can be cached at once?"
    ),
    kind="count",
    unit="sequence",
    capacity=True,
    key=lambda c: c.fitting(),
    givens=lambda c: budget(c.pool),
    reason=lambda c: (
        f"One sequence takes {rounded(Fraction(c.takes(c.length * K), GB), 6)} GB, and there are only {c.pool:,} GB."
    ),
    slips=(
        told_apart("values-forgotten", KEYS_ALONE, lambda c: c.fitting(each=c.each // 2), lambda c: c.fitting()),
        told_apart("layers-forgotten", ONE_LAYER, lambda c: c.fitting(each=c.each // c.layers), lambda c: c.fitting()),
        told_apart("thousand-for-K", THOUSAND, lambda c: c.fitting(thousand=1000), lambda c: c.fitting()),
        told_apart("all-in-GiB", IN_GIB, lambda c: c.fitting(size=GIB), lambda c: c.fitting()),
        CaseSlip("context-forgotten", "One token per sequence was counted.", lambda c: c.pool * GB // c.each),
        CaseSlip(
            "K-forgotten",
            "The length was taken as so many tokens, not K of them.",
            lambda c: c.fitting(thousand=1),
            lambda c: c.length > 1,
        ),
        CaseSlip(
            "rounded-up",
            TOO_FAR_UP,
            lambda c: (c.fitting() or 0) + 1,
            lambda c: c.fitting() is not None and c.pool * GB % c.takes(c.length * K) != 0,
        ),
    ),
    hints=lambda c: (
        "Divide the budget by the cache of one sequence; a part of one does not count.",
        "N = floor(B_kv / (c x 2 L n_kv d_h b)).",
        f"N = floor({c.pool:,} GB / ({c.length} x 1,024 x {shape(c)})).",
    ),
    explained=lambda c: (
        per_token(c),
        Explained(
            "kv_bytes_per_sequence",
            "The cache of one sequence.",
            f"{c.length} x 1,024 tokens x {c.each:,} B/token = {c.takes(c.length * K):,} B",
        ),
        Explained(
            "fits", fits.says, f"floor({c.pool:,} GB / {c.takes(c.length * K):,} B) = {c.fitting() or 0:,} sequences"
        ),
    ),
)

paged: CaseAsk[Sequences] = CaseAsk(
    asks="blocks",
    question=lambda c: (
        f"Sequences of {listed(c.others)} tokens are cached in blocks of {BLOCK} tokens, and no block is shared by two "
        "of them. How many blocks do they take together?"
    ),
    kind="count",
    unit="block",
    key=lambda c: c.blocks,
    slips=(
        CaseSlip(
            "rounded-once",
            "All tokens together were rounded up once; every sequence has a last block of its own.",
            lambda c: c.blocks_of(sum(c.others)),
        ),
        CaseSlip(
            "last-block-dropped",
            "The partly filled last blocks were not counted.",
            lambda c: sum(tokens // BLOCK for tokens in c.others),
        ),
        CaseSlip(
            "one-more-for-each",
            "Every sequence was given a block more than it fills, even where the last one is full.",
            lambda c: sum(tokens // BLOCK + 1 for tokens in c.others),
            lambda c: any(tokens % BLOCK == 0 for tokens in c.others),
        ),
        CaseSlip("longest-only", "Only the longest sequence was counted.", lambda c: c.blocks_of(max(c.others))),
        CaseSlip("tokens", "Those are the tokens.", lambda c: sum(c.others)),
        CaseSlip("tokens-of-blocks", "Those are the tokens of all blocks.", lambda c: BLOCK * c.blocks),
    ),
    hints=lambda c: (
        "Every sequence takes whole blocks; round up for each of them, and then add.",
        "Blocks = ceil(n_1 / p) + ceil(n_2 / p) + ...",
        f"Blocks = {' + '.join(f'ceil({tokens:,} / {BLOCK})' for tokens in c.others)}.",
    ),
    explained=lambda c: (
        Explained(
            "blocks_per_sequence",
            blocks_per_sequence.says,
            f"{' + '.join(f'{c.blocks_of(tokens):,}' for tokens in c.others)} = {c.blocks:,} blocks",
        ),
    ),
)

family: CaseFamily[Sequences] = CaseFamily(
    draw=draw,
    statement=statement,
    ways=((total,), (total_of_tokens,), (equal,), (one_more,), (one_more,), (how_many,), (paged,)),
    givens=givens,
    keep=of_some_size,
    infeasible=True,
    revision=3,
    objective="kv-cache-size",
    section="kv-cache",
)
