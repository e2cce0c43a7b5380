"""How calculators are asked about the cases in which they go wrong, and what is right there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from bench.peers import CONFIG, GB, GIB

from shapes import DEEPSEEK_V3, latent

# llm-analysis


def llm_analysis(name: str, **tp: int) -> Any:
    from llm_analysis.analysis import LLMAnalysis
    from llm_analysis.config import ParallelismConfig, get_gpu_config_by_name, get_model_config_by_name

    model = get_model_config_by_name(name)
    model.max_seq_len = None
    return LLMAnalysis(model, get_gpu_config_by_name("a100-sxm-80gb"), parallelism_config=ParallelismConfig(**tp))


def llm_analysis_traffic() -> Any:
    said = llm_analysis("NousResearch_Llama-2-7b-hf").inference(1, 4095, 1)
    return said["kv_cache_latency"] * 2039 * GB


# hf-mem


def hf_mem(config: dict[str, Any], tokens: int = 1) -> Any:
    from hf_mem.safetensors.kv_cache import compute_safetensors_kv_cache_size

    return compute_safetensors_kv_cache_size(config, "BF16", tokens)


QWEN35_27B = {
    "num_hidden_layers": 64,
    "hidden_size": 5120,
    "num_attention_heads": 24,
    "num_key_value_heads": 4,
    "head_dim": 256,
    "layer_types": (["linear_attention"] * 3 + ["full_attention"]) * 16,
}
MISTRAL_7B = CONFIG | {"num_key_value_heads": 8, "sliding_window": 4096}


# servcalc with vramcalc


def vramcalc(**fields: Any) -> Any:
    from vramcalc.arch import Arch

    return Arch.from_config(CONFIG | fields).param_count()


# hf-vram-calc


def hf_vram(config: dict[str, Any], dtype: str = "bf16") -> Any:
    from hf_vram_calc.calculator import VRAMCalculator
    from hf_vram_calc.config import ConfigManager
    from hf_vram_calc.models import ModelConfig

    model = ModelConfig(
        "model",
        config["vocab_size"],
        config["hidden_size"],
        config["num_hidden_layers"],
        config["num_attention_heads"],
        num_key_value_heads=config["num_key_value_heads"],
    )
    return VRAMCalculator(ConfigManager()).calculate_kv_cache_memory(model, dtype, 1, 1) * GIB


# vllm-wizard


def wizard_cache(model: Any, context: int = 1, factor: float = 1.0) -> Any:
    from vllm_wizard.planning.memory import compute_kv_cache_memory

    return compute_kv_cache_memory(model, context, 1, fragmentation_factor=factor)


def wizard_named(name: str) -> Any:
    from vllm_wizard.models.metadata import load_model_metadata

    return wizard_cache(load_model_metadata(name))


def wizard_read(config: dict[str, Any]) -> Any:
    from vllm_wizard.models.metadata import _parse_config

    return _parse_config(config, "model")


def wizard_parameters(config: dict[str, Any]) -> Any:
    from vllm_wizard.models.metadata import estimate_params_from_config

    return estimate_params_from_config(wizard_read(config))


def wizard_overrun() -> Any:
    from vllm_wizard.planning.memory import compute_max_context_at_concurrency

    model = wizard_read({"num_hidden_layers": 1, "hidden_size": 1, "num_attention_heads": 1})
    longest = compute_max_context_at_concurrency(1_000_000, 0, 0, model, 1)
    return wizard_cache(model, longest, 1.15)


# modelinfo-cli


def modelinfo(config: dict[str, Any]) -> Any:
    from modelinfo.calculator import calculate_footprint

    tensors = {"__metadata__": {"lazy_fetch": True, "total_size": 0.0}}
    return calculate_footprint(tensors, context_length=1, config=config)["kv_cache_bytes"]


def modelinfo_fused() -> Any:
    from modelinfo.calculator import calculate_footprint

    fused = {"shape": [(24 + 2 * 8) * 128, 3072], "dtype": "BF16"}
    tensors = {f"model.layers.{layer}.self_attn.qkv_proj.weight": fused for layer in range(32)}
    return calculate_footprint(tensors, context_length=1)["kv_cache_bytes"]


def modelinfo_bytes() -> Any:
    from modelinfo.calculator import calculate_footprint

    return calculate_footprint({"w": {"shape": [1000], "dtype": "U8"}})["base_memory_bytes"]


# llm-sizer


def sizer(name: str) -> Any:
    from llm_sizer.catalog import resolve_model
    from llm_sizer.sizing import estimate_vram

    return estimate_vram(resolve_model(name), 2, 1, 1).kv_cache_bytes


# llm-cal


def cal_cache(config: dict[str, Any], context: int = 1) -> Any:
    from llm_cal.architecture.detector import detect
    from llm_cal.architecture.formulas.kv_cache import compute_kv_cache_bytes

    return compute_kv_cache_bytes(detect(config), context).value


def cal_parameters(config: dict[str, Any]) -> Any:
    from llm_cal.architecture.detector import detect
    from llm_cal.architecture.formulas.weight import estimate_total_params

    return estimate_total_params(detect(config)).value


def cal_rate(gpus: int) -> Any:
    from llm_cal.architecture.detector import detect
    from llm_cal.hardware.loader import GPUSpec
    from llm_cal.performance.compute import estimate_decode

    rates = {"nvlink_bandwidth_gbps": 600, "memory_bandwidth_gbps": 2000, "fp16_tflops": 312}
    gpu = GPUSpec(id="gpu", memory_gb=80, fp8_support=False, fp4_support=False, **rates)
    full = {"bw_utilization": 1.0, "cluster_comm_efficiency": 1.0}
    return estimate_decode(detect(CONFIG), 140 * GB, gpu, gpus, **full).cluster_tokens_per_sec.value


def cal_shards(gpus: int) -> Any:
    from llm_cal.architecture.detector import detect
    from llm_cal.fleet.planner import _kv_shards

    return latent() / _kv_shards(detect(DEEPSEEK_V3), gpus)


QWEN2_7B = {
    "model_type": "qwen2",
    "num_hidden_layers": 28,
    "hidden_size": 3584,
    "num_attention_heads": 28,
    "num_key_value_heads": 4,
    "sliding_window": 32_768,
    "use_sliding_window": False,
}


# llm-x-py


def llm_x(dtype: str = "BF16", **config: int) -> Any:
    import adapt_llm_x

    config |= {"num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "hidden_size": 4096}
    return adapt_llm_x.cache(32, 32, 8, 128, config, kv_dtype=dtype)


# llm-flops


def flops_batch() -> Any:
    import llmflops

    said = llmflops.throughput("llama-2-7b", gpu="T4", sequence_length=4096, output_tokens=0)
    return said["max_concurrent_batch"]


def flops_sequence(group: int, **config: Any) -> Any:
    import llmflops
    from llmflops.config import ModelConfig

    model = ModelConfig("model", 4096, 32, 32, 32_000, 11_008, **config)
    options = {"gpu": "A100", "sequence_length": 1, "output_tokens": 0, "parallelism": {"tensor_parallel": group}}
    return llmflops.throughput(model, **options)["kv_per_sequence_mb"] * 10**6


# mlsysim


def mlsysim_fit(pool: float) -> Any:
    from mlsysim.core.units import ureg
    from mlsysim.physics.memory import calc_kv_resident_fit

    return calc_kv_resident_fit(pool * ureg.GB, 2 * ureg.GB)


def mlsysim_step(batch: int) -> Any:
    from mlsysim import Hardware, Models
    from mlsysim.core.units import ureg
    from mlsysim.engine.solvers.serving import ServingModel

    model, gpu = Models.Language.Llama2_7B, Hardware.Cloud.A100
    said = ServingModel().solve(model, gpu, seq_len=1, batch_size=batch, precision="fp16", efficiency=1.0)
    return said.itl.to(ureg.second).magnitude


# vidur


def vidur() -> Any:
    from vidur.utils.param_counter import ParamCounter

    replica = SimpleNamespace(
        model_config=SimpleNamespace(embedding_dim=4096, use_gated_mlp=True, mlp_hidden_dim=14_336),
        attention_head_dim=128,
        q_heads_per_tensor_parallel_worker=32,
        kv_heads_per_tensor_parallel_worker=8,
        num_layers_per_pipeline_stage=32,
        tensor_parallel_size=1,
    )
    return ParamCounter(replica).get_num_parameters_per_device()
