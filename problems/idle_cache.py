"""The cache of an idle chat session (F42): to bring it back from the host, or to prefill its history again."""

from dataclasses import dataclass
from fractions import Fraction

from grader.amounts import rounded
from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, Given
from spec.stream import Stream

GB, KIB = 10**9, 1024
GIB_TO_GB = Fraction(2**30, GB)
ALIKE = Fraction(4, 5)  # two times nearer than this are not told apart


@dataclass(frozen=True, slots=True)
class Session:
    """An idle session. Sizes are tokens, `kv` KiB a token, `link` GB/s, rates tokens/s."""

    history: int
    message: int
    kv: int
    link: int
    prefill: int
    decode: int

    @property
    def fetch(self) -> Fraction:
        """Milliseconds to bring the cache back over the link."""
        return Fraction(1000 * self.history * self.kv * KIB, self.link * GB)

    @property
    def again(self) -> Fraction:
        """Milliseconds to prefill as many tokens again."""
        return Fraction(1000 * self.history, self.prefill)

    @property
    def even(self) -> Fraction:
        """GB/s of a link that is as fast as prefill."""
        return Fraction(self.prefill * self.kv * KIB, GB)


def draw(stream: Stream) -> Session:
    """Draw a session."""
    return Session(
        history=stream.choice((1500, 2000, 2400, 3000, 3600, 4096, 5000, 6000, 7200)),
        message=stream.choice((40, 50, 60, 75, 90, 104, 120, 140, 160)),
        kv=stream.choice((128, 144, 160, 192, 256, 320, 512, 800)),
        link=stream.choice((6, 10, 12, 16, 20, 24, 25, 32, 50)),
        prefill=stream.choice((4000, 5000, 6000, 8000, 10_000, 12_500, 16_000, 20_000, 25_000)),
        decode=stream.choice((20, 25, 30, 40, 50)),
    )


def makes_sense(case: Session) -> bool:
    """Keep times that differ clearly."""
    return not ALIKE < case.fetch / case.again < 1 / ALIKE


def statement(case: Session) -> str:
    """Tell what waits and what it costs."""
    return (
        f"A chat session waits for the next message of its user with a history of {case.history:,} tokens. "
        f"Its cache takes {case.kv:,} KiB/token, and the message will have {case.message:,} tokens. "
        f"The server prefills at {case.prefill:,} tokens/s and decodes a session at {case.decode:,} tokens/s."
    )


def givens(case: Session) -> tuple[Given, ...]:
    """List what every question needs, and more."""
    return (
        Given("history", "n", str(case.history), "token", "history of the session"),
        Given("kv_bytes_per_token", "k", str(case.kv), "KiB/token", "cache of a token"),
        Given("message", "u", str(case.message), "token", "the next message"),
        Given("prefill_rate", "P", str(case.prefill), "token/s", "rate of prefill"),
        Given("decode_rate", "D", str(case.decode), "token/s", "rate of decode of one session"),
    )


def link(case: Session) -> tuple[Given, ...]:
    """Give the link."""
    return (Given("link", "B", str(case.link), "GB/s", "bandwidth to the host"),)


fetch: CaseAsk[Session] = CaseAsk(
    asks="fetch_time",
    question=lambda c: (
        f"Its cache was moved to the host. How many ms does it take to bring it back over a link of {c.link:,} GB/s?"
    ),
    kind="quantity",
    unit="ms",
    key=lambda c: c.fetch,
    givens=link,
    slips=(
        CaseSlip("both-ways", "The way out was counted as well.", lambda c: 2 * c.fetch),
        CaseSlip("link-in-bits", "The link was taken in gigabits per second.", lambda c: 8 * c.fetch),
        CaseSlip("one-token", "That is one token; the whole history comes back.", lambda c: c.fetch / c.history),
        CaseSlip("thousand-for-KiB", "A KiB is 1,024 bytes.", lambda c: c.fetch * 1000 / KIB),
        CaseSlip("link-in-GiB", "The GB/s of the link were read as GiB/s.", lambda c: c.fetch / GIB_TO_GB),
    ),
    hints=lambda c: (
        "The bytes of the cache over the bandwidth of the link.",
        "Time = n k / B.",
        f"Time = {c.history:,} x {c.kv:,} KiB / {c.link:,} GB/s.",
    ),
    explained=lambda c: (
        Explained(
            "fetch",
            "The bytes of the cache over the bandwidth.",
            f"{c.history:,} tokens x {c.kv:,} x 1,024 B/token / ({c.link:,} x 10^9 B/s) = {rounded(c.fetch)} ms",
        ),
    ),
)

again: CaseAsk[Session] = CaseAsk(
    asks="recompute_time",
    question=lambda _: (
        "Its cache was dropped instead. How many ms does it take to prefill the history again?"
    ),
    kind="quantity",
    unit="ms",
    key=lambda c: c.again,
    slips=(
        CaseSlip(
            "at-decode-rate",
            "The history is prefilled all at once, not decoded token by token.",
            lambda c: Fraction(1000 * c.history, c.decode),
        ),
        CaseSlip(
            "message-only",
            "Only the new message was prefilled; without its cache the whole history must be.",
            lambda c: Fraction(1000 * c.message, c.prefill),
        ),
        CaseSlip(
            "bytes-for-tokens",
            "The KiB of the cache were divided by a rate of tokens.",
            lambda c: Fraction(1000 * c.history * c.kv, c.prefill),
        ),
        CaseSlip("rate-over-tokens", "The rate was divided by the tokens.", lambda c: Fraction(c.prefill, c.history)),
    ),
    hints=lambda c: (
        "Without its cache the whole history is a prompt again.",
        "Time = n / P.",
        f"Time = {c.history:,} tokens / {c.prefill:,} tokens/s.",
    ),
    explained=lambda c: (
        Explained(
            "recompute",
            "The tokens over the rate of prefill.",
            f"{c.history:,} tokens / {c.prefill:,} tokens/s = {rounded(c.again)} ms",
        ),
    ),
)  # fmt: skip

even: CaseAsk[Session] = CaseAsk(
    asks="link",
    question=lambda _: (
        "At which bandwidth of the link to the host, in GB/s, does it take as long to bring the cache back as to "
        "prefill the history again?"
    ),
    kind="quantity",
    unit="GB/s",
    key=lambda c: c.even,
    slips=(
        CaseSlip("both-ways", "The way out was counted as well.", lambda c: 2 * c.even),
        CaseSlip("in-bits", "That is gigabits per second.", lambda c: 8 * c.even),
        CaseSlip("in-GiB", "That is GiB/s.", lambda c: c.even / GIB_TO_GB),
        CaseSlip("thousand-for-KiB", "A KiB is 1,024 bytes.", lambda c: c.even * 1000 / KIB),
        CaseSlip(
            "at-decode-rate",
            "The history is prefilled all at once, not decoded token by token.",
            lambda c: c.even * c.decode / c.prefill,
        ),
        CaseSlip(
            "history-in-a-second",
            "That link brings the history back in a second.",
            lambda c: Fraction(c.history * c.kv * KIB, GB),
        ),
    ),
    hints=lambda c: (
        "Write down both times, and set them equal: the history cancels.",
        "n k / B = n / P, so B = k P.",
        f"B = {c.kv:,} KiB/token x {c.prefill:,} tokens/s.",
    ),
    explained=lambda c: (
        Explained(
            "even",
            "Both times grow with the history, so that it cancels.",
            f"{c.kv:,} x 1,024 B/token x {c.prefill:,} tokens/s = {rounded(c.even)} GB/s",
        ),
    ),
)

family: CaseFamily[Session] = CaseFamily(
    draw=draw,
    statement=statement,
    ways=((fetch, again), (even,)),
    givens=givens,
    keep=makes_sense,
    objective="session-growth",
    section="exercises",
)
