"""Worked numbers: what the laws give for the exercise families, the lab and the contradictions of the claims list.

Each case names its row there (F.., K.. or a lab claim); where the corrections of section 0.0 differ, they win.
The chapter 7B has 32 layers of 4,096; sizes in GB are 10^9 bytes.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from spec import attention, memory, parameters, phases, queueing, scaling
from spec.chain import chain, follow
from spec.index import laws
from spec.laws import Infeasible, Law

pytestmark = pytest.mark.law

GB, GIB, KIB = 10**9, 2**30, 2**10
SEVEN_B = {"layers": 32, "hidden": 4096, "vocab": 32_000}
TOKEN = 512 * KIB  # bytes of cache per token of the chapter 7B
PARTITION = {"gpu_memory": 80 * GB, "weights": 14 * GB, "activations": 8 * GB, "safety_margin": 4 * GB}
PEAK = {"compute": 312 * 10**12, "mfu": 1, "bandwidth": 2039 * GB, "mbu": 1}  # A100-80
WEIGHTS = 13_409_189_888
HEADS = {"layers": 32, "heads": 32, "head_dim": 128}


def found(goal: str, **known: Any) -> Any:
    """Follow the chain of all laws to a goal."""
    return follow(chain(goal, known, list(laws().values())), known)[goal]


def slipped(law: Law, slug: str, gives: str, **known: Any) -> Any:
    """Solve a law as someone who makes this slip would."""
    slip = next(slip for slip in law.slips if slip.slug == slug)
    wrong = law.with_slip(slip)
    return wrong.solve(gives, **{n: v for n, v in known.items() if n in wrong.symbols})


def test_f01_parameter_count() -> None:
    shape = {"layers": 40, "hidden": 5120, "vocab": 32_000}
    law, total = parameters.parameters_approx, 12_910_592_000
    assert law(**shape) == total
    assert parameters.parameters_approx(**SEVEN_B) == 6_704_594_944
    for name, value in shape.items():
        assert law.solve(name, **{**{n: v for n, v in shape.items() if n != name}, "parameters_approx": total}) == value
    wrong = {
        "attention-only": 4_521_984_000, "feed-forward-only": 8_716_288_000, "embeddings-forgotten": 12_582_912_000,
        "one-embedding": 12_746_752_000, "gated-four-h": 17_104_896_000, "hidden-not-squared": 330_137_600,
    }  # fmt: skip
    for slug, value in wrong.items():
        assert slipped(law, slug, "parameters_approx", **shape) == value


def test_f02_weights() -> None:
    seven = {"parameters": 7 * GB, "weight_bits": 16}
    assert memory.weights(**seven) == 14 * GB
    assert memory.weights.solve("parameters", weights=14 * GB, weight_bits=16) == 7 * GB
    assert memory.weights.solve("weight_bits", weights=14 * GB, parameters=7 * GB) == 16
    assert slipped(memory.weights, "bits-as-bytes", "weights", **seven) == 112 * GB
    assert slipped(memory.weights, "fp32-assumed", "weights", **seven) == 28 * GB
    assert slipped(memory.weights, "one-byte-assumed", "weights", **seven) == 7 * GB
    assert memory.weights(parameters=6_704_594_944, weight_bits=16) == WEIGHTS


def test_f03_cache_per_token() -> None:
    llama3 = {
        "layers": 32,
        "kv_heads": 8,
        "head_dim": 128,
        "kv_width": 2,
        "hidden": 4096,
        "weight_bits": 4,
        "heads": 32,
    }
    right = {name: llama3[name] for name in ("layers", "kv_heads", "head_dim", "kv_width")}
    law = memory.kv_bytes_per_token
    assert law(**right) == 131_072
    for name, value in right.items():
        assert (
            law.solve(name, **{**{n: v for n, v in right.items() if n != name}, "kv_bytes_per_token": 131_072}) == value
        )
    wrong = {
        "values-forgotten": 65_536, "hidden-for-kv-width": 524_288, "bits-for-bytes": 1_048_576,
        "layers-forgotten": 4096, "queries-cached": 196_608, "weight-width-for-kv": 32_768,
        "query-heads-for-kv-heads": 524_288,
    }  # fmt: skip
    for slug, value in wrong.items():
        assert slipped(law, slug, "kv_bytes_per_token", **llama3) == value


def test_f05_concurrency() -> None:
    known = {**PARTITION, "context": 4096, "kv_bytes_per_token": TOKEN}
    assert found("concurrency", **known) == 25
    assert found("concurrency", **{**known, "safety_margin": 0}) == 27
    assert found("concurrency", **{**known, "safety_margin": 0, "activations": 0}) == 30
    assert memory.kv_budget(**PARTITION) == 54 * GB
    for budget, token, held in ((80 - 8 - 4, TOKEN, 31), (54, TOKEN // 2, 50)):
        known = {"context": 4096, "kv_bytes_per_token": token, "kv_budget": budget * GB}
        assert memory.fits.solve("concurrency", **known) == held


def test_f05_a_model_that_does_not_fit() -> None:
    # K14: the chapter's code answers with a negative count for a 70B on one 80 GB card.
    known = {"gpu_memory": 80 * GB, "weights": 138 * GB, "activations": 8 * GB, "safety_margin": 0}
    assert found("concurrency", **known, context=4096, kv_bytes_per_token=2_621_440) == Infeasible(
        "kv_budget", "kv_budget", "below", 66 * GB, "B"
    )
    assert (80 - 138 - 8) * GB // (4096 * 2_621_440) == -7


def test_f06_longest_context() -> None:
    known = {"gpu_memory": 80 * GB, "weights": 26 * GB, "activations": 8 * GB, "concurrency": 20}
    token = memory.kv_bytes_per_token(layers=40, kv_heads=40, head_dim=128, kv_width=2)
    assert token == 800 * KIB
    assert found("context", **known, safety_margin=0, kv_bytes_per_token=token) == 2807
    assert found("context", **known, safety_margin=4 * GB, kv_bytes_per_token=token) == 2563
    assert found("context", **known, safety_margin=0, kv_bytes_per_token=TOKEN) == 4386
    assert found("context", **known, safety_margin=0, kv_bytes_per_token=token // 2) == 5615
    assert found("context", **{**known, "activations": 0}, safety_margin=0, kv_bytes_per_token=token) == 3295
    assert memory.fits.solve("context", concurrency=20, kv_bytes_per_token=token, kv_budget=46 * GIB) == 3014
    assert (
        slipped(memory.fits, "all-sequences-as-one", "context", kv_bytes_per_token=token, kv_budget=46 * GB) == 56_152
    )


def test_f07_smallest_memory() -> None:
    known = {"weights": 14 * GB, "kv_bytes_per_token": TOKEN}
    shares = {"activation_share_of_remaining": Fraction(12, 100), "safety_share_of_total": Fraction(5, 100)}
    need = found("gpu_memory", **known, **shares, concurrency=25, context=4096)
    assert need == (14 * GB * Fraction(88, 100) + 25 * 4096 * TOKEN) / Fraction(83, 100)
    assert round(need / GB, 2) == Fraction("79.53")
    assert found("concurrency", **known, **shares, gpu_memory=need, context=4096) == 25
    assert found("concurrency", **known, **shares, gpu_memory=need - 1, context=4096) == 24


def test_f09_token_capacity_and_its_units() -> None:
    # K1: 108,000 needs a budget in one convention and a token in the other.
    for budget, token, tokens in (
        (54 * GB, TOKEN, 102_996), (54 * GIB, TOKEN, 110_592), (54 * GB, 500_000, 108_000),
        (54 * GB, 512_000, 105_468), (54 * GIB, 512_000, 113_246),
    ):  # fmt: skip
        assert memory.holds_tokens.solve("token_capacity", kv_budget=budget, kv_bytes_per_token=token) == tokens


def test_f10_attention_scores() -> None:
    assert attention.attention_scores_per_head(context=4096) == 16_777_216
    assert found("attention_scores_per_layer", context=4096, heads=32) == 536_870_912
    assert found("attention_scores", context=4096, heads=32, layers=32) == 17_179_869_184
    assert attention.causal_scores_per_head(context=4096) * 32 == 268_500_992
    for law, slug, layer in (
        (attention.causal_scores_per_head, "pairs-without-self", 268_369_920),
        (attention.attention_scores_per_head, "linear", 131_072),
    ):
        assert slipped(law, slug, law.name, context=4096) * 32 == layer
    assert found("context", attention_scores=17_179_869_184, heads=32, layers=32) == 4096
    assert attention.causal_scores_per_head.solve("context", causal_scores_per_head=8_390_656) == 4096


def test_f11_time_to_first_token() -> None:
    known = {"wait": 0, "prompt": 10_000, "prefill_rate": 50_000}
    assert phases.ttft(**known) == Fraction(200, 1000)
    assert slipped(phases.ttft, "ratio-inverted", "ttft", **known) == 5
    assert phases.ttft(**{**known, "prefill_rate": Fraction(50_000, 60)}) == 12
    assert phases.ttft(**{**known, "prompt": 2000}) == Fraction(40, 1000)
    assert phases.ttft.solve("prompt", ttft="0.2", wait=0, prefill_rate=50_000) == 10_000
    assert phases.ttft.solve("prefill_rate", ttft="0.2", wait=0, prompt=10_000) == 50_000
    late = phases.ttft.solve("prompt", ttft="0.2", wait="0.3", prefill_rate=50_000)
    assert late == Infeasible("ttft", "prompt", "below", 5001, "token")


def test_f13_a_rate_no_card_reaches() -> None:
    # 50,000 tokens a second of a 7B on an A100: an efficiency of 2.244, over one.
    per_token = phases.flops_per_token(parameters=7 * GB)
    known = {"prefill_flops": per_token, "compute": 312 * 10**12, "prefill_bytes": 1, "bandwidth": 2039 * GB, "mbu": 1}
    reached = phases.prefill_time.solve("mfu", prefill_time=Fraction(1, 50_000), **known)
    assert isinstance(reached, Infeasible)
    assert (reached.why, round(1 + reached.deficit, 3)) == ("above", Fraction(2244, 1000))
    assert phases.flops_per_token.solve("parameters", flops_per_token=312 * 10**12 // 50_000) == 3_120_000_000
    assert slipped(phases.flops_per_token, "one-operation", "flops_per_token", parameters=7 * GB) == 7 * GB
    assert slipped(phases.flops_per_token, "training", "flops_per_token", parameters=7 * GB) == 42 * GB


def test_f18_exercise_3_has_no_solution() -> None:
    # K7: 100 tokens at 50 a second take 2 s; half a second needs 200 a second, and the card gives 151 to 152 at best.
    law = phases.meets_latency_target
    assert law(output=100, decode_rate=50, latency_target="0.5") is False
    assert law.solve("latency_target", output=100, decode_rate=50) == 2
    assert law.solve("decode_rate", output=100, latency_target="0.5") == 200
    assert law.solve("output", decode_rate=50, latency_target="0.5") == 25
    nothing_cached = {"weights": WEIGHTS, "kv_bytes_per_token": TOKEN, "flops_per_token": 2 * 6_704_594_944, **HEADS}
    for context, rate in ((1, 152), (100, 151), (150, 151)):
        step = found("decode_step_time", batch=1, context=context, **nothing_cached, **PEAK)
        assert round(1 / step) == rate < 200


def test_f21_littles_law() -> None:
    known = {"arrival_rate": Fraction(100, 60), "ttft": Fraction(1, 5), "output": 500, "decode_rate": 50}
    assert found("mean_concurrency", **known) == 17
    assert found("mean_concurrency", **{**known, "arrival_rate": 100}) == 1020
    service = phases.service_time(ttft="0.2", output=500, decode_rate=50)
    assert service == Fraction(102, 10)
    rate = Fraction(100, 60)
    wrong = {
        "ttft-forgotten": Fraction("16.667"),
        "prompt-decoded": Fraction("83.667"),
        "ttft-per-token": Fraction("183.333"),
    }
    for slug, mean in wrong.items():
        stay = slipped(phases.service_time, slug, "service_time", ttft="0.2", output=500, decode_rate=50, prompt=2000)
        assert round(rate * stay, 3) == mean
    over = slipped(
        queueing.mean_concurrency, "rate-over-time", "mean_concurrency", arrival_rate=rate, service_time=service
    )
    assert round(over, 3) == Fraction("0.163")
    assert queueing.mean_concurrency.solve("service_time", mean_concurrency=17, arrival_rate=rate) == service
    assert queueing.mean_concurrency.solve("arrival_rate", mean_concurrency=17, service_time=service) == rate


def test_f22_gpus_for_a_load() -> None:
    small = {"kv_budget": 14 * GB, "kv_bytes_per_token": TOKEN, "prompt": 2000, "output": 500}
    assert scaling.gpu_holds.solve("sequences_per_gpu", **small) == 10
    assert found("gpus", arrival_rate=Fraction(150, 60), service_time=Fraction(102, 10), **small) == 3
    assert found("gpus", arrival_rate=150, service_time=Fraction(102, 10), **small) == 154  # 153 by a plain ceiling
    assert slipped(scaling.carries, "one-gpu-per-sequence", "gpus", mean_concurrency="25.5") == 26
    assert slipped(scaling.gpu_holds, "output-forgotten", "sequences_per_gpu", **small) == 13
    # Section 0.0: at equality the queue grows without end.
    assert scaling.carries.solve("gpus", mean_concurrency=20, sequences_per_gpu=10) == 3


def test_k8_exercise_4_by_memory() -> None:
    # 17 sequences on average, 41 slots, one GPU; a prefill of 0.2 s takes a third of the time.
    big = {**PARTITION, "kv_bytes_per_token": TOKEN, "prompt": 2000, "output": 500}
    assert found("sequences_per_gpu", **big) == 41
    assert found("gpus", **big, arrival_rate=Fraction(100, 60), ttft=Fraction(1, 5), decode_rate=50) == 1
    assert memory.fits.solve("concurrency", context=2250, kv_bytes_per_token=TOKEN, kv_budget=54 * GB) == 45
    assert queueing.mean_concurrency(arrival_rate=Fraction(100, 60), service_time="0.2") == Fraction(1, 3)


def test_k1_a_card_that_reports_less_than_it_is_sold_with() -> None:
    budget = Fraction("79.15") * GIB - 26 * GB
    assert memory.holds_tokens.solve("token_capacity", kv_budget=budget, kv_bytes_per_token=TOKEN) == 112_508
    sold = Fraction("79.25") * GIB - 26 * GB
    assert memory.holds_tokens.solve("token_capacity", kv_budget=sold, kv_bytes_per_token=TOKEN) == 112_712
    for context, held in ((4096, 27), (8192, 13)):
        assert memory.fits.solve("concurrency", context=context, kv_bytes_per_token=TOKEN, kv_budget=budget) == held


def test_lab_2_and_7_scores_against_cache() -> None:
    assert attention.attention_scores_per_head(context=4096) == 16_777_216
    scores = [attention.attention_scores_per_head(context=n) for n in (2048, 4096)]
    cache = [memory.kv_bytes_per_sequence(context=n, kv_bytes_per_token=TOKEN) for n in (2048, 4096)]
    assert (scores[1] / scores[0], cache[1] / cache[0]) == (4, 2)


@pytest.mark.parametrize(
    ("layers", "kv_heads", "head_dim", "size"),
    [(32, 32, 128, 524_288), (32, 8, 128, 131_072), (28, 16, 256, 458_752)],
    ids=["chapter-7b", "llama-3-8b", "gemma-7b"],
)
def test_lab_4_cache_per_token(layers: int, kv_heads: int, head_dim: int, size: int) -> None:
    shape = {"layers": layers, "kv_heads": kv_heads, "head_dim": head_dim}
    assert memory.kv_bytes_per_token(**shape, kv_width=2) == size


def test_lab_4_gemma_has_more_than_the_rule_says() -> None:
    rule = memory.kv_bytes_per_token_approx(layers=28, hidden=3072, kv_width=2)
    assert rule == 344_064
    assert rule < memory.kv_bytes_per_token(layers=28, kv_heads=16, head_dim=256, kv_width=2)
    assert memory.kv_bytes_per_token_approx(layers=32, hidden=4096, kv_width=2) == TOKEN


def test_lab_5_and_6_cache_of_a_sequence() -> None:
    def cache(n: int) -> Any:
        return memory.kv_bytes_per_sequence(context=n, kv_bytes_per_token=TOKEN)

    assert cache(8192) == 2 * cache(4096)
    assert cache(1037) == cache(1000) + cache(37)
    assert cache(4096) == 2**31


def test_lab_8_ten_sequences_outgrow_the_weights() -> None:
    # F04 too: 10 x 4,096 tokens are 20 GiB or 21.47 GB.
    total = found("kv_bytes_total", concurrency=10, context=4096, kv_bytes_per_token=TOKEN)
    assert total == 20 * GIB == 21_474_836_480 > 14 * GB


def test_lab_13_both_columns_of_the_concurrency_table() -> None:
    for budget, by_context in ((54 * GB, {4096: 25, 8192: 12}), (54 * GIB, {4096: 27, 8192: 13})):
        for context, held in by_context.items():
            assert memory.fits.solve("concurrency", context=context, kv_bytes_per_token=TOKEN, kv_budget=budget) == held


def test_lab_14_twice_the_context_holds_half_rounded_down() -> None:
    def held(context: int) -> Any:
        return memory.fits.solve("concurrency", context=context, kv_bytes_per_token=TOKEN, kv_budget=54 * GB)

    for context in range(1, 9000, 7):
        assert held(2 * context) == held(context) // 2


def test_lab_15_a_negative_budget_is_no_capacity() -> None:
    short = memory.kv_budget(gpu_memory=80 * GB, weights=81 * GB, activations=4 * GB, safety_margin=0)
    assert short == Infeasible("kv_budget", "kv_budget", "below", 5 * GB, "B")


@pytest.mark.parametrize(("prompt", "bound"), [(153, "bandwidth"), (154, "compute")])
def test_lab_24_where_prefill_turns_compute_bound(prompt: int, bound: str) -> None:
    weights = {"weights": WEIGHTS, "kv_bytes_per_token": TOKEN, "flops_per_token": 2 * 6_704_594_944, **HEADS}
    given = {**weights, "prompt": prompt, **PEAK}
    at_peak = found("prefill_time", **given)
    assert found("prefill_time", **{**given, bound: 2 * PEAK[bound]}) < at_peak
    other = "compute" if bound == "bandwidth" else "bandwidth"
    assert found("prefill_time", **{**given, other: 2 * PEAK[other]}) == at_peak


def test_lab_22_23_and_32_times_at_peak() -> None:
    weights = {"weights": WEIGHTS, "kv_bytes_per_token": TOKEN, "flops_per_token": 2 * 6_704_594_944, **HEADS}
    assert round(found("prefill_time", prompt=1000, **weights, **PEAK) * 10**5) == 4382  # 43.82 ms
    step = [found("decode_step_time", batch=1, context=c, **weights, **PEAK) for c in (1000, 1001)]
    assert round(step[0] * 10**6) == 6833  # 6.833 ms
    assert step[1] - step[0] == Fraction(TOKEN, 2039 * GB)  # 0.25713 us per token


def test_lab_34_to_36_eight_sequences_at_once() -> None:
    weights = {"weights": WEIGHTS, "kv_bytes_per_token": TOKEN, "flops_per_token": 2 * 6_704_594_944, **HEADS}
    one, eight = (found("decode_step_time", batch=b, context=3072, **weights, **PEAK) for b in (1, 8))
    ratio = Fraction(3072 * TOKEN, WEIGHTS)
    assert 8 * one / eight == 8 * (1 + ratio) / (1 + 8 * ratio)
    assert round(8 * one / eight, 2) == Fraction("4.57")
    assert round(eight / one, 2) == Fraction("1.75")


def test_k17_the_mean_is_no_capacity() -> None:
    # F24: 50 in service on average; as many slots turn one in ten away, one in a hundred takes 64.
    assert round(queueing.blocking(servers=50, offered_load=50), 3) == Fraction("0.105")
    assert queueing.blocks_at_most.solve("servers", offered_load=50, blocking="0.01") == 64
    assert queueing.blocks_at_most.solve("servers", offered_load=10, blocking="0.01") == 18
    assert (
        queueing.blocking(servers=63, offered_load=50)
        > Fraction(1, 100)
        >= queueing.blocking(servers=64, offered_load=50)
    )


def test_paged_cache_is_not_additive() -> None:
    # I13: two halves of a block take two blocks, the whole one; I22: 6 blocks of 16 hold 3 and 2, not 3 and 1.
    blocks = memory.blocks_per_sequence
    assert blocks(context=8, block_size=16) + blocks(context=8, block_size=16) == 2 > blocks(context=16, block_size=16)
    budget = {"kv_budget": 6 * 16, "block_size": 16, "kv_bytes_per_block": 16}
    assert [memory.fits_in_blocks.solve("concurrency", context=c, **budget) for c in (24, 48)] == [3, 2]


def test_f19_gain_latency_and_limit_of_a_batch() -> None:
    known = {"batch": 8, "context": 3072, "kv_bytes_per_token": TOKEN, "weights": WEIGHTS}
    gains = [round(found(goal, **known), 2) for goal in ("batching_gain", "latency_factor")]
    assert gains == [Fraction("4.57"), Fraction("1.75")]
    assert round(found("batching_limit", **{n: v for n, v in known.items() if n != "batch"}), 2) == Fraction("9.33")


def test_f23_decode_that_slows_with_its_load() -> None:
    server = {"weights": WEIGHTS, "kv_bytes_per_token": TOKEN, "context": 2250, "bandwidth": 2039 * GB, "mbu": 1}
    load = {"arrival_rate": Fraction(5, 3), "prefill_time": Fraction(1, 5), "output": 500}
    assert round(found("self_consistent_concurrency", **server, **load), 1) == Fraction("30.9")
    slower = found("load_slope", **{**server, "mbu": Fraction(7, 10)}, **load)
    assert isinstance(slower, Infeasible)
    assert round(1 + slower.deficit, 3) == Fraction("1.033")  # type: ignore[operator]  # a slope above 1 has a deficit


def test_f24_slots_for_a_share_of_the_time() -> None:
    assert [found("servers", offered_load=50, covered=Fraction(c, 100)) for c in (95, 99)] == [62, 67]


def test_f32_traffic_of_a_group() -> None:
    group = {"batch": 1, "hidden": 4096, "activation_width": 2, "tensor_parallel": 4, "layers": 32, "link_latency": 0}
    assert found("communication_time", link_bandwidth=10**6, **group) == Fraction("0.786432")  # MB at 1 MB/s
    assert found("communication_time", link_bandwidth=10**6, **{**group, "tensor_parallel": 1}) == 0


def test_f36_prefill_of_twice_the_prompt() -> None:
    model = {"parameters": 6_704_594_944, **HEADS}
    assert round(found("prefill_cost_ratio", prompt=4096, **model), 3) == Fraction("2.148")
    assert round(found("prefill_cost_ratio", prompt=51_152, **model), 3) == 3
