"""Interview question 4: what helps against a queue, ranked by the wait for the first token in runs of the server."""

from dataclasses import dataclass
from fractions import Fraction

from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, Given
from grader.exercise import exact
from spec import catalog
from spec.serving.measured import Measured, measured
from spec.serving.remedies import REMEDIES
from spec.stream import Stream

ASKED = 6  # actions of a question
NEAR, APART = (115, 100), (130, 100)  # ratios up to which two are level, and from which they are not
FEWEST = 3  # levels
Ranking = tuple[tuple[str, ...], ...]
ACTIONS = (
    *("unchanged", "half-slots", "double-slots", "double-memory", "double-bandwidth", "double-compute"),
    *("fp8-cache", "4-bit-weights"),
)


@dataclass(frozen=True, slots=True)
class Queue:
    """What was measured on a server, and the actions to rank."""

    at: Measured
    actions: tuple[str, ...]

    def wait(self, action: str) -> int:
        """The mean of the runs, in ms."""
        runs = self.at.p99[action]
        return sum(runs) // len(runs)

    @property
    def levels(self) -> Ranking | None:
        """The actions from the shortest wait up, level ones together; None where that is not clear in every run."""
        found: list[list[str]] = []
        for action in sorted(self.actions, key=self.wait):
            wait = self.wait(action)
            if found and wait * NEAR[1] <= self.wait(found[-1][0]) * NEAR[0]:
                found[-1].append(action)
            elif found and not all(self.clear(before, action) for before in found[-1]):
                return None
            else:
                found.append([action])
        return tuple(map(tuple, found))

    def clear(self, less: str, more: str) -> bool:
        """Whether one waits clearly less than the other, in each of the runs and in the mean."""
        each = all(low < high for low, high in zip(self.at.p99[less], self.at.p99[more], strict=True))
        return each and self.wait(less) * APART[0] <= self.wait(more) * APART[1]


def written(levels: Ranking) -> str:
    """Write a ranking."""
    return " > ".join(" = ".join(level) for level in levels)


def draw(stream: Stream) -> Queue:
    """Draw a server and what is tried on it."""
    actions = list(ACTIONS)
    while len(actions) > ASKED:
        actions.remove(stream.choice(actions))
    return Queue(stream.choice(measured()), tuple(actions))


def right(case: Queue) -> Ranking:
    """Give the right ranking."""
    return case.levels or ()


def keep(case: Queue) -> bool:
    """Keep rankings that are clear and tell some of the actions apart."""
    return len(right(case)) >= FEWEST


def place(case: Queue, action: str) -> int:
    """Give the level of an action, from 0 for the best."""
    return next(number for number, level in enumerate(right(case)) if action in level)


def moved(case: Queue, action: str, to: int) -> str:
    """Write the ranking with one action moved to a level; before all others where that is -1."""
    rest = [[label for label in level if label != action] for level in right(case)]
    if to < 0:
        rest.insert(0, [action])
    else:
        rest[to].append(action)
    return written(tuple(tuple(level) for level in rest if level))


def first(slug: str, sentence: str, action: str) -> CaseSlip[Queue]:
    """Make the misconception that one action is best of all."""
    return CaseSlip(
        slug,
        sentence,
        lambda c: moved(c, action, -1),
        lambda c: action in c.actions and place(c, action) > 0,
    )


def like_nothing(slug: str, sentence: str, action: str) -> CaseSlip[Queue]:
    """Make the misconception that an action changes nothing."""
    return CaseSlip(
        slug,
        sentence,
        lambda c: moved(c, action, place(c, "unchanged")),
        lambda c: {action, "unchanged"} <= set(c.actions) and place(c, action) != place(c, "unchanged"),
    )


def statement(case: Queue) -> str:
    """Tell of the server, its load and what is measured."""
    return (
        f"{case.at.deployment.says} Requests arrive at random, {case.at.rate} a minute on average. In each of three "
        "simulated runs of 200 requests the time is taken within which 99 % of the first tokens come, the wait "
        "included."
    )


def givens(case: Queue) -> tuple[Given, ...]:
    """List the sizes."""
    at = case.at.deployment
    memory = catalog.gpu(at.gpu).marketed
    return (
        Given("gpu_memory", "M", str(memory.number), "GB", "memory of the GPU"),
        Given("weights", "W", exact(Fraction(at.tenths, 10)), "GB", "weights, rounded"),
        Given("reserved", "R", str(at.reserved), "GB", "activations and safety margin"),
        Given("kv_bytes_per_token", "k", str(at.kv_bytes_per_token), "B/token", "KV cache per token"),
    )


def listed(case: Queue) -> str:
    """List the actions with what they mean."""
    return "; ".join(f"{action} ({REMEDIES[action]})" for action in case.actions)


ranks: CaseAsk[Queue] = CaseAsk(
    asks="remedies",
    question=lambda c: (
        "How do these rank by the mean of those times, the shortest first, where times within 15 % of each other count "
        f"as equal: {listed(c)}?"
    ),
    kind="ranking",
    options=lambda c: c.actions,
    key=lambda c: written(right(c)),
    slips=(
        first(
            "fewer-sequences-help",
            "With fewer sequences in flight the others wait longer: the server makes fewer tokens a second.",
            "half-slots",
        ),
        first(
            "more-slots-help",
            "More places help only where places are what runs out.",
            "double-slots",
        ),
        first(
            "memory-is-all",
            "More memory lets more requests in at once; whether that is what the queue waits for depends on the rest.",
            "double-memory",
        ),
        like_nothing(
            "compute-is-idle",
            "The compute is not idle in prefill, and the first token comes from prefill.",
            "double-compute",
        ),
        like_nothing(
            "bandwidth-is-enough",
            "Decode waits for the bandwidth: with more of it requests leave sooner.",
            "double-bandwidth",
        ),
        CaseSlip("reversed", "The longest time was put first.", lambda c: written(right(c)[::-1])),
    ),
    hints=lambda _: (
        "A queue grows while requests come faster than they leave: ask of each action how many leave a second.",
        "See what each action does to the number in flight, to a prefill and to a step of the batch.",
        "See whether places or caches limit the number in flight, then how the time splits into prefill and decode.",
    ),
    explained=lambda c: (
        *(
            Explained(
                "measured",
                f"{REMEDIES[action][0].upper()}{REMEDIES[action][1:]}.",
                f"{action}: {', '.join(f'{run / 1000:.2f}' for run in c.at.p99[action])} s in the three runs",
            )
            for level in right(c)
            for action in level
        ),
        Explained("measured", "From the shortest mean up.", written(right(c))),
    ),
)


family: CaseFamily[Queue] = CaseFamily(
    draw=draw,
    statement=statement,
    ways=((ranks,),),
    revision=3,
    givens=givens,
    keep=keep,
    rubric=(
        "Did you say which measurement tells the causes apart: use of the cache, places taken, time in prefill?",
        "Did you say that fewer sequences in flight shorten no queue unless memory runs out?",
        "Did you say what happens near full load, where a little more capacity saves most of the wait?",
        "Did you name the price of each action you would take?",
    ),
    objective="serving-speed",
    section="batching",
)
