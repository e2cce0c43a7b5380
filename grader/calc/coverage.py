"""Which laws hold for a model: those that its traits break are left out, and can be named with the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spec.catalog import Model
from spec.laws import Law
from spec.solving import Exact

STRUCTURE = frozenset({"parameters", "parameters_approx"})
LATENT = "kv_bytes_per_token_latent"


@dataclass(frozen=True, slots=True)
class Trait:
    """Something in a model that some laws do not know: its sentence, and the names of those laws."""

    says: str
    breaks: frozenset[str]


EXPERTS = Trait(
    "has experts, of which a token meets only a few",
    STRUCTURE | {"flops_per_token", "prefill_bytes", "decode_bytes"},
)
COMPRESSED = Trait(
    "has latent attention, whose heads share one compressed vector",
    STRUCTURE
    | {"kv_bytes_per_token", "kv_bytes_per_token_approx", "prefill_attention_flops", "decode_attention_flops"},
)
EXTRAS = Trait("has learned attention sinks or router biases", frozenset({"parameters"}))
SLIDING = Trait(
    "has layers that keep only the last {window:,} tokens",
    frozenset(
        {
            "attention_scores_per_head", "causal_scores_per_head", "kv_bytes_per_sequence", "kv_bytes_total",
            "holds_tokens", "fits", "fits_in_blocks", "gpu_holds", "prefill_attention_flops", "prefill_bytes",
            "decode_attention_flops", "decode_bytes",
        }
    ),
)  # fmt: skip


def traits(model: Model, known: Mapping[str, Exact]) -> list[Trait]:
    """Return the traits of a model that matter for what is known."""
    found = [EXPERTS] * (model.experts is not None)
    found += [COMPRESSED] * (model.kv_lora_rank is not None)
    found += [EXTRAS] * (model.attention_sinks or model.router_bias)
    if model.sliding_window is not None and not _shorter(known, model.sliding_window):
        found.append(Trait(SLIDING.says.format(window=model.sliding_window), SLIDING.breaks))
    return found


def _shorter(known: Mapping[str, Exact], window: int) -> bool:
    """Say whether every length that is given stays within the window, so that no layer drops a token."""
    lengths = [known[name] for name in ("context", "prompt") if name in known]
    return bool(lengths) and max(lengths) + known.get("output", 0) <= window


def covering(laws: Sequence[Law], found: Sequence[Trait], known: Mapping[str, Exact], goal: str) -> list[Law]:
    """Leave out the laws that these traits break, and latent attention where nothing speaks of it."""
    broken = frozenset().union(*(trait.breaks for trait in found))
    if {"kv_lora_rank", "qk_rope_dim"} & {goal, *known}:
        broken |= {"kv_bytes_per_token"}
    else:
        broken |= {LATENT}
    return [law for law in laws if law.name not in broken]
