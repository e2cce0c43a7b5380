"""How planners and simulators are asked about the cases in which they go wrong, and what is right there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bench.peers import GB, GIB, derived

from shapes import DEEPSEEK_V3, LLAMA_3_8B, latent

# ridgepoint


def ridgepoint(**shape: Any) -> dict[str, Any]:
    from ridgepoint import _core

    usual = {"layers": 32, "parameters": 6_738_415_616, "geometry": "mha", "head_dim": 128, "heads": 32}
    usual |= {"kv_heads": 0, "latent": 0, "rope": 0, "gpus": 1, "context": 4096, "prompt": 4096}
    s = usual | shape
    sizes = (s["head_dim"], s["heads"], s["kv_heads"], s["latent"], s["rope"])
    counts = (s["layers"], s["layers"], 4096, s["parameters"], s["parameters"], s["geometry"])
    machine = ("a100-80gb", s["gpus"], "vllm", "fp16", "fp16", s["context"], s["prompt"], True)
    return dict(json.loads(_core.fit_shape("x", *counts, *sizes, *machine)))


V3_SHAPE = {"layers": 61, "parameters": 10 * GB, "geometry": "mla", "latent": 512, "rope": 64}


def ridgepoint_sequences(**shape: Any) -> Any:
    return ridgepoint(**shape)["capacity"]["max_sequences"]["best"]


def ridgepoint_right(copies: int, **shape: Any) -> Any:
    said = ridgepoint(**shape)
    return int(said["memory"]["kv_pool_bytes"]["best"] // (copies * said["capacity"]["bytes_per_seq"]))


def ridgepoint_ttft(prompt: int) -> Any:
    return ridgepoint(prompt=prompt)["speed"]["ttft_s"]["best"]


def prefill_flops(prompt: int) -> Any:
    known = {"parameters": 6_738_415_616, "layers": 32, "heads": 32, "head_dim": 128, "prompt": prompt}
    return derived("prefill_flops", **known)


# sched-sim


def blocks(**fields: Any) -> Any:
    from sched_sim.hardware.profile import HardwareProfile
    from sched_sim.memory.block_manager import BlockManager

    sizes = {"num_layers": 80, "num_kv_heads": 8, "head_dim": 128, "parameter_count_billions": 70.0, "vram_gb": 80.0}
    return BlockManager(HardwareProfile(**sizes | fields), cpu_memory_gb=1.0)


def small_manager(gpu: int, host: int, *, sharing: bool) -> Any:
    from sched_sim.hardware.profile import HardwareProfile
    from sched_sim.memory.block_manager import BlockManager

    profile = HardwareProfile(num_layers=80, num_kv_heads=8, head_dim=128)
    manager = BlockManager(profile, cpu_memory_gb=1.0, enable_prefix_caching=sharing)
    manager.free_gpu_blocks, manager.total_gpu_blocks = list(range(gpu)), gpu
    manager.free_cpu_blocks, manager.total_cpu_blocks = list(range(host)), host
    return manager


def arriving(name: str, tokens: list[int]) -> Any:
    from sched_sim.core.request import Request

    return Request(request_id=name, arrived_at=0, prompt_tokens=len(tokens), output_tokens=1, prompt_token_ids=tokens)


def owners_after_swap() -> int:
    """Count the blocks that two requests without a common prompt both hold."""
    manager = small_manager(16, 64, sharing=True)
    prompt, other = list(range(32)), list(range(100, 132))
    first, second, third = arriving("a", prompt), arriving("b", prompt), arriving("c", other)
    manager.allocate(first, 32)
    manager.allocate(second, 32)
    manager.swap_out(first)
    manager.allocate(third, 32)
    return len(set(manager.gpu_block_tables["b"]) & set(manager.gpu_block_tables["c"]))


def leak_after_swap() -> int:
    """Count the blocks that are lost when the host has no room."""
    manager = small_manager(16, 1, sharing=False)
    request = arriving("a", list(range(32)))
    manager.allocate(request, 32)
    try:
        manager.swap_out(request)
    except IndexError:
        manager.free(request)
    return int(manager.num_used_gpu_blocks)


def prefilled_after_refusal() -> int:
    """Return the tokens that a refused request is said to have been prefilled."""
    manager = small_manager(2, 64, sharing=True)
    first, second = arriving("a", list(range(32))), arriving("b", list(range(64)))
    manager.allocate(first, 32)
    manager.free(first)
    manager.allocate(second, 64)
    return int(second.prefilled_tokens)


# llm-d-planner


def planner(**fields: Any) -> SimpleNamespace:
    usual = LLAMA_3_8B | {"max_position_embeddings": 10**12, "torch_dtype": "bfloat16"}
    return SimpleNamespace(**{"architectures": ["LlamaForCausalLM"]} | usual | fields)


def planned(question: str, *where: Any, weights: int = 8_030_261_248, **options: Any) -> Any:
    from planner import capacity_planner

    before = capacity_planner.model_params_by_dtype
    capacity_planner.model_params_by_dtype = lambda *_: {"BF16": weights}
    try:
        return getattr(capacity_planner, question)("model", *where, **options)
    finally:
        capacity_planner.model_params_by_dtype = before


def planned_tokens(copies: int = 1, **options: int) -> int:
    """Return the tokens that its own memory for the cache holds, each taking its bytes in `copies` places."""
    budget = planned("allocatable_kv_cache_memory", planner(), 80, **options) * GIB
    return int(budget // (copies * 131_072))


def planned_latent(**options: int) -> Any:
    model = planner(architectures=["DeepseekV3ForCausalLM"], **DEEPSEEK_V3)
    return planned("max_concurrent_requests", model, 4096, 80, weights=20 * GB // 2, **options)


def planned_latent_right(**options: int) -> int:
    model = planner(architectures=["DeepseekV3ForCausalLM"], **DEEPSEEK_V3)
    budget = planned("allocatable_kv_cache_memory", model, 80, weights=20 * GB // 2, **options) * GIB
    return int(budget // options["tp"] // (4096 * latent()))


def planned_cache(architecture: str, config: dict[str, Any]) -> Any:
    from planner.capacity_planner import KVCacheDetail

    model = SimpleNamespace(architectures=[architecture], torch_dtype="bfloat16", **config)
    return KVCacheDetail("model", model).per_token_memory_bytes


def planned_weights(quantization: dict[str, Any]) -> Any:
    from planner import capacity_planner

    before = capacity_planner.model_params_by_dtype
    capacity_planner.model_params_by_dtype = lambda *_: {"U8": 4 * GB, "BF16": GB}
    try:
        model = SimpleNamespace(quantization_config=quantization)
        return capacity_planner.model_memory_req("model", model) * GIB
    finally:
        capacity_planner.model_params_by_dtype = before


NVFP4 = {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 4}}}}
GLM_FLASH = {"num_hidden_layers": 47, "hidden_size": 2048, "num_attention_heads": 20, "num_key_value_heads": 20}
GLM_FLASH |= {"kv_lora_rank": 512, "qk_rope_head_dim": 64}


# vllm-sr-sim


def fleet(config: dict[str, Any]) -> Any:
    from fleet_sim.models.spec import ModelSpec

    return ModelSpec.from_hf_config(config, name="model")


def fleet_blocks(group: int) -> Any:
    from fleet_sim.gpu_profiles import ProfileBuilder, ServingConfig
    from fleet_sim.hardware.catalog import H100_SXM
    from fleet_sim.models.catalog import LLAMA_3_1_70B

    return ProfileBuilder().build(H100_SXM, LLAMA_3_1_70B, ServingConfig(tp=group)).total_kv_blks


def fleet_blocks_right(group: int) -> int:
    from fleet_sim.hardware.catalog import H100_SXM
    from fleet_sim.models.catalog import LLAMA_3_1_70B

    weights = LLAMA_3_1_70B.param_bytes_per_gpu(group)
    budget = int(0.9 * H100_SXM.mem_capacity) - weights - H100_SXM.nccl_mem[group]
    return int(budget // (16 * 327_680 // group))


# llmfit


def llmfit(model: str) -> Any:
    """Return the bytes of a token: what 4,096 more tokens add to the memory of a plan, in its GB of 2^30."""
    needed = []
    for context in (4096, 8192):
        command = [Path(sys.executable).with_name("llmfit"), "--json", "--memory", "80G", "plan", model]
        done = subprocess.run(
            [*command, "--context", str(context)], capture_output=True, text=True, timeout=60, check=True
        )
        needed.append(json.loads(done.stdout)["minimum"]["vram_gb"])
    return (needed[1] - needed[0]) * GIB / 4096
