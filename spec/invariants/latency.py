"""Time to first token, the time a request is in service, and what a latency target leaves."""

from __future__ import annotations

from fractions import Fraction

from spec import quantities as q
from spec.invariants import Invariant
from spec.invariants.draws import HALF, Grid, of
from spec.solving import Infeasible

TTFT = ("ttft",)
FIRST = of(q.wait, q.prompt, q.prefill_rate)
REQUEST = of(q.ttft, q.output, q.decode_rate)
ONE = Fraction(1)

wait_in_full = Invariant(
    "I67",
    "Time to first token is the wait and the prefill: any further wait is added in full.",
    {**FIRST, "more": Grid(0, 12, HALF)},
    TTFT,
    lambda impl, wait, more, **rest: (
        impl.ttft(wait=wait + more, **rest) == impl.ttft(wait=wait, **rest) + more >= wait + more
    ),
)
prefill_at_rate = Invariant(
    "ttft-prefill",
    "Without a wait, the prefill rate times the time to first token is the prompt.",
    of(q.prompt, q.prefill_rate),
    TTFT,
    lambda impl, prompt, prefill_rate: (
        impl.ttft(wait=0, prompt=prompt, prefill_rate=prefill_rate) * prefill_rate == prompt
    ),
)
waits_superpose = Invariant(
    "ttft-superposition",
    "Two waits and two prompts one after the other take what each of them takes.",
    {
        **of(q.prefill_rate),
        **{name: Grid(1, 30) for name in ("one", "other")},
        "first": FIRST["wait"],
        "then": FIRST["wait"],
    },
    TTFT,
    lambda impl, prefill_rate, one, other, first, then: (
        impl.ttft(wait=first + then, prompt=one + other, prefill_rate=prefill_rate)
        == impl.ttft(wait=first, prompt=one, prefill_rate=prefill_rate)
        + impl.ttft(wait=then, prompt=other, prefill_rate=prefill_rate)
    ),
)
prompt_doubles_ttft = Invariant(
    "ttft-doubles",
    "Twice the prompt takes twice the time to first token.",
    {"wait": Grid(0, 12), "prompt": Grid(1, 12), "prefill_rate": Grid(1, 12)},
    TTFT,
    lambda impl, wait, prompt, prefill_rate: (
        impl.ttft(wait=wait, prompt=2 * prompt, prefill_rate=prefill_rate)
        == 2 * impl.ttft(wait=wait, prompt=prompt, prefill_rate=prefill_rate)
    ),
    refuted={"wait": 1, "prompt": 1, "prefill_rate": 1},
    why="The wait does not depend on the own prompt.",
)
output_after_first = Invariant(
    "service-output",
    "What a request stays beyond its time to first token is its output at the decode rate.",
    REQUEST,
    ("service_time",),
    lambda impl, ttft, output, decode_rate: (
        (impl.service_time(ttft=ttft, output=output, decode_rate=decode_rate) - ttft) * decode_rate == output
    ),
)
outputs_add = Invariant(
    "service-outputs-add",
    "A longer output stays as much longer as the further tokens take on their own.",
    {**REQUEST, "more": Grid(1, 12)},
    ("service_time",),
    lambda impl, ttft, output, decode_rate, more: (
        impl.service_time(ttft=ttft, output=output + more, decode_rate=decode_rate)
        - impl.service_time(ttft=ttft, output=output, decode_rate=decode_rate)
        == impl.service_time(ttft=0, output=more, decode_rate=decode_rate)
    ),
)
target_pair = Invariant(
    "target-rate-and-time",
    "The slowest rate for a target and the tightest target for a rate undo each other: their product is the output.",
    of(q.output, q.decode_rate, q.latency_target),
    ("decode_rate", "latency_target"),
    lambda impl, output, decode_rate, latency_target: (
        impl.decode_rate(output=output, latency_target=latency_target) * latency_target
        == output
        == impl.latency_target(output=output, decode_rate=decode_rate) * decode_rate
    ),
)
longest_output = Invariant(
    "target-output",
    "The longest output within a target is done in time, and one token more is not; where one token is late, none is.",
    of(q.decode_rate, q.latency_target),
    ("output",),
    lambda impl, decode_rate, latency_target: all(
        isinstance(longest, Infeasible)
        if decode_rate * latency_target < 1
        else longest % 1 == 0 and longest <= decode_rate * latency_target < longest + 1
        for longest in [impl.output(decode_rate=decode_rate, latency_target=latency_target)]
    ),
)
slots_and_batch = Invariant(
    "slots",
    "The largest batch has as many sequences as there are slots, and the fewest slots for it are as many again.",
    of(q.batch),
    ("batch", "slots"),
    lambda impl, batch: impl.batch(slots=batch) == batch == impl.slots(batch=batch),
)
slots_limit = Invariant(
    "slots-limit",
    "A batch of as many sequences as slots is within them, and one sequence more is not.",
    of(q.slots),
    ("within_slots",),
    lambda impl, slots: (
        impl.within_slots(batch=slots, slots=slots) and not impl.within_slots(batch=slots + 1, slots=slots)
    ),
)
prefill_at_its_rate = Invariant(
    "ttft-by-rate-or-time",
    "A prefill lasts as long as its prompt at its rate, and the first token comes as late by either.",
    of(q.wait, q.prompt, q.prefill_time),
    ("ttft", "prefill_rate"),
    lambda impl, wait, prompt, prefill_time: all(
        rate * prefill_time == prompt
        and impl.ttft(wait=wait, prefill_time=prefill_time) == impl.ttft(wait=wait, prompt=prompt, prefill_rate=rate)
        for rate in [impl.prefill_rate(prompt=prompt, prefill_time=prefill_time)]
    ),
)
