"""The lab: thirteen steps, thirty-eight claims that hold, and the claim that notices each change of a law or a part."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
import sympy

from spec import quantities as q
from spec.catalog import gpu, model
from spec.claims import Claim, settings
from spec.claims.design_batching import mean
from spec.index import laws
from spec.invariants.reference import Reference, questions
from spec.lab import STEPS, growth, memory
from spec.laws import Law
from spec.mutants import Misread, mutants
from spec.serving import engine
from spec.serving.admission import Admission
from spec.serving.batching import Static
from spec.serving.cache import CacheManager, Evicted
from spec.serving.request import Job
from spec.serving.scheduler import DrainGate, PrefillFirst
from spec.solving import Exact, Infeasible

pytestmark = pytest.mark.meta

CLAIMS = {int(claim.id): claim for step in STEPS for claim in step.claims}
SAMPLED = 24  # every so many mutants, one
GROUPS = [3, 3, 2, 4, 3, 3, 3, 3, 3, 3, 3, 3, 2]  # claims of each step, as the chapter groups its steps

MEASURED = {
    1: ("4, 4, 4, 4 times",),
    2: ("16,777,216", "536,870,912"),
    3: ("2.0000", "1.99937"),
    4: ("524,288", "131,072", "458,752"),
    6: ("2 GiB", "2.147 GB"),
    8: ("20 GiB", "21.475 GB"),
    9: ("16,384",),
    10: ("b and c leave", "d, a, e stay"),
    13: ("25 of 4,096 and 12", "27 of 4,096 and 13"),
    15: ("102,996", "110,592", "lacks 5 GB"),
    16: ("4,096 of 8,192",),
    18: ("step 1,024", "8 times"),
    19: ("91.4 %", "57.1 %"),
    20: ("4,480", "7,168", "1.60", "3,840", "3,968"),
    21: ("2,220", "4,096"),
    22: ("43.82 ms", "0.156"),
    23: ("6.833 ms", "0.0065"),
    24: ("153", "154", "153.02", "From 96"),
    25: ("6.962 ms", "158.9x", "99.3x"),
    26: ("1.038",),
    27: ("10.0x", "40.0x", "100.0x"),
    28: ("0.99877",),
    29: ("2.020x, 2.039x, 2.077x, 2.148x",),
    30: ("6.637x", "1.00195x"),
    32: ("0.25713 us", "1.269x"),
    33: ("1.074x", "2.087x"),
    34: ("135.8 to 620.4", "4.570x"),
    35: ("7.37 ms to 12.90 ms", "1.751x"),
    36: ("0.1201",),
    37: ("22.23 ms", "255 steps of 1718.87 ms"),
    38: ("3 after 256, 8 after 1,024, 26 after 4,096",),
}


def outcome_of(number: int, impl: Any) -> Any:
    found = CLAIMS[number].outcome(impl)
    assert found is not None
    return found


def slipped(law: str, slug: str) -> Reference:
    """Return the laws with one slip in one of them."""
    right = laws()[law]
    return Reference({law: right.with_slip(next(slip for slip in right.slips if slip.slug == slug))})


def test_there_are_thirteen_steps_and_their_claims_are_numbered_through() -> None:
    assert [len(step.claims) for step in STEPS] == GROUPS
    assert list(CLAIMS) == list(range(1, 39))
    assert len({step.title for step in STEPS}) == len(STEPS)


@pytest.mark.parametrize("number", CLAIMS)
def test_every_claim_holds_with_the_numbers_of_an_independent_computation(number: int) -> None:
    found = outcome_of(number, Reference())
    assert found.general, found.computed
    assert [part for part in MEASURED.get(number, ()) if part not in found.computed] == []


# Laws that are changed, and the claim that the change breaks


class Rounded:
    """A law whose counts are rounded to the nearest whole number."""

    def __init__(self, law: Law, name: str) -> None:
        self.law, self.symbols = law, law.symbols
        self.unrounded = Misread(law, name, "unrounded")

    def __call__(self, **known: Any) -> Any:
        return self.law(**known)

    def solve(self, name: str, /, **known: Any) -> Exact | Infeasible:
        answer = self.unrounded.solve(name, **known)
        return answer if isinstance(answer, Infeasible) else int(answer + Fraction(1, 2))


class Changed:
    """The laws, where some functions are others."""

    def __init__(self, **functions: Callable[..., Any]) -> None:
        self.impl, self.functions = Reference(), functions

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function: Callable[..., Any] = self.functions.get(name) or getattr(self.impl, name)
        return function


def weights_for_each() -> Changed:
    """Return the laws where a step reads the weights once for every sequence of the batch."""
    impl, batches = Reference(), [1]

    def cached_tokens(**known: Any) -> Any:
        batches.append(known.get("batch", 1))
        return impl.cached_tokens(**known)

    def decode_bytes(*, weights: Any, **known: Any) -> Any:
        return impl.decode_bytes(weights=batches[-1] * weights, **known)

    return Changed(cached_tokens=cached_tokens, decode_bytes=decode_bytes)


def hidden_for_keys() -> Changed:
    """Return the laws where a token caches two vectors of the hidden size, whatever the key-value heads."""
    hidden = {(m.layers, m.kv_heads, m.head_dim): m.hidden for m in map(model, growth.CACHED)}

    def kv_bytes_per_token(layers: int, kv_heads: int, head_dim: int, kv_width: int) -> int:
        return 2 * layers * hidden[layers, kv_heads, head_dim] * kv_width

    return Changed(kv_bytes_per_token=kv_bytes_per_token)


def unclamped() -> Changed:
    """Return the laws that count below zero."""

    def concurrency(kv_budget: int, context: int, kv_bytes_per_token: int) -> int:
        return kv_budget // (context * kv_bytes_per_token)

    return Changed(kv_budget=lambda gpu_memory, **taken: gpu_memory - sum(taken.values()), concurrency=concurrency)


def labelled_by_half() -> Reference:
    """Return the laws that call a phase bound by what it uses more than half of."""
    law = laws()["prefill_is_compute_bound"]
    share = q.prefill_flops * q.bandwidth * q.mbu / (q.prefill_bytes * q.compute * q.mfu)
    return Reference({law.name: law.changed(right=sympy.Min(1, sympy.floor(2 * share)))})


def wrong_laws() -> dict[str, tuple[int, Callable[[], Any]]]:
    def slip(law: str, slug: str) -> Callable[[], Any]:
        return lambda: slipped(law, slug)

    return {
        "the values of the cache forgotten": (4, slip("kv_bytes_per_token", "values-forgotten")),
        "the hidden size for the key-value heads": (4, hidden_for_keys),
        "rounded instead of rounded down": (13, lambda: Reference({"fits": Rounded(laws()["fits"], "concurrency")})),
        "no clamp at zero": (15, unclamped),
        "the weights read for each sequence": (33, weights_for_each),
        "the cache not read in decode": (31, slip("decode_bytes", "cache-unread")),
        "scores linear in the length": (1, slip("attention_scores_per_head", "linear")),
        "a step for the first token too": (37, slip("total_time", "first-token-decoded")),
        "bound by what is used by half": (24, labelled_by_half),
        "the full matrix instead of the causal half": (29, slip("prefill_attention_flops", "full-matrix")),
        "one operation for a multiply and an add": (22, slip("flops_per_token", "one-operation")),
        "no attention in prefill": (29, slip("prefill_flops", "attention-forgotten")),
        "a step for the first token in the break-even": (38, slip("break_even", "first-token-decoded")),
        "no memory floor in prefill": (27, slip("prefill_time", "compute-only")),
    }


@pytest.mark.parametrize(("number", "change"), wrong_laws().values(), ids=wrong_laws())
def test_a_wrong_law_is_noticed_by_its_claim(number: int, change: Callable[[], Any]) -> None:
    found = outcome_of(number, change())
    assert not found.general
    assert "cannot be computed" not in found.computed


# Parts that are changed


def pad_to_mean(batch: list[Job]) -> None:
    for job in batch:
        job.output = int(mean([other.request.output for other in batch]))


def evict_most_recent(self: CacheManager, fresh: int) -> Evicted:
    victims = []
    while self.capacity - self.used < fresh:
        victim = self.resident[-1]
        self.free(victim)
        victims.append(victim)
    return tuple(victims)


class LongestFirst(Admission):
    """Lets the longest outputs in first."""

    def arrive(self, job: Job) -> bool:
        here = super().arrive(job)
        self.waiting = deque(sorted(self.waiting, key=lambda other: -other.output))
        return here


def wrong_parts() -> dict[str, tuple[int, Any, str, Any]]:
    return {
        "GB of 2**30 bytes": (13, memory, "GB", 2**30),
        "padded to the mean": (16, Static, "_pad", staticmethod(pad_to_mean)),
        "refilled when all are done": (20, PrefillFirst, "gate", lambda self: DrainGate(self.pass_tokens)),
        "the most recent evicted": (10, CacheManager, "_evict", evict_most_recent),
        "use that does not refresh": (10, CacheManager, "touch", lambda self, name: name in self),
        "the bandwidth of the 40 GB card": (22, settings, "gpu", lambda _: gpu("a100-40gb")),
        "longest first instead of first come first": (19, engine, "Admission", LongestFirst),
    }


@pytest.mark.parametrize(("number", "part", "name", "instead"), wrong_parts().values(), ids=wrong_parts())
def test_a_wrong_part_is_noticed_by_its_claim(
    number: int, part: Any, name: str, instead: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, name, instead)
    found = outcome_of(number, Reference())
    assert not found.general
    assert "cannot be computed" not in found.computed


# Whatever is wrong, a claim ends in a verdict


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=[f"{number}" for number in CLAIMS])
def test_without_a_law_a_claim_that_rests_on_it_fails_with_a_reason(claim: Claim) -> None:
    class Nothing:
        def __init__(self, law: Law) -> None:
            self.symbols = law.symbols

        def __call__(self, **_: Any) -> bool:
            return False

        def solve(self, name: str, /, **_: Any) -> Infeasible:
            return Infeasible(name, name, "below")

    found = claim.outcome(Reference({name: Nothing(law) for name, law in laws().items()}))
    assert found is not None
    lawless = {9, 10, 11, 12, 18, 19, 20, 21}
    assert found.general == (int(claim.id) in lawless)
    assert found.general or found.computed.startswith("cannot be computed: ")


@pytest.mark.slow
def test_under_every_slip_and_a_sample_of_mutants_every_claim_has_an_outcome() -> None:
    asked: dict[str, list[int]] = {}
    for number in CLAIMS:
        impl = Reference()
        outcome_of(number, impl)
        for question in impl.asked:
            asked.setdefault(questions()[question].name, []).append(number)
    for name, numbers in asked.items():
        law = laws()[name]
        wrong = [law.with_slip(slip) for slip in law.slips] + [mutant.faulty for mutant in mutants(law)[::SAMPLED]]
        for faulty in wrong:
            assert all(outcome_of(number, Reference({name: faulty})).computed for number in set(numbers))
