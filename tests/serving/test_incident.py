"""The incident, replayed: who runs out of memory, with which documents together, and what cures it."""

from __future__ import annotations

from functools import cache

import pytest

from spec.serving.admission import Reserve
from spec.serving.incident import Card, Outcome, replay
from tests.serving.served import chapter_server, timing_of

pytestmark = pytest.mark.reality

# What the chapter leaves for the cache of 14, 8 and 4 GB less, at 512 KiB a token.
TOKENS = {"40 GB": 26_702, "80 GB": 102_996}
GPUS = {"40 GB": "a100-40gb", "80 GB": "a100-80gb"}


@cache
def outcomes() -> dict[tuple[str, str, Reserve], Outcome]:
    cards = [Card(name, timing_of(chapter_server(gpu)), TOKENS[name]) for name, gpu in GPUS.items()]
    return {(o.card, o.batching, o.reserve): o for o in replay(cards)}


def crashes(card: str, batching: str, reserve: Reserve) -> int:
    return outcomes()[card, batching, reserve].metrics.out_of_memory


def test_token_aware_admission_is_the_cure_under_either_batching() -> None:
    for (card, batching, reserve), outcome in outcomes().items():
        assert outcome.metrics.requests == 600
        assert outcome.metrics.done + outcome.metrics.lost == 600
        if reserve is Reserve.TURN or (reserve is Reserve.PROMPT and batching != "continuous"):
            assert outcome.metrics.out_of_memory == outcome.metrics.lost == 0, (card, batching)


def test_continuous_batching_alone_is_none() -> None:
    """Without a check it still fails, though less; a check of the prompt alone fails now and then."""
    none, prompt = (crashes("40 GB", "continuous", reserve) for reserve in (Reserve.NONE, Reserve.PROMPT))
    assert crashes("40 GB", "static 4", Reserve.NONE) > none > prompt > 0


def test_twice_the_memory_cures_the_old_batch_and_not_a_larger_one() -> None:
    assert crashes("40 GB", "static 4", Reserve.NONE) > 50
    assert crashes("80 GB", "static 4", Reserve.NONE) == 0
    assert 0 < crashes("80 GB", "static 16", Reserve.NONE) < crashes("40 GB", "static 16", Reserve.NONE)
    assert crashes("80 GB", "continuous", Reserve.NONE) == 0


def test_the_combination_is_the_culprit_and_no_single_document() -> None:
    """Small documents are lost, and the largest are served."""
    outcome = outcomes()["80 GB", "static 16", Reserve.NONE]
    lost = [outcome.requests[member].prompt for crash in outcome.crashes for member in crash.members]
    served = outcome.requests.keys() - {member for crash in outcome.crashes for member in crash.members}
    assert min(lost) < 3000
    assert max(outcome.requests[number].prompt for number in served) > max(10_000, min(lost))
    for crash in outcome.crashes:
        padded = len(crash.members) * (max(outcome.requests[n].prompt for n in crash.members) + 256)
        own = sum(outcome.requests[n].prompt for n in crash.members)
        assert padded > TOKENS["80 GB"]
        assert all(outcome.requests[n].prompt + 256 < TOKENS["80 GB"] for n in crash.members)
        assert own < padded


def test_what_it_costs_is_waiting() -> None:
    """The first token of a static batch waits until the batch is full; at the old load 40 GB cost little."""
    static = outcomes()["40 GB", "static 16", Reserve.TURN].metrics
    small, large = (outcomes()[card, "continuous", Reserve.TURN].metrics for card in ("40 GB", "80 GB"))
    assert static.ttft
    assert small.ttft
    assert small.latency
    assert large.latency
    assert small.ttft.p99 < 5
    assert static.ttft.p99 > 20
    assert large.latency.mean < small.latency.mean < 2 * large.latency.mean
