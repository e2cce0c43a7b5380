"""The families behind the chapter's four computed exercises."""

from tests.problems.examples import Example

LLAMA_2_7B = {"layers": (32,), "hidden": (4096,), "heads": (32,), "kv_heads": (32,), "head_dim": (128,)}
MODEL_13B = {"layers": (40,), "hidden": (5120,), "heads": (40,), "kv_heads": (40,), "head_dim": (128,)}
LLAMA_3_8B = {"layers": (32,), "hidden": (4096,), "heads": (32,), "kv_heads": (8,), "head_dim": (128,)}
ONE_A100 = {"gpu_memory": ("80 GB",), "weights": ("14 GB",), "activations": ("8 GB",), "safety_margin": ("4 GB",)}
LOAD = {"prompt": (2000,), "output": (500,), "ttft": ("200 ms",), "decode_rate": (50,)}

EXAMPLES: list[Example] = [
    (
        "parameter-count",
        "parameters_approx",
        {"layers": (40,), "hidden": (5120,), "vocab": (32_000,)},
        "12910592000",
        {
            "attention-only": "4521984000",
            "feed-forward-only": "8716288000",
            "embeddings-forgotten": "12582912000",
            "one-embedding": "12746752000",
            "gated-four-h": "17104896000",
            "hidden-not-squared": "330137600",
        },
    ),
    (
        "kv-per-token",
        "kv_bytes_per_token",
        {**LLAMA_3_8B, "weight_bits": (4,), "kv_width": ("2 B",)},
        "131072",
        {
            "values-forgotten": "65536",
            "hidden-for-kv-width": "524288",
            "bits-for-bytes": "1048576",
            "layers-forgotten": "4096",
            "queries-cached": "196608",
            "weight-width-for-kv": "32768",
        },
    ),
    (
        "max-concurrency",
        "concurrency",
        {**LLAMA_2_7B, **ONE_A100, "context": (4096,), "kv_width": ("2 B",)},
        "25",
        {
            "all-in-GiB": "27",
            "margin-forgotten": "27",
            "reserves-forgotten": "30",
            "weights-forgotten": "31",
            "values-forgotten": "50",
            "rounded-up": "26",
            "not-rounded": "25.15",
        },
    ),
    (
        # Nothing is kept back, and a cache takes 34.4 of 66 GB.
        "max-concurrency",
        "concurrency",
        {
            **LLAMA_2_7B,
            **ONE_A100,
            "activations": ("0 GB",),
            "safety_margin": ("0 GB",),
            "context": (65_536,),
            "kv_width": ("2 B",),
        },
        "1",
        {"weights-forgotten": "2", "values-forgotten": "3", "rounded-up": "2", "not-rounded": "1.92"},
    ),
    (
        "max-context",
        "context",
        {
            **MODEL_13B,
            **ONE_A100,
            "weights": ("26 GB",),
            "safety_margin": ("0 GB",),
            "concurrency": (20,),
            "kv_width": ("2 B",),
        },
        "2807",
        {
            "all-in-GiB": "3014",
            "cache-of-a-7b": "4386",
            "values-forgotten": "5615",
            "activations-forgotten": "3295",
            "all-sequences-as-one": "56152",
            "usual-margin": "2563",
        },
    ),
    (
        "ttft",
        "ttft",
        {"wait": ("0 ms",), "prompt": (10_000,), "prefill_rate": (50_000,), "decode_rate": (50,)},
        "200",
        {
            "ratio-inverted": "5000",
            "decode-step-added": "220",
            "prefill-rate-in-min": "12000",
            "prompt-of-another-example": "40",
            "answer-in-s": "0.2",
            "decode-rate-used": "200000",
        },
    ),
    (
        "ttft",
        "prompt",
        {
            "wait": ("0 ms",),
            "prompt": (100,),
            "prefill_rate": (100_000,),
            "decode_rate": (20,),
            "ttft": ("200 ms",),
        },
        "20000",
        {"decode-step-taken-off": "15000", "decode-rate-used": "4", "prefill-rate-in-min": "333.3"},
    ),
    (
        "ttft",
        "prefill_rate",
        {"wait": ("5000 ms",), "prompt": (50,), "decode_rate": (20,), "ttft": ("5050 ms",), "prefill_rate": (1000,)},
        "1000",
        {"prompt-of-another-example": "40000", "decode-rate-used": "20", "wait-forgotten": "9.90"},
    ),
    (
        "littles-law",
        "mean_concurrency",
        {"arrival_rate": ("100 request/min",), **LOAD},
        "17",
        {
            "arrival-rate-in-s": "1020",
            "ttft-forgotten": "16.667",
            "prompt-decoded": "83.667",
            "rate-over-time": "0.163",
            "ttft-per-token": "183.333",
            "ttft-in-s": "350",
        },
    ),
    (
        "littles-law",
        "slots",
        # Not 100 requests/min: there 17 are in service exactly, which floats may miss.
        {"arrival_rate": ("118 request/min",), **LOAD},
        "21",
        {"ttft-forgotten": "20", "prompt-decoded": "99", "rounded-down": "20"},
    ),
    (
        "gpu-count",
        "gpus",
        {**ONE_A100, "gpu_memory": ("40 GB",), "kv_bytes_per_token": (524_288,), "arrival_rate": ("150 request/min",)}
        | LOAD,
        "3",
        {
            "output-forgotten": "2",
            # 1,530 sequences on GPUs that hold 10 each: the strict bound asks for one more than 153.
            "arrival-rate-in-s": "154",
            "rounded-down": "2",
            "one-big-memory": "2",
            "weights-forgotten": "2",
            "one-gpu-per-sequence": "26",
        },
    ),
]
