"""Interview question 5: which batching suits a list of lengths, run both ways, and a list on which the other wins."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil

from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, Run, told_apart
from grader.executing.batching_makespans import makespans
from grader.family import FINE
from spec.stream import Stream

CONTINUOUS, STATIC, EQUAL = "continuous", "static", "equal"
LABELS = (CONTINUOUS, STATIC, EQUAL)
NAMES = "ABC"
VARIED, ALIKE, STAGGERED = "varied", "alike", "staggered"
KINDS = (VARIED, VARIED, VARIED, ALIKE, STAGGERED, STAGGERED, STAGGERED)
APART = Fraction(103, 100)  # of two makespans, where one is shorter


def setting(slots: int, step: int, prefill: int) -> dict[str, str]:
    """Write under what both policies are run."""
    numbers = {"slots": slots, "least": 0, "base": step, "each": 0, "prefill": prefill}
    return {name: str(number) for name, number in numbers.items()} | {"order": "given", "padded": "yes"}


@lru_cache(maxsize=4096)
def both(steps: tuple[int, ...], slots: int, step: int, prefill: int) -> tuple[int, int]:
    """Run both policies: the milliseconds of continuous and of static batching."""
    return makespans(steps, setting(slots, step, prefill))


@dataclass(frozen=True, slots=True)
class Server:
    """Places, milliseconds of a decode step and of a prefill pass, three lists of decode steps, and limits of a list.

    `most` and `longest` limit the list that is asked for.
    """

    slots: int
    step: int
    prefill: int
    lists: tuple[tuple[int, ...], ...]
    most: int
    longest: int

    @property
    def setting(self) -> dict[str, str]:
        """What both policies are run under."""
        return setting(self.slots, self.step, self.prefill) | {"most": str(self.most), "longest": str(self.longest)}

    def times(self, place: int, prefill: int | None = None) -> tuple[int, int]:
        """The milliseconds of continuous and of static batching on one of the lists."""
        return both(self.lists[place], self.slots, self.step, self.prefill if prefill is None else prefill)


def jobs(stream: Stream, slots: int) -> tuple[int, ...]:
    """Draw a list: lengths far apart, all alike, or hardly different."""
    kind, count = stream.choice(KINDS), slots + 2 + stream.below(2 * slots + 1)
    base = 2 + stream.below(30)
    if kind == ALIKE:
        return (base,) * (slots * (2 + stream.below(2)))
    spread = stream.choice((20, 30, 40)) if kind == VARIED else 2 + stream.below(2)
    return tuple(base + stream.below(spread) for _ in range(count))


def draw(stream: Stream) -> Server:
    """Draw a server and its lists."""
    slots, step = 2 + stream.below(3), stream.choice((10, 15, 20, 25, 30))
    return Server(
        slots,
        step,
        step * stream.choice((1, 2, 3, 4)),
        tuple(jobs(stream, slots) for _ in NAMES),
        slots + 2 + stream.below(5),
        3 + stream.below(8),
    )


def better(ours: int, theirs: int) -> str:
    """Say which of two makespans is shorter."""
    return EQUAL if ours == theirs else CONTINUOUS if ours < theirs else STATIC


def keep(case: Server) -> bool:
    """Keep lists of which some suit one policy and some do not, and makespans that are clearly apart or equal."""
    pairs = [case.times(place) for place in range(len(NAMES))]
    clear = all(low == high or APART * low < high for low, high in map(sorted, pairs))
    return clear and len({better(*pair) for pair in pairs}) > 1


def listed(steps: tuple[int, ...]) -> str:
    """Write a list."""
    return ", ".join(map(str, steps))


def statement(case: Server) -> str:
    """Tell how the server runs."""
    lists = "; ".join(
        f"list {name} has the jobs {listed(steps)}" for name, steps in zip(NAMES, case.lists, strict=True)
    )
    return (
        f"A server decodes at most {case.slots} jobs at once. All jobs of a list are there from the start, and each "
        f"takes a known number of decode steps; a step takes {case.step} ms, however many jobs are in it. Whenever "
        f"jobs are let in, a prefill pass over all of them together takes {case.prefill} ms, during which nothing is "
        "decoded. Continuous batching takes the jobs in the order of the list, and lets the next one in as soon as "
        f"another has ended. Static batching cuts the list into batches of {case.slots}, the last one perhaps smaller; "
        "a batch starts when every job of the one before has ended, and a job that has ended leaves its place empty "
        f"until then. By their decode steps, {lists}."
    )


def policy(place: int) -> CaseAsk[Server]:
    """Ask which policy is done first with one of the lists."""
    name = NAMES[place]

    def right(case: Server) -> str:
        return better(*case.times(place))

    def always(slug: str, sentence: str, label: str) -> CaseSlip[Server]:
        return told_apart(slug, sentence, lambda _: label, right)

    return CaseAsk(
        asks=f"policy_{name.lower()}",
        question=lambda _: f"With which batching is list {name} done first, or are both done at the same time?",
        kind="choice",
        options=lambda _: LABELS,
        key=right,
        slips=(
            told_apart(
                "prefill-forgotten",
                "Without the prefill passes it would be so; each time a job is let in, all others wait.",
                lambda c: better(*c.times(place, 0)),
                right,
            ),
            always(
                "always-continuous",
                "Filling places at once is not free: count the prefill passes of both.",
                CONTINUOUS,
            ),
            always(
                "always-static",
                "Count the places that stay empty until the longest job of a batch has ended.",
                STATIC,
            ),
            always("no-difference", "Both have the same work, but not the same waits.", EQUAL),
        ),
        hints=lambda c: (
            "Count for both how many steps it takes until the last job has ended, and how many prefill passes.",
            "time = steps x time of a step + passes x time of a pass.",
            (
                f"Static batching makes one pass for every {c.slots} jobs; continuous batching makes one whenever jobs "
                "have ended and others wait."
            ),
        ),
        explained=lambda c: (
            Explained(
                "policy",
                f"List {name}, run both ways.",
                f"continuous batching {c.times(place)[0]:,} ms, static batching {c.times(place)[1]:,} ms: {right(c)}",
            ),
        ),
    )


def shortest(case: Server) -> int:
    """Return the milliseconds of continuous batching on the first list."""
    return case.times(0)[0]


def instead(slug: str, sentence: str, value: Callable[[Server], int]) -> CaseSlip[Server]:
    """Make a misconception about that time."""
    return told_apart(slug, sentence, value, shortest)


time: CaseAsk[Server] = CaseAsk(
    asks="makespan",
    question=lambda _: "How long, in ms, does continuous batching take until all jobs of list A have ended?",
    kind="quantity",
    unit="ms",
    tolerance=FINE,
    key=shortest,
    slips=(
        instead("static", "That is static batching.", lambda c: c.times(0)[1]),
        instead(
            "prefill-forgotten", "The prefill passes were left out; they stop all others.", lambda c: c.times(0, 0)[0]
        ),
        instead(
            "one-pass",
            "One prefill pass was counted; there is one whenever jobs are let in.",
            lambda c: c.times(0, 0)[0] + c.prefill,
        ),
        instead(
            "pass-for-each-job",
            "A pass was counted for each job; jobs that are let in together share one.",
            lambda c: c.times(0, 0)[0] + len(c.lists[0]) * c.prefill,
        ),
        instead(
            "shared-evenly",
            "The steps were shared out evenly; a job runs in one place.",
            lambda c: ceil(Fraction(sum(c.lists[0]), c.slots)) * c.step,
        ),
        instead(
            "one-by-one",
            "That is one job after another; they run side by side.",
            lambda c: sum(c.lists[0]) * c.step,
        ),
        instead("longest-alone", "That is the longest job alone.", lambda c: max(c.lists[0]) * c.step),
    ),
    hints=lambda c: (
        "Follow the places: whichever is free first takes the next job of the list, after a prefill pass.",
        "time = steps x time of a step + passes x time of a pass.",
        f"The first {min(c.slots, len(c.lists[0]))} jobs share a pass of {c.prefill} ms; then look who ends first.",
    ),
    explained=lambda c: (
        Explained(
            "steps",
            "The places are filled in the order of the list; without prefill that takes so long.",
            f"{c.times(0, 0)[0] // c.step:,} steps x {c.step} ms = {c.times(0, 0)[0]:,} ms",
        ),
        Explained(
            "passes",
            "Each time jobs are let in, a pass stops the others.",
            f"{c.times(0, 0)[0]:,} ms + {(shortest(c) - c.times(0, 0)[0]) // c.prefill} x {c.prefill} ms = "
            f"{shortest(c):,} ms",
        ),
    ),
)


def example(case: Server) -> tuple[str, ...]:
    """Return a list that loses: one short job whose place another takes, and a pass for it that stops the rest."""
    return tuple(map(str, (1, *[2] * (case.slots - 1), 1, 1)))


loses: CaseAsk[Server] = CaseAsk(
    asks="jobs",
    question=lambda c: (
        f"On which list of at most {c.most} jobs, of 1 to {c.longest} decode steps each, does it take longer until all "
        "jobs have ended with continuous batching than with static batching?"
    ),
    kind="counterexample",
    key=example,
    run=lambda c: Run("batching-makespans", c.setting),
    hints=lambda c: (
        "Continuous batching stops for a prefill pass whenever a job is let in, static batching once a batch.",
        "Write down the steps and passes of both for a list of a few more jobs than places, of one or two steps each.",
        f"With {c.slots} places: let the first job be short and its neighbours longer, and see what its end starts.",
    ),
    explained=lambda c: (
        Explained(
            "counterexample",
            "One list on which it is so, run both ways.",
            "{}: continuous batching {:,} ms, static batching {:,} ms".format(
                ", ".join(example(c)), *makespans([int(count) for count in example(c)], c.setting)
            ),
        ),
    ),
)
family: CaseFamily[Server] = CaseFamily(
    draw=draw,
    statement=statement,
    ways=((policy(0), policy(1), policy(2), time, loses),),
    keep=keep,
    convention="Answer with the decode steps of the jobs in the order of the list, with commas between in part e. Any "
    "list that does it is right in part e.",
    rubric=(
        "Did you say what static batching wastes on lengths far apart: padding, and places that stay empty?",
        "Did you say what continuous batching costs: prefill passes that stop those who decode?",
        "Did you name what it takes beside it: admission by tokens, and paged or reserved cache?",
        "Did you say for which lengths the choice hardly matters?",
    ),
    objective="serving-speed",
    section="batching",
)
