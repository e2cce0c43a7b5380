"""The vocabulary: every symbol once, with unit, domain, meaning and chapter section.

A quantity is a SymPy symbol, so laws are written with it directly: `2 * q.layers * q.kv_heads`.
Numbers given for a quantity, and numbers it takes in a law, are in its `unit`.
"""

from __future__ import annotations

from typing import Any, Self

import sympy

from spec import domains as d
from spec.domains import Domain
from spec.units import Unit, unit


class Quantity(sympy.Symbol):  # type: ignore[misc]  # SymPy ships no types
    """A named, measured symbol.

    Attributes:
        name: the public name, as in `NAME=VALUE` and in keyword arguments.
        symbol: the short letter people write, as in formulas they submit.
        tex: the letter in LaTeX.
        unit: the unit of every number given for it.
        domain: which values are valid.
        says: its meaning in a few words, without the unit.
        section: the chapter section that introduces it.
        assumed: what a calculation takes when nothing is said, or None.
        also: other units in which people say the same, such as `token/sequence` for a context.
    """

    symbol: str
    tex: str
    unit: Unit
    domain: Domain
    says: str
    section: str
    assumed: int | None
    also: tuple[str, ...]

    def __new__(
        cls, name: str, symbol: str, unit_name: str, domain: Domain, says: str, section: str, **extra: Any
    ) -> Self:
        """Create the symbol; `tex`, `assumed` and `also` are optional."""
        positive = domain.low is not None and (domain.low > 0 or (domain.low == 0 and domain.open_low))
        assumptions = {"positive": True} if positive else {"nonnegative": True} if domain.low == 0 else {"real": True}
        self: Self = super().__new__(cls, name, **assumptions)
        self.symbol, self.unit, self.domain, self.says, self.section = symbol, unit(unit_name), domain, says, section
        letter, _, index = symbol.partition("_")
        self.tex = extra.get("tex", f"{letter}_{{{index}}}" if index else symbol)
        self.assumed = extra.get("assumed")
        self.also = extra.get("also", ())
        return self


# fmt: off
# Shape of a model
layers = Quantity("layers", "L", "layer", d.COUNT, "layers", "model-weights")
hidden = Quantity("hidden", "H", "element", d.COUNT, "hidden size", "model-weights")
heads = Quantity("heads", "n_h", "head", d.COUNT, "attention (query) heads", "attention")
kv_heads = Quantity("kv_heads", "n_kv", "head", d.COUNT, "key-value heads", "kv-cache")
head_dim = Quantity("head_dim", "d_h", "element", d.COUNT, "size of one head", "kv-cache")
intermediate = Quantity("intermediate", "I", "element", d.COUNT, "inner size of the feed-forward network", "model-weights")
vocab = Quantity("vocab", "V", "element", d.COUNT, "vocabulary size", "model-weights")
gated = Quantity("gated", "g", "1", d.FLAG, "feed-forward network is gated (a third matrix)", "model-weights")
tied = Quantity("tied", "t", "1", d.FLAG, "output head shares the embedding matrix", "model-weights")
qkv_bias = Quantity("qkv_bias", "beta_qkv", "1", d.FLAG, "query, key and value projections have biases", "model-weights", tex=r"\beta_{qkv}", assumed=0)
o_bias = Quantity("o_bias", "beta_o", "1", d.FLAG, "attention output projection has a bias", "model-weights", tex=r"\beta_{o}", assumed=0)
mlp_bias = Quantity("mlp_bias", "beta_mlp", "1", d.FLAG, "feed-forward matrices have biases", "model-weights", tex=r"\beta_{mlp}", assumed=0)
lm_head_bias = Quantity("lm_head_bias", "beta_V", "1", d.FLAG, "output head has a bias", "model-weights", tex=r"\beta_{V}", assumed=0)
qk_norm = Quantity("qk_norm", "nu_qk", "1", d.FLAG, "queries and keys are normed by one scale vector each", "model-weights", tex=r"\nu_{qk}", assumed=0)
norm_vectors = Quantity("norm_vectors", "nu", "1", d.Domain(0, 2, integer=True), "vectors of one norm: 1 a scale, 2 a scale and a shift", "model-weights", tex=r"\nu", assumed=1)
norms_per_layer = Quantity("norms_per_layer", "n_nu", "1", d.COUNT_OR_ZERO, "norms over the hidden size in each layer", "model-weights", tex=r"n_{\nu}", assumed=2)
position_embeddings = Quantity("position_embeddings", "n_pos", "1", d.COUNT_OR_ZERO, "rows of a learned position table", "model-weights", assumed=0)
parameters = Quantity("parameters", "P", "parameter", d.COUNT, "parameters", "model-weights")
parameters_approx = Quantity("parameters_approx", "P_a", "parameter", d.COUNT, "parameters by the 12 L H^2 rule", "model-weights")
kv_lora_rank = Quantity("kv_lora_rank", "r_kv", "element", d.COUNT, "rank of the compressed key-value vector", "kv-cache")
qk_rope_dim = Quantity("qk_rope_dim", "d_rope", "element", d.COUNT, "size of the shared rotary key", "kv-cache")

# Experts and latent attention
attention_parameters = Quantity("attention_parameters", "P_att", "parameter", d.COUNT, "parameters of attention in one layer", "model-weights")
feed_forward_parameters = Quantity("feed_forward_parameters", "P_ff", "parameter", d.COUNT, "parameters of the feed-forward network of a dense layer", "model-weights")
expert_parameters = Quantity("expert_parameters", "P_e", "parameter", d.COUNT, "parameters of one expert", "model-weights")
router_parameters = Quantity("router_parameters", "P_r", "parameter", d.COUNT, "parameters of the router of one layer", "model-weights")
active_parameters = Quantity("active_parameters", "P_act", "parameter", d.COUNT, "parameters that one token meets, the whole embedding matrix included", "model-weights")
experts = Quantity("experts", "E", "1", d.COUNT, "routed experts of a layer", "model-weights")
experts_per_token = Quantity("experts_per_token", "E_k", "1", d.COUNT, "routed experts that one token is sent to", "model-weights")
shared_experts = Quantity("shared_experts", "E_s", "1", d.COUNT_OR_ZERO, "experts that every token passes", "model-weights", assumed=0)
moe_intermediate = Quantity("moe_intermediate", "I_e", "element", d.COUNT, "inner size of one expert", "model-weights")
dense_layers = Quantity("dense_layers", "L_d", "layer", d.COUNT_OR_ZERO, "leading layers with a dense network instead of experts", "model-weights", assumed=0)
router_bias = Quantity("router_bias", "beta_r", "1", d.FLAG, "the router has a learned bias", "model-weights", tex=r"\beta_{r}", assumed=0)
attention_sinks = Quantity("attention_sinks", "sigma", "1", d.FLAG, "each head has a learned sink score", "model-weights", tex=r"\sigma", assumed=0)
q_lora_rank = Quantity("q_lora_rank", "r_q", "element", d.COUNT, "rank of the compressed query vector", "model-weights")
qk_nope_dim = Quantity("qk_nope_dim", "d_nope", "element", d.COUNT, "part of a query head without rotation", "model-weights")
v_head_dim = Quantity("v_head_dim", "d_v", "element", d.COUNT, "size of the value of one head", "model-weights")

# Widths
weight_bits = Quantity("weight_bits", "b_w", "bit", d.POSITIVE, "bits per weight", "model-weights", assumed=16)
kv_width = Quantity("kv_width", "b", "B", d.POSITIVE, "bytes per cached element", "kv-cache", assumed=2)
stored_weight_bits = Quantity("stored_weight_bits", "b_q", "bit", d.POSITIVE, "bits of a stored weight without its scale", "model-weights")
weight_group = Quantity("weight_group", "g_w", "1", d.COUNT, "weights that share a scale", "model-weights")
weight_group_bits = Quantity("weight_group_bits", "b_gw", "bit", d.AMOUNT, "bits of the scale and the zero point of a group of weights", "model-weights")
stored_kv_bits = Quantity("stored_kv_bits", "b_qk", "bit", d.POSITIVE, "bits of a cached element without its scale", "kv-cache")
kv_group = Quantity("kv_group", "g_k", "1", d.COUNT, "cached elements that share a scale", "kv-cache")
kv_group_bits = Quantity("kv_group_bits", "b_gk", "bit", d.AMOUNT, "bits of the scale of a group of cached elements", "kv-cache")

# Memory
weights = Quantity("weights", "W", "B", d.POSITIVE, "weights", "memory-budgeting")
active_weights = Quantity("active_weights", "W_a", "B", d.POSITIVE, "weights that one token meets", "model-weights")
gpu_memory = Quantity("gpu_memory", "M", "B", d.POSITIVE, "memory of one GPU", "memory-budgeting", also=("B/GPU",))
activations = Quantity("activations", "A", "B", d.AMOUNT, "memory reserved for activations", "memory-budgeting", assumed=0)
safety_margin = Quantity("safety_margin", "S", "B", d.AMOUNT, "safety margin", "memory-budgeting", assumed=0)
activation_share_of_total = Quantity("activation_share_of_total", "a_M", "1", d.SHARE, "activation reserve as a share of the GPU's memory", "activation-memory")
activation_share_of_remaining = Quantity("activation_share_of_remaining", "a", "1", d.SHARE, "activation reserve as a share of what the weights leave", "memory-budgeting")
safety_share_of_total = Quantity("safety_share_of_total", "s", "1", d.SHARE, "safety margin as a share of the GPU's memory", "memory-budgeting")
safety_share_of_remaining = Quantity("safety_share_of_remaining", "s_R", "1", d.SHARE, "safety margin as a share of what the weights leave", "memory-budgeting")
kv_budget = Quantity("kv_budget", "B_kv", "B", d.AMOUNT, "memory left for the KV cache", "memory-budgeting")
kv_share = Quantity("kv_share", "sigma_kv", "1", d.SHARE, "share of the GPU's memory that is left for the KV cache", "memory-budgeting", tex=r"\sigma_{kv}")

# Memory as servers partition it
gpu_memory_reported = Quantity("gpu_memory_reported", "M_r", "B", d.POSITIVE, "memory that the driver reports", "memory-budgeting")
memory_utilization = Quantity("memory_utilization", "u", "1", d.EFFICIENCY, "share of the reported memory that the server may use", "memory-budgeting")
runtime_memory = Quantity("runtime_memory", "R", "B", d.AMOUNT, "memory of the runtime outside the framework", "memory-budgeting", assumed=0)
activation_width = Quantity("activation_width", "b_a", "B", d.POSITIVE, "bytes per activation", "activation-memory", assumed=2)
hidden_activations = Quantity("hidden_activations", "A_H", "B", d.POSITIVE, "one hidden state of every token in flight", "activation-memory")
feed_forward_activations = Quantity("feed_forward_activations", "A_I", "B", d.POSITIVE, "one inner state of the feed-forward network", "activation-memory")
logit_bytes = Quantity("logit_bytes", "A_V", "B", d.POSITIVE, "logits of every position kept", "activation-memory")
logit_width = Quantity("logit_width", "b_V", "B", d.POSITIVE, "bytes per logit", "activation-memory", assumed=4)
score_bytes = Quantity("score_bytes", "A_s", "B", d.POSITIVE, "attention scores of one layer, where they are materialised", "activation-memory")

# KV cache
kv_bytes_per_token = Quantity("kv_bytes_per_token", "k", "B/token", d.POSITIVE, "KV cache per token", "kv-cache", also=("B",))
kv_bytes_per_token_approx = Quantity("kv_bytes_per_token_approx", "k_a", "B/token", d.POSITIVE, "KV cache per token by the 2 L H b rule", "kv-cache")
context = Quantity("context", "c", "token", d.COUNT, "context per sequence", "kv-cache", also=("token/sequence", "token/request"))
kv_bytes_per_sequence = Quantity("kv_bytes_per_sequence", "K_c", "B", d.POSITIVE, "KV cache of one sequence", "kv-cache", also=("B/sequence", "B/request"))
cached_tokens = Quantity("cached_tokens", "n_c", "token", d.COUNT_OR_ZERO, "tokens cached over all sequences", "kv-cache")
kv_bytes_total = Quantity("kv_bytes_total", "K", "B", d.AMOUNT, "KV cache of all sequences together", "kv-cache")
concurrency = Quantity("concurrency", "N", "sequence", d.COUNT_OR_ZERO, "sequences held at once", "memory-budgeting", also=("request", "sequence/GPU", "request/GPU"))
token_capacity = Quantity("token_capacity", "T", "token", d.COUNT_OR_ZERO, "tokens the KV budget holds", "memory-budgeting")
block_size = Quantity("block_size", "p", "token", d.COUNT, "tokens per cache block", "kv-cache", assumed=16)
blocks_per_sequence = Quantity("blocks_per_sequence", "n_b", "block", d.COUNT, "cache blocks of one sequence", "kv-cache")
kv_bytes_per_block = Quantity("kv_bytes_per_block", "K_b", "B", d.POSITIVE, "bytes of one cache block", "kv-cache")
kv_bytes_per_layer = Quantity("kv_bytes_per_layer", "k_1", "B/token", d.POSITIVE, "KV cache of one token in one layer", "kv-cache")
scale_width = Quantity("scale_width", "b_s", "B", d.AMOUNT, "bytes of the scale kept with each key or value of a head", "kv-cache", assumed=0)
rope_width = Quantity("rope_width", "b_r", "B", d.POSITIVE, "bytes per element of the shared rotary key, where it is kept at a width of its own", "kv-cache")
latent_scale_width = Quantity("latent_scale_width", "b_sl", "B", d.AMOUNT, "bytes of the scales kept with each compressed vector", "kv-cache", assumed=0)
sliding_window = Quantity("sliding_window", "w_s", "token", d.COUNT, "tokens that a sliding layer keeps", "kv-cache")
sliding_layers = Quantity("sliding_layers", "L_s", "layer", d.COUNT_OR_ZERO, "layers with a sliding window", "kv-cache")

# Attention
attention_scores_per_head = Quantity("attention_scores_per_head", "s_h", "score", d.COUNT, "attention scores of one head", "attention")
causal_scores_per_head = Quantity("causal_scores_per_head", "s_c", "score", d.COUNT, "causal attention scores of one head", "attention")
attention_scores_per_layer = Quantity("attention_scores_per_layer", "s_L", "score", d.COUNT, "attention scores of one layer", "attention")
attention_scores = Quantity("attention_scores", "s_A", "score", d.COUNT, "attention scores of all layers", "attention")

# Time
flops_per_token = Quantity("flops_per_token", "f", "FLOP/token", d.POSITIVE, "operations of the matrices per token", "prefill-decode")
prefill_flops = Quantity("prefill_flops", "f_p", "FLOP", d.POSITIVE, "operations of one prefill", "prefill-decode")
prefill_attention_flops = Quantity("prefill_attention_flops", "f_a", "FLOP", d.POSITIVE, "operations of attention in one prefill", "prefill-decode")
attention_flops_per_pair = Quantity("attention_flops_per_pair", "f_2", "FLOP/token^2", d.POSITIVE, "operations of causal attention per squared prompt token", "prefill-decode")
prefill_bytes = Quantity("prefill_bytes", "m_p", "B", d.POSITIVE, "memory traffic of one prefill", "prefill-decode")
prefill_intensity = Quantity("prefill_intensity", "I_p", "FLOP/B", d.POSITIVE, "operations per byte of a prefill", "prefill-decode")
decode_flops = Quantity("decode_flops", "f_d", "FLOP", d.POSITIVE, "operations of one decode step", "prefill-decode")
decode_matrix_flops = Quantity("decode_matrix_flops", "f_m", "FLOP", d.POSITIVE, "operations of the matrices in one decode step", "prefill-decode")
decode_attention_flops = Quantity("decode_attention_flops", "f_c", "FLOP", d.AMOUNT, "operations of attention over all cached tokens in one decode step", "prefill-decode")
decode_bytes = Quantity("decode_bytes", "m_d", "B", d.POSITIVE, "memory traffic of one decode step", "prefill-decode")
decode_intensity = Quantity("decode_intensity", "I_d", "FLOP/B", d.POSITIVE, "operations per byte of a decode step", "prefill-decode")
prompt = Quantity("prompt", "n", "token", d.COUNT, "prompt length", "ttft", also=("token/request", "token/sequence"))
output = Quantity("output", "m", "token", d.COUNT, "output tokens", "batching", also=("token/request", "token/sequence"))
wait = Quantity("wait", "w", "s", d.AMOUNT, "wait before prefill starts", "ttft", assumed=0)
prefill_rate = Quantity("prefill_rate", "r_p", "token/s", d.POSITIVE, "prefill rate", "ttft", also=("1/s",))
ttft = Quantity("ttft", "TTFT", "s", d.AMOUNT, "time to first token", "ttft", tex=r"\mathrm{TTFT}", also=("s/request", "s/sequence"))
ttft_target = Quantity("ttft_target", "T_f", "s", d.POSITIVE, "target for the time to first token", "ttft")
prefill_cost_ratio = Quantity("prefill_cost_ratio", "kappa", "1", d.POSITIVE, "operations of a prompt of twice the length over those of the prompt", "ttft", tex=r"\kappa")
decode_rate = Quantity("decode_rate", "r", "token/s", d.POSITIVE, "decode rate of one sequence", "batching", also=("1/s", "token/s/sequence", "token/s/request"))
latency_target = Quantity("latency_target", "T_max", "s", d.POSITIVE, "latency target of one request", "batching", tex=r"T_{\max}")
batch = Quantity("batch", "B", "sequence", d.COUNT, "sequences in the batch", "batching", also=("request",))
slots = Quantity("slots", "n_s", "sequence", d.COUNT, "batch slots of the server", "batching", also=("request",))
throughput = Quantity("throughput", "X", "token/s", d.POSITIVE, "decoded tokens per second of the whole batch", "batching")
cache_to_weights = Quantity("cache_to_weights", "rho_c", "1/sequence", d.POSITIVE, "cache bytes of one sequence over weight bytes", "batching", tex=r"\rho_{c}")
batching_gain = Quantity("batching_gain", "g_B", "1", d.POSITIVE, "throughput of a batch over that of one sequence", "batching")
latency_factor = Quantity("latency_factor", "l_B", "1", d.POSITIVE, "step time of a batch over that of one sequence", "batching")
batching_limit = Quantity("batching_limit", "g_max", "1", d.POSITIVE, "gain that no batch exceeds", "batching", tex=r"g_{\max}")
total_length = Quantity("total_length", "n_S", "token", d.COUNT, "tokens of all sequences of a batch, without padding", "batching")
mean_length = Quantity("mean_length", "n_m", "token/sequence", d.POSITIVE, "mean length of the sequences of a batch", "batching", also=("token",))
longest_length = Quantity("longest_length", "n_max", "token/sequence", d.COUNT, "length of the longest sequence of a batch", "batching", tex=r"n_{\max}", also=("token",))
padding_waste = Quantity("padding_waste", "omega", "1", d.SHARE, "share of a padded batch that is padding", "batching", tex=r"\omega")
compute = Quantity("compute", "F", "FLOP/s", d.POSITIVE, "peak compute rate", "prefill-decode")
bandwidth = Quantity("bandwidth", "BW", "B/s", d.POSITIVE, "memory bandwidth", "prefill-decode", tex=r"\mathrm{BW}")
mfu = Quantity("mfu", "MFU", "1", d.EFFICIENCY, "share of peak compute reached", "prefill-decode", tex=r"\mathrm{MFU}", assumed=1)
mbu = Quantity("mbu", "MBU", "1", d.EFFICIENCY, "share of memory bandwidth reached", "prefill-decode", tex=r"\mathrm{MBU}", assumed=1)
ridge = Quantity("ridge", "I_r", "FLOP/B", d.POSITIVE, "operations per byte at which compute and memory balance", "prefill-decode")
required_mfu = Quantity("required_mfu", "MFU_r", "1", d.POSITIVE, "share of peak compute that a prefill rate needs", "ttft", tex=r"\mathrm{MFU}_{r}")
prefill_time = Quantity("prefill_time", "t_p", "s", d.POSITIVE, "prefill time", "prefill-decode")
decode_step_time = Quantity("decode_step_time", "t_d", "s", d.POSITIVE, "time of one decode step", "prefill-decode")
tpot = Quantity("tpot", "TPOT", "s/token", d.POSITIVE, "time per output token", "prefill-decode", tex=r"\mathrm{TPOT}")
tpot_target = Quantity("tpot_target", "T_o", "s/token", d.POSITIVE, "target for the time per output token", "prefill-decode")
decode_flops_per_sequence = Quantity("decode_flops_per_sequence", "F_n", "FLOP/sequence", d.POSITIVE, "operations that each sequence adds to a decode step", "prefill-decode")
decode_bytes_per_sequence = Quantity("decode_bytes_per_sequence", "Q_n", "B/sequence", d.POSITIVE, "bytes of its cache that each sequence adds to a decode step", "prefill-decode")
total_time = Quantity("total_time", "T_g", "s", d.POSITIVE, "time from arrival to the last token", "prefill-decode")
decode_share = Quantity("decode_share", "delta", "1", d.SHARE, "share of the generation time spent in decode", "prefill-decode", tex=r"\delta")
phase_ratio = Quantity("phase_ratio", "rho", "1", d.POSITIVE, "decode time per token over prefill time per token", "prefill-decode", tex=r"\rho")
prefill_is_compute_bound = Quantity("prefill_is_compute_bound", "chi_p", "1", d.FLAG, "prefill is bound by compute, not by memory", "prefill-decode", tex=r"\chi_{p}")
decode_is_compute_bound = Quantity("decode_is_compute_bound", "chi_d", "1", d.FLAG, "a decode step is bound by compute, not by memory", "prefill-decode", tex=r"\chi_{d}")
achieved_mfu = Quantity("achieved_mfu", "MFU_a", "1", d.POSITIVE, "share of peak compute that a measured time reaches", "prefill-decode", tex=r"\mathrm{MFU}_{a}")
achieved_mbu = Quantity("achieved_mbu", "MBU_a", "1", d.POSITIVE, "share of memory bandwidth that a measured time reaches", "prefill-decode", tex=r"\mathrm{MBU}_{a}")
break_even_output = Quantity("break_even_output", "m_0", "token", d.COUNT, "output tokens from which decode takes at least as long as prefill", "prefill-decode")

# Load
arrival_rate = Quantity("arrival_rate", "lambda", "request/s", d.POSITIVE, "arrival rate", "sizing", tex=r"\lambda", also=("1/s", "sequence/s"))
service_time = Quantity("service_time", "T_s", "s", d.POSITIVE, "time one request is in service", "sizing", also=("s/request", "s/sequence"))
prefill_load = Quantity("prefill_load", "rho_p", "1", d.SHARE, "share of the GPU's time spent in prefill", "sizing", tex=r"\rho_{p}")
weights_step_time = Quantity("weights_step_time", "t_W", "s", d.POSITIVE, "time of a step to read the weights, between prefills", "sizing")
cache_step_time = Quantity("cache_step_time", "t_K", "s/sequence", d.POSITIVE, "time that each sequence adds to a step, between prefills", "sizing")
decode_time_alone = Quantity("decode_time_alone", "T_1", "s", d.POSITIVE, "decode time of a request if only the weights were read", "sizing")
load_slope = Quantity("load_slope", "sigma_N", "1", d.SHARE, "further sequences that one sequence in service causes by slowing the others", "sizing", tex=r"\sigma_{N}")
self_consistent_concurrency = Quantity("self_consistent_concurrency", "N_s", "sequence", d.POSITIVE, "mean concurrency at which decode speed and load agree", "sizing")
mean_concurrency = Quantity("mean_concurrency", "L_q", "sequence", d.POSITIVE, "mean number of sequences in service", "sizing", tex=r"\bar{N}", also=("request",))
sequences_per_gpu = Quantity("sequences_per_gpu", "n_g", "sequence/GPU", d.COUNT_OR_ZERO, "sequences one GPU holds", "sizing", also=("sequence", "request/GPU", "request"))
gpus = Quantity("gpus", "G", "GPU", d.COUNT, "GPUs (replicas)", "scaling")
gpu_price = Quantity("gpu_price", "c_h", "$/h/GPU", d.POSITIVE, "price of one GPU for an hour", "scaling")
cost_per_token = Quantity("cost_per_token", "c_t", "$/token", d.POSITIVE, "cost of one token", "scaling")
tensor_parallel = Quantity("tensor_parallel", "t_g", "GPU", d.COUNT, "GPUs that share one copy of the model", "scaling")
group_size = Quantity("group_size", "n_t", "1", d.COUNT, "GPUs of a group that holds the model and its caches", "scaling")
weights_per_gpu = Quantity("weights_per_gpu", "W_t", "B", d.POSITIVE, "weights on each GPU", "scaling")
active_weights_per_gpu = Quantity("active_weights_per_gpu", "W_at", "B", d.POSITIVE, "weights that one token meets on each GPU of a group", "scaling")
kv_bytes_per_token_per_gpu = Quantity("kv_bytes_per_token_per_gpu", "k_t", "B/token", d.POSITIVE, "KV cache per token on each GPU of a group", "scaling", also=("B", "B/token/GPU"))
kv_budget_of_group = Quantity("kv_budget_of_group", "B_g", "B", d.AMOUNT, "memory left for the KV cache on all GPUs of a group together", "scaling")
kv_bytes_per_layer_per_gpu = Quantity("kv_bytes_per_layer_per_gpu", "k_1t", "B/token", d.POSITIVE, "KV cache of one token in one layer on each GPU of a group", "scaling")
prefill_flops_per_gpu = Quantity("prefill_flops_per_gpu", "f_pt", "FLOP", d.POSITIVE, "operations of one prefill on each GPU of a group", "scaling")
prefill_bytes_per_gpu = Quantity("prefill_bytes_per_gpu", "m_pt", "B", d.POSITIVE, "memory traffic of one prefill on each GPU of a group", "scaling")
decode_flops_per_gpu = Quantity("decode_flops_per_gpu", "f_dt", "FLOP", d.POSITIVE, "operations of one decode step on each GPU of a group", "scaling")
decode_bytes_per_gpu = Quantity("decode_bytes_per_gpu", "m_dt", "B", d.POSITIVE, "memory traffic of one decode step on each GPU of a group", "scaling")
all_reduce_payload = Quantity("all_reduce_payload", "v_0", "B", d.POSITIVE, "bytes that one all-reduce sums", "scaling")
all_reduce_bytes = Quantity("all_reduce_bytes", "v", "B", d.AMOUNT, "bytes each GPU sends in one ring all-reduce", "scaling")
communication_time = Quantity("communication_time", "t_c", "s", d.AMOUNT, "communication of one step", "scaling", assumed=0)
link_bandwidth = Quantity("link_bandwidth", "BW_l", "B/s", d.POSITIVE, "bandwidth of the link between GPUs", "scaling", tex=r"\mathrm{BW}_{l}")
link_latency = Quantity("link_latency", "tau", "s", d.AMOUNT, "latency of one all-reduce", "scaling", tex=r"\tau", assumed=0)
slot_limit_context = Quantity("slot_limit_context", "c_s", "token", d.COUNT, "longest context at which slots, not memory, limit", "scaling")
new_weights = Quantity("new_weights", "W'", "B", d.POSITIVE, "weights of the model after the change", "scaling", tex=r"W^{\prime}")
new_kv_budget = Quantity("new_kv_budget", "B_kv'", "B", d.AMOUNT, "memory left for the KV cache after the change", "scaling", tex=r"B_{kv}^{\prime}")
new_kv_bytes_per_token = Quantity("new_kv_bytes_per_token", "k'", "B/token", d.POSITIVE, "KV cache per token after the change", "scaling", tex=r"k^{\prime}")
new_context = Quantity("new_context", "c'", "token", d.COUNT, "context per sequence after the change", "scaling", tex=r"c^{\prime}", also=("token/sequence",))
new_concurrency = Quantity("new_concurrency", "N'", "sequence", d.COUNT_OR_ZERO, "sequences held at once after the change", "scaling", tex=r"N^{\prime}")
context_change = Quantity("context_change", "gamma", "1", d.AMOUNT, "factor by which a change of the model stretches contexts", "scaling", tex=r"\gamma")
offered_load = Quantity("offered_load", "a_L", "request", d.Domain(0, 8_000, open_low=True), "offered load", "sizing")
servers = Quantity("servers", "n_srv", "request", d.Domain(1, 10_000, integer=True), "requests the system serves at once", "sizing")
covered = Quantity("covered", "C_P", "1", d.SHARE, "share of the time in which slots suffice", "sizing", tex="C_{P}")
blocking = Quantity("blocking", "B_E", "1", d.SHARE, "share of requests turned away", "sizing")
waiting = Quantity("waiting", "C_E", "1", d.SHARE, "share of requests that wait", "sizing")
# fmt: on


def quantities() -> dict[str, Quantity]:
    """Return every quantity by its name."""
    return {name: value for name, value in globals().items() if isinstance(value, Quantity)}
