"""A published benchmark of an engine, simulated: what more clients bring, and what they bring once memory is full.

LMDeploy 0.1.0a1 on one A100 with 80 GB, 16 bits, Llama-2-7B and Llama-2-13B: 1 to 64 clients, each sending one
request after another, of the same length, to the last token.
github.com/InternLM/lmdeploy/blob/3e391df4673326f79363eebe030876861a9b7090/docs/en/benchmark/a100_fp16.md
Its scripts benchmark/benchmark-7b.sh and benchmark/benchmark_13b.sh say the rest: 1,000 and 500 blocks of cache, 128
slots, and prompts of four context windows in an iteration (4 x 4,104 tokens); docs/en/turbomind_config.md: a block
has 128 tokens.

Three numbers are free, and all three are read from one sequence alone on the 7B: the shares of compute (from the first
token) and of bandwidth (from how a step lengthens with its context), and 2 ms of each step. All else follows.

What agrees: output tokens per second of the 7B within a quarter and of the 13B within 11 %; that the 7B brings
nothing more at 64 clients than at 32 where each grows to 4,096 tokens, since 31 of them fill the cache; and, within
15 %, how long the others then wait for their first token.

What does not: for prompts of 1 token on the 7B, 32 and 64 clients get 1.4 times the tokens that were measured, and 64
clients with prompts and outputs of 128 get 1.2 times. Most likely steps have work for each sequence (sampling,
streaming to a client) that the time model does not know; it shows where the steps are shortest. And the 7B took
3.6 s for 16 long prompts at once, though 0.14 s for one; the simulator says 2.2 s, and so 16 clients with long prompts
and short outputs get 1.2 times the tokens. How often each client asked is not published with the table: the versions of
the script ask 3, 6 or 10 times. Rates hardly depend on it.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import pytest

from spec.claims.settings import Serving
from spec.invariants.reference import Reference
from spec.serving.admission import Reserve, Rules
from spec.serving.batching import Continuous
from spec.serving.engine import Engine
from spec.serving.metrics import Metrics, metrics
from spec.serving.request import Request
from spec.serving.scheduler import Chunked
from spec.serving.server import Server, WhenFull
from spec.serving.workload import clients
from tests.serving.served import timing_of

pytestmark = pytest.mark.reality

BLOCK, ROUNDS = 128, 6
BLOCKS = {"llama-2-7b": 1000, "llama-2-13b": 500}
LENGTHS = ((1, 128), (128, 128), (128, 2048), (2048, 128), (2048, 2048))  # of prompts and outputs
# Output tokens per second by clients, in the order of the lengths.
RATES = {
    ("llama-2-7b", 1): (100.02, 102.21, 98.92, 86.1, 93.78),
    ("llama-2-7b", 16): (1504.72, 1272.47, 1010.62, 348.87, 601.63),
    ("llama-2-7b", 32): (2136.73, 2125.47, 1462.12, 450.43, 733.34),
    ("llama-2-7b", 64): (4154.81, 3024.07, 1852.06, 493.46, 755.65),
    ("llama-2-13b", 1): (57.49, 56.58, 55.29, 48.99, 52.12),
    ("llama-2-13b", 16): (869.45, 757.3, 605.88, 257.92, 366.67),
    ("llama-2-13b", 32): (1667.5, 1301.27, 860.14, 291.54, 389.64),
    ("llama-2-13b", 64): (3049.16, 2033.22, 998.86, 286.32, 387.86),
}
MEASURED = {
    (name, count, *lengths): rate
    for (name, count), rates in RATES.items()
    for lengths, rate in zip(LENGTHS, rates, strict=True)
}
# Mean and largest seconds to the first token, of prompts and outputs of 2,048 where not all fit.
WAITS = {
    ("llama-2-7b", 64): (39.105, 116.285),
    ("llama-2-13b", 32): (38.725, 108.104),
    ("llama-2-13b", 64): (190.453, 307.331),
}
TAKEN = {"llama-2-7b": 76.55, "llama-2-13b": 74.84}  # GiB of the GPU, for one sequence with prompts of 1 token
SLOW_STEPS = (("llama-2-7b", 32, 1, 128), ("llama-2-7b", 64, 1, 128))


def serving(name: str) -> Serving:
    return Serving(Reference(), name, "a100-80gb", mfu=Fraction(66, 100), mbu=Fraction(85, 100))


@cache
def simulated(name: str, count: int, prompt: int, output: int, blocks: int = 0) -> Metrics:
    first, follow = clients([Request(n, 0, prompt, output) for n in range(count * ROUNDS)], count)
    server = Server(
        timing_of(serving(name), overhead=Fraction(2, 1000)),
        blocks or BLOCKS[name],
        BLOCK,
        Continuous(128),
        Chunked(4 * 4104),
        Rules(Reserve.PROMPT),
        WhenFull.RECOMPUTE,
    )
    found = metrics(server, Engine(server, first, follow=follow).run())
    assert found.done == count * ROUNDS
    return found


def ratio(case: tuple[str, int, int, int]) -> float:
    """How many times as many tokens the simulation gives as were measured."""
    return float(simulated(*case).token_rate) / MEASURED[case]


@pytest.mark.parametrize("name", BLOCKS)
def test_memory_is_weights_and_blocks(name: str) -> None:
    held = serving(name).weights + BLOCKS[name] * BLOCK * serving(name).kv_bytes_per_token
    assert 1 * 10**9 < TAKEN[name] * 2**30 - held < 2 * 10**9


@pytest.mark.parametrize("lengths", LENGTHS)
def test_one_sequence_fixes_the_free_numbers(lengths: tuple[int, int]) -> None:
    assert ratio(("llama-2-7b", 1, *lengths)) == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize("case", [case for case in MEASURED if case not in SLOW_STEPS], ids=str)
def test_tokens_of_many_clients_follow(case: tuple[str, int, int, int]) -> None:
    off = 0.25 if case[0] == "llama-2-7b" else 0.11
    assert ratio(case) == pytest.approx(1, abs=off)


@pytest.mark.parametrize("case", SLOW_STEPS, ids=str)
def test_short_steps_of_many_sequences_are_slower_than_the_roof(case: tuple[str, int, int, int]) -> None:
    assert ratio(case) == pytest.approx(1.4, abs=0.1)


def test_clients_over_what_the_cache_holds_bring_no_tokens() -> None:
    def gain(prompt: int, output: int) -> tuple[float, float]:
        more, fewer = (("llama-2-7b", count, prompt, output) for count in (64, 32))
        return MEASURED[more] / MEASURED[fewer], float(simulated(*more).token_rate / simulated(*fewer).token_rate)

    for found in gain(2048, 2048):
        assert found == pytest.approx(1, abs=0.05)
    for found in gain(128, 128):
        assert found > 1.4


@pytest.mark.parametrize("case", WAITS, ids=str)
def test_those_who_do_not_fit_wait_as_long_as_was_measured(case: tuple[str, int]) -> None:
    ttft = simulated(*case, 2048, 2048).ttft
    assert ttft is not None
    assert [float(ttft.mean), float(ttft.largest)] == pytest.approx(WAITS[case], rel=0.15)


@pytest.mark.parametrize("case", WAITS, ids=str)
def test_it_is_the_cache_they_wait_for(case: tuple[str, int]) -> None:
    roomy = simulated(*case, 2048, 2048, blocks=64 * 4096 // BLOCK)
    assert roomy.ttft is not None
    assert roomy.preemptions == 0
    assert float(roomy.ttft.largest) < WAITS[case][1] / 4
