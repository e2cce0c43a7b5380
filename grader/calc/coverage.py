"""Which laws hold for a model: those that its traits break are left out, and can be named with the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from spec.catalog import Model
from spec.chain import in_force
from spec.laws import Law
from spec.solving import Exact

COUNTS = frozenset({"parameters", "active_parameters"})
PARTS = COUNTS | {"attention_parameters", "feed_forward_parameters", "expert_parameters", "router_parameters"}
WINDOW = frozenset({"sliding_window", "sliding_layers"})
LATENT = frozenset({"kv_lora_rank", "qk_rope_dim"})


@dataclass(frozen=True, slots=True)
class Trait:
    """Something in a model that some laws do not know.

    Attributes:
        says: its sentence.
        breaks: the names of those laws.
        instead: what can be asked instead of a quantity, by its name.
    """

    says: str
    breaks: frozenset[str]
    instead: Mapping[str, str] = field(default_factory=dict)


EXPERTS = Trait(
    "has experts, of which a token meets only a few",
    frozenset(
        {
            "parameters_approx", "cache_to_weights", "weights_step_time", "meets_tpot_target",
        }
    ),
)  # fmt: skip
COMPRESSED = Trait(
    "has latent attention, whose heads share one compressed vector",
    frozenset(
        {
            "parameters_approx", "kv_bytes_per_token_approx", "prefill_attention_flops", "decode_attention_flops",
            "attention_flops_per_pair", "group_holds",
        }
    ),
)  # fmt: skip
SLIDING = Trait(
    "has layers that keep only the last {window:,} tokens",
    frozenset(
        {
            "attention_scores_per_head", "causal_scores_per_head", "kv_bytes_total", "holds_tokens", "gpu_holds",
            "prefill_attention_flops", "prefill_bytes", "decode_attention_flops", "decode_bytes",
            "cache_to_weights", "attention_flops_per_pair", "cache_step_time", "decode_bytes_active",
            "prefill_bytes_per_gpu", "decode_bytes_per_gpu", "decode_bytes_per_gpu_active", "holds_tokens_sharded",
            "fits_new_context", "fits_new_concurrency", "decode_bytes_per_sequence",
        }
    ),
    {
        "token_capacity": "tokens do not all take the same there, so ask for concurrency with a context",
        "kv_bytes_total": "tokens do not all take the same there, so give concurrency and context instead",
        "slot_limit_context": "tokens do not all take the same there, so ask for context with a concurrency",
    },
)  # fmt: skip
ONE_SIDE = "what binds the time of a group is named with prefill_time and decode_step_time, so ask for these"
OF_A_GROUP = {
    "sequences_per_gpu": "the GPUs of a group hold their sequences together, so ask for concurrency with "
    "context=PROMPT+OUTPUT",
    "prefill_is_compute_bound": ONE_SIDE,
    "decode_is_compute_bound": ONE_SIDE,
    "tensor_parallel": "the GPUs that weights and caches need are asked for as group_size",
}


def traits(model: Model, known: Mapping[str, Exact]) -> list[Trait]:
    """Return the traits of a model that matter for what is known."""
    found = [EXPERTS] * (model.experts is not None)
    found += [COMPRESSED] * (model.kv_lora_rank is not None)
    if model.sliding_window is not None and not idle(model, known):
        found.append(replace(SLIDING, says=SLIDING.says.format(window=model.sliding_window)))
    return found


def idle(model: Model, known: Mapping[str, Exact]) -> frozenset[str]:
    """Return the quantities of a model that do not matter for what is known: those of a window that nothing fills."""
    filled = model.sliding_window is None or not _shorter(known, model.sliding_window)
    return frozenset() if filled else WINDOW


def _shorter(known: Mapping[str, Exact], window: int) -> bool:
    """Say whether every length that is given stays within the window, so that no layer drops a token."""
    lengths = [known[name] for name in ("context", "prompt") if name in known]
    return bool(lengths) and max(lengths) + known.get("output", 0) <= window


def covering(laws: Sequence[Law], found: Sequence[Trait], known: Mapping[str, Exact], goal: str) -> list[Law]:
    """Leave out the laws that these traits break or that others supersede, and those of parts that nothing names.

    A part of which there are none is not there: a zero names nothing.
    """
    broken = frozenset().union(*(trait.breaks for trait in found))
    named = {goal, *(name for name, value in known.items() if value)}
    silent = LATENT if named.isdisjoint(LATENT) else frozenset()
    return [law for law in in_force(laws, named) if law.name not in broken and silent.isdisjoint(law.symbols)]


def structure(laws: Sequence[Law]) -> frozenset[str]:
    """Return the sizes and traits that a parameter count follows from."""
    counting = [law for law in laws if law.is_identity and law.left.name in PARTS]
    return frozenset(name for law in counting for name in law.symbols) - PARTS
