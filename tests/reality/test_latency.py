"""The roofline against published latencies: no engine is faster than it, and single requests are not far slower.

`latency.tsv` holds public measurements, each with its source. Nothing is timed that a run might not do: the embedding
is looked up and not multiplied, a prompt needs the logits of its last token only, and of attention in the rows that
serve as many requests as possible nothing is counted.
"""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path

import pytest

from spec import catalog, phases
from spec.solving import Exact

pytestmark = pytest.mark.reality

with (Path(__file__).parents[1] / "data" / "latency.tsv").open(encoding="utf-8", newline="") as file:
    ROWS = {row["id"]: row for row in csv.DictReader(file, delimiter="\t")}
TIMED = sorted(name for name, row in ROWS.items() if row["bound_ttft_ms"])
SERVED = sorted(name for name, row in ROWS.items() if row["bound_output_tok_s"])
# Layers, width of a layer's attention, bytes of cache per token at 16 bits, parameters, one V-by-H matrix, tied.
MODELS = {
    "Qwen3-1.7B": (28, 2048, 114_688, 1_720_574_976, 151_936 * 2048, True),
    "Qwen2.5-7B": (28, 3584, 57_344, 7_615_616_512, 152_064 * 3584, False),
    "Llama-3.1-8B": (32, 4096, 131_072, 8_030_261_248, 128_256 * 4096, False),
    "Llama-3.3-70B": (80, 8192, 327_680, 70_553_706_496, 128_256 * 8192, False),
}
GPUS = {
    "A100": "a100-sxm4-80gb",
    "A100-PCIe": "a100-pcie-80gb",
    "H100": "h100-sxm5-80gb",
    "H200": "h200",
    "RTX 4090": "rtx-4090",
}
FP8_OVER_FP16 = 2  # multiply-adds of half the width run at twice the rate on these GPUs
SLOWEST = 7  # the farthest single request: a prompt of 128 tokens, whose time is mostly starting kernels


def worked(row: dict[str, str]) -> tuple[Exact, Exact]:
    """Return the parameters that a prompt token and a decoded token are multiplied with."""
    *_, parameters, matrix, tied = MODELS[row["model"]]
    return parameters - matrix * (1 if tied else 2), parameters - matrix * (0 if tied else 1)


def machine(row: dict[str, str]) -> dict[str, Exact]:
    gpu = catalog.gpu(GPUS[row["gpu"]])
    return {"compute": gpu.compute.base, "bandwidth": gpu.bandwidth.base, "mfu": 1, "mbu": 1}


def first_token(row: dict[str, str]) -> Exact:
    layers, width, cache, *_ = MODELS[row["model"]]
    prompt, (layered, multiplied) = int(row["isl"]), worked(row)
    flops = phases.prefill_flops(
        flops_per_token=phases.flops_per_token(parameters=layered),
        prompt=prompt,
        prefill_attention_flops=phases.prefill_attention_flops(layers=layers, heads=1, head_dim=width, prompt=prompt),
    )
    moved = phases.prefill_bytes(weights=2 * multiplied, prompt=prompt, kv_bytes_per_token=cache)
    return Fraction(phases.prefill_time(prefill_flops=flops, prefill_bytes=moved, **machine(row)))


def step(row: dict[str, str]) -> Exact:
    layers, width, cache, *_ = MODELS[row["model"]]
    batch, (_, multiplied) = int(row["concurrency"]), worked(row)
    cached = phases.cached_tokens_of_batch(batch=batch, context=int(row["isl"]))
    flops = phases.decode_flops(
        decode_matrix_flops=phases.decode_matrix_flops(
            batch=batch, flops_per_token=phases.flops_per_token(parameters=multiplied)
        ),
        decode_attention_flops=phases.decode_attention_flops(
            layers=layers, heads=1, head_dim=width, cached_tokens=cached
        ),
    )
    moved = phases.decode_bytes(weights=2 * multiplied, cached_tokens=cached, kv_bytes_per_token=cache)
    return Fraction(phases.decode_step_time(decode_flops=flops, decode_bytes=moved, **machine(row)))


def most_tokens(row: dict[str, str]) -> Exact:
    """Return the output tokens a second if the GPUs did nothing but multiply."""
    prompt, output = int(row["isl"]), int(row["osl"])
    layered, multiplied = (phases.flops_per_token(parameters=parameters) for parameters in worked(row))
    compute = int(row["tp"]) * FP8_OVER_FP16 * machine(row)["compute"]
    return Fraction(output * compute) / (prompt * layered + output * multiplied)


@pytest.mark.parametrize("name", TIMED)
def test_no_first_token_comes_before_its_prefill(name: str) -> None:
    measured = Fraction(ROWS[name]["ttft_ms"]) / 1000
    assert first_token(ROWS[name]) <= measured <= SLOWEST * first_token(ROWS[name])


@pytest.mark.parametrize("name", TIMED)
def test_no_token_is_faster_than_its_step(name: str) -> None:
    measured = Fraction(ROWS[name]["tpot_ms"]) / 1000
    assert step(ROWS[name]) <= measured <= 3 * step(ROWS[name])


@pytest.mark.parametrize("name", SERVED)
def test_no_server_makes_more_tokens_than_its_arithmetic_allows(name: str) -> None:
    measured = Fraction(ROWS[name]["output_tok_s"])
    assert most_tokens(ROWS[name]) / 20 <= measured <= most_tokens(ROWS[name])


def test_a_bound_twice_as_strict_would_be_broken() -> None:
    assert any(2 * step(ROWS[name]) > Fraction(ROWS[name]["tpot_ms"]) / 1000 for name in TIMED)
    assert any(2 * first_token(ROWS[name]) > Fraction(ROWS[name]["ttft_ms"]) / 1000 for name in TIMED)
    assert any(most_tokens(ROWS[name]) / 2 < Fraction(ROWS[name]["output_tok_s"]) for name in SERVED)


def test_the_other_rows_are_of_models_with_latent_attention_and_experts() -> None:
    others = ROWS.keys() - set(TIMED) - set(SERVED)
    assert {ROWS[name]["model"] for name in others} == {"DeepSeek-R1-0528-AWQ", "DeepSeek-V2-Lite"}
    assert all(row["source"] for row in ROWS.values())
