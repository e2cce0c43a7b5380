"""Static against continuous batching of jobs that are all there from the start, and the order of the jobs (F26)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil

from grader.amounts import digits, rounded
from grader.case import Answer, CaseAsk, CaseFamily, CaseSlip, Explained, told_apart
from spec.serving.batching import Continuous, Static
from spec.serving.makespan import makespan, served
from spec.solving import whole
from spec.stream import Stream

AS_LISTED, LONGEST_FIRST, SHORTEST_FIRST = "as-listed", "longest-first", "shortest-first"
ORDERS = (AS_LISTED, LONGEST_FIRST, SHORTEST_FIRST)
LEAST, MOST = "fewest", "most"  # steps, of one order among the others
USUAL = {  # which order it mostly is, under static batching or not
    (False, LEAST): LONGEST_FIRST,
    (False, MOST): SHORTEST_FIRST,
    (True, LEAST): LONGEST_FIRST,
    (True, MOST): AS_LISTED,
}
JOBS, SLOTS = (4, 32), (2, 8)  # from, to


@dataclass(frozen=True, slots=True)
class Queue:
    """Jobs by their decode steps, the places of the server, whether static batches are sorted, and a limit in steps.

    Where orders are compared, it is under one policy, static or not, and the order that takes the `sought` number of
    steps is asked for.
    """

    jobs: tuple[int, ...]
    slots: int
    batched: str
    limit: int
    static: bool = False
    sought: str = LEAST

    def ends(self, *, static: bool) -> dict[str, int]:
        """Return the makespan of a policy in each order."""
        policy = Static(self.slots, 0) if static else Continuous(self.slots)
        return {order: _takes(_ordered(self.jobs, order), policy) for order in ORDERS}

    def order(self, *, static: bool, sought: str) -> str:
        """Name the order that takes fewer steps than every other one, or more; nothing if there is no such order."""
        ends = self.ends(static=static)
        end = (min if sought == LEAST else max)(ends.values())
        found = [order for order in ORDERS if ends[order] == end]
        return found[0] if len(found) == 1 else ""


@lru_cache(maxsize=4096)
def _takes(jobs: tuple[int, ...], batching: Continuous | Static) -> int:
    return makespan(jobs, batching)


def _ordered(jobs: tuple[int, ...], order: str) -> tuple[int, ...]:
    return jobs if order == AS_LISTED else tuple(sorted(jobs, reverse=order == LONGEST_FIRST))


def _lengths(stream: Stream, slots: int) -> tuple[int, ...]:
    """Draw lengths in any order."""
    least = max(JOBS[0], slots + 1)
    count = least + stream.below(min(stream.choice((6, 12, 29)), JOBS[1] - least + 1))
    scale = stream.choice((1, 1, 1, 5, 10))
    return tuple(scale * (1 + stream.below(stream.choice((4, 8, 12)))) for _ in range(count))


def _filled(stream: Stream, slots: int) -> tuple[int, ...]:
    """Fill all places equally long, and list the jobs as they start: longest first then often takes longer."""
    total, jobs = 12 + stream.below(14), []
    for _ in range(slots):
        starts = sorted({0, *(1 + stream.below(total - 1) for _ in range(1 + stream.below(3)))})
        jobs += [(start, end - start) for start, end in pairwise((*starts, total))]
    return tuple(length for _, length in sorted(jobs))


def _draw(stream: Stream) -> Queue:
    slots = SLOTS[0] + stream.below(SLOTS[1] - SLOTS[0] + 1)
    jobs = stream.choice((_lengths, _lengths, _lengths, _filled))(stream, slots)
    meets, fails = (_takes(jobs, Continuous(places)) for places in (slots, slots - 1))
    limit = meets + stream.choice((0, stream.below(max(1, fails - meets))))
    if not stream.below(4):
        limit = max(jobs) - 1 - stream.below(max(1, max(jobs) // 3))
    case = Queue(jobs, slots, stream.choice((AS_LISTED, LONGEST_FIRST)), limit)
    found = {kind: case.order(static=kind[0], sought=kind[1]) for kind in USUAL}
    one = [kind for kind in USUAL if found[kind]]
    unusual = [kind for kind in one if found[kind] != USUAL[kind]]  # rare, so all of them are asked for
    static, sought = stream.choice(unusual or one or [*USUAL])
    return replace(case, static=static, sought=sought)


def _keep(case: Queue) -> bool:
    return min(case.jobs) < max(case.jobs) and case.limit > 0 and _order(case) != ""


def _listed(jobs: tuple[int, ...]) -> str:
    return ", ".join(map(str, jobs))


def _first(case: Queue, order: str) -> str:
    return _listed(_ordered(case.jobs, order)[: case.slots])


def _statement(case: Queue) -> str:
    return (
        f"{len(case.jobs)} jobs wait when a server starts. In the order in which they came, they take "
        f"{_listed(case.jobs)} decode steps. A step takes equally long however many jobs are in it, and prefill takes "
        "no time. Continuous batching lets the jobs in by their order, and the next one as soon as another has ended. "
        "Static batching cuts them into batches by their order, the last one perhaps smaller, and starts a batch when "
        "the one before has ended altogether."
    )


def _slips(
    key: Callable[[Queue], Answer], *named: tuple[str, str, Callable[[Queue], Answer]]
) -> tuple[CaseSlip[Queue], ...]:
    """Make misconceptions of their names, sentences and values, for the cases in which they miss the key."""
    return tuple(told_apart(slug, sentence, value, key) for slug, sentence, value in named)


def _unfollowed(key: Callable[[Queue], int]) -> tuple[CaseSlip[Queue], ...]:
    """Make the slips of those who do not follow the jobs."""
    evenly = "The steps were shared out evenly; a job runs in one place, and some places stay empty near the end."
    return _slips(
        key,
        ("shared-evenly", evenly, _even),
        ("longest-alone", "That is the longest job alone.", lambda c: max(c.jobs)),
        ("one-by-one", "That is one job after another; they run side by side.", lambda c: sum(c.jobs)),
    )


def _static(case: Queue) -> int:
    return case.ends(static=True)[case.batched]


def _static_otherwise(case: Queue) -> int:
    return case.ends(static=True)[AS_LISTED if case.batched == LONGEST_FIRST else LONGEST_FIRST]


def _continuous(case: Queue) -> int:
    return case.ends(static=False)[AS_LISTED]


def _ratio(case: Queue) -> Fraction:
    return Fraction(_static(case), _continuous(case))


def _slower(case: Queue) -> Fraction:
    return max(_ratio(case), 1 / _ratio(case))


def _even(case: Queue) -> int:
    return ceil(Fraction(sum(case.jobs), case.slots))


def _batches(order: tuple[int, ...], slots: int) -> list[tuple[int, ...]]:
    return [order[start : start + slots] for start in range(0, len(order), slots)]


def _longest_each_time(case: Queue) -> int:
    return max(case.jobs) * len(_batches(case.jobs, case.slots))


def _in_batches(case: Queue, order: str) -> tuple[Explained, ...]:
    cut = _batches(_ordered(case.jobs, order), case.slots)
    longest = " + ".join(str(max(batch)) for batch in cut)
    return (
        Explained("static batches", f"Cut into batches of {case.slots}.", "; ".join(map(_listed, cut))),
        Explained(
            "makespan of static batches",
            "Each batch lasts as long as its longest job.",
            f"{longest} = {case.ends(static=True)[order]}",
        ),
    )


def _in_places(case: Queue, order: str) -> tuple[Explained, ...]:
    """Tell when each job runs under continuous batching."""
    run = served(_ordered(case.jobs, order), Continuous(case.slots))
    runs = [f"{job.request.output - 1} from {job.admitted} to {job.finish}" for job in run.jobs]
    return (
        Explained(
            "continuous batching",
            "Each job starts when a place is free, in order.",
            f"{'; '.join(runs)}; the last one ends at step = {run.end}",
        ),
    )


STATIC: CaseAsk[Queue] = CaseAsk(
    asks="static_makespan",
    question=lambda c: (
        f"How many steps does static batching take in batches of {c.slots} until all jobs have ended, if it "
        + ("cuts the list as it is?" if c.batched == AS_LISTED else "first sorts the list, the longest job first?")
    ),
    kind="count",
    key=_static,
    slips=(
        *_unfollowed(_static),
        *_slips(
            _static,
            ("other-order", "The batches were cut in another order than the one that is said.", _static_otherwise),
            ("longest-each-time", "The longest of all jobs was counted for every batch.", _longest_each_time),
            ("continuous", "That is continuous batching.", _continuous),
        ),
    ),
    hints=lambda c: (
        "A static batch lasts as long as its longest job, and the next one waits for that.",
        "makespan = sum over the batches of the longest job of each.",
        f"Of {len(_batches(c.jobs, c.slots))} batches the first is {_first(c, c.batched)}.",
    ),
    explained=lambda c: _in_batches(c, c.batched),
)

CONTINUOUS: CaseAsk[Queue] = CaseAsk(
    asks="continuous_makespan",
    question=lambda c: (
        f"How many steps does continuous batching take with {c.slots} jobs at once until all jobs have ended, in the "
        "order in which they came?"
    ),
    kind="count",
    key=_continuous,
    slips=(
        *_unfollowed(_continuous),
        *_slips(
            _continuous,
            ("static", "That is static batching.", _static),
            ("static-other-order", "That is static batching, cut in another order.", _static_otherwise),
            ("static-shortest-first", "That is static, shortest first.", lambda c: c.ends(static=True)[SHORTEST_FIRST]),
            ("longest-first", "The longest jobs were let in first.", lambda c: c.ends(static=False)[LONGEST_FIRST]),
            ("one-place-less", "One place fewer was filled.", lambda c: _takes(c.jobs, Continuous(c.slots - 1))),
        ),
    ),
    hints=lambda c: (
        "Follow the places: whichever is free first takes the next job of the list.",
        "Write down for each job when it starts, which is when the first place is free, and when it ends.",
        f"At step 0 start {_listed(c.jobs[: c.slots])}; the next job starts at step {min(c.jobs[: c.slots])}.",
    ),
    explained=lambda c: _in_places(c, AS_LISTED),
)

RATIO: CaseAsk[Queue] = CaseAsk(
    asks="makespan_ratio",
    question=lambda _: "How many times as long does this static batching take as this continuous batching?",
    kind="number",
    key=lambda c: whole(_ratio(c)),
    slips=_slips(
        _ratio,
        ("inverted", "The ratio is upside down.", lambda c: 1 / _ratio(c)),
        ("share-saved", "That is the share of the time that the faster one saves.", lambda c: 1 - 1 / _slower(c)),
        ("excess", "That is how much longer the slower one takes.", lambda c: _slower(c) - 1),
        ("difference", "That is the difference in steps.", lambda c: abs(_static(c) - _continuous(c))),
        (
            "shared-evenly",
            "For continuous batching the steps were shared out evenly.",
            lambda c: Fraction(_static(c), _even(c)),
        ),
        (
            "other-order",
            "The static batches were cut in another order than the one that is said.",
            lambda c: Fraction(_static_otherwise(c), _continuous(c)),
        ),
    ),
    hints=lambda c: (
        "Both makespans are needed; either of them may be the longer one if the batches are sorted.",
        "ratio = static makespan / continuous makespan.",
        f"The batches and the places both hold {c.slots} jobs.",
    ),
    explained=lambda c: (
        *_in_batches(c, c.batched),
        *_in_places(c, AS_LISTED),
        Explained(
            "ratio",
            "Static over continuous."
            + " Sorted batches waste less here than continuous batching in the order of the list." * (_ratio(c) < 1),
            " = ".join(dict.fromkeys(("ratio", f"{_static(c)}/{_continuous(c)}", digits(_ratio(c)))))
            + f" = {rounded(_ratio(c))}" * ("/" in digits(_ratio(c))),
            rf"\frac{{{_static(c)}}}{{{_continuous(c)}}}",
        ),
    ),
)


def _smallest(case: Queue, policy: Callable[[int], Continuous | Static], order: str = AS_LISTED) -> int | None:
    jobs = _ordered(case.jobs, order)
    return next((n for n in range(1, len(jobs) + 1) if _takes(jobs, policy(n)) <= case.limit), None)


def _fewest(case: Queue) -> int | None:
    """With a constant step no job ends later for one place more, so that the first number that does is the least."""
    return _smallest(case, Continuous)


def _fewest_explained(case: Queue) -> tuple[Explained, ...]:
    found = _fewest(case)
    if found is None:
        return (Explained("longest job", "No job is split.", f"longest job = {max(case.jobs)} steps > {case.limit}"),)
    tried = [f"{n} at once: {_takes(case.jobs, Continuous(n))} steps" for n in range(max(1, found - 1), found + 1)]
    return (
        Explained(
            "lower bound",
            "The steps together do not fit into fewer places.",
            f"{sum(case.jobs)}/{case.limit} <= places, so at least {ceil(Fraction(sum(case.jobs), case.limit))}",
        ),
        Explained("continuous batching", "One place more delays nobody.", f"{'; '.join(tried)}; fewest = {found}"),
    )


FEWEST_SLOTS: CaseAsk[Queue] = CaseAsk(
    asks="slots",
    question=lambda c: (
        "What is the smallest number of jobs decoded at once with which continuous batching needs no more than "
        f"{c.limit} step{'s' * (c.limit > 1)} until all have ended?"
    ),
    kind="count",
    key=_fewest,
    reason=lambda c: f"The longest job takes {max(c.jobs)} steps alone, and a job is not split.",
    slips=_slips(
        _fewest,
        (
            "shared-evenly",
            "The steps were shared out evenly; check whether the last jobs end in time.",
            lambda c: ceil(Fraction(sum(c.jobs), c.limit)),
        ),
        ("static", "That is what static batching takes.", lambda c: _smallest(c, lambda n: Static(n, 0))),
        (
            "longest-first",
            "The longest jobs were let in first; they come in the order of the list.",
            lambda c: _smallest(c, Continuous, LONGEST_FIRST),
        ),
        ("all-at-once", "All jobs were let in at once, whatever the limit.", lambda c: len(c.jobs)),
        (
            "steps-by-the-longest",
            "The number of jobs was taken by how many of the longest fit one after another.",
            lambda c: ceil(Fraction(len(c.jobs), max(1, c.limit // max(c.jobs)))),
        ),
        ("strictly-less", "The limit itself is still kept.", lambda c: _fewest(replace(c, limit=c.limit - 1))),
        ("one-too-few", "With that many it still takes too long.", lambda c: (_fewest(c) or 1) - 1),
        ("one-too-many", "One place fewer still keeps the limit.", lambda c: _fewest(c) and 1 + (_fewest(c) or 0)),
    ),
    hints=lambda c: (
        "One place more delays no job here, so go up until the limit is kept. No job is split.",
        "(sum of the steps) / limit says where to begin; then follow the places for each number.",
        f"Together the jobs take {sum(c.jobs)} steps, the longest takes {max(c.jobs)}, and the limit is {c.limit}.",
    ),
    explained=_fewest_explained,
)


def _order(case: Queue) -> str:
    return case.order(static=case.static, sought=case.sought)


def _in_order(case: Queue) -> int:
    return case.ends(static=case.static)[_order(case)]


ORDER: CaseAsk[Queue] = CaseAsk(
    asks="order",
    question=lambda c: (
        "The jobs can be put in another order before the server starts. In which order does "
        + (f"static batching in batches of {c.slots}" if c.static else f"continuous batching of {c.slots} jobs at once")
        + f" take the {c.sought} steps until all jobs have ended: {AS_LISTED}, {LONGEST_FIRST} or {SHORTEST_FIRST}?"
    ),
    kind="choice",
    options=lambda _: ORDERS,
    key=_order,
    slips=_slips(
        _order,
        (
            "turned-round",
            "In that order it takes the fewest steps where the most are asked for, or the other way round.",
            lambda c: c.order(static=c.static, sought=LEAST if c.sought == MOST else MOST) or _order(c),
        ),
        (
            "other-policy",
            "That is so under the other policy.",
            lambda c: c.order(static=not c.static, sought=c.sought) or _order(c),
        ),
        (
            "rule-of-thumb",
            "That is so for many lists, but not for this one.",
            lambda c: USUAL[c.static, c.sought],
        ),
        (
            "mean-wait",
            "Shortest first is best for the mean wait, but the longest jobs then start last.",
            lambda c: SHORTEST_FIRST if c.sought == LEAST else _order(c),
        ),
    ),
    hints=lambda c: (
        "Find for each order when the last job ends; how long the jobs wait on average does not count.",
        "A batch lasts as long as its longest job." if c.static else "The place that is free first takes the next job.",
        f"Longest first the list begins {_first(c, LONGEST_FIRST)}; shortest first, {_first(c, SHORTEST_FIRST)}.",
    ),
    explained=lambda c: (
        Explained(
            "orders",
            "Each is followed as in part b. "
            + ("No order" if c.static else "Shortest first never, but another order sometimes")
            + " takes fewer steps than longest first.",
            ", ".join(f"{order} {end}" for order, end in c.ends(static=c.static).items())
            + f"; the {c.sought} steps: {_order(c)}",
        ),
    ),
)

ORDERED: CaseAsk[Queue] = CaseAsk(
    asks="makespan",
    question=lambda _: "How many steps does this batching take in that order?",
    kind="count",
    key=_in_order,
    slips=(
        *_unfollowed(_in_order),
        *_slips(
            _in_order,
            ("as-listed", "That is the makespan as listed.", lambda c: c.ends(static=c.static)[AS_LISTED]),
            ("longest-first", "That is longest first.", lambda c: c.ends(static=c.static)[LONGEST_FIRST]),
            ("shortest-first", "That is shortest first.", lambda c: c.ends(static=c.static)[SHORTEST_FIRST]),
            ("other-policy", "That is the other policy.", lambda c: c.ends(static=not c.static)[_order(c)]),
            ("longest-each-time", "The longest of all jobs was counted for every batch.", _longest_each_time),
        ),
    ),
    hints=lambda c: (
        "Follow the jobs in the order of part a.",
        "A batch lasts as long as its longest job." if c.static else "The place that is free first takes the next job.",
        f"Together the jobs take {sum(c.jobs)} steps: at least an even share is needed, and at least {max(c.jobs)}.",
    ),
    explained=lambda c: (_in_batches if c.static else _in_places)(c, _order(c)),
)


family = CaseFamily(
    draw=_draw,
    statement=_statement,
    # Slots twice: only they can have no answer, and most of them shall have one.
    ways=((STATIC, CONTINUOUS, RATIO), (FEWEST_SLOTS,), (FEWEST_SLOTS,), (ORDER, ORDERED)),
    keep=_keep,
    objective="batching",
    section="batching",
    infeasible=True,
    revision=2,
)
