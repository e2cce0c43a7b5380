"""Worked numbers of the laws of batching, phases, load and scale, computed again by hand."""

from __future__ import annotations

from fractions import Fraction

from spec.invariants.example import GB, KIB, Values, Worked

SEVEN_B_PARAMETERS = 6_704_594_944  # the chapter's 7B by the 12 L H^2 rule

TARGET: Values = {
    "flops_per_token": 2 * SEVEN_B_PARAMETERS, "attention_flops_per_pair": 262_144, "weights": 2 * SEVEN_B_PARAMETERS,
    "kv_bytes_per_token": 512 * KIB, "compute": 312 * 10**12, "bandwidth": 2039 * GB, "mfu": Fraction(1, 2), "mbu": 1,
    "wait": 0,
}  # fmt: skip

SERVING = (
    Worked(
        "cache_to_weights",
        {"context": 3072, "kv_bytes_per_token": 512 * KIB, "weights": 2 * SEVEN_B_PARAMETERS},
        Fraction(3072 * 512 * KIB, 2 * SEVEN_B_PARAMETERS),
        "the chapter's 7B at 3,072 tokens, about 0.12",
    ),
    Worked(
        "batching_gain",
        {"batch": 8, "cache_to_weights": Fraction(3, 25)},
        Fraction(32, 7),
        "the chapter's 4.6 times from eight at once",
    ),
    Worked(
        "latency_factor",
        {"batch": 8, "cache_to_weights": Fraction(3, 25)},
        Fraction(7, 4),
        "the chapter's batch of eight",
    ),
    Worked(
        "batching_limit", {"cache_to_weights": Fraction(3, 25)}, Fraction(28, 3), "the chapter's 7B at 3,072 tokens"
    ),
    Worked(
        "throughput", {"batch": 8, "decode_step_time": Fraction(1, 50)}, 400, "eight sequences at 50 tokens a second"
    ),
    Worked("decode_rate", {"decode_step_time": Fraction(1, 50)}, 50, "a step of 20 ms"),
    Worked(
        "cost_per_token",
        {"gpus": 2, "gpu_price": 9, "throughput": 1000},
        Fraction(1, 200_000),
        "two GPUs at 9 $ an hour: 5 $ for a million tokens",
    ),
    Worked(
        "prefill_cost_ratio",
        {
            "flops_per_token": 2 * SEVEN_B_PARAMETERS,
            "prompt": 4096,
            "prefill_attention_flops": 2 * 32 * 4096 * 4096**2,
        },
        Fraction(7418, 3453),
        "the chapter's 7B from 4,096 to 8,192 tokens, about 2.148",
    ),
    Worked(
        "attention_flops_per_pair", {"layers": 32, "heads": 32, "head_dim": 128}, 262_144, "the chapter's 7B: 2 L H"
    ),
    Worked("ridge", {"compute": 312 * 10**12, "bandwidth": 2039 * GB}, Fraction(312_000, 2039), "an A100, about 153"),
    Worked(
        "prefill_intensity",
        {"prefill_flops": 14_262_144 * 10**6, "prefill_bytes": 14_524_288_000},
        Fraction(14_262_144_000, 14_524_288),
        "the chapter's 7B over 1,000 tokens",
    ),
    Worked(
        "decode_intensity",
        {"decode_flops": 14 * GB + 2**31, "decode_bytes": 14 * GB + 2**31},
        1,
        "the chapter's 7B at 4,096 tokens: an operation for every byte",
    ),
    Worked(
        "required_mfu",
        {"flops_per_token": 14 * GB, "prefill_rate": 50_000, "compute": 312 * 10**12},
        Fraction(175, 78),
        "50,000 tokens a second of a 7B need two A100 and more",
    ),
    Worked("tpot", {"decode_step_time": Fraction(1, 50)}, Fraction(1, 50), "a step of 20 ms"),
    Worked(
        "total_time", {"ttft": Fraction(1, 5), "output": 500, "tpot": Fraction(1, 50)}, Fraction(509, 50), "exercise 4"
    ),
    Worked(
        "decode_share",
        {"output": 500, "tpot": Fraction(1, 50), "total_time": Fraction(509, 50)},
        Fraction(499, 509),
        "the chapter's exercise 4",
    ),
    Worked(
        "phase_ratio",
        {"tpot": Fraction(1, 50), "prompt": 10_000, "prefill_time": Fraction(1, 5)},
        1000,
        "50,000 tokens a second of prefill against 50 of decode",
    ),
    Worked(
        "prompt",
        {**TARGET, "ttft_target": Fraction(1, 2)},
        5273,
        "the chapter's 7B on an A100 at half of its peak, in half a second",
    ),
    Worked(
        "prompt", {**TARGET, "ttft_target": 1}, 9768, "the chapter's 7B on an A100 at half of its peak, in a second"
    ),
    Worked(
        "prefill_load",
        {"arrival_rate": Fraction(5, 3), "prefill_time": Fraction(1, 5)},
        Fraction(1, 3),
        "a hundred requests a minute, each of a fifth of a second",
    ),
    Worked(
        "weights_step_time",
        {"weights": 2 * SEVEN_B_PARAMETERS, "prefill_load": Fraction(1, 3), "bandwidth": 2039 * GB, "mbu": 1},
        Fraction(3 * SEVEN_B_PARAMETERS, 2039 * GB),
        "the chapter's 7B on an A100, a third of it in prefill",
    ),
    Worked(
        "cache_step_time",
        {
            "context": 2250,
            "kv_bytes_per_token": 512 * KIB,
            "prefill_load": Fraction(1, 3),
            "bandwidth": 2039 * GB,
            "mbu": 1,
        },
        Fraction(3375 * 512 * KIB, 2039 * GB),
        "the chapter's 7B on an A100, a third of it in prefill",
    ),
    Worked("decode_time_alone", {"output": 500, "weights_step_time": Fraction(1, 100)}, 5, "500 steps of 10 ms"),
    Worked(
        "load_slope",
        {"arrival_rate": Fraction(5, 3), "output": 500, "cache_step_time": Fraction(1, 1250)},
        Fraction(2, 3),
        "exercise 4 with 0.8 ms for every cache",
    ),
    Worked(
        "self_consistent_concurrency",
        {
            "arrival_rate": Fraction(5, 3),
            "prefill_time": Fraction(1, 5),
            "decode_time_alone": 5,
            "load_slope": Fraction(2, 3),
        },
        26,
        "exercise 4 with 10 ms for the weights and 0.8 ms for every cache",
    ),
    Worked("servers", {"waiting": Fraction(1, 3), "offered_load": 1}, 2, "two servers offered one erlang"),
    Worked("servers", {"covered": Fraction(99, 100), "offered_load": 50}, 67, "99 % of the time at a mean of 50"),
    Worked("weights_per_gpu", {"weights": 140 * GB, "tensor_parallel": 4}, 35 * GB, "a 70B in fp16 on four GPUs"),
    Worked(
        "all_reduce_payload", {"batch": 1, "hidden": 4096, "activation_width": 2}, 8192, "a hidden vector of the 7B"
    ),
    Worked("all_reduce_bytes", {"tensor_parallel": 4, "all_reduce_payload": 8192}, 12_288, "the 7B on four GPUs"),
    Worked(
        "communication_time",
        {"layers": 32, "link_latency": 0, "all_reduce_bytes": 12_288, "link_bandwidth": 786_432_000},
        Fraction(1, 1000),
        "0.7864 MB for a token of the 7B on four GPUs",
    ),
    Worked(
        "kv_bytes_per_token_per_gpu",
        {"layers": 32, "kv_heads": 8, "head_dim": 128, "kv_width": 2, "tensor_parallel": 4},
        32 * KIB,
        "Llama-3-8B on four GPUs",
    ),
    Worked(
        "slot_limit_context", {"slots": 8, "token_capacity": 102_996}, 12_874, "the eight slots of the lab in 54 GB"
    ),
    Worked(
        "prefill_is_compute_bound",
        {"prefill_flops": 312, "prefill_bytes": 2, "compute": 312, "bandwidth": 2, "mfu": 1, "mbu": 1},
        1,
        "exactly at the ridge",
    ),
    Worked(
        "prefill_is_compute_bound",
        {"prefill_flops": 311, "prefill_bytes": 2, "compute": 312, "bandwidth": 2, "mfu": 1, "mbu": 1},
        0,
        "just below the ridge",
    ),
    Worked(
        "decode_is_compute_bound",
        {"decode_flops": 200, "decode_bytes": 1, "compute": 300, "bandwidth": 2, "mfu": Fraction(1, 2), "mbu": 1},
        1,
        "half of the peak moves the ridge from 150 to 75 operations a byte",
    ),
    Worked(
        "achieved_mfu",
        {"prefill_flops": 13_738_975_232_000, "prefill_time": Fraction(1, 10), "compute": 312 * 10**12},
        Fraction(13_738_975_232, 31_200_000_000),
        "Llama-2-7B, 1,000 tokens in 100 ms on an A100: 44 %",
    ),
    Worked(
        "achieved_mfu",
        {"decode_flops": 14 * GB, "decode_step_time": Fraction(1, 100), "compute": 312 * 10**12},
        Fraction(7, 1560),
        "one sequence of a 7B in 10 ms on an A100: under half a percent",
    ),
    Worked(
        "achieved_mbu",
        {"decode_bytes": 14 * GB, "decode_step_time": Fraction(1, 100), "bandwidth": 2039 * GB},
        Fraction(1400, 2039),
        "14 GB in 10 ms on an A100: 69 %",
    ),
    Worked(
        "achieved_mbu",
        {"prefill_bytes": 14 * GB, "prefill_time": Fraction(1, 10), "bandwidth": 2039 * GB},
        Fraction(140, 2039),
        "14 GB in 100 ms on an A100: 7 %",
    ),
    Worked(
        "achieved_mbu",
        {"decode_bytes": 14 * GB, "tpot": Fraction(1, 100), "bandwidth": 2039 * GB},
        Fraction(1400, 2039),
        "14 GB for each token of 10 ms on an A100: 69 %",
    ),
    Worked("ttft", {"wait": Fraction(1, 10), "prefill_time": Fraction(1, 5)}, Fraction(3, 10), "a wait of 100 ms"),
    Worked("prefill_rate", {"prompt": 2000, "prefill_time": Fraction(1, 5)}, 10_000, "the chapter's exercise 4"),
    Worked(
        "break_even_output",
        {"prefill_time": Fraction(44, 1000), "tpot": Fraction(7, 1000)},
        8,
        "a prefill of 44 ms and steps of 7 ms: seven steps after the first token",
    ),
    Worked(
        "decode_flops_per_sequence",
        {"flops_per_token": 13_476_831_232, "attention_flops_per_pair": 262_144, "context": 4096},
        15_624_314_880,
        "Llama-2-7B at 4,096 tokens",
    ),
    Worked(
        "decode_bytes_per_sequence",
        {"context": 4096, "kv_bytes_per_token": 524_288},
        2_147_483_648,
        "Llama-2-7B at 4,096 tokens: 2 GiB",
    ),
    Worked(
        "batch",
        {
            "decode_flops_per_sequence": 15_624_314_880,
            "decode_bytes_per_sequence": 2_147_483_648,
            "weights": 13_476_831_232,
            "compute": 312 * 10**12,
            "bandwidth": 2039 * GB,
            "mfu": 1,
            "mbu": 1,
            "tpot_target": Fraction(1, 50),
        },
        12,
        "Llama-2-7B on an A100 at 4,096 tokens and 20 ms a token: 12 take 19.2 ms, 13 take 20.3 ms",
    ),
)
