"""Static against continuous batching of jobs that are all there from the start (F26)."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil

from grader.amounts import digits, rounded
from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, told_apart
from spec.serving.batching import Continuous, Static
from spec.serving.makespan import makespan, served
from spec.solving import whole
from spec.stream import Stream

AS_LISTED, LONGEST_FIRST, SHORTEST_FIRST = "as listed", "longest first", "shortest first"
ORDERS = (AS_LISTED, LONGEST_FIRST, SHORTEST_FIRST)
FEWEST = 4  # jobs


@dataclass(frozen=True, slots=True)
class Queue:
    """Jobs by their decode steps, the places of the server, whether static batches are sorted, and a limit in steps."""

    jobs: tuple[int, ...]
    slots: int
    batched: str
    limit: int

    @property
    def batch_order(self) -> tuple[int, ...]:
        """The order in which static batches are cut."""
        return _ordered(self.jobs, self.batched)


def _ordered(jobs: tuple[int, ...], order: str) -> tuple[int, ...]:
    return jobs if order == AS_LISTED else tuple(sorted(jobs, reverse=order == LONGEST_FIRST))


def _draw(stream: Stream) -> Queue:
    slots = 2 + stream.below(5)
    count = FEWEST + slots - 2 + stream.below(10)
    scale = stream.choice((1, 1, 1, 5, 10))
    jobs = tuple(scale * (1 + stream.below(stream.choice((4, 8, 12)))) for _ in range(count))
    least, most = max(jobs), max(max(jobs) + 1, makespan(jobs, Continuous(2)))
    limit = least + stream.below(most - least) if stream.below(4) else least - 1 - stream.below(max(1, least // 3))
    return Queue(jobs, slots, stream.choice((AS_LISTED, AS_LISTED, LONGEST_FIRST)), limit)


def _keep(case: Queue) -> bool:
    return len(set(case.jobs)) > 2 and case.limit > 0 and case.slots < len(case.jobs)  # noqa: PLR2004


@lru_cache(maxsize=4096)
def _takes(jobs: tuple[int, ...], batching: Continuous | Static) -> int:
    return makespan(jobs, batching)


def _listed(jobs: tuple[int, ...]) -> str:
    return ", ".join(map(str, jobs))


def _statement(case: Queue) -> str:
    cut = "the list" if case.batched == AS_LISTED else "the list, once it is sorted with the longest job first,"
    return (
        f"{len(case.jobs)} jobs wait when a server starts. In the order in which they came, they take "
        f"{_listed(case.jobs)} decode steps. A step takes equally long however many jobs are in it, and prefill takes "
        "no time. Continuous batching lets the jobs in by that order, and the next one as soon as another has ended. "
        f"Static batching cuts {cut} into batches, the last one perhaps smaller, and starts a batch when the "
        "one before has ended altogether."
    )


def _static(case: Queue) -> int:
    return _takes(case.batch_order, Static(case.slots, 0))


def _continuous(case: Queue) -> int:
    return _takes(case.jobs, Continuous(case.slots))


def _ratio(case: Queue) -> int | Fraction:
    return whole(Fraction(_static(case), _continuous(case)))


def _even(case: Queue) -> int:
    return ceil(Fraction(sum(case.jobs), case.slots))


def _batches(case: Queue) -> list[tuple[int, ...]]:
    order = case.batch_order
    return [order[start : start + case.slots] for start in range(0, len(order), case.slots)]


def _static_otherwise(case: Queue) -> int:
    other = AS_LISTED if case.batched == LONGEST_FIRST else LONGEST_FIRST
    return _takes(_ordered(case.jobs, other), Static(case.slots, 0))


def _runs(case: Queue) -> list[str]:
    """Tell when each job runs under continuous batching."""
    jobs = served(case.jobs, Continuous(case.slots)).jobs
    return [f"{job.request.output - 1} from {job.admitted} to {job.finish}" for job in jobs]


def _static_explained(case: Queue) -> tuple[Explained, ...]:
    longest = [max(batch) for batch in _batches(case)]
    cut = "; ".join(_listed(batch) for batch in _batches(case))
    return (
        Explained("static batches", f"Cut into batches of {case.slots}.", cut),
        Explained(
            "makespan of static batches",
            "Each batch lasts as long as its longest job.",
            f"{' + '.join(map(str, longest))} = {_static(case)}",
        ),
    )


def _continuous_explained(case: Queue) -> tuple[Explained, ...]:
    return (
        Explained(
            "continuous batching",
            "Each job starts when a place is free, in the order of the list.",
            f"{'; '.join(_runs(case))}; the last one ends at step = {_continuous(case)}",
        ),
    )


STATIC: CaseAsk[Queue] = CaseAsk(
    asks="static_makespan",
    question=lambda c: f"How many steps does static batching take in batches of {c.slots} until all jobs have ended?",
    kind="count",
    key=_static,
    slips=(
        told_apart(
            "shared-evenly",
            "The steps were shared out evenly; a batch lasts as long as its longest job.",
            _even,
            _static,
        ),
        told_apart(
            "other-order",
            "The batches were cut in another order than the one that is said.",
            _static_otherwise,
            _static,
        ),
        told_apart(
            "longest-each-time",
            "Every batch was given the longest of all jobs; each lasts as long as its own longest.",
            lambda c: max(c.jobs) * len(_batches(c)),
            _static,
        ),
        told_apart("longest-alone", "That is the longest job alone.", lambda c: max(c.jobs), _static),
        told_apart(
            "one-by-one", "That is one job after another; a batch runs side by side.", lambda c: sum(c.jobs), _static
        ),
        told_apart("continuous", "That is continuous batching.", _continuous, _static),
    ),
    hints=lambda c: (
        "A static batch lasts as long as its longest job, and the next one waits for that.",
        "makespan = sum over the batches of the longest job of each.",
        f"There are {len(_batches(c))} batches; the first is {_listed(_batches(c)[0])}.",
    ),
    explained=_static_explained,
    least=4,
)

CONTINUOUS: CaseAsk[Queue] = CaseAsk(
    asks="continuous_makespan",
    question=lambda c: (
        f"How many steps does continuous batching take with {c.slots} jobs at once until all jobs have ended?"
    ),
    kind="count",
    key=_continuous,
    slips=(
        told_apart(
            "shared-evenly",
            "The steps were shared out evenly; a job runs in one place, and the last ones leave places empty.",
            _even,
            _continuous,
        ),
        told_apart("static", "That is static batching.", _static, _continuous),
        told_apart(
            "static-other-order",
            "That is static batching, cut in another order.",
            _static_otherwise,
            _continuous,
        ),
        told_apart(
            "static-shortest-first",
            "That is static batching with the shortest job first.",
            lambda c: _takes(_ordered(c.jobs, SHORTEST_FIRST), Static(c.slots, 0)),
            _continuous,
        ),
        told_apart("longest-alone", "That is the longest job alone.", lambda c: max(c.jobs), _continuous),
        told_apart(
            "longest-first",
            "The longest jobs were let in first; they come in the order of the list.",
            lambda c: _takes(_ordered(c.jobs, LONGEST_FIRST), Continuous(c.slots)),
            _continuous,
        ),
        told_apart(
            "one-place-less",
            "One place fewer was filled than there are.",
            lambda c: _takes(c.jobs, Continuous(c.slots - 1)),
            _continuous,
        ),
    ),
    hints=lambda c: (
        "Follow the places: whichever is free first takes the next job of the list.",
        "Write down for each job when it starts, which is when the first place is free, and when it ends.",
        f"At step 0 start {_listed(c.jobs[: c.slots])}; the next job starts after {min(c.jobs[: c.slots])} steps.",
    ),
    explained=_continuous_explained,
    least=4,
)

RATIO: CaseAsk[Queue] = CaseAsk(
    asks="makespan_ratio",
    question=lambda _: "How many times as long does static batching take as continuous batching?",
    kind="number",
    key=_ratio,
    slips=(
        CaseSlip("inverted", "The ratio is upside down.", lambda c: 1 / Fraction(_ratio(c))),
        CaseSlip("share-saved", "That is the share of the time that is saved.", lambda c: 1 - 1 / Fraction(_ratio(c))),
        CaseSlip("excess", "That is how much more it is; how many times as long is one more.", lambda c: _ratio(c) - 1),
        CaseSlip(
            "shared-evenly",
            "For continuous batching the steps were shared out evenly.",
            lambda c: Fraction(_static(c), _even(c)),
            lambda c: _even(c) != _continuous(c),
        ),
        CaseSlip("difference", "That is the difference in steps.", lambda c: _static(c) - _continuous(c)),
        CaseSlip(
            "other-order",
            "The static batches were cut in another order than the one that is said.",
            lambda c: Fraction(_static_otherwise(c), _continuous(c)),
            lambda c: _static_otherwise(c) != _static(c),
        ),
    ),
    hints=lambda c: (
        "Both makespans are needed.",
        "ratio = static makespan / continuous makespan.",
        f"The batches and the places both hold {c.slots} jobs.",
    ),
    explained=lambda c: (
        *_static_explained(c),
        *_continuous_explained(c),
        Explained(
            "ratio",
            "Static over continuous.",
            f"ratio = {_static(c)}/{_continuous(c)} = {digits(_ratio(c))}"
            + f" = {rounded(_ratio(c))}" * ("/" in digits(_ratio(c))),
            rf"\frac{{{_static(c)}}}{{{_continuous(c)}}}",
        ),
    ),
)


def _fewest(case: Queue) -> int | None:
    """With a constant step no job ends later for one place more, so that the first number that does is the least."""
    meets = (n for n in range(1, len(case.jobs) + 1) if _takes(case.jobs, Continuous(n)) <= case.limit)
    return next(meets, None)


def _fewest_static(case: Queue) -> int | None:
    return next((n for n in range(1, len(case.jobs) + 1) if _takes(case.batch_order, Static(n, 0)) <= case.limit), None)


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
        f"{c.limit} steps until all have ended?"
    ),
    kind="count",
    key=_fewest,
    reason=lambda c: f"The longest job takes {max(c.jobs)} steps alone, and a job is not split.",
    slips=(
        told_apart(
            "shared-evenly",
            "The steps were shared out evenly; check whether the last jobs end in time.",
            lambda c: ceil(Fraction(sum(c.jobs), c.limit)),
            _fewest,
        ),
        told_apart("static", "That is what static batching takes.", _fewest_static, _fewest),
        told_apart(
            "longest-first",
            "The longest jobs were let in first; they come in the order of the list.",
            lambda c: next(
                (
                    n
                    for n in range(1, len(c.jobs) + 1)
                    if _takes(_ordered(c.jobs, LONGEST_FIRST), Continuous(n)) <= c.limit
                ),
                None,
            ),
            _fewest,
        ),
        told_apart("all-at-once", "That is all jobs at once; fewer do.", lambda c: len(c.jobs), _fewest),
        told_apart(
            "steps-by-the-longest",
            "The number of jobs was taken by how many of the longest fit one after another.",
            lambda c: ceil(Fraction(len(c.jobs), max(1, c.limit // max(c.jobs)))),
            _fewest,
        ),
        told_apart(
            "strictly-less",
            "The limit itself is still kept.",
            lambda c: next((n for n in range(1, len(c.jobs) + 1) if _takes(c.jobs, Continuous(n)) < c.limit), None),
            _fewest,
        ),
        told_apart("one-too-few", "With that many it still takes too long.", lambda c: (_fewest(c) or 1) - 1, _fewest),
    ),
    hints=lambda c: (
        "One place more delays no job here, so go up until the limit is kept. No job is split.",
        "(sum of the steps) / limit says where to begin; then follow the places for each number.",
        f"Together the jobs take {sum(c.jobs)} steps, the longest takes {max(c.jobs)}, and the limit is {c.limit}.",
    ),
    explained=_fewest_explained,
)


family = CaseFamily(
    draw=_draw,
    statement=_statement,
    ways=((STATIC, CONTINUOUS, RATIO), (FEWEST_SLOTS,)),
    keep=_keep,
    objective="batching",
    section="batching",
    infeasible=True,
)
