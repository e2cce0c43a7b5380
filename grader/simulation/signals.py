"""What a monitor would have seen of a run, and what it means, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from grader.simulation.running import Played
from grader.simulation.words import count, often, rate, seconds, share
from spec.serving.request import Job, State
from spec.serving.watch import Lack
from spec.solving import Exact

TARGET = 2  # seconds: a first token that takes longer is late
MUCH, LITTLE = Fraction(1, 2), Fraction(1, 10)
BUSY = Fraction(1, 2)  # of the slots, over which nobody says that there is room
LACKS = {
    Lack.SLOTS: "a free slot",
    Lack.BLOCKS: "room in the cache",
    Lack.RESTART: "the server to start again",
    Lack.TURN: "the iteration or the scheduler, with slots and room to spare",
}


def signals(played: Played) -> list[str]:
    """Say what happened, the worst first."""
    return [
        sentence
        for part in (_crashes, _alerts, _refused, _waits, _overload, _preemptions, _padding, _order)
        for sentence in part(played)
    ]


def order(played: Played) -> list[tuple[str, Exact]]:
    """Return what broke and after how many seconds, in that order."""
    run, tick = played.run, Fraction(1, played.run.ticks_per_second)
    late = TARGET * run.ticks_per_second
    too_late = [j.arrival + late for j in run.jobs if _waited(j, run.end) > late]
    found = {
        f"a first token took over {TARGET} s": min(too_late, default=None),
        f"KV use reached {share(played.server.rules.alert)}": min(run.tally.alerts, default=None),
        "all slots were in flight": played.watch.slots_full,
        "a request was refused": min(
            (j.finish or j.arrival for j in run.jobs if j.state is State.REFUSED), default=None
        ),
        "memory ran out": min((crash.tick for crash in run.tally.crashes), default=None),
        "a request had to leave for others": _first_preemption(played),
    }
    return sorted(((what, at * tick) for what, at in found.items() if at is not None), key=lambda pair: pair[1])


def _first_preemption(played: Played) -> int | None:
    watch = played.watch
    return next((n * watch.width for n, stretch in enumerate(watch.stretches) if stretch.preemptions), None)


def _waited(job: Job, end: int) -> int:
    if job.first_token is not None:
        return job.first_token - job.arrival
    return 0 if job.state in {State.REFUSED, State.LOST} else end - job.arrival


def _order(played: Played) -> Iterator[str]:
    met = order(played)
    if not met:
        yield f"Nothing broke: no first token took over {TARGET} s, and neither slots nor cache ran short."
        return
    (first, at), *rest = met
    then = "".join(f"; {what} ({seconds(when)})" for what, when in rest)
    yield f"In this order: {first} (after {seconds(at)}, at {_load(played, at)}){then}."


def _load(played: Played, at: Exact) -> str:
    """Say at which rate the last ten requests before a time had come, or the last tenth of all."""
    run, ticks = played.run, at * played.run.ticks_per_second
    before = [j.arrival for j in run.jobs if j.arrival <= ticks][-max(10, len(run.jobs) // 10) :]
    passed = Fraction(max(before) - min(before), run.ticks_per_second) if before else Fraction(0)
    return rate((len(before) - 1) / passed, "requests") if passed else count(len(before), "request")


def _crashes(played: Played) -> Iterator[str]:
    crashes = played.run.tally.crashes
    if not crashes:
        return
    prompts = {job.request.id: job.request.prompt for job in played.run.jobs}
    lost = {member for crash in crashes for member in crash.members}
    tick = Fraction(1, played.run.ticks_per_second)
    first = [prompts[member] for member in crashes[0].members]
    yield (
        f"Memory ran out {often(len(crashes))} and {count(len(lost), 'request was', 'requests were')} lost; "
        f"first after {seconds(crashes[0].tick * tick)}, when {count(len(first), 'request')} with prompts of "
        f"{min(first):,} to {max(first):,} tokens were in flight together."
    )
    served = [job.request.prompt for job in played.run.jobs if job.state is State.DONE]
    smaller = sum(max(prompts[member] for member in crash.members) < max(served, default=0) for crash in crashes)
    if smaller:
        yield (
            f"A prompt of {max(served):,} tokens was served, longer than any in "
            f"{count(smaller, 'batch', 'batches')} that broke: what counts is the sum, not the size of one."
        )
    leads = [_lead(played, crash.tick) for crash in crashes]
    warned = [lead * tick for lead in leads if lead is not None]
    if warned:
        yield (
            f"An alert at {share(played.server.rules.alert)} came before {_of_all(len(warned), len(crashes))}, "
            f"{seconds(min(warned))} to {seconds(max(warned))} ahead."
        )
    else:
        yield f"No alert at {share(played.server.rules.alert)} came before: one batch took all of it at once."


def _of_all(number: int, everything: int) -> str:
    if number < everything:
        return f"{number:,} of them"
    return "each of them" if everything > 1 else "it"


def _lead(played: Played, crash: int) -> int | None:
    """Return the ticks from the last alert to a crash; None where there was none since the crash before."""
    since = max((c.tick for c in played.run.tally.crashes if c.tick < crash), default=-1)
    alerts = [alert for alert in played.run.tally.alerts if since < alert <= crash]
    return crash - alerts[-1] if alerts else None


def _alerts(played: Played) -> Iterator[str]:
    alerts = played.run.tally.alerts
    if alerts and not played.run.tally.crashes:
        yield (
            f"KV use reached {share(played.server.rules.alert)} {often(len(alerts))}, "
            f"first after {seconds(Fraction(alerts[0], played.run.ticks_per_second))}; memory never ran out."
        )


def _refused(played: Played) -> Iterator[str]:
    reasons: dict[str, int] = {}
    for job in played.run.jobs:
        if job.state is State.REFUSED:
            reasons[job.reason] = reasons.get(job.reason, 0) + 1
    if reasons:
        listed = ", ".join(f"{number:,} ({why})" for why, number in reasons.items())
        yield f"Requests were turned away with 503: {listed}."


def _waits(played: Played) -> Iterator[str]:
    found, lacked = played.metrics, played.watch.lacked
    waited = sum(lacked.values())
    if not (found.ttft and found.wait and waited) or found.ttft.p99 <= TARGET:
        return
    of_it = share(Fraction(found.wait.mean) / found.ttft.mean)
    listed = [
        f"{share(Fraction(area, waited))} for {LACKS[lack]}" for lack, area in _largest(lacked) if area * 20 > waited
    ]
    yield (
        f"One first token in a hundred takes {seconds(found.ttft.p99)} or more; {of_it} of the mean is waiting, which "
        f"an alert on prefill alone does not see. Requests waited {', '.join(listed)}."
    )
    if _largest(lacked)[0][0] is Lack.TURN and found.concurrency < BUSY * played.server.batching.slots:
        yield (
            f"Starved: output looks well at {rate(found.token_rate, 'tokens')} while new requests wait beside "
            f"{played.server.batching.slots} slots of which {float(found.concurrency):.3g} are in use on average."
        )


def _largest(lacked: dict[Lack, int]) -> list[tuple[Lack, int]]:
    return sorted(lacked.items(), key=lambda pair: -pair[1])


def _overload(played: Played) -> Iterator[str]:
    jobs, run = played.run.jobs, played.run
    if not (jobs and played.whole):
        return
    last = jobs[-1].arrival
    waiting = sum(1 for job in jobs if job.state is State.DONE and (job.admitted or 0) > last)
    if waiting > max(10, len(jobs) // 10):
        yield (
            f"More came than could be served: {waiting:,} were waiting when the last one came, and it took another "
            f"{seconds(Fraction(run.end - last, run.ticks_per_second))} to serve them."
        )


def _preemptions(played: Played) -> Iterator[str]:
    found, tally = played.metrics, played.run.tally
    if not found.preemptions:
        return
    again = Fraction(tally.recomputed, tally.prefilled) if tally.prefilled else Fraction(0)
    word = "Thrashing" if again > LITTLE else "Preempted"
    yield (
        f"{word}: requests had to leave for others {often(found.preemptions)}, "
        f"{float(Fraction(found.preemptions, max(1, found.done))):.2g} for each that was served, and "
        f"{share(again)} of all prompt tokens worked on were worked on again."
    )


def _padding(played: Played) -> Iterator[str]:
    if played.metrics.waste > LITTLE:
        yield f"{share(played.metrics.waste)} of all tokens that were worked on were padding."
