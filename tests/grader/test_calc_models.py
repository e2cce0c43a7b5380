"""Calculating for real models: experts, latent attention and sliding windows, and what is refused by name."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.calc import NotCovered, Unsolved, Unusable, calculate, named
from spec import catalog
from spec.solving import Infeasible
from tests.grader.calculating import calc


@pytest.mark.reality
@pytest.mark.parametrize("model", catalog.models().values(), ids=lambda model: model.name)
def test_the_parameters_of_every_model_are_derived_to_the_last_one(model: catalog.Model) -> None:
    found = calculate(named("parameters"), {}, model)
    assert found.result == model.parameters
    assert found.steps[-1].law == ("parameters" if model.experts is None else "parameters_with_experts")
    assert {step.law for step in found.steps} >= {
        "attention_parameters" if model.kv_lora_rank is None
        else "attention_parameters_latent_keys" if model.q_lora_rank is None
        else "attention_parameters_latent"
    }  # fmt: skip


@pytest.mark.reality
@pytest.mark.parametrize("model", [m for m in catalog.models().values() if m.experts], ids=lambda model: model.name)
def test_the_parameters_that_a_token_meets_are_derived_to_the_last_one(model: catalog.Model) -> None:
    found = calculate(named("active_parameters"), {}, model)
    assert found.result == model.active_parameters
    assert found.steps[-1].law == "active_parameters"


def test_a_count_that_the_sizes_do_not_give_is_looked_up_and_said_to_be() -> None:
    model = dataclasses.replace(catalog.model("mixtral-8x7b"), moe_intermediate=None)
    found = calculate(named("parameters"), {}, model)
    assert (found.result, found.steps, found.source) == (model.parameters, (), model.source)
    assert calculate(named("weights"), {}, model).result == 2 * (model.parameters or 0)


@pytest.mark.reality
def test_a_published_parameter_count_follows_from_the_sizes_alone() -> None:
    # Qwen2.5-32B: its model card says 32.5 B, of which 31.0 B outside the embeddings.
    sizes = {
        "layers": "64", "hidden": "5120", "heads": "40", "kv_heads": "8", "head_dim": "128", "intermediate": "27648",
        "vocab": "152064", "gated": "yes", "tied": "no", "qkv_bias": "yes",
    }  # fmt: skip
    assert calc("parameters", **sizes) == 32_763_876_352


@pytest.mark.reality
def test_latent_attention_caches_its_compressed_vector() -> None:
    # DeepSeek-V3: 61 layers of 512 + 64 elements.
    assert calc("kv_bytes_per_token", "deepseek-v3") == 61 * (512 + 64) * 2


@pytest.mark.parametrize(
    ("model", "goal", "given_", "trait"),
    [
        ("mixtral-8x7b", "parameters_approx", {}, "experts"),
        ("mixtral-8x7b", "cache_to_weights", {"context": "4096"}, "experts"),
        ("deepseek-v2-lite", "kv_bytes_per_token_approx", {}, "latent"),
        ("deepseek-v2-lite", "prefill_attention_flops", {"prompt": "100"}, "latent"),
        ("mistral-7b-v0.1", "decode_step_time", {"batch": "8", "context": "5000"}, "4,096"),
        ("gemma-3-1b", "token_capacity", {}, "512"),
        ("gemma-3-1b", "kv_bytes_total", {"cached_tokens": "4096"}, "512"),
    ],
)
def test_what_the_laws_do_not_cover_is_refused_by_name(
    model: str, goal: str, given_: dict[str, str], trait: str
) -> None:
    with pytest.raises(NotCovered) as caught:
        calc(goal, model, "h100", **given_)
    for said in (goal, model, trait):
        assert said in str(caught.value)


def test_a_context_inside_the_sliding_window_is_that_of_a_plain_model() -> None:
    assert calc("sequences_per_gpu", "mistral-7b-v0.1", "h100", prompt="4000", output="96") == 122
    found = calculate(named("kv_bytes_per_sequence"), {"context": 4096}, catalog.model("mistral-7b-v0.1"))
    assert found.result == 4096 * 131072
    assert [step.law for step in found.steps] == ["kv_bytes_per_token", "kv_bytes_per_sequence"]
    assert calc("kv_bytes_total", "gemma-3-1b", context="512", concurrency="2") == 2 * 512 * 26 * 2 * 256 * 2


def test_what_has_no_value_with_a_window_is_refused_with_what_to_ask_instead() -> None:
    for goal, given_, instead in (
        ("token_capacity", {}, "ask for concurrency with a context"),
        ("kv_bytes_total", {"cached_tokens": "4096"}, "give concurrency and context"),
    ):
        with pytest.raises(NotCovered) as caught:
            calc(goal, "gemma-3-1b", "h100", **given_)
        assert instead in str(caught.value)


def test_requests_and_blocks_longer_than_the_window_are_counted_with_it() -> None:
    window, layer = 4096, 4096  # tokens, and bytes of one token in one layer
    budget = 80 * 10**9 - 2 * (catalog.model("mistral-7b-v0.1").parameters or 0)
    assert calc("sequences_per_gpu", "mistral-7b-v0.1", "h100", prompt="4000", output="97") == budget // (
        32 * window * layer
    )
    gemma = catalog.model("gemma-3-1b")
    assert (gemma.layers, gemma.sliding_layers, gemma.sliding_window) == (26, 22, 512)
    one = (4 * 4096 + 22 * 512) * 2 * 256 * 2
    assert calc("kv_bytes_total", "gemma-3-1b", concurrency="2", context="4096") == 2 * one
    in_blocks = (4 * 4112 + 22 * 512) * 2 * 256 * 2
    rest = 24 * 10**9 - 2 * (gemma.parameters or 0)
    assert calc("concurrency", "gemma-3-1b", "l4", context="4097", block_size="16") == rest // in_blocks


def test_experts_work_on_what_a_token_meets_and_read_at_least_that() -> None:
    met, cached, token = 12_879_925_248, 1000, 131_072
    assert calc("flops_per_token", "mixtral-8x7b") == 2 * met
    assert calc("active_parameters", "llama-2-7b") == 6_738_415_616
    step = calc("decode_step_time", "mixtral-8x7b", "h100", batch="1", context="1000")
    assert step == Fraction(2 * met + cached * token, 3350 * 10**9)
    prefill = calc("prefill_time", "mixtral-8x7b", "h100", prompt="10000")
    attention = 2 * 32 * 32 * 128 * 10_000**2
    assert prefill == Fraction(2 * met * 10_000 + attention, 989 * 10**12)


def test_experts_in_every_layer_need_no_dense_network() -> None:
    mixtral = {
        "layers": "32", "hidden": "4096", "heads": "32", "kv_heads": "8", "head_dim": "128", "vocab": "32000",
        "gated": "yes", "tied": "no", "experts": "8", "experts_per_token": "2", "moe_intermediate": "14336",
    }  # fmt: skip
    for none in ({}, {"dense_layers": "0"}):
        assert calc("parameters", **mixtral, **none) == 46_702_792_704
        assert calc("active_parameters", **mixtral, **none) == 12_879_925_248
    with pytest.raises(Unusable):
        calc("parameters", **mixtral, dense_layers="3")


def test_a_group_of_gpus_shares_weights_and_caches() -> None:
    group = {"tensor_parallel": "8"}
    weights = 2 * 70_553_706_496
    budget = calc("kv_budget", "llama-3-70b", "h100", **group)
    assert budget == 80 * 10**9 - weights // 8
    assert isinstance(budget, int)
    token = 2 * 80 * 1 * 128 * 2  # one of the eight key-value heads on each GPU
    assert calc("kv_budget_of_group", "llama-3-70b", "h100", **group) == 8 * budget
    assert calc("token_capacity", "llama-3-70b", "h100", **group) == budget // token
    assert calc("concurrency", "llama-3-70b", "h100", context="8192", **group) == budget // (8192 * token)
    # Sixteen GPUs have no smaller part of the cache than eight: no head is split.
    assert calc("kv_bytes_per_token_per_gpu", "llama-3-70b", tensor_parallel="16") == token
    assert calc("group_size", "llama-3-70b", "h100", concurrency="8", context="8192") == 3
    assert calc("concurrency", "llama-3-8b", "h100", context="8192", tensor_parallel="1") == calc(
        "concurrency", "llama-3-8b", "h100", context="8192"
    )


def test_a_group_reaches_the_share_that_each_gpu_does() -> None:
    work = calc("prefill_flops", "llama-3-70b", prompt="4000")
    assert isinstance(work, int)
    measured = {"prompt": "4000", "prefill_time": "2s", "tensor_parallel": "4"}
    assert calc("achieved_mfu", "llama-3-70b", "h100", **measured) == Fraction(work, 4 * 2 * 989 * 10**12)
    for goal in ("sequences_per_gpu", "decode_is_compute_bound"):
        with pytest.raises(Unsolved):
            calc(goal, "llama-3-70b", "h100", tensor_parallel="4", batch="8", context="100", prompt="9", output="9")
    with pytest.raises(Unsolved) as caught:
        calc("tensor_parallel", "llama-3-70b", "h100", concurrency="8", context="8192")
    assert "group_size" in str(caught.value)


@pytest.mark.law
def test_a_group_of_one_steps_like_one_gpu_and_a_larger_one_faster() -> None:
    load = {"batch": "8", "context": "2048"}
    alone = calc("decode_step_time", "llama-2-7b", "h100", **load)
    assert calc("decode_step_time", "llama-2-7b", "h100", tensor_parallel="1", **load) == alone
    assert isinstance(alone, Fraction)
    assert calc("decode_step_time", "llama-2-7b", "h100", tensor_parallel="4", **load) == alone / 4
    link = {"link_bandwidth": "450GB/s", "link_latency": "8us"}
    slower = calc("decode_step_time", "llama-2-7b", "h100", tensor_parallel="4", **load, **link)
    assert isinstance(slower, Fraction)
    assert slower > alone / 4 + 64 * Fraction(8, 10**6)


def test_a_quantised_cache_is_counted_with_its_scales() -> None:
    assert calc("kv_bytes_per_token", "llama-3-8b", stored_kv_bits="8", kv_group="32", kv_group_bits="16") == 69_632
    assert calc("kv_bytes_per_token", "llama-3-8b", kv_width="1", scale_width="4") == 2 * 32 * 8 * (128 + 4)
    fp8 = {"kv_width": "1", "rope_width": "2", "latent_scale_width": "16"}
    assert calc("kv_bytes_per_token", "deepseek-v3", **fp8) == 61 * 656
    assert calc("weights", parameters="1000", stored_weight_bits="4", weight_group="128", weight_group_bits="20") == (
        Fraction(133 * 1000, 32 * 8)
    )


def test_beyond_the_window_sliding_layers_keep_no_more() -> None:
    assert calc("kv_bytes_per_sequence", "mistral-7b-v0.1", context="4097") == 4096 * 131072
    budget = 80 * 10**9 - 2 * (catalog.model("mistral-7b-v0.1").parameters or 0)
    assert calc("concurrency", "mistral-7b-v0.1", "h100", context="8192") == budget // (4096 * 131072)
    unlimited = calc("context", "mistral-7b-v0.1", "h100", concurrency="8")
    assert isinstance(unlimited, Infeasible)
    assert unlimited.why == "unbounded"


@pytest.mark.law
@pytest.mark.parametrize("model", [m for m in catalog.models().values() if m.sliding_window], ids=lambda m: m.name)
@given(beyond=st.integers(1, 10**5), block=st.sampled_from([0, 1, 7, 16]))
def test_the_cache_of_a_sliding_model_is_the_sum_over_its_layers(model: catalog.Model, beyond: int, block: int) -> None:
    window, sliding = model.sliding_window or 0, model.sliding_layers or 0
    lengths = [min(window, window + beyond) if layer < sliding else window + beyond for layer in range(model.layers)]
    kept = sum(-(-length // block) * block if block else length for length in lengths)
    given_ = {"context": window + beyond} | ({"block_size": block} if block else {})
    found = calculate(named("kv_bytes_per_sequence"), given_, model)
    assert found.result == kept * 2 * model.kv_heads * model.head_dim * 2
    assert found.unused == ()


@pytest.mark.roundtrip
@pytest.mark.parametrize("model", ["gemma-2-9b", "gemma-3-1b", "gpt-oss-20b"])
@given(concurrency=st.integers(1, 64))
def test_the_longest_context_of_a_sliding_model_fits_and_the_next_does_not(model: str, concurrency: int) -> None:
    row, card = catalog.model(model), catalog.gpu("h100")
    longest = calculate(named("context"), {"concurrency": concurrency}, row, card).result
    assert isinstance(longest, int)
    held = [calculate(named("concurrency"), {"context": c}, row, card).result for c in (longest, longest + 1)]
    assert isinstance(held[0], int)
    assert isinstance(held[1], int)
    assert held[0] >= concurrency > held[1]


def test_the_largest_batch_for_a_target_per_token() -> None:
    assert calc("batch", "llama-2-7b", "a100-80gb", context="4096", tpot_target="20ms") == 12
    assert calc("tpot_target", "llama-2-7b", "a100-80gb", context="4096", batch="12") == calc(
        "tpot", "llama-2-7b", "a100-80gb", context="4096", batch="12"
    )
