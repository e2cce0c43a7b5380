"""One question to servespec and to public packages, side by side: Llama-2-7B in 16 bits on an A100 with 80 GB."""

from __future__ import annotations

import json
import logging
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from bench.timing import table
from spec import memory
from spec.chain import chain, follow
from spec.index import laws
from spec.solving import Exact

CONTEXT = 4096
SHAPE: dict[str, Exact] = {"layers": 32, "kv_heads": 32, "head_dim": 128, "kv_width": 2}
CONFIG: dict[str, Any] = {
    "model_type": "llama",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 32,
    "intermediate_size": 11_008,
    "vocab_size": 32_000,
    "tie_word_embeddings": False,
}
PARAMETERS = 6_738_415_616
GB, GIB = 10**9, 2**30
RUNS, LONGEST = 2000, 0.3  # calls of a formula that is timed, and seconds after which it is enough
COLUMNS = ("parameters", "weights GB", "KV B/token", "KV 4,096 GB", "sequences", "prefill ms", "decode ms", "us")


@dataclass(frozen=True)
class Row:
    """What one package answers; None where it does not answer.

    Attributes:
        name: the package.
        formula: its cache of one token, to be timed.
        reasons: why values differ from those of servespec, by column.
    """

    name: str
    parameters: float | None = None
    weights: float | None = None
    per_token: float | None = None
    per_context: float | None = None
    sequences: float | None = None
    prefill: float | None = None
    decode: float | None = None
    formula: Callable[[], object] | None = None
    reasons: str = ""

    def cells(self) -> list[str]:
        """Return the values as they are printed, the microseconds of one evaluation last."""
        took = "-" if self.formula is None else f"{median_microseconds(self.formula):.1f}"
        return [
            self.name,
            _cell(self.parameters, 1, 0),
            _cell(self.weights, GB, 3),
            _cell(self.per_token, 1, 0),
            _cell(self.per_context, GB, 3),
            _cell(self.sequences, 1, 0),
            _cell(self.prefill, 1 / 1000, 1),
            _cell(self.decode, 1 / 1000, 3),
            took,
        ]


def _cell(value: float | None, unit: float, decimals: int) -> str:
    return "-" if value is None else f"{float(value) / unit:,.{decimals}f}"


def median_microseconds(action: Callable[[], object]) -> float:
    """Return the median time of a call, warm: of many calls, or of as many as fit the time."""
    action()
    times: list[int] = []
    end = time.perf_counter() + LONGEST
    while len(times) < RUNS and time.perf_counter() < end:
        start = time.perf_counter_ns()
        action()
        times.append(time.perf_counter_ns() - start)
    return statistics.median(times or [0]) / 1000


def derived(goal: str, **known: Exact) -> Any:
    """Return a quantity from what is known, by the laws of the specification."""
    steps = chain(goal, known, list(laws().values()))
    return follow(steps, dict(known))[goal]


def servespec() -> Row:
    """Return the specification's own row: label size of the GPU, nothing reserved, full efficiency."""
    known: dict[str, Exact] = {"hidden": 4096, "heads": 32, "intermediate": 11_008, "vocab": 32_000} | SHAPE
    known |= {"gated": 1, "tied": 0, "qkv_bias": 0, "o_bias": 0, "mlp_bias": 0, "lm_head_bias": 0, "qk_norm": 0}
    known |= {"attention_sinks": 0, "norm_vectors": 1, "norms_per_layer": 2, "position_embeddings": 0}
    known |= {"weight_bits": 16, "gpu_memory": 80 * GB, "activations": 0, "safety_margin": 0, "context": CONTEXT}
    known |= {"prompt": CONTEXT, "batch": 1, "bandwidth": 2039 * GB, "compute": 312 * 10**12, "mfu": 1, "mbu": 1}
    return Row(
        "servespec",
        derived("parameters", **known),
        derived("weights", **known),
        derived("kv_bytes_per_token", **known),
        derived("kv_bytes_per_sequence", **known),
        derived("concurrency", **{name: value for name, value in known.items() if name != "batch"}),
        derived("prefill_time", **known),
        derived("decode_step_time", **known),
        lambda: memory.kv_bytes_per_token(**SHAPE),
        "80 GB as labelled, nothing reserved, peak rates, causal attention, the output head on every prompt token; "
        "computes with exact numbers",
    )


def llm_analysis() -> Row:
    """Ask its inference report, with its own configurations of the model and the GPU."""
    from llm_analysis.analysis import LLMAnalysis
    from llm_analysis.config import get_gpu_config_by_name, get_model_config_by_name

    model = get_model_config_by_name("NousResearch_Llama-2-7b-hf")
    model.max_seq_len = None
    analysis = LLMAnalysis(model, get_gpu_config_by_name("a100-sxm-80gb"))
    said = analysis.inference(1, CONTEXT, 1)
    return Row(
        "llm-analysis",
        analysis.get_num_params_total(),
        said["weight_memory_per_gpu"],
        32 * analysis.get_memory_kv_cache_per_layer(1, 1, 2),
        32 * analysis.get_memory_kv_cache_per_layer(1, CONTEXT, 2),
        said["decode_max_batch_size_per_gpu"],
        said["prefill_latency"],
        said["decode_latency"],
        lambda: 32 * analysis.get_memory_kv_cache_per_layer(1, 1, 2),
        "two matrices of 4H instead of three of 11,008, and one embedding: 2.4 % fewer parameters; 80 GB as 80 GiB; "
        "attention over the full square; times of parts added; the cache counted as read and written in every step",
    )


def mlsysim() -> Row:
    """Ask its serving model, with its own rows of the model and the GPU."""
    from mlsysim import Hardware, Models
    from mlsysim.core.units import ureg
    from mlsysim.engine.solvers.serving import ServingModel
    from mlsysim.physics.memory import calc_kv_cache_size, calc_kv_resident_fit

    model, gpu = Models.Language.Llama2_7B, Hardware.Cloud.A100
    said = ServingModel().solve(model, gpu, seq_len=CONTEXT, batch_size=1, precision="fp16", efficiency=1.0)
    per_context = calc_kv_cache_size(32, 32, 128, CONTEXT, 1)
    return Row(
        "mlsysim",
        model.parameters.magnitude,
        said.model_weights_size.to(ureg.byte).magnitude,
        calc_kv_cache_size(32, 32, 128, 1, 1).magnitude,
        per_context.magnitude,
        calc_kv_resident_fit(gpu.memory.capacity - said.model_weights_size, per_context),
        said.ttft.to(ureg.second).magnitude,
        said.itl.to(ureg.second).magnitude,
        lambda: calc_kv_cache_size(32, 32, 128, 1, 1),
        "parameters rounded to 7.0e9; 80 GB as 80 GiB; attention over the full square; 0.01 ms a layer added to a step",
    )


def genz() -> Row:
    """Ask its prefill and decode models, with its own row of the model."""
    from GenZ.LLM_inference.llm_decode import decode_moddeling
    from GenZ.LLM_inference.llm_prefill import prefill_moddeling
    from GenZ.Models.default_models import ModelConfig

    gpu = {"Flops": 312, "Memory_size": 80, "Memory_BW": 2039, "ICN": 300, "real_values": True}
    asked = {"model": "meta-llama/Llama-2-7B", "batch_size": 1, "input_tokens": CONTEXT, "system_name": gpu}
    prefill, decode = prefill_moddeling(**asked), decode_moddeling(**asked, Bb=1)
    mib = float(prefill["summary_table"]["Total Weights (MB)"].iloc[0])
    cache = float(prefill["summary_table"]["KV Cache (MB)"].iloc[0])
    return Row(
        "GenZ",
        None,
        mib * 2**20,
        cache * 2**20 / CONTEXT,
        cache * 2**20,
        None,
        float(prefill["Latency"]) / 1000,
        float(decode["Latency"]) / 1000,
        lambda: 2 * ModelConfig(num_decoder_layers=32, num_attention_heads=32, head_dim=128).get_kv_size(),
        "2,039 GB/s taken as GiB/s: decode 6.9 % short; the input embedding is not read; attention over the full "
        "square; the formula builds a model each time",
    )


def ridgepoint() -> Row:
    """Ask its registry."""
    from ridgepoint import fit

    def ask(context: int) -> dict[str, Any]:
        said = fit("llama-2-7b", "a100-80gb", ctx=context, prompt=CONTEXT, as_json=True)
        return dict(json.loads(said))

    said = ask(CONTEXT)
    return Row(
        "ridgepoint",
        said["model"]["params"],
        said["memory"]["weights_bytes"]["best"],
        ask(1)["capacity"]["bytes_per_seq"],
        said["capacity"]["bytes_per_seq"],
        said["capacity"]["max_sequences"]["best"],
        said["speed"]["ttft_s"]["best"],
        1 / said["speed"]["decode_tok_s"]["best"],
        lambda: ask(1),
        "0.90 of what the driver reports, less an overhead; times calibrated on a real engine, without attention in "
        "the prefill; the formula is its whole report",
    )


def servcalc() -> Row:
    """Ask its estimate for vLLM."""
    from servcalc import work
    from servcalc.estimate import estimate
    from servcalc.workload import Workload
    from vramcalc.arch import Arch

    arch = Arch.from_config(CONFIG)
    said = estimate(CONFIG, "A100 80GB", workload=Workload(CONTEXT, 256, (1,)))
    point = said.points[0]
    return Row(
        "servcalc",
        arch.param_count(),
        said.weight_bytes,
        said.kv_bytes_per_token,
        said.kv_bytes_per_token * CONTEXT,
        said.memory_capacity_seqs,
        point.ttft_ms.mid / 1000 if point.ttft_ms else None,
        point.itl_ms.mid / 1000,
        lambda: work.kv_bytes_per_token(arch, 16),
        "0.85 of the memory; efficiencies of a real engine, prefill in chunks of 512 with an overhead each; "
        "sequences of 4,096 tokens and 256 more",
    )


def sched_sim() -> Row:
    """Ask its hardware profile, block manager and roofline model, at full efficiency."""
    from sched_sim.hardware.latency_model import RooflineLatencyModel
    from sched_sim.hardware.profile import HardwareProfile
    from sched_sim.memory.block_manager import BlockManager

    profile = HardwareProfile(
        vram_gb=80,
        memory_bandwidth_gb_s=2039,
        fp16_tflops=312,
        tensor_core_efficiency=1,
        kernel_launch_overhead_ms=0,
        parameter_count_billions=PARAMETERS / 1e9,
        num_layers=32,
        num_kv_heads=32,
        head_dim=128,
    )
    times = RooflineLatencyModel(profile)
    blocks = BlockManager(profile)
    return Row(
        "sched-sim",
        None,
        times.weights_bytes,
        profile.kv_bytes_per_token,
        profile.kv_bytes_per_token * CONTEXT,
        blocks.total_gpu_blocks // blocks.blocks_required(CONTEXT),
        times.compute_prefill_step_time(CONTEXT),
        times.compute_decode_step_time(1, CONTEXT),
        lambda: profile.kv_bytes_per_token,
        "parameters are an input; 80 GB as 80 GiB, less half a GiB; no attention in the prefill",
    )


def vidur() -> Row:
    """Ask its memory planner with its usual margin of a tenth."""
    from types import SimpleNamespace

    from vidur.utils.memory_planner import MemoryPlanner

    replica = SimpleNamespace(
        model_config=SimpleNamespace(embedding_dim=4096, use_gated_mlp=True, mlp_hidden_dim=11_008),
        device_config=SimpleNamespace(total_memory_gb=80),
        attention_head_dim=128,
        q_heads_per_tensor_parallel_worker=32,
        kv_heads_per_tensor_parallel_worker=32,
        num_layers_per_pipeline_stage=32,
        tensor_parallel_size=1,
    )
    planner = MemoryPlanner(replica, SimpleNamespace(memory_margin_fraction=0.1))
    per_token = planner._get_kv_cache_memory_per_device_per_token  # noqa: SLF001
    return Row(
        "vidur",
        planner._param_counter.get_num_parameters_per_device(),  # noqa: SLF001
        planner._get_parameter_memory_per_device(),  # noqa: SLF001
        per_token(),
        per_token() * CONTEXT,
        planner.get_max_kv_cache_size_in_tokens() // CONTEXT,
        formula=per_token,
        reasons="embeddings, output head and norms are not counted; 0.90 of 80 GiB; times come from trained profiles",
    )


def llm_flops() -> Row:
    """Ask its estimate and throughput at full efficiency."""
    import llmflops
    from llmflops.memory import kv_cache_bytes
    from llmflops.registry import get_config

    model = get_config("llama-2-7b")
    asked = {"gpu": "A100", "sequence_length": CONTEXT, "output_tokens": 0, "mem_efficiency": 1.0}
    said, alone = llmflops.throughput("llama-2-7b", **asked), llmflops.throughput("llama-2-7b", max_batch=1, **asked)
    times = llmflops.estimate(
        "llama-2-7b", gpu="A100", sequence_length=CONTEXT, compute_efficiency=1.0, mem_efficiency=1.0
    )
    return Row(
        "llm-flops",
        llmflops.memory.parameter_count(model).total,
        said["per_gpu_weight_gb"] * GB,
        kv_cache_bytes(model, 1, 1, "bf16"),
        kv_cache_bytes(model, 1, CONTEXT, "bf16"),
        said["max_concurrent_batch"],
        times["latency"],
        alone["decode_step_ms"] / 1000,
        lambda: kv_cache_bytes(model, 1, 1, "bf16"),
        "0.90 of 80 GB; attention over the full square, with softmax and norms counted",
    )


def fitcheck() -> Row:
    """Ask its serving report for the memory that the driver reports."""
    from fitcheck.config_parser import ModelConfig, _count_params, _parse_fields
    from fitcheck.memory.inference import estimate_inference_memory
    from fitcheck.memory.weights import estimate_weight_memory

    count = _count_params(_parse_fields(CONFIG))
    model = ModelConfig("llama-2-7b", count, 4096, 32, 32, 32, 11_008, 32_000, 128, tie_word_embeddings=False)
    per_token = lambda: estimate_inference_memory(model, "bf16", 1).kv_cache_mib  # noqa: E731
    return Row(
        "fitcheck-llm",
        count,
        estimate_weight_memory(count, "bf16") * 2**20,
        per_token() * 2**20,
        estimate_inference_memory(model, "bf16", CONTEXT).kv_cache_mib * 2**20,
        formula=per_token,
        reasons="no time model; its capacity adds a measured overhead of one small GPU, and is not asked here",
    )


PEERS = (llm_analysis, mlsysim, genz, ridgepoint, servcalc, sched_sim, vidur, llm_flops, fitcheck)


def rows() -> Iterator[Row]:
    """Give the row of the specification and of every package that is installed."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    yield servespec()
    for peer in PEERS:
        try:
            yield peer()
        except ImportError:
            continue


def versions(names: tuple[str, ...]) -> dict[str, str]:
    """Return the versions of those packages that are installed."""
    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def run() -> str:
    """Lay the answers out side by side, with the reasons for the differences below."""
    found = list(rows())
    if len(found) == 1:
        return "The packages to compare with are not installed here; make peers does that.\n"
    title = "Llama-2-7B, 16 bits, one A100 with 80 GB, 4,096 tokens, one sequence; us: one token's cache, warm, median"
    laid = table(title, ("package", *COLUMNS), [row.cells() for row in found])
    return laid + "\n".join(f"  {row.name}: {row.reasons}." for row in found) + "\n"
