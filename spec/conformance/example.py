"""A capacity calculator of a few lines, with two faults for the suite to find."""

UNITS = {"memory": "GB", "kv_bytes_per_token": "kB"}


def kv_bytes_per_token(layers: int, kv_heads: int, head_dim: int, kv_width: float) -> float:
    """Return the cache of a token, of keys alone: the values are forgotten."""
    return layers * kv_heads * head_dim * kv_width / 1000


def kv_budget(gpu_memory: float, weights: float, activations: float, safety_margin: float) -> float:
    """Return what is left for the cache, even where nothing is."""
    return gpu_memory - weights - activations - safety_margin


def concurrency(kv_budget: float, context: int, kv_bytes_per_token: float) -> int:
    """Return how many sequences fit."""
    return int(kv_budget * 1e9 // (context * kv_bytes_per_token * 1000))


def padding_waste(lengths: list[int]) -> float:
    """Return the share of a padded batch that is padding."""
    return 1 - sum(lengths) / (len(lengths) * max(lengths))
