"""The chapter's design question as a policy that is executed: chat sessions that outgrow window and cache (F42)."""

import json
from dataclasses import dataclass
from fractions import Fraction

from grader.case import CaseAsk, CaseFamily, Explained, Run
from grader.executing.session_policy import rules
from grader.executing.session_policy.running import setting
from grader.exercise import Given
from spec.catalog import gpu, model
from spec.serving.session_workload import Circumstances
from spec.serving.sessions import BLOCK, Machine, machine
from spec.stream import Stream

GB, KIB = 10**9, 1024
MESSAGE, REPLY, TURN_SECONDS = 101, 188, 30  # means of the workload: tokens, tokens, and seconds from turn to turn
LONG, SHORT = 30, 4  # minutes of the two halves of all sessions, in the mean


@dataclass(frozen=True, slots=True)
class Place:
    """A machine on which the reference policy does well, and neither an LRU cache nor the host does alone.

    Attributes:
        model, gpu: of the catalogue.
        window: tokens of the context.
        host: GB of the host for caches.
        low, high: hundredths of a session a minute.
        limit, keep: tokens from which, and down to which, the reference policy cuts.
        reference, hosting, dropping: points in the middle, in the mean of runs for practice, of the reference, of
            sending caches to the host and all else by default, and of all by default.
        resident, wait: what was measured of the reference there: sessions, and seconds.
    """

    model: str
    gpu: str
    window: int
    host: int
    low: int
    high: int
    limit: int
    keep: int
    reference: int
    hosting: int
    dropping: int
    resident: str
    wait: str


PLACES = (
    Place("chapter-7b", "a100-80gb", 8192, 12, 215, 230, 6144, 2200, 92, 66, 55, "28", "0.27"),
    Place("chapter-7b", "a100-80gb", 12_288, 16, 210, 235, 6144, 2200, 93, 35, 32, "27.7", "0.27"),
    Place("qwen3-8b", "a100-40gb", 8192, 5, 180, 195, 6144, 2200, 92, 70, 60, "20.3", "0.35"),
    Place("gpt-j-6b", "a100-80gb", 8192, 16, 250, 275, 6144, 2200, 92, 65, 54, "32.8", "0.28"),
    Place("llama-2-13b", "a100-80gb", 8192, 16, 88, 98, 6144, 2200, 92, 72, 66, "12.8", "0.45"),
)


@dataclass(frozen=True, slots=True)
class Case:
    """A service: where it runs, sessions a minute, tokens of the system prompt, and the name of its draw."""

    place: Place
    per_minute: Fraction
    system: int
    draw: str

    @property
    def circumstances(self) -> Circumstances:
        """What a policy has to cope with."""
        place = self.place
        return Circumstances(
            place.model, place.gpu, self.per_minute, place.window, system=self.system, host_bytes=place.host * GB
        )

    @property
    def machine(self) -> Machine:
        """The model on its GPU."""
        return machine(self.place.model, self.place.gpu)

    @property
    def tokens(self) -> int:
        """Tokens that the cache holds."""
        return self.machine.tokens // BLOCK * BLOCK

    @property
    def host_tokens(self) -> int:
        """Tokens that the host holds."""
        return self.place.host * GB // self.machine.kv_bytes_per_token

    def overflow(self, limit: int) -> int:
        """Return the turn at which a session of average turns outgrows a limit."""
        return (limit - self.circumstances.reply_limit - MESSAGE - self.system) // (MESSAGE + REPLY) + 2

    def wanted(self, limit: int, keep: int) -> int:
        """Return the tokens that all open sessions have, if their histories go up and down between two lengths."""
        return int(self.open * (limit + keep) / 2)

    @property
    def open(self) -> Fraction:
        """Sessions that are open at once, by Little's law."""
        return self.per_minute * Fraction(LONG + SHORT, 2)

    def seconds(self, tokens: int) -> Fraction:
        """Return how long a prefill of so many tokens takes."""
        timing = self.machine.timing
        return Fraction(timing.iteration(0, 0, [(0, tokens)]), timing.ticks_per_second)

    def transfer(self, tokens: int) -> Fraction:
        """Return how long as many tokens take from the host."""
        return Fraction(tokens * self.machine.kv_bytes_per_token, self.circumstances.host_rate)


def draw(stream: Stream) -> Case:
    """Draw a service."""
    place = stream.choice(PLACES)
    rate = Fraction(stream.choice(range(place.low, place.high + 1)), 100)
    return Case(place, rate, stream.choice((100, 150, 200, 250, 300)), str(stream.below(2**60)))


def statement(case: Case) -> str:
    """Tell the service, the task and the rules."""
    place, usual = case.place, case.circumstances
    service = (
        f"A chat service runs a version of {model(place.model).name} with a window of {place.window:,} tokens on one "
        f"{gpu(place.gpu).name}. Beside the weights there is room for the cache of {case.tokens:,} tokens of "
        f"{case.machine.kv_bytes_per_token // KIB:,} KiB each; the host has {usual.host_bytes // GB} GB for caches, at "
        f"{usual.host_rate // GB} GB/s. On average {float(case.per_minute):g} sessions come in a minute. "
        "Half of them last 30 minutes, the others 2 to 6."
    )
    talk = (
        f"A session starts with a system prompt of {case.system} tokens. A message has {MESSAGE} tokens in the mean, "
        f"and 3 in 100 are pastes of 800 to 2,500; a reply has {REPLY} in the mean and {usual.reply_limit} at most. "
        "Between a reply and the next message pass 25 s in the mean. Each turn sends the whole history, which must fit "
        "into the window together with the longest reply."
    )
    task = (
        f"{rules.TASK} what a turn books, whose idle cache goes and where to, when a history is cut "
        "or summarised, who waits and who is turned away. It is run on sessions that you have not seen, "
        f"{usual.seconds // 60} minutes each time, of which the first {usual.warm_up // 60} are not measured."
    )
    return f"{service} {talk} {task} {rules.scoring()} {rules.foretelling()} {rules.simplifications()}"


def reference(case: Case) -> str:
    """Write the reference policy, with what is to be foretold of it."""
    return json.dumps(
        {
            "evict_to": "host",
            "context_limit": case.place.limit,
            "keep": case.place.keep,
            "order": "new_first",
            "headroom": 0.05,
            "queue_timeout_s": 20,
            "predictions": {
                "overflow_turn": case.overflow(case.place.limit),
                "resident_sessions": float(case.place.resident),
                "new_wait_p99_s": float(case.place.wait),
            },
        }
    )


def hints(case: Case) -> tuple[str, ...]:
    """Give the three hints: the arithmetic, the cut, the host."""
    arithmetic = (
        "Do the arithmetic first: how many tokens a session has after half an hour, at which turn it outgrows the "
        "window, how many whole windows the cache holds, and, by Little's law, how many sessions are open at once."
    )
    cut = (
        "Every long session must be cut, and a cut moves what stays, so that its cache is void. Cut deep and seldom: "
        "the distance from context_limit to keep is how long it takes to the next cut. But turns should still have "
        "half of what was said."
    )
    host = (
        f"The host holds {case.host_tokens:,} tokens besides. A history of {case.place.keep:,} tokens comes back from "
        f"it in {_ms(case.transfer(case.place.keep))}, and its prefill takes {_ms(case.seconds(case.place.keep))} that "
        "all others wait for. Cut so deep that what the open sessions have nearly fits into both. Leave a few percent "
        "of the cache to first turns, and let nobody wait without end."
    )
    return arithmetic, cut, host


def explained(case: Case) -> tuple[Explained, ...]:
    """Work the reference policy out."""
    place, turns, usual = case.place, LONG * 60 // TURN_SECONDS, case.circumstances
    half = place.window // 2  # what the default keeps
    growth = (
        f"{case.system} + (i - 1) x {MESSAGE + REPLY} + {MESSAGE} + {usual.reply_limit} tokens exceed {place.window:,} "
        f"from turn i = {case.overflow(place.window)} on, and half an hour has about {turns} turns: every long session "
        "outgrows the window, and without a rule for that it ends there."
    )
    budget = (
        f"{case.tokens:,} / {place.window:,} = {case.tokens // place.window} whole windows, but "
        f"{float(case.per_minute):g} a minute x ({LONG} + {SHORT}) / 2 min = {float(case.open):.0f} sessions: to pin a "
        "window for life keeps most users out."
    )
    thrashing = (
        f"To book turns, to cut from {place.window:,} to {half:,} tokens and to drop the cache that was used longest "
        f"ago earns about {place.dropping}: the users take turns, so that what is dropped is what is needed soonest, "
        "and its prefill keeps all others waiting."
    )
    host = (
        f"{place.keep:,} tokens x {case.machine.kv_bytes_per_token:,} B / {usual.host_rate // GB} GB/s = "
        f"{_ms(case.transfer(place.keep))}, where their prefill takes {_ms(case.seconds(place.keep))}. Yet to send "
        f"idle caches to the host alone earns about {place.hosting}: the sessions have up to {float(case.open):.0f} x "
        f"({place.window:,} + {half:,}) / 2 = {case.wanted(place.window, half):,} tokens, and GPU and host hold "
        f"{case.tokens:,} + {case.host_tokens:,}."
    )
    trimming = (
        f"Cut from {place.limit:,} to {place.keep:,} they have up to {case.wanted(place.limit, place.keep):,} tokens, "
        f"most of which fit; the next cut comes {(place.limit - place.keep) // (MESSAGE + REPLY)} turns later, and "
        "turns still have more than half of what was said."
    )
    admission = (
        "With 5 % of the cache left to first turns, new sessions first in the queue and a wait of 20 s at most, which "
        f"matters where the load grows, the policy earns about {place.reference}."
    )
    return (
        Explained("growth", "The history grows by a message and a reply in each turn.", growth),
        Explained("budget", "Whole windows in the cache, against the sessions open at once by Little's law.", budget),
        Explained("thrashing", "What was idle the longest is what comes back next.", thrashing),
        Explained("host", "A transfer takes no time of the GPU, but the host is small.", host),
        Explained("trimming", "A cut voids the cache of the whole history, so it must be deep and rare.", trimming),
        Explained("admission", "New sessions are small, and a full server keeps them waiting first.", admission),
    )


def _ms(seconds: Fraction) -> str:
    return f"{float(1000 * seconds):.0f} ms"


policy: CaseAsk[Case] = CaseAsk(
    asks="policy",
    question=lambda _: "Which policy serves these sessions best?",
    kind="policy",
    key=reference,
    hints=hints,
    explained=explained,
    run=lambda c: Run("session-policy", setting(c.circumstances, c.draw)),
)

family: CaseFamily[Case] = CaseFamily(
    draw=draw,
    statement=statement,
    ways=((policy,),),
    givens=lambda c: (Given("host_memory", "M_h", str(c.place.host), "GB", "memory of the host for caches"),),
    objective="session-policy",
    section="exercises",
    revision=6,
    rubric=(
        "Does the page name the problem: more open sessions than the cache holds, each of which outgrows the window?",
        "Does it do the arithmetic of the budget: tokens of a session, windows that fit, sessions at once?",
        "Does it say which cache goes first, where to, and what it costs to have it back?",
        "Does it say who is let in, who waits, and who is turned away?",
        "Does it name the way in which the design fails first, and at which load?",
        "Does it name the metric to alert on, and its threshold?",
    ),
)
