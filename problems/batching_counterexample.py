"""A list of jobs on which continuous batching takes longer than static batching, or that there is none."""

from dataclasses import dataclass

from grader.case import CaseAsk, CaseFamily, Explained, Run
from grader.executing.batching_makespans import makespans
from spec.stream import Stream

STEPS = (10, 12, 15, 16, 20, 24, 25, 30, 32, 40)  # ms
SORTED, SAME, PREFILL, PADDED, SHARES, FLAT = "sorted", "same-order", "prefill", "padded", "shares", "flat"
RULES = (SORTED, PREFILL, FLAT, SORTED, PREFILL, FLAT, SAME, PADDED, SHARES)
SPARE = 2  # jobs more than slots that it takes at least; tests go through all shorter lists


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Under which the two are compared. A step of B sequences takes max(least, base + each B) ms."""

    rule: str
    slots: int
    most: int
    longest: int
    least: int
    base: int
    each: int
    prefill: int

    @property
    def setting(self) -> dict[str, str]:
        """What the grader runs answers under."""
        numbers = {name: str(getattr(self, name)) for name in ("slots", "most", "longest", "least", "base", "each")}
        order = "longest-first" if self.rule == SORTED else "given"
        padded = "no" if self.rule in {SHARES, FLAT} else "yes"
        return numbers | {"prefill": str(self.prefill), "order": order, "padded": padded}


def _draw(stream: Stream) -> Circumstances:
    rule, slots = stream.choice(RULES), 2 + stream.below(5)
    most, longest = slots + 1 + stream.below(7), 2 + stream.below(10)
    least, base, each, prefill = 0, stream.choice(STEPS), 0, 0
    if rule == PREFILL:
        prefill = stream.choice((base // 2, base, 2 * base, 3 * base))
    elif rule in {PADDED, SHARES}:
        each = 1 + stream.below(5)
    elif rule == FLAT:
        base, each = 0, 2 + stream.below(9)
        least = each * (1 + stream.below(slots + 1))
    return Circumstances(rule, slots, most, longest, least, base, each, prefill)


def _step(case: Circumstances) -> str:
    if case.rule == FLAT:
        return f"A decode step takes {case.each} ms for each job in it, but never less than {case.least} ms."
    if case.each:
        return f"A decode step takes {case.base} ms and another {case.each} ms for each job in it."
    return f"A decode step takes {case.base} ms, however many jobs are in it."


def _statement(case: Circumstances) -> str:
    prefill = "Prefill takes no time."
    if case.prefill:
        prefill = (
            f"Whenever jobs are let in, a prefill pass over all of them together takes {case.prefill} ms, during which "
            "nothing is decoded."
        )
    first = "sorts the list, the longest job first, and then cuts it" if case.rule == SORTED else "cuts the list"
    left = {
        PADDED: " Until then a job that has ended counts in each step like the others: it is padded.",
        SHARES: " A job that has ended leaves its place empty, and the empty place no longer counts in a step.",
        FLAT: " A job that has ended leaves its place empty, and the empty place no longer counts in a step.",
    }.get(case.rule, " A job that has ended leaves its place empty until then.")
    return (
        f"A server decodes at most {case.slots} jobs at once. All jobs are there from the start, and each takes a "
        f"known number of decode steps. {_step(case)} {prefill} Continuous batching takes the jobs in the order of the "
        "list, and lets the next one in as soon as another has ended. "
        f"Static batching {first} into batches of {case.slots}, the last one perhaps smaller; a batch starts when "
        f"every job of the one before has ended.{left}"
    )


def _exists(case: Circumstances) -> bool:
    if case.most < case.slots + SPARE or case.rule in {SAME, PADDED, SHARES}:
        return False
    return case.rule != FLAT or case.each < case.least < case.each * case.slots


def _key(case: Circumstances) -> tuple[str, ...] | None:
    """The smallest: one short job whose place a short one takes, so that the last starts late."""
    if not _exists(case):
        return None
    last = 2 if case.rule == SORTED else 1
    return tuple(map(str, (1, *[2] * (case.slots - 1), 1, last)))


def _reason(case: Circumstances) -> str:
    if case.rule == SHARES:
        return (
            "What each job adds to the steps is the same in both, and continuous batching takes no more steps: "
            "a place is never filled later than the next batch would start."
        )
    if case.rule == PADDED:
        return "A padded batch pays for all its places until its longest job has ended, and nobody is served sooner."
    if case.rule == FLAT and case.least <= case.each:
        return "Every job pays for its own steps alone, so that both take the same time."
    if case.rule == SAME or (case.rule == FLAT and case.least >= case.each * case.slots):
        constant = f"With {case.slots} jobs or fewer a step always takes {case.least} ms. " if case.least else ""
        return (
            f"{constant}At a constant step no job ends later than in static batches of the same order: "
            "a place is never filled later than the next batch would start."
        )
    return f"With {case.slots} places it takes at least {case.slots + SPARE} jobs."


def _hints(case: Circumstances) -> tuple[str, ...]:
    what = {
        SORTED: "Continuous batching does not know which jobs are long; sorting puts long ones side by side.",
        PREFILL: "Continuous batching stops for a prefill pass whenever a job is let in, static batching once a batch.",
        FLAT: "A step with few jobs costs as much as one with more; look at how full the last steps are.",
    }.get(case.rule, "Compare when a place is filled again under the one and the other.")
    return (
        what,
        (
            "The time of each is the sum over its steps and prefill passes; write both down step by step, for lists "
            f"of a few more jobs than {case.slots}, of one or two steps each."
        ),
        (
            f"With {case.slots} places: let the first of the list be short and its neighbours longer, and see who "
            "starts when. If both come out equal whatever you do, ask why."
        ),
    )


def _explained(case: Circumstances) -> tuple[Explained, ...]:
    found = _key(case)
    if found is None:
        return (Explained("counterexample", "No list does it.", _reason(case)),)
    ours, theirs = makespans([int(count) for count in found], case.setting)
    return (
        Explained(
            "counterexample",
            "One list on which it is so, run both ways.",
            f"{', '.join(found)}: continuous batching {ours} ms, static batching {theirs} ms",
        ),
    )


def _question(case: Circumstances) -> str:
    return (
        f"On which list of at most {case.most} jobs, of 1 to {case.longest} decode steps each, does it take longer "
        "until all jobs have ended with continuous batching than with static batching?"
    )


family = CaseFamily(
    draw=_draw,
    statement=_statement,
    ways=(
        (
            CaseAsk(
                asks="jobs",
                question=_question,
                kind="counterexample",
                key=_key,
                hints=_hints,
                explained=_explained,
                reason=_reason,
                run=lambda case: Run("batching-makespans", case.setting),
            ),
        ),
    ),
    convention="Answer with the decode steps of the jobs in the order of the list, with commas between. Any list that "
    "does it is right.",
    objective="batching",
    section="batching",
    infeasible=True,
)
