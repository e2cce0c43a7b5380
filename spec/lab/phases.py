"""Steps 8 and 9: prefill waits for arithmetic and decode for memory, and what that makes of a token."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from spec.claims import Outcome
from spec.claims.servers import mean_step, ms, realistic, times
from spec.claims.settings import Serving, first
from spec.lab.step import Step, claim

LENGTH = 1000
SMALL = Fraction(1, 5)  # of the bandwidth, in prefill
TINY = Fraction(1, 100)  # of the arithmetic, in decode
NEAR = Fraction(1, 100)
TENTH = Fraction(1, 10)
HUNDRED = 100


def _prefill(impl: Any) -> Outcome:
    server = Serving(impl)
    time = server.prefill_time(LENGTH)
    compute, bandwidth = server.rates["compute"], server.rates["bandwidth"]
    work = impl.achieved_mfu(prefill_flops=server.prefill_flops(LENGTH), prefill_time=time, compute=compute)
    traffic = impl.achieved_mbu(prefill_bytes=server.prefill_bytes(LENGTH), prefill_time=time, bandwidth=bandwidth)
    return Outcome(
        work == 1 and traffic < SMALL,
        f"{ms(time)} for {LENGTH:,} tokens: {float(work):g} of the arithmetic, {float(traffic):.3f} of the bandwidth",
    )


def _decode(impl: Any) -> Outcome:
    server = Serving(impl)
    time = server.decode_step_time(1, LENGTH)
    compute, bandwidth = server.rates["compute"], server.rates["bandwidth"]
    work = impl.achieved_mfu(decode_flops=server.decode_flops(1, LENGTH), decode_step_time=time, compute=compute)
    traffic = impl.achieved_mbu(decode_bytes=server.decode_bytes(1, LENGTH), decode_step_time=time, bandwidth=bandwidth)
    return Outcome(
        traffic == 1 and work < TINY,
        f"{ms(time, 3)} a step at {LENGTH:,} tokens: {float(work):.4f} of the arithmetic, {float(traffic):g} of the "
        "bandwidth",
    )


def _turns(impl: Any, server: Serving) -> int:
    """Return the shortest prompt whose prefill is bound by compute."""
    return first(
        lambda n: bool(
            impl.prefill_is_compute_bound(
                prefill_flops=server.prefill_flops(n),
                prefill_bytes=server.prefill_bytes(n),
                mfu=server.mfu,
                mbu=server.mbu,
                **server.rates,
            )
        )
    )


def _boundary(impl: Any) -> Outcome:
    server = Serving(impl)
    shortest, lower = _turns(impl, server), _turns(impl, realistic(impl))
    return Outcome(
        shortest == int(server.ridge) + 1,
        f"bound by memory up to {shortest - 1} tokens, by compute from {shortest}; the rates balance at "
        f"{float(server.ridge):.2f} FLOP/B. From {lower} at half the compute and four fifths of the bandwidth",
    )


def _ratio(impl: Any, server: Serving) -> Any:
    tpot = mean_step(server, LENGTH, 2 * LENGTH - 1)
    return impl.phase_ratio(tpot=tpot, prompt=LENGTH, prefill_time=server.prefill_time(LENGTH))


def _over_hundred(impl: Any) -> Outcome:
    server = Serving(impl)
    ratio, lower = _ratio(impl, server), _ratio(impl, realistic(impl))
    return Outcome(
        ratio > HUNDRED,
        f"{ms(mean_step(server, LENGTH, 2 * LENGTH - 1), 3)} against {ms(server.prefill_time(LENGTH) / LENGTH, 5)} a "
        f"token: {times(ratio, 1)}. {times(lower, 1)} at half the compute and four fifths of the bandwidth",
    )


def _near_ridge(impl: Any) -> Outcome:
    server = Serving(impl)
    share = _ratio(impl, server) / server.ridge
    return Outcome(abs(share - 1) <= TENTH, f"{float(share):.3f} of the ridge of {float(server.ridge):.2f}")


def _short(impl: Any) -> Outcome:
    server = Serving(impl)
    ratios = {n: server.phase_ratio(n) for n in (10, 40, 100)}
    return Outcome(
        all(abs(ratio / n - 1) <= NEAR for n, ratio in ratios.items()),
        ", ".join(f"{times(ratio, 1)} after {n}" for n, ratio in ratios.items()) + " tokens",
    )


STEPS = (
    Step(
        "Prefill waits for arithmetic, decode for memory",
        (
            claim(22, "Prefill of 1,000 tokens uses all arithmetic and under a fifth of the bandwidth.", _prefill),
            claim(23, "A decode step uses all bandwidth and under a hundredth of the arithmetic.", _decode),
            claim(24, "Prefill turns from memory to compute at the ridge of the GPU.", _boundary),
        ),
    ),
    Step(
        "A token of output against a token of prompt",
        (
            claim(
                25, "Decode takes over a hundred times as long a token as prefill, at the peak rates.", _over_hundred
            ),
            claim(26, "That ratio is the ridge of the GPU, within a tenth.", _near_ridge),
            claim(27, "Below the ridge the ratio is the length of the prompt.", _short),
        ),
        note="Over a hundred holds at the peak rates only; the lower rates that servers reach bring it just below.",
    ),
)
