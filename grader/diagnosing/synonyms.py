"""What quantities, number formats, models and GPUs are called by those who publish numbers about them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from spec.catalog.names import Row, Table, plain
from spec.solving import Exact

QUANTITIES = {
    "kv_bytes_sequence": "kv_bytes_per_sequence", "kv_per_sequence": "kv_bytes_per_sequence",
    "kv_bytes_request": "kv_bytes_per_sequence", "kv_bytes_per_request": "kv_bytes_per_sequence",
    "kv_cache": "kv_bytes_per_sequence", "kv_bytes": "kv_bytes_per_sequence", "kv_cache_size": "kv_bytes_per_sequence",
    "kv_bytes_token": "kv_bytes_per_token", "kv_per_token": "kv_bytes_per_token",
    "block_bytes": "kv_bytes_per_block", "kv_bytes_block": "kv_bytes_per_block", "kv_block": "kv_bytes_per_block",
    "weight_bytes": "weights", "model_weights": "weights", "weight_memory": "weights", "weights_bytes": "weights",
    "model_size": "weights", "tokens": "token_capacity", "kv_tokens": "token_capacity", "max_tokens": "token_capacity",
    "params": "parameters", "parameter_count": "parameters", "num_parameters": "parameters", "size": "parameters",
    "total_params": "parameters", "active": "active_parameters", "active_params": "active_parameters",
    "max_context": "context", "context_length": "context", "seq_len": "context", "sequence_length": "context",
    "max_model_len": "context", "ctx": "context", "max_len": "context", "tokens_per_sequence": "context",
    "max_concurrency": "concurrency", "sequences": "concurrency", "max_sequences": "concurrency",
    "max_num_seqs": "concurrency", "users": "concurrency", "concurrent_requests": "concurrency",
    "num_gpus": "gpus", "gpu_count": "gpus", "n_gpus": "gpus", "replicas": "gpus",
    "decode_speed": "decode_rate", "decode_throughput": "decode_rate", "decode_time": "decode_rate",
    "tokens_per_second": "decode_rate", "time_per_token": "tpot", "itl": "tpot", "inter_token_latency": "tpot",
    "peak": "compute", "peak_flops": "compute", "flops": "compute", "tflops": "compute", "peak_compute": "compute",
    "memory_bandwidth": "bandwidth", "mem_bw": "bandwidth", "bw": "bandwidth", "hbm_bandwidth": "bandwidth",
    "ridge_point": "ridge", "machine_balance": "ridge", "cost": "cost_per_token", "token_cost": "cost_per_token",
    "cost_per_million_tokens": "cost_per_token", "scores": "attention_scores", "attention_matrix": "attention_scores",
    "prefill_latency": "prefill_time", "time_to_first_token": "ttft", "kv_memory": "kv_budget",
    "overhead": "runtime_memory",
    "tp": "tensor_parallel", "tp_size": "tensor_parallel", "tensor_parallel_size": "tensor_parallel",
    "ffn": "intermediate", "d_ff": "intermediate", "rope": "qk_rope_dim", "d_model": "hidden", "n_layers": "layers",
    "num_layers": "layers", "n_heads": "heads", "n_kv_heads": "kv_heads", "num_kv_heads": "kv_heads",
    "head_size": "head_dim", "vocabulary": "vocab", "window": "sliding_window", "memory": "gpu_memory",
    "vram": "gpu_memory", "kv_element_bytes": "kv_width", "bytes_per_element": "kv_width", "kv_dtype_bytes": "kv_width",
    "kv_bytes_per_element": "kv_width", "price": "gpu_price", "block": "block_size", "latency": "total_time",
    "generation_time": "total_time",
    "elapsed": "total_time", "prompt_tokens": "prompt",
    "prompt_length": "prompt", "input": "prompt", "input_tokens": "prompt", "generated": "output",
    "output_tokens": "output", "batch_size": "batch", "utilization": "memory_utilization",
    "gpu_memory_utilization": "memory_utilization", "bits": "weight_bits", "bits_per_weight": "weight_bits",
}  # fmt: skip
BITS: Mapping[str, Exact] = {
    "fp64": 64, "fp32": 32, "f32": 32, "float32": 32, "tf32": 32, "fp16": 16, "f16": 16, "float16": 16, "half": 16,
    "bf16": 16, "bfloat16": 16, "fp8": 8, "f8": 8, "fp8_e4m3": 8, "fp8_e5m2": 8, "int8": 8, "i8": 8, "w8a8": 8,
    "w8a16": 8, "gptq_int8": 8, "fp6": 6, "fp4": 4, "nvfp4": 4, "mxfp4": Fraction(17, 4), "int4": 4, "i4": 4, "nf4": 4,
    "awq": 4, "gptq": 4, "w4a16": 4, "int3": 3, "int2": 2,
    "q8_0": Fraction(17, 2), "q5_0": Fraction(11, 2), "q5_1": 6, "q4_0": Fraction(9, 2), "q4_1": 5,
    "iq4_nl": Fraction(9, 2), "q6_k": Fraction(105, 16), "bfp8": Fraction(17, 2), "bfp8_b": Fraction(17, 2),
}  # fmt: skip
# A mixed format gives some tensors more bits; so files of different models differ by about this much either way.
MIXED = {
    "q2_k": ("3.2", "0.25"), "q3_k_s": ("3.6", "0.15"), "q3_k_m": ("3.95", "0.15"), "q4_k_s": ("4.62", "0.12"),
    "q4_k_m": ("4.83", "0.12"), "q4_k": ("4.83", "0.12"), "q5_k_s": ("5.54", "0.1"), "q5_k_m": ("5.69", "0.12"),
}  # fmt: skip
SAME = {  # models of the same structure and size as a row
    "llama-3.1-8b": "llama-3-8b", "llama-3.1-70b": "llama-3-70b", "llama-3.3-70b": "llama-3-70b",
    "mistral-7b": "mistral-7b-v0.1", "deepseek-r1": "deepseek-v3", "deepseek-v3.1": "deepseek-v3",
    "deepseek-v3-0324": "deepseek-v3",
}  # fmt: skip
VENDOR = re.compile(r"^(?:\d+\s*x\s+)?(?:(?:nvidia|amd|intel|tesla|geforce|instinct)\s+)*", re.IGNORECASE)
SUFFIX = re.compile(
    r"-(?:instruct|chat|hf|base|it|gguf|awq|gptq|fp8|int8|int4|bf16|fp16|v\d+(?:\.\d+)?)(?=-|$).*", re.IGNORECASE
)


def spelled(name: str, table: Table[Row]) -> str:
    """Return the name under which a table has what somebody calls by a longer one, or the name as it stands.

    Vendors, counts (`8x`), tunings (`-Instruct`) and punctuation are left aside where the name alone finds nothing.
    """
    if table.taken(name) is not None:
        return name
    short = VENDOR.sub("", name.strip()).rpartition("/")[2]
    short = short[5:] if short.casefold().startswith("meta-") else short
    tuned = SUFFIX.sub("", short)
    for candidate in (short, tuned, SAME.get(plain(short), tuned), SAME.get(plain(tuned), tuned)):
        if table.taken(candidate) is not None:
            return candidate
        squeezed = _squeezed(candidate)
        for row in table.values():
            if any(_squeezed(known) == squeezed for known in row.names):
                return row.name
    return name


def _squeezed(name: str) -> str:
    return re.sub(r"[^a-z0-9.]", "", name.casefold())
