"""Small configurations with unequal sizes, drawn from a seed: one way of writing for each architecture that is read."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Said = dict[str, Any]
WINDOWS = (5, 8)
TOKENS = (3, 6, 13)  # within both windows, within one of them, beyond both
FULL, SLIDING = "full_attention", "sliding_attention"


@dataclass(frozen=True, slots=True)
class Draw:
    """The sizes of one model and the stream from which its traits are drawn."""

    rng: Random
    layers: int
    kv_heads: int
    heads: int
    head_dim: int
    hidden: int
    inner: int
    vocab: int

    @classmethod
    def of(cls, model_type: str, seed: int) -> Draw:
        rng = Random(f"{model_type}/{seed}")  # noqa: S311  a seeded draw, not a secret
        kv_heads, head_dim = rng.choice((1, 2, 3)), rng.choice((6, 10, 14))
        heads = kv_heads * rng.choice((1, 2, 3))
        # Some classes take no hidden size but a multiple of the heads, whatever their size.
        sizes = (heads * rng.choice((4, 8, 12)), rng.randrange(21, 60, 2), rng.randrange(61, 120, 2))
        return cls(rng, rng.randint(1, 5), kv_heads, heads, head_dim, *sizes)

    def flags(self, *names: str) -> Said:
        return {name: self.rng.random() < 0.5 for name in names}

    def window(self) -> int:
        return self.rng.choice(WINDOWS)

    def kinds(self) -> list[str]:
        return [self.rng.choice((FULL, SLIDING)) for _ in range(self.layers)]

    def equal(self) -> Said:
        """Give heads that together span the hidden size."""
        return {"hidden_size": self.heads * self.head_dim}

    def free(self) -> Said:
        """Give heads of a size of their own."""
        return {"hidden_size": self.hidden, "head_dim": self.head_dim}

    def either(self) -> Said:
        return self.rng.choice((self.equal, self.free))()

    def common(self, heads: Said) -> Said:
        common = {
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "intermediate_size": self.inner,
            "max_position_embeddings": 64,
        }
        return common | heads | self.words()

    def words(self) -> Said:
        """Give the vocabulary, with the special tokens inside of it."""
        ends = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
        return {"vocab_size": self.vocab} | ends | self.flags("tie_word_embeddings")

    def grouped(self, heads: Said, *flags: str) -> Said:
        return self.common(heads) | {"num_key_value_heads": self.kv_heads} | self.flags(*flags)

    def slides(self) -> Said:
        return {"sliding_window": self.rng.choice((None, *WINDOWS))}

    def late(self) -> Said:
        first = {"max_window_layers": self.rng.randint(0, self.layers)}
        return self.flags("use_sliding_window") | {"sliding_window": self.window()} | first

    def alternating(self) -> Said:
        kinds = self.rng.choice(({}, {"layer_types": self.kinds()}))
        return {"sliding_window": self.window()} | kinds

    def experts(self, number: str, inner: str = "moe_intermediate_size") -> Said:
        routed = self.rng.choice((4, 5, 7))
        return {number: routed, "num_experts_per_tok": self.rng.randint(1, 3), inner: self.rng.randrange(11, 30, 2)}

    def beside(self) -> Said:
        groups = {"n_group": 1, "topk_group": 1}
        return groups | {
            "n_shared_experts": self.rng.randint(1, 2),
            "first_k_dense_replace": self.rng.randint(0, min(self.layers, 2)),
        }

    def latent(self) -> Said:
        rope, nope, value = (self.rng.choice(sizes) for sizes in ((4, 6), (8, 10), (3, 9)))
        ranks = {"kv_lora_rank": self.rng.choice((8, 14)), "q_lora_rank": self.rng.choice((None, 11))}
        heads = {"qk_rope_head_dim": rope, "qk_nope_head_dim": nope, "v_head_dim": value}
        said = self.common(self.equal()) | {"num_key_value_heads": self.heads}
        return said | ranks | heads | self.experts("n_routed_experts") | self.beside()

    def classic(self) -> Said:
        inner = self.rng.choice(({}, {"n_inner": self.inner}))
        sizes = {"n_layer": self.layers, "n_head": self.heads, "n_embd": self.heads * self.head_dim, "n_positions": 64}
        return sizes | inner | self.words()

    def falcon(self) -> Said:
        kind = self.rng.choice((
            {"new_decoder_architecture": True, "num_kv_heads": self.kv_heads} | self.rng.choice(
                ({}, {"num_ln_in_parallel_attn": 1}, {"num_ln_in_parallel_attn": 2})),
            self.flags("multi_query", "parallel_attn"),
        ))  # fmt: skip
        sizes = {"num_hidden_layers": self.layers, "num_attention_heads": self.heads, "ffn_hidden_size": self.inner}
        return sizes | self.equal() | self.words() | self.flags("bias", "alibi") | kind

    def nested(self, kind: str, vision: Said, text: Said, *, rotary: bool = False) -> Said:
        """Give a model that reads images around a language model, whose output head the outer fields tie or not."""
        if rotary:  # sections of time, height and width, which together are half a head
            third = self.head_dim // 2 // 3
            sections = [self.head_dim // 2 - 2 * third, third, third]
            text |= {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": sections}}
        tied = {"tie_word_embeddings": text.pop("tie_word_embeddings")}
        return {"text_config": {"model_type": kind} | text, "vision_config": vision} | tied


WHOLE = {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 1.0}}
EYES = {"hidden_size": 16, "intermediate_size": 20, "num_hidden_layers": 1, "num_attention_heads": 2}
PATCHES = EYES | {"image_size": 16, "patch_size": 4}
DEEP = {"depth": 1, "hidden_size": 16, "intermediate_size": 20, "num_heads": 2}
QWEN3_EYES = DEEP | {"deepstack_visual_indexes": [0], "num_position_embeddings": 16}
ATTENTION, MLP = "attention_bias", "mlp_bias"

WRITTEN: Mapping[str, Callable[[Draw], Said]] = {
    "arcee": lambda d: d.grouped(d.either(), ATTENTION, MLP),
    "codegen": lambda d: d.classic() | {"n_head": 4, "n_embd": 4 * d.head_dim, "rotary_dim": 4},
    "cohere": lambda d: d.grouped(d.either(), ATTENTION),
    "deepseek_v2": lambda d: d.latent(),
    "deepseek_v3": lambda d: d.latent(),
    "ernie4_5": lambda d: d.grouped(d.free(), "use_bias"),
    "exaone4": lambda d: d.grouped(d.either()) | d.alternating(),
    "falcon": lambda d: d.falcon(),
    "gemma": lambda d: d.grouped(d.free(), ATTENTION),
    "gemma2": lambda d: d.grouped(d.free(), ATTENTION) | d.alternating(),
    "gemma3": lambda d: d.nested(
        "gemma3_text", {"model_type": "siglip_vision_model"} | PATCHES, d.grouped(d.free(), ATTENTION) | d.alternating()
    ),
    "gemma3_text": lambda d: d.grouped(d.free(), ATTENTION) | d.alternating() | {"sliding_window_pattern": 2},
    "glm": lambda d: d.grouped(d.free(), ATTENTION),
    "glm4": lambda d: d.grouped(d.free(), ATTENTION),
    "glm4_moe": lambda d: d.grouped(d.free(), ATTENTION, "use_qk_norm") | d.experts("n_routed_experts") | d.beside(),
    "gpt2": lambda d: d.classic(),
    "gpt_bigcode": lambda d: d.classic() | d.flags("multi_query"),
    "gpt_neox": lambda d: d.common(d.equal()) | d.flags(ATTENTION),
    "gpt_oss": lambda d: d.grouped(d.free(), ATTENTION)
    | d.experts("num_local_experts", "intermediate_size")
    | d.alternating(),
    "gptj": lambda d: d.classic() | {"rotary_dim": 4},
    "granite": lambda d: d.grouped(d.either(), ATTENTION, MLP),
    "granitemoe": lambda d: d.grouped(d.either(), ATTENTION) | d.experts("num_local_experts", "intermediate_size"),
    "hunyuan_v1_dense": lambda d: d.grouped(d.free(), ATTENTION),
    "kimi_k25": lambda d: d.nested("deepseek_v3", EYES, d.latent()),
    "llama": lambda d: d.grouped(d.either(), ATTENTION, MLP),
    "ministral3": lambda d: d.grouped(d.free()) | d.slides(),
    "mistral": lambda d: d.grouped(d.either()) | d.slides(),
    "mistral3": lambda d: d.nested(
        "mistral", {"model_type": "pixtral", "head_dim": 8} | PATCHES, d.grouped(d.either()) | d.slides()
    ),
    "mixtral": lambda d: d.grouped(d.either()) | d.experts("num_local_experts", "intermediate_size") | d.slides(),
    "mpt": lambda d: {"n_layers": d.layers, "n_heads": d.heads, "d_model": d.heads * d.head_dim, "max_seq_len": 64}
    | d.words(),
    "nemotron": lambda d: d.grouped(d.either(), ATTENTION, MLP),
    "olmo": lambda d: d.grouped(d.either(), ATTENTION),
    "opt": lambda d: d.common(d.equal())
    | {"ffn_dim": d.inner, "word_embed_proj_dim": d.heads * d.head_dim},
    "phi": lambda d: d.grouped(d.equal()) | WHOLE,
    "phi3": lambda d: d.grouped(d.equal()) | d.slides(),
    "phimoe": lambda d: d.grouped(d.either(), ATTENTION, "lm_head_bias")
    | d.experts("num_local_experts", "intermediate_size")
    | d.slides(),
    "qwen2": lambda d: d.grouped(d.either()) | d.late(),
    "qwen2_5_vl": lambda d: d.nested(
        "qwen2_5_vl_text", DEEP | {"out_hidden_size": d.heads * d.head_dim},
        d.grouped(d.equal()) | d.late(), rotary=True
    ),
    "qwen2_vl": lambda d: d.nested(
        "qwen2_vl_text", {"depth": 1, "embed_dim": 16, "num_heads": 2, "hidden_size": d.heads * d.head_dim},
        d.grouped(d.equal()) | d.late(), rotary=True
    ),
    "qwen3": lambda d: d.grouped(d.free(), ATTENTION) | d.late(),
    "qwen3_moe": lambda d: d.grouped(d.free(), ATTENTION) | d.experts("num_experts"),
    "qwen3_vl": lambda d: d.nested(
        "qwen3_vl_text", QWEN3_EYES | {"out_hidden_size": d.hidden}, d.grouped(d.free(), ATTENTION), rotary=True
    ),
    "qwen3_vl_moe": lambda d: d.nested(
        "qwen3_vl_moe_text", QWEN3_EYES | {"out_hidden_size": d.hidden},
        d.grouped(d.free(), ATTENTION) | d.experts("num_experts"), rotary=True
    ),
    "seed_oss": lambda d: d.grouped(d.free(), ATTENTION, "attention_out_bias", MLP),
    "smollm3": lambda d: d.grouped(d.equal(), ATTENTION, MLP),
    "stablelm": lambda d: d.grouped(d.equal(), "use_qkv_bias", "use_parallel_residual") | WHOLE,
    "starcoder2": lambda d: d.grouped(d.equal(), "use_bias") | d.slides(),
}  # fmt: skip


def said(model_type: str, seed: int) -> Said:
    """Give a config.json of an architecture; the seed decides its sizes and traits."""
    return {"model_type": model_type} | WRITTEN[model_type](Draw.of(model_type, seed))
