"""Chat sessions that grow turn by turn (F42): when a window overflows and how many fit."""

from dataclasses import dataclass
from fractions import Fraction

from grader.amounts import rounded
from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, Given
from spec.stream import Stream

GB, KIB = 10**9, 1024
GIB_TO_GB = Fraction(2**30, GB)
FEWEST_TURNS, SESSIONS = 12, range(4, 61)  # before a window overflows, and at once


@dataclass(frozen=True, slots=True)
class Service:
    """A chat service. Sizes are tokens, `kv` KiB a token, `budget` GB, `stay` minutes."""

    system: int
    message: int
    reply: int
    most: int
    window: int
    turns: int
    kv: int
    budget: int
    stay: int

    @property
    def turn(self) -> int:
        """Tokens that a turn adds to the history."""
        return self.message + self.reply

    def first_over(self, window: int) -> int:
        """The first turn whose prompt leaves no room for the longest reply."""
        return (window - self.most - self.message - self.system) // self.turn + 2

    @property
    def tokens(self) -> Fraction:
        """Tokens that the budget holds."""
        return Fraction(self.budget * GB, self.kv * KIB)

    @property
    def sessions(self) -> int:
        """Whole windows that the budget holds."""
        return int(self.tokens // self.window)


def draw(stream: Stream) -> Service:
    """Draw a service."""
    return Service(
        system=stream.choice((100, 150, 200, 250, 300, 400, 500, 600, 800)),
        message=stream.choice((40, 50, 60, 75, 90, 104, 120, 140, 160)),
        reply=stream.choice((120, 150, 186, 200, 220, 250, 280, 320, 360)),
        most=stream.choice((384, 512, 640, 768, 1024)),
        window=stream.choice((4096, 6144, 8192, 12_288, 16_384, 32_768)),
        turns=stream.choice(range(12, 61)),
        kv=stream.choice((128, 144, 160, 192, 256, 320, 512)),
        budget=stream.choice((18, 24, 30, 36, 42, 48, 54, 60)),
        stay=stream.choice((10, 12, 15, 20, 25, 30, 40, 45)),
    )


def makes_sense(case: Service) -> bool:
    """Keep windows of a dozen turns or more, and budgets of some windows."""
    return case.first_over(case.window) >= FEWEST_TURNS and case.sessions in SESSIONS


def statement(case: Service) -> str:
    """Tell how a session grows."""
    return (
        "A chat service sends the whole history again in every turn. "
        f"A session starts with a system prompt of {case.system:,} tokens; each turn adds a message of "
        f"{case.message:,} tokens and a reply of {case.reply:,} tokens. "
        "A turn fits if its prompt, which is the history with the new message, leaves room in the window for a reply "
        f"of {case.most:,} tokens, the longest that is allowed."
    )


def givens(case: Service) -> tuple[Given, ...]:
    """List what every question needs."""
    return (
        Given("system_prompt", "s", str(case.system), "token", "system prompt"),
        Given("message", "u", str(case.message), "token", "a message of the user"),
        Given("reply", "r", str(case.reply), "token", "a reply, in the mean"),
        Given("longest_reply", "m", str(case.most), "token", "the longest reply allowed"),
    )


def window(case: Service) -> Given:
    """Give the window."""
    return Given("window", "W", str(case.window), "token", "tokens of prompt and reply")


def budget(case: Service) -> tuple[Given, ...]:
    """Give what the caches have."""
    return (
        Given("kv_budget", "M", str(case.budget), "GB", "memory for caches"),
        Given("kv_bytes_per_token", "k", str(case.kv), "KiB/token", "cache of a token"),
    )


def growth(case: Service) -> str:
    """Write the law of the overflow with the numbers of a case."""
    return f"{case.system} + (i - 1) x ({case.message} + {case.reply}) + {case.message} + {case.most}"


GROWTH = "s + (i - 1) x (u + r) + u + m"

overflow: CaseAsk[Service] = CaseAsk(
    asks="overflow_turn",
    question=lambda c: f"With a window of {c.window:,} tokens, which turn is the first that does not fit?",
    kind="count",
    key=lambda c: c.first_over(c.window),
    givens=lambda c: (window(c),),
    slips=(
        CaseSlip(
            "reply-not-reserved",
            "The longest reply needs room in the window too.",
            lambda c: (c.window - c.message - c.system) // c.turn + 2,
        ),
        CaseSlip(
            "replies-forgotten",
            "The replies stay in the history as the messages do.",
            lambda c: (c.window - c.most - c.message - c.system) // c.message + 2,
        ),
        CaseSlip(
            "window-over-turn",
            "The window was divided by a turn; the system prompt and the longest reply take room as well.",
            lambda c: c.window // c.turn,
        ),
        CaseSlip("last-that-fits", "That is the last turn that fits.", lambda c: c.first_over(c.window) - 1),
        CaseSlip(
            "budget-for-window",
            "The memory of the whole GPU was taken; one session ends at its window.",
            lambda c: c.first_over(int(c.tokens)),
        ),
        CaseSlip(
            "system-in-every-turn",
            "The system prompt stands in the history once, not once in every turn.",
            lambda c: (c.window - c.most - c.message - c.system) // (c.turn + c.system) + 2,
        ),
    ),
    hints=lambda c: (
        "Write down what a turn needs in the window, and find the first turn that needs more than there is.",
        f"Turn i needs {GROWTH}, and it fits as long as that is at most W.",
        f"Turn i needs {growth(c)}; compare that with {c.window:,}.",
    ),
    explained=lambda c: (
        Explained(
            "window",
            "A turn needs the history before it, its message and room for the longest reply.",
            f"Turn i needs {GROWTH} = {growth(c)} tokens.",
        ),
        Explained(
            "overflow",
            "The first turn that needs more than the window does not fit.",
            f"i > ({c.window:,} - {c.most:,} - {c.message:,} - {c.system:,}) / {c.turn:,} + 1, "
            f"so i = {c.first_over(c.window):,}",
        ),
    ),
)

sessions: CaseAsk[Service] = CaseAsk(
    asks="sessions",
    question=lambda c: (
        f"The caches have {c.budget:,} GB and take {c.kv:,} KiB/token. "
        f"How many sessions fit if each books a whole window of {c.window:,} tokens?"
    ),
    kind="count",
    key=lambda c: c.sessions,
    capacity=True,
    givens=lambda c: (*budget(c), window(c)),
    slips=(
        CaseSlip("rounded-up", "The last session does not fit whole.", lambda c: c.sessions + 1),
        CaseSlip(
            "all-in-GiB", "The GB of the budget were read as GiB.", lambda c: int(c.tokens * GIB_TO_GB // c.window)
        ),
        CaseSlip(
            "half-full",
            "A booking is a whole window, however full the history is in the mean.",
            lambda c: int(2 * c.tokens // c.window),
        ),
        CaseSlip("turns-for-sessions", "That is how many turns fit, not sessions.", lambda c: int(c.tokens // c.turn)),
        CaseSlip(
            "reply-on-top",
            "The longest reply was booked on top of the window; it lies inside it.",
            lambda c: int(c.tokens // (c.window + c.most)),
        ),
        CaseSlip(
            "values-twice",
            "The cache of a token holds its key and its value already.",
            lambda c: int(c.tokens // (2 * c.window)),
        ),
    ),
    hints=lambda c: (
        "First find how many tokens the memory for caches holds, then how many whole windows that is.",
        "Tokens = M / k, and sessions = tokens / W, rounded down.",
        f"Tokens = {c.budget:,} GB / {c.kv:,} KiB; divide them by {c.window:,} and round down.",
    ),
    explained=lambda c: (
        Explained(
            "tokens",
            "The budget over the cache of a token.",
            f"{c.budget:,} x 10^9 B / ({c.kv:,} x 1,024 B/token) = {int(c.tokens):,} tokens and a part of one",
        ),
        Explained(
            "sessions",
            "Whole windows alone count.",
            f"{int(c.tokens):,} / {c.window:,}, rounded down = {c.sessions:,}",
        ),
    ),
)

needed: CaseAsk[Service] = CaseAsk(
    asks="window",
    question=lambda c: f"What is the smallest window in which turn {c.turns} of a session still fits?",
    kind="count",
    unit="token",
    key=lambda c: c.system + (c.turns - 1) * c.turn + c.message + c.most,
    givens=lambda c: (Given("turns", "i", str(c.turns), "1", "the turn that must fit"),),
    slips=(
        CaseSlip(
            "reply-not-reserved",
            "The longest reply needs room in the window too.",
            lambda c: c.system + (c.turns - 1) * c.turn + c.message,
        ),
        CaseSlip(
            "history-afterwards",
            "That is the history after the turn; before its reply there must be room for the longest one.",
            lambda c: c.system + c.turns * c.turn,
        ),
        CaseSlip(
            "turn-counted-whole",
            "The reply of the turn itself was counted beside the longest one, which stands in its place.",
            lambda c: c.system + c.turns * c.turn + c.most,
        ),
        CaseSlip(
            "system-forgotten",
            "The system prompt is in the history as well.",
            lambda c: (c.turns - 1) * c.turn + c.message + c.most,
        ),
        CaseSlip(
            "replies-forgotten",
            "The replies stay in the history as the messages do.",
            lambda c: c.system + c.turns * c.message + c.most,
        ),
        CaseSlip(
            "one-turn-short",
            "One turn was left out.",
            lambda c: c.system + (c.turns - 2) * c.turn + c.message + c.most,
        ),
    ),
    hints=lambda c: (
        "Add up what the turn needs: the system prompt, all turns before it, its message and the longest reply.",
        f"Turn i needs {GROWTH}.",
        f"Put i = {c.turns} into {growth(c)}.",
    ),
    explained=lambda c: (
        Explained(
            "window",
            "A turn needs the history before it, its message and room for the longest reply.",
            f"{c.system:,} + ({c.turns} - 1) x ({c.message:,} + {c.reply:,}) + {c.message:,} + {c.most:,} = "
            f"{c.system + (c.turns - 1) * c.turn + c.message + c.most:,} tokens",
        ),
    ),
)


def rate_of(case: Service, held: int | None = None) -> Fraction:
    """Sessions a minute at which so many are open, in the mean."""
    return Fraction(case.sessions if held is None else held, case.stay)


rate: CaseAsk[Service] = CaseAsk(
    asks="session_rate",
    question=lambda c: (
        f"The caches have {c.budget:,} GB and take {c.kv:,} KiB/token; each session books a whole window of "
        f"{c.window:,} tokens and stays for {c.stay:,} min. "
        "At how many new sessions per minute are as many open, in the mean, as fit?"
    ),
    kind="number",
    key=rate_of,
    givens=lambda c: (*budget(c), window(c), Given("session_time", "T", str(c.stay), "min", "time a session stays")),
    slips=(
        CaseSlip("sessions-at-once", "That is how many fit at once.", lambda c: c.sessions),
        CaseSlip("times-the-stay", "The sessions were multiplied by their time.", lambda c: c.sessions * c.stay),
        CaseSlip("per-second", "That is a rate per second.", lambda c: rate_of(c) / 60),
        CaseSlip("per-hour", "That is a rate per hour.", lambda c: rate_of(c) * 60),
        CaseSlip(
            "half-full",
            "A booking is a whole window, however full the history is in the mean.",
            lambda c: rate_of(c, int(2 * c.tokens // c.window)),
        ),
        CaseSlip(
            "turns-for-sessions",
            "The turns that fit were taken for sessions.",
            lambda c: rate_of(c, int(c.tokens // c.turn)),
        ),
    ),
    hints=lambda c: (
        "First find how many sessions fit; then Little's law says how many are open at a rate.",
        "Sessions = M / (k W), rounded down; open sessions = rate x T.",
        f"Sessions = {c.budget:,} GB / ({c.kv:,} KiB x {c.window:,}), rounded down; divide them by {c.stay:,}.",
    ),
    explained=lambda c: (
        Explained(
            "sessions",
            "Whole windows alone count.",
            f"{c.budget:,} x 10^9 B / ({c.kv:,} x 1,024 B/token x {c.window:,} tokens), rounded down = "
            f"{c.sessions:,} sessions",
        ),
        Explained(
            "little",
            "Little's law: the mean number open is the rate times the time each one stays.",
            f"{c.sessions:,} sessions / {c.stay:,} min = {rounded(rate_of(c))} a minute",
        ),
    ),
)


family: CaseFamily[Service] = CaseFamily(
    draw=draw,
    statement=statement,
    ways=((overflow, sessions), (needed,), (rate,)),
    givens=givens,
    keep=makes_sense,
    revision=2,
    objective="session-growth",
    section="exercises",
)
