"""Mistakes computed without the laws, on many models and GPUs: each is named, and each right number is right."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from grader.diagnosing import diagnose, read_published
from grader.diagnosing.question import asked, peak, question
from grader.diagnosing.synonyms import spelled
from spec import catalog

pytestmark = pytest.mark.differential

GIB, FIGURES = 2**30, 3
DENSE = ("llama-3-8b", "llama-3-70b", "qwen2.5-7b", "mistral-7b-v0.3", "qwen3-8b")
EXPERTS = ("mixtral-8x7b", "deepseek-v3", "qwen3-30b-a3b", "gpt-oss-20b")
SLIDING = ("gemma-2-9b", "gemma-3-1b")


class Planted(NamedTuple):
    """A published number, what it measures, what is given, and the slips that made it; none for a right one."""

    number: str
    quantity: str
    given: list[str]
    slips: tuple[str, ...] = ()
    model: str = ""
    gpu: str = ""


def printed(value: float, figures: int = FIGURES) -> str:
    places = figures - 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, places):.{max(places, 0)}f}"


def of_caches() -> Iterator[Planted]:
    for name in DENSE:
        m, c = catalog.model(name), 32768
        per_token = 2 * m.layers * m.kv_heads * m.head_dim * 2
        hidden, heads = 2 * m.layers * m.hidden * 2, 2 * m.layers * m.heads * m.head_dim * 2
        shape = [f"layers={m.layers};hidden={m.hidden};heads={m.heads};kv_heads={m.kv_heads};head_dim={m.head_dim}"]
        shape.append("dtype=fp16 (2 B)")
        long = [*shape, f"context={c} tokens (printed 32K)"]
        pool = [*shape, "kv_budget=40GB"]
        yield Planted(f"{printed(per_token * c / 1e9)} GB", "kv_bytes_sequence", long)
        yield Planted(f"{per_token // 1024} KB", "kv_bytes_token", shape)
        yield Planted(f"{int(40e9 // per_token):,} tokens", "tokens", pool)
        yield Planted(f"{hidden // 1024} KB", "kv_bytes_token", shape, ("hidden-for-kv-width",))
        both = ("hidden-for-kv-width", "GiB-printed-as-GB")
        yield Planted(f"{printed(hidden * c / GIB)} GB", "kv_bytes_sequence", long, both)
        yield Planted(f"{printed(per_token * c / 2 / 1e9)} GB", "kv_bytes_sequence", long, ("values-forgotten",))
        yield Planted(f"{printed(per_token * c * 2 / 1e9)} GB", "kv_bytes_sequence", long, ("element-of-4-bytes",))
        both = ("query-heads-for-kv-heads", "values-forgotten")
        yield Planted(f"{printed(heads / 2 / 1e6, 4)} MB", "kv_bytes_per_token", shape, both)
        yield Planted(f"{int(40 * GIB // per_token):,} tokens", "tokens", pool, ("kv-budget-in-GiB",))


def of_odd_caches() -> Iterator[Planted]:
    for name in SLIDING:
        m, c = catalog.model(name), 32768
        full = 2 * m.layers * m.kv_heads * m.head_dim * 2 * c
        yield Planted(f"{printed(full / 1e9)} GB", "kv_bytes_sequence", [f"context={c}"], ("window-ignored",), name)
        both = ("window-ignored", "GiB-printed-as-GB")
        yield Planted(f"{printed(full / GIB)} GB", "kv_bytes_sequence", [f"context={c}"], both, name)
    asked_of = ("kv_bytes_sequence", ["context=131072"])
    yield Planted(f"{printed(61 * 576 * 2 * 131072 / 1e9)} GB", *asked_of, (), "DeepSeek-V3")
    yield Planted(f"{printed(2 * 61 * 576 * 2 * 131072 / 1e9)} GB", *asked_of, ("values-counted",), "DeepSeek-V3")
    yield Planted(f"{printed(4 * 61 * 128 * 192 * 131072 / 1e9)} GB", *asked_of, ("latent-as-heads",), "DeepSeek-V3")
    both = ("latent-as-one-head", "GiB-printed-as-GB")
    yield Planted(f"{printed(2 * 61 * 56 * 2 * 131072 / GIB)} GB", *asked_of, both, "DeepSeek-V3")


def of_weights() -> Iterator[Planted]:
    for name in DENSE:
        size = catalog.model(name).parameters or 0
        fp16 = ("weight_bytes", ["dtype=fp16"])
        yield Planted(f"{printed(2 * size / 1e9)} GB", *fp16, (), name)
        yield Planted(f"{printed(2 * size / GIB)} GB", *fp16, ("GiB-printed-as-GB",), name)
        yield Planted(f"{printed(2.4 * size / 1e9)} GB", *fp16, ("a-fifth-added",), name)
        yield Planted(f"{printed(size / 2 / 1e9)} GB", "weight_bytes", ["dtype=int8"], ("weights-of-4-bits",), name)
        yield Planted(f"{printed(size / 2 / 1e9)} GB", "weight_bytes", ["dtype=Q4_K_M"], ("nominal-bits",), name)
    for name in EXPERTS:
        m = catalog.model(name)
        active, size = m.active_parameters or 0, m.parameters or 0
        yield Planted(f"{printed(active / 1e9)} GB", "weight_bytes", ["dtype=fp8"], ("active-for-total",), name)
        yield Planted(f"{printed(size / 1e9)}B", "active_params", [], ("total-for-active",), name)


def of_times() -> Iterator[Planted]:
    for name in DENSE:
        size = catalog.model(name).parameters or 0
        for gpu in ("A100-SXM4-80GB", "H100-SXM5-80GB", "L40S"):
            rate, peak_rate = float(catalog.gpu(gpu).bandwidth.base), float(catalog.gpu(gpu).compute.base)
            step, prefill = 2 * size / rate, 2 * size * 2048 / peak_rate
            yield Planted(f"{printed(1000 * step)} ms/token", "decode_rate", ["dtype=fp16"], (), name, gpu)
            slow = ("bandwidth-in-GiB",)
            yield Planted(f"{printed(GIB / 1e9 / step)} t/s/u", "decode_rate", ["dtype=fp16"], slow, name, gpu)
            yield Planted(f"{printed(1000 * prefill)} ms", "ttft", ["prompt=2048"], (), name, gpu)
            yield Planted(f"{printed(500 * prefill)} ms", "ttft", ["prompt=2048"], ("sparse-peak",), name, gpu)
            yield Planted(f"{printed(3000 * prefill)} ms", "ttft", ["prompt=2048"], ("training",), name, gpu)


def of_machines() -> Iterator[Planted]:
    for name, gpu in catalog.gpus().items():
        dense = float(gpu.compute.base) / 1e12
        yield Planted(f"{dense:g} TFLOPS", "peak_flops", ["dtype=bf16"], (), "", name)
        yield Planted(f"{2 * dense:g} TFLOPS", "compute", ["dtype=bf16"], ("sparse-peak",), "", name)
        yield Planted("20.0%", "mfu", [f"achieved={0.4 * dense:.2f} TFLOP/s"], ("sparse-peak",), "", name)
        yield Planted("40.0% MFU", "mfu", [f"achieved={0.4 * dense:.2f} TFLOP/s"], (), "", name)
        if gpu.compute_8bit is not None:
            narrow = float(gpu.compute_8bit.base) / 1e12
            yield Planted(f"{narrow:g} TFLOPS", "compute", ["dtype=fp8"], (), "", name)
            yield Planted(f"{dense:g} TFLOPS", "compute", ["dtype=fp8"], ("peak-of-wider-format",), "", name)


PLANTED = [*of_caches(), *of_odd_caches(), *of_weights(), *of_times(), *of_machines()]


@pytest.mark.parametrize("case", PLANTED, ids=[f"{i} {case.quantity} {case.number}" for i, case in enumerate(PLANTED)])
def test_a_planted_mistake_is_named_and_a_right_number_is_right(case: Planted) -> None:
    models, gpus = catalog.models(), catalog.gpus()
    model = catalog.model(spelled(case.model, models)) if case.model else None  # type: ignore[arg-type]
    gpu = catalog.gpu(spelled(case.gpu, gpus)) if case.gpu else None  # type: ignore[arg-type]
    goal = asked(case.quantity, case.number, case.given)
    put = question(goal, case.given)
    peak(put, gpu)
    found = diagnose(read_published(goal, case.number), put, model, gpu)
    assert found.is_right == (not case.slips)
    assert found.is_right or set(case.slips) in [explanation.slugs for explanation in found.explanations]
