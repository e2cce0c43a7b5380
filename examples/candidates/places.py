"""Where a law that the suite finds broken is broken in the package, and what to know about it."""

PLACES = {
    ("genz-llm", "ridge"): "GenZ/unit.py, Unit.unit_to_raw: bandwidths in GB/s are multiplied by 2^30, compute by 10^12. Every memory-bound time is 6.9 % short.",
    ("kvfit", "kv_bytes_per_token_per_gpu"): "kvfit/planner.py, plan_topologies: bytes are divided by the ranks where these do not divide the key-value heads; only query heads are checked. A head cannot be split.",
    ("llm-analysis", "kv_bytes_per_token_per_gpu"): "llm_analysis/analysis.py, get_memory_kv_cache_per_layer: key-value heads over ranks is not rounded up. A head cannot be split.",
    ("sched-sim", "holds_tokens"): "sched_sim/memory/block_manager.py, BlockManager.__init__: vram_gb is multiplied by 1024^3, and never fewer than 16 blocks are given.",
    ("vllm-sr-sim", "fits_in_blocks"): "fleet_sim/gpu_profiles/computed.py, ComputedProfile.n_slots: max(1, ...) finds room where there is none.",
    ("vllm-sr-sim", "decode_attention_flops"): "fleet_sim/gpu_profiles/computed.py, decode_efficiency: counts key-value heads; every query head works on the cached tokens. Its prefill counts query heads.",
    ("vllm-sr-sim", "parameters"): "fleet_sim/models/spec.py, ModelSpec.param_count: the output head is not counted for models that do not share it with the embedding (Llama-2-7B: 6,607,077,376, 1.9 % short).",
    ("vllm-sr-sim", "kv_bytes_per_token_latent"): "fleet_sim/models/spec.py, kv_bytes_per_token_dtype: latent attention is counted by heads (DeepSeek-V3: 1,748,992 B/token for 70,272).",
    ("vllm-wizard", "parameters"): "vllm_wizard/models/metadata.py, estimate_params_from_config: three square projections and two matrices, whatever the model has.",
}  # fmt: skip
