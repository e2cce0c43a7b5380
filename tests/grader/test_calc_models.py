"""Calculating for real models: experts, latent attention and sliding windows, and what is refused by name."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.calc import NotCovered, calculate, named
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
        ("mixtral-8x7b", "flops_per_token", {}, "experts"),
        ("mixtral-8x7b", "decode_step_time", {"batch": "8", "context": "4096"}, "experts"),
        ("mixtral-8x7b", "parameters_approx", {}, "experts"),
        ("deepseek-v2-lite", "kv_bytes_per_token_approx", {}, "latent"),
        ("deepseek-v2-lite", "prefill_attention_flops", {"prompt": "100"}, "latent"),
        ("mistral-7b-v0.1", "sequences_per_gpu", {"prompt": "4000", "output": "97"}, "4,096"),
        ("gemma-3-1b", "token_capacity", {}, "512"),
        ("gemma-3-1b", "kv_bytes_total", {"concurrency": "2", "context": "4096"}, "512"),
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
