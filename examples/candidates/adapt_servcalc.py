"""servcalc with vramcalc: parameter counts, cache, capacity and the roofline, at full efficiency."""

from __future__ import annotations

from typing import Any

from servcalc import work
from servcalc.calibration import Calibration, Curve
from servcalc.gpus import GpuSpec
from servcalc.modes import DoesNotFitError, capacity
from servcalc.profiles import vllm
from servcalc.timing import step_time
from servcalc.workload import Workload
from vramcalc.arch import Arch

UNITS = {"compute": "TFLOP/s", "bandwidth": "GB/s"}
ASSUMES = {"gated": 1, "o_bias": 0, "mlp_bias": 0, "qk_norm": 0, "attention_sinks": 0, "mfu": 1, "mbu": 1}
FULL = Curve(((1, 1.0, 1.0, 1.0),))
IDEAL = Calibration(FULL, FULL, (0.0, 0.0, 0.0), "ideal")
MILLISECONDS = 1000
OUTPUT = 2  # the fewest output tokens of its workload, beside a prompt


def _arch(hidden: int = 1, heads: int = 1, kv_heads: int = 1, head_dim: int = 1, **sizes: Any) -> Arch:
    usual = {"num_layers": 1, "intermediate_size": 1, "vocab_size": 1, "tie_word_embeddings": True}
    usual |= {"attention_bias": False, "norms_per_layer": 2}
    return Arch(hidden, num_heads=heads, num_kv_heads=kv_heads, head_dim=head_dim, **usual | sizes)


def attention_parameters(hidden: int, heads: int, kv_heads: int, head_dim: int, qkv_bias: int) -> Any:
    """Give the parameters of attention in one layer."""
    arch = _arch(hidden, heads, kv_heads, head_dim, attention_bias=bool(qkv_bias))
    return arch.attn_params() + arch.attn_bias_params()


def feed_forward_parameters(hidden: int, intermediate: int) -> Any:
    """Give the parameters of the feed-forward network of one layer."""
    return _arch(hidden, intermediate_size=intermediate).mlp_params()


def kv_bytes_per_token(layers: int, kv_heads: int, head_dim: int, kv_width: float) -> Any:
    """Give the cache of one token, in the two widths that its profiles allow."""
    if kv_width not in {1, 2}:
        raise NotImplementedError
    arch = _arch(kv_heads=kv_heads, head_dim=head_dim, num_layers=layers)
    return work.kv_bytes_per_token(arch, int(8 * kv_width))


def concurrency(
    kv_budget: float,
    context: int,
    kv_bytes_per_token: float | None = None,
    block_size: int = 0,
    kv_bytes_per_block: float = 0,
) -> Any:
    """Give the sequences that fit a budget, in tokens or in whole blocks of them."""
    if context <= OUTPUT or kv_budget <= 0:
        raise NotImplementedError
    token = kv_bytes_per_token if kv_bytes_per_token is not None else kv_bytes_per_block / block_size
    machine = GpuSpec("gpu", 2 * kv_budget, 1.0, 1.0)
    profile = vllm(memory_budget_ratio=1.0, workspace_ratio=0.5, kv_block=block_size, max_seqs=None)
    try:
        return capacity(machine, 0, token, Workload(context - OUTPUT, OUTPUT), profile).memory_capacity
    except DoesNotFitError:
        return None


def _time(moved: float, operations: float, bandwidth: float, compute: float) -> Any:
    machine = GpuSpec("gpu", 1, bandwidth, compute)
    return step_time(work.Work(moved, operations), machine, IDEAL, 1).ms.mid / MILLISECONDS


def prefill_time(prefill_flops: float, prefill_bytes: float, compute: float, bandwidth: float) -> Any:
    """Give the roofline time of one prefill."""
    return _time(prefill_bytes, prefill_flops, bandwidth, compute)


def decode_step_time(decode_flops: float, decode_bytes: float, compute: float, bandwidth: float) -> Any:
    """Give the roofline time of one decode step."""
    return _time(decode_bytes, decode_flops, bandwidth, compute)
