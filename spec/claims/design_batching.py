"""Statements of the design section on static and continuous batching."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from spec.claims import Claim, Outcome
from spec.claims.settings import GB, MS, Serving, kv_budget, percent, text, yes

SECTION = "batching"
StepTime = Callable[[int], Any]
LAB_LENGTHS = [128, 256, 512, 1024, 384, 768, 640, 384]
LAB_SLOTS, LAB_SEED = 8, 42


def static_ends(lengths: Sequence[int], slots: int, step: StepTime, *, padded: bool = True) -> list[Any]:
    """Say when each job ends if batches of `slots` jobs, all there at the start, run one after the other.

    A job of a padded batch ends with its batch; otherwise with its own last token, and the batch shrinks.
    """
    ends: list[Any] = []
    clock: Any = 0
    for start in range(0, len(lengths), slots):
        batch = lengths[start : start + slots]
        finished = []
        for n in range(1, max(batch) + 1):
            clock += step(len(batch) if padded else sum(length >= n for length in batch))
            finished.append(clock)
        ends += [clock if padded else finished[length - 1] for length in batch]
    return ends


def continuous_ends(
    impl: Any, lengths: Sequence[int], slots: int, step: StepTime, taken: list[tuple[int, int]] | None = None
) -> list[Any]:
    """Say when each job ends if a waiting job joins at every step at which the batch has room.

    `taken` collects the jobs running and the jobs waiting at every step.
    """
    waiting = list(range(len(lengths)))
    left = dict(enumerate(lengths))
    running: list[int] = []
    ends: dict[int, Any] = {}
    clock: Any = 0
    while waiting or running:
        while waiting and (not running or impl.within_slots(batch=len(running) + 1, slots=slots)):
            running.append(waiting.pop(0))
        if taken is not None:
            taken.append((len(running), len(waiting)))
        clock += step(len(running))
        for job in running:
            left[job] -= 1
        ends |= {job: clock for job in running if not left[job]}
        running = [job for job in running if left[job]]
    return [ends[job] for job in range(len(lengths))]


def lab_lengths() -> list[int]:
    """The 64 outputs of the lab's batching steps, shuffled as it shuffles them."""
    jobs = LAB_LENGTHS * LAB_SLOTS
    random.Random(LAB_SEED).shuffle(jobs)  # noqa: S311  an order, not a secret
    return jobs


def _one(batch: int) -> int:
    return 1 if batch else 0


def mean(values: Sequence[Any]) -> Fraction:
    """Return the exact mean."""
    return Fraction(sum(values)) / len(values)


def _padded_total(impl: Any, lengths: Sequence[int]) -> Any:
    return impl.cached_tokens(concurrency=len(lengths), context=max(lengths))


def _static(impl: Any) -> Outcome:
    ends = static_ends(LAB_LENGTHS, LAB_SLOTS, _one)
    total, own = _padded_total(impl, LAB_LENGTHS), sum(LAB_LENGTHS)
    return Outcome(
        ends == [max(LAB_LENGTHS)] * len(LAB_LENGTHS) and total == len(LAB_LENGTHS) * max(LAB_LENGTHS),
        f"outputs of {min(LAB_LENGTHS)}-{text(max(LAB_LENGTHS))} all end at step {text(ends[0])}, as {text(total)} "
        f"padded tokens for {text(own)} of their own",
    )


def _predictable(impl: Any) -> Outcome:
    serving, budget = Serving(impl), kv_budget(impl)
    most = serving.concurrency(budget, 8192)
    return Outcome(
        serving.fits(budget, 16, 8192),
        f"16 x 8,192 = {text(_padded_total(impl, [8192] * 16))} tokens of {text(serving.token_capacity(budget))}; "
        f"up to {most} sequences the longest case fits",
        most >= 1 and serving.fits(budget, most, 8192),
    )


def _padding(impl: Any) -> Outcome:
    lengths = list(range(100, 4001, 390))
    waste = 1 - Fraction(sum(lengths), _padded_total(impl, lengths))
    lab = 1 - Fraction(sum(LAB_LENGTHS), _padded_total(impl, LAB_LENGTHS))
    ends, own = static_ends(lengths, len(lengths), _one), continuous_ends(impl, lengths, len(lengths), _one)
    return Outcome(
        waste > 0 and lab > 0 and ends[0] > own[0],
        f"padding is {percent(waste)} of {len(lengths)} outputs even over 100-4,000 and {percent(lab)} of the lab's; "
        f"the 100-token one waits until step {text(ends[0])}",
    )


def _refilled(impl: Any) -> Outcome:
    cases, full = 0, True
    for slots in (2, 3):
        for lengths in product((1, 2, 3), repeat=4):
            taken: list[tuple[int, int]] = []
            continuous_ends(impl, lengths, slots, _one, taken)
            cases += 1
            full &= all(running == slots for running, waiting in taken if waiting)
    taken = []
    continuous_ends(impl, lab_lengths(), LAB_SLOTS, _one, taken)
    queued = sum(waiting > 0 for _, waiting in taken)
    filled = sum(running == LAB_SLOTS for running, _ in taken)
    return Outcome(
        full and filled >= queued,
        f"every slot is taken while anyone waits in {cases} cases of 4 jobs; in the lab's queue jobs wait for "
        f"{text(queued)} steps and all slots stay full for {text(filled)}",
    )


def _utilisation(impl: Any) -> Outcome:
    jobs = lab_lengths()
    static, continuous = max(static_ends(jobs, LAB_SLOTS, _one)), max(continuous_ends(impl, jobs, LAB_SLOTS, _one))
    shares = [Fraction(sum(jobs), LAB_SLOTS * makespan) for makespan in (continuous, static)]
    return Outcome(
        shares[0] > shares[1],
        f"64 jobs on 8 slots: {percent(shares[0])} of the slots in {text(continuous)} steps, against "
        f"{percent(shares[1])} in {text(static)}",
    )


def _latency(impl: Any) -> Outcome:
    serving = Serving(impl)

    def step(batch: int) -> Any:
        return serving.decode_step_time(batch, 128_000)

    jobs = (1, 2, 1)
    joined = mean(continuous_ends(impl, jobs, 2, step))
    grouped = mean(static_ends(jobs, 2, step, padded=False))
    steps = {batch: serving.decode_step_time(batch, 4096) for batch in (1, 2, 3, 4)}
    orders = list(product((1, 2, 3), repeat=4))
    no_later = all(
        joined_end <= grouped_end
        for order in orders
        for joined_end, grouped_end in zip(
            continuous_ends(impl, order, 2, steps.__getitem__),
            static_ends(order, 2, steps.__getitem__),
            strict=True,
        )
    )
    return Outcome(
        joined <= grouped,
        f"128K contexts, outputs 1, 2, 1 on 2 slots: mean {text(joined / MS, 4)} ms against {text(grouped / MS, 4)} ms "
        f"for unpadded groups, where a job that joins makes each step longer for the others than it saves; against "
        f"padded ones no job is later in {len(orders)} orders of 4: {yes(no_later)}",
        no_later,
    )


def _tracking(impl: Any) -> Outcome:
    serving = Serving(impl)
    short, long = [8000, 100, 100, 100], [8000, 7000, 7000, 7000]
    caches = [
        impl.kv_bytes_total(cached_tokens=sum(lengths), kv_bytes_per_token=serving.kv_bytes_per_token)
        for lengths in (short, long)
    ]
    return Outcome(
        caches[0] != caches[1],
        f"two batches of 4 with longest 8,000 hold {text(Fraction(caches[0]) / GB)} and "
        f"{text(Fraction(caches[1]) / GB)} GB: count and maximum do not tell",
    )


CLAIMS = (
    Claim("C66", SECTION, "A static batch is padded to its longest sequence and ends as one.", _static),
    Claim(
        "C67",
        SECTION,
        "Static batching has predictable memory.",
        _predictable,
        "the batch is bounded by its padded worst case",
        ("C5", "C6", "C7"),
    ),
    Claim(
        "C68",
        SECTION,
        "In a static batch a short sequence waits for the longest, and padding is wasted work.",
        _padding,
    ),
    Claim(
        "C69",
        SECTION,
        "In continuous batching sequences join and leave on their own and a free slot is taken at once.",
        _refilled,
        contradicts=("C96",),
    ),
    Claim("C70", SECTION, "Continuous batching uses the GPU better.", _utilisation),
    Claim(
        "C71",
        SECTION,
        "Continuous batching has the lower mean latency, which justifies its complexity.",
        _latency,
        "all jobs are there at the start, in one order, and static batches are padded",
    ),
    Claim("C72", SECTION, "Continuous batching needs the memory of every sequence to be tracked.", _tracking),
)
