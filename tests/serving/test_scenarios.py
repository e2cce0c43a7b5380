"""The scenarios: each shows the failure it is named for, and the cure beside it."""

from __future__ import annotations

from functools import cache

import pytest

from spec.serving.engine import Engine
from spec.serving.incident import Card
from spec.serving.metrics import Metrics, metrics
from spec.serving.scenarios import scenarios
from spec.serving.server import Run
from spec.serving.watch import Lack, Watch
from spec.solving import Exact
from tests.serving.served import chapter_server, timing_of

pytestmark = pytest.mark.law

TOKENS = {"": 102_996, "llama-2-7b": 102_996, "mistral-7b-v0.3": 411_987}


@cache
def played(name: str) -> dict[str, tuple[Metrics, Run, Watch]]:
    found = {}
    timing = timing_of(chapter_server())
    for case in scenarios()[name].cases:
        server = case.server(Card(case.name, timing, TOKENS[case.model]))
        watch = Watch(Engine(server, case.workload.requests(1)))
        while watch.step():
            pass
        run = watch.result()
        found[case.name] = metrics(server, run), run, watch
    return found


def worst_ttft(found: Metrics) -> Exact:
    assert found.ttft
    return found.ttft.p99


@pytest.mark.parametrize("name", scenarios())
def test_the_same_comes_to_all_cases_but_those_of_breakage(name: str) -> None:
    scenario = scenarios()[name]
    assert scenario.name == name
    assert len({case.name for case in scenario.cases}) == len(scenario.cases) > 1
    assert (len({case.workload for case in scenario.cases}) == 1) == (name != "breakage-order")


def test_decode_first_starves_new_requests_and_a_share_below_the_load_starves_them_more() -> None:
    decode, prefill, share, chunks = (found for found, _, _ in played("prefill-starvation").values())
    assert worst_ttft(share) > 5 * worst_ttft(decode) > 50 * worst_ttft(prefill)
    assert worst_ttft(chunks) < worst_ttft(prefill)
    assert prefill.token_rate > decode.token_rate
    assert decode.lost == share.lost == 0


def test_another_model_of_the_same_size_runs_out_of_memory_where_the_first_has_room() -> None:
    before, after, reserving = (found for found, _, _ in played("context-surprise").values())
    assert before.lost == reserving.lost == 0 < after.out_of_memory
    assert before.kv_peak < reserving.kv_peak


def test_what_breaks_first_depends_on_the_lengths() -> None:
    (long, long_run, long_watch), (short, _, short_watch) = played("breakage-order").values()
    assert long_run.tally.alerts
    assert long_watch.slots_full is None
    assert short_watch.slots_full is not None
    assert short.alerts == 0 < long.alerts
    assert max(long_watch.lacked, key=long_watch.lacked.__getitem__) is Lack.BLOCKS
    assert max(short_watch.lacked, key=short_watch.lacked.__getitem__) is Lack.SLOTS


def test_a_prompt_that_fits_is_not_enough() -> None:
    prompt, limit, preempting = (found for found, _, _ in played("kv-oom").values())
    assert prompt.out_of_memory > 0 < prompt.lost
    assert limit.lost == preempting.lost == limit.preemptions == 0 < preempting.preemptions


def test_a_watermark_keeps_requests_in_and_reserving_keeps_all_of_them() -> None:
    none, some, reserving = (found for found, _, _ in played("preemption-thrash").values())
    assert none.preemptions > 5 * some.preemptions > 5 * reserving.preemptions == 0
    assert some.token_rate > none.token_rate > reserving.token_rate
