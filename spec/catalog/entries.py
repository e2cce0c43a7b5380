"""What the catalogue says of a model and of a GPU."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spec.catalog.amounts import Amount

NORM_VECTORS = MappingProxyType({"none": 0, "rmsnorm": 1, "layernorm": 2})

# How configuration files on the Hugging Face Hub spell the fields of a model.
HUGGING_FACE_NAMES = MappingProxyType(
    {
        "num_hidden_layers": "layers",
        "n_layer": "layers",
        "hidden_size": "hidden",
        "n_embd": "hidden",
        "num_attention_heads": "heads",
        "n_head": "heads",
        "num_key_value_heads": "kv_heads",
        "intermediate_size": "intermediate",
        "ffn_dim": "intermediate",
        "vocab_size": "vocab",
        "tie_word_embeddings": "tied",
        "max_position_embeddings": "window",
        "attention_bias": "qkv_bias",
        "use_qk_norm": "qk_norm",
        "num_experts": "experts",
        "num_local_experts": "experts",
        "n_routed_experts": "experts",
        "num_experts_per_tok": "experts_per_token",
        "moe_intermediate_size": "moe_intermediate",
        "n_shared_experts": "shared_experts",
        "first_k_dense_replace": "dense_layers",
        "qk_rope_head_dim": "qk_rope_dim",
        "qk_nope_head_dim": "qk_nope_dim",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A decoder-only transformer: its sizes, and every trait that its exact parameter count depends on.

    Sizes are counts of elements, heads, layers, tokens or parameters. A trait that is not written has the value
    of a Llama: RMSNorm twice a layer, rotary positions, no biases. None means that the model has no such part.

    Attributes:
        name: the name of the row.
        source: where the numbers come from.
        layers: transformer layers.
        hidden: hidden size.
        heads: attention (query) heads.
        kv_heads: key and value heads.
        head_dim: size of one head; `hidden / heads` where it is not written.
        intermediate: inner size of the feed-forward network of a dense layer.
        vocab: rows of the embedding matrix, padding included.
        tied: the output head is the embedding matrix.
        gated: the feed-forward network has a third, gating matrix.
        parameters: exact count of learned parameters; buffers of a checkpoint file are none.
        active_parameters: of these, the ones that one token meets, where experts make that fewer. The whole
            embedding matrix counts.
        window: longest context that the published configuration allows, in tokens.
        norm: `none`, `rmsnorm` (a scale) or `layernorm` (a scale and a shift).
        norms_per_layer: norms over the hidden size in each layer. One more follows the last layer.
        qk_norm: each layer norms queries and keys by one scale vector of size `head_dim` each.
        qkv_bias: query, key and value projections have biases.
        o_bias: the attention output projection has a bias.
        mlp_bias: every matrix of the feed-forward network (and of each expert) has a bias.
        lm_head_bias: the output head has a bias.
        attention_sinks: each head of each layer has one learned sink score.
        position_embeddings: rows of a learned position table.
        experts: routed experts of a layer.
        experts_per_token: routed experts that each token is sent to.
        moe_intermediate: inner size of one expert.
        shared_experts: experts that every token passes.
        dense_layers: leading layers that have a dense network of size `intermediate` in place of experts.
        router_bias: the router has a learned bias for each expert.
        kv_lora_rank: size of the compressed key-value vector of multi-head latent attention (MLA).
        q_lora_rank: size of the compressed query vector; None where queries are not compressed.
        qk_rope_dim: rotary part of a head; its key is shared by all heads.
        qk_nope_dim: part of a head without rotation.
        v_head_dim: size of the value of one head.
        sliding_window: tokens that a sliding layer keeps.
        sliding_layers: layers that slide.
        hub: id on the Hugging Face Hub.
        aliases: other names of the row.
        notes: what else a reader should know.
    """

    name: str
    source: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int
    vocab: int
    tied: bool
    gated: bool
    parameters: int | None = None
    active_parameters: int | None = None
    window: int | None = None
    norm: str = "rmsnorm"
    norms_per_layer: int = 2
    qk_norm: bool = False
    qkv_bias: bool = False
    o_bias: bool = False
    mlp_bias: bool = False
    lm_head_bias: bool = False
    attention_sinks: bool = False
    position_embeddings: int = 0
    experts: int | None = None
    experts_per_token: int | None = None
    moe_intermediate: int | None = None
    shared_experts: int = 0
    dense_layers: int = 0
    router_bias: bool = False
    kv_lora_rank: int | None = None
    q_lora_rank: int | None = None
    qk_rope_dim: int | None = None
    qk_nope_dim: int | None = None
    v_head_dim: int | None = None
    sliding_window: int | None = None
    sliding_layers: int | None = None
    hub: str = ""
    aliases: tuple[str, ...] = ()
    notes: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that finds this model: its own, its aliases and its id on the Hub."""
        return (self.name, *self.aliases, *([self.hub] if self.hub else []))

    @property
    def attention(self) -> str:
        """The kind of attention: `MHA`, `GQA`, `MQA` or `MLA`."""
        if self.kv_lora_rank is not None:
            return "MLA"
        if self.kv_heads == self.heads:
            return "MHA"
        return "MQA" if self.kv_heads == 1 else "GQA"

    @property
    def approximation_error(self) -> Fraction | None:
        """Relative error of the chapter's 12 L H^2 + 2 V H against `parameters`; None where these are unknown."""
        if self.parameters is None:
            return None
        approximation = 12 * self.layers * self.hidden**2 + 2 * self.vocab * self.hidden
        return Fraction(approximation - self.parameters, self.parameters)

    @property
    def approximation_applies(self) -> bool:
        """Whether the chapter's rule is within 10 % of the exact count."""
        error = self.approximation_error
        return error is not None and abs(error) <= Fraction(1, 10)

    def quantities(self) -> dict[str, int]:
        """Give every number of the model by its name in the specification.

        Flags are 0 or 1, `norm_vectors` is the vectors of one norm, and parts that the model lacks are left out.
        """
        numbers = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: int(value) for name, value in numbers.items() if isinstance(value, int)} | {
            "norm_vectors": NORM_VECTORS[self.norm]
        }


@dataclass(frozen=True, slots=True)
class Report:
    """A total that a tool reported: `total` of memory, seen `by` torch, nvidia-smi or cudaGetDeviceProperties."""

    total: Amount
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GPU:
    """A GPU: its memory as marketed and as reported, and its peak rates.

    Attributes:
        name: the name of the row.
        source: where the numbers come from.
        marketed: memory as sold, decimal (GB).
        bandwidth: peak memory bandwidth, a rate of bytes.
        compute: peak dense 16-bit rate, without sparsity, in FLOP per second.
        compute_8bit: the same for 8-bit numbers, floats or, where the part has none, integers; None where unknown.
        compute_4bit: the same for 4-bit numbers.
        reported: the total that a program sees, or None where no log is known. torch and cudaGetDeviceProperties
            see about half a GiB less than nvidia-smi, so `reported_by` matters.
        reported_by: the tool that reported it.
        other_reports: totals from other hosts or tools.
        aliases: other names of the row.
        notes: what else a reader should know.
    """

    name: str
    source: str
    marketed: Amount = field(metadata={"example": "80 GB"})
    bandwidth: Amount = field(metadata={"example": "2039 GB/s"})
    compute: Amount = field(metadata={"example": "312 TFLOP/s"})
    compute_8bit: Amount | None = field(default=None, metadata={"example": "1979 TFLOP/s"})
    compute_4bit: Amount | None = field(default=None, metadata={"example": "9000 TFLOP/s"})
    reported: Amount | None = field(default=None, metadata={"example": "79.15 GiB"})
    reported_by: str = ""
    other_reports: tuple[Report, ...] = field(default=(), metadata={"example": "79.25 GiB"})
    aliases: tuple[str, ...] = ()
    notes: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that finds this GPU: its own and its aliases."""
        return (self.name, *self.aliases)

    def quantities(self) -> dict[str, Fraction]:
        """Give every number of the GPU by its name in the specification.

        `gpu_memory` (as marketed) and `gpu_memory_reported` (left out where unknown) are in bytes, `bandwidth` in
        bytes per second and `compute` in FLOP per second.
        """
        numbers = {"gpu_memory": self.marketed.base, "bandwidth": self.bandwidth.base, "compute": self.compute.base}
        return numbers | ({} if self.reported is None else {"gpu_memory_reported": self.reported.base})

    def compute_at(self, bits: int) -> Amount | None:
        """Give the peak dense rate for numbers of 4, 8 or 16 bits, or None where it is not known."""
        return {16: self.compute, 8: self.compute_8bit, 4: self.compute_4bit}.get(bits)
