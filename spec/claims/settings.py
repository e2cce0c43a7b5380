"""What the chapter's statements are computed on: a model on a GPU, its memory budget, and numbers in print."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, TypedDict

from spec.catalog import gpu, model
from spec.claims.definite import NoValueError
from spec.solving import Exact

GB, GIB, MB, KIB = 10**9, 2**30, 10**6, 2**10
MS = Fraction(1, 1000)
# The chapter's worked example: what it takes from a GPU before any cache.
CHAPTER_WEIGHTS, CHAPTER_ACTIVATIONS, CHAPTER_MARGIN = 14 * GB, 8 * GB, 4 * GB


class Efficiency(TypedDict):
    """Shares of the peak compute rate and of the peak bandwidth that are reached."""

    mfu: Fraction
    mbu: Fraction


PEAK: Efficiency = {"mfu": Fraction(1), "mbu": Fraction(1)}
REALISTIC: Efficiency = {"mfu": Fraction(1, 2), "mbu": Fraction(4, 5)}


@dataclass(frozen=True, eq=False)
class Serving:
    """A model on a GPU, computed by an implementation's functions; what depends on no length is computed once.

    Attributes:
        impl: the implementation.
        model_name: a dense model of the catalogue, by its name.
        gpu_name: a GPU of the catalogue, by its name.
        mfu: share of the peak compute rate that is reached.
        mbu: share of the peak bandwidth that is reached.
        weights_given: bytes of weights where they are not 16 bits for each parameter.
    """

    impl: Any
    model_name: str = "chapter-7b"
    gpu_name: str = "a100-80gb"
    mfu: Fraction = Fraction(1)
    mbu: Fraction = Fraction(1)
    weights_given: int | None = None

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The numbers of the model, by quantity."""
        return model(self.model_name).quantities()

    @cached_property
    def rates(self) -> dict[str, Fraction]:
        """Peak compute rate (FLOP/s) and bandwidth (bytes/s), by quantity."""
        numbers = gpu(self.gpu_name).quantities()
        return {name: numbers[name] for name in ("compute", "bandwidth")}

    @cached_property
    def parameters(self) -> Any:
        """The exact count of parameters."""
        return parameters(self.impl, self.model_name)

    @cached_property
    def weights(self) -> Any:
        """Bytes of weights, at 16 bits for each parameter unless they are given."""
        return self.weights_given or self.impl.weights(parameters=self.parameters, weight_bits=16)

    @cached_property
    def kv_bytes_per_token(self) -> Any:
        """Bytes of cache that one token takes, at 2 bytes an element."""
        return self.impl.kv_bytes_per_token(**self._only("layers", "kv_heads", "head_dim"), kv_width=2)

    @cached_property
    def flops_per_token(self) -> Any:
        """FLOPs of the matrices for one token."""
        return self.impl.flops_per_token(parameters=self.parameters)

    @cached_property
    def ridge(self) -> Any:
        """FLOPs per byte at which the GPU's two peak rates balance."""
        return self.impl.ridge(**self.rates)

    def prefill_flops(self, prompt: int) -> Any:
        """FLOPs of the prefill of one prompt."""
        attention = self.impl.prefill_attention_flops(prompt=prompt, **self._only("layers", "heads", "head_dim"))
        return self.impl.prefill_flops(
            prompt=prompt, flops_per_token=self.flops_per_token, prefill_attention_flops=attention
        )

    def prefill_bytes(self, prompt: int) -> Any:
        """Bytes that the prefill of one prompt moves."""
        return self.impl.prefill_bytes(prompt=prompt, kv_bytes_per_token=self.kv_bytes_per_token, weights=self.weights)

    def prefill_time(self, prompt: int) -> Any:
        """Seconds of the prefill of one prompt."""
        return self.impl.prefill_time(
            prefill_flops=self.prefill_flops(prompt), prefill_bytes=self.prefill_bytes(prompt), **self._roof()
        )

    def decode_flops(self, batch: int, context: int) -> Any:
        """FLOPs of one decode step of sequences of one length."""
        tokens = self.impl.cached_tokens(batch=batch, context=context)
        return self.impl.decode_flops(
            decode_matrix_flops=self.impl.decode_matrix_flops(batch=batch, flops_per_token=self.flops_per_token),
            decode_attention_flops=self.impl.decode_attention_flops(
                cached_tokens=tokens, **self._only("layers", "heads", "head_dim")
            ),
        )

    def decode_bytes(self, batch: int, context: int) -> Any:
        """Bytes that one decode step of sequences of one length moves."""
        tokens = self.impl.cached_tokens(batch=batch, context=context)
        return self.impl.decode_bytes(
            cached_tokens=tokens, kv_bytes_per_token=self.kv_bytes_per_token, weights=self.weights
        )

    def decode_step_time(self, batch: int, context: int) -> Any:
        """Seconds of one decode step of sequences of one length."""
        return self.impl.decode_step_time(
            decode_flops=self.decode_flops(batch, context),
            decode_bytes=self.decode_bytes(batch, context),
            **self._roof(),
        )

    def phase_ratio(self, prompt: int, batch: int = 1) -> Any:
        """How many times longer a token takes to generate, in a batch, than to prefill."""
        return self.impl.phase_ratio(
            prompt=prompt, prefill_time=self.prefill_time(prompt), tpot=self.decode_step_time(batch, prompt)
        )

    def token_capacity(self, kv_budget: Exact) -> Any:
        """Tokens whose cache a budget of bytes holds."""
        return self.impl.token_capacity(kv_budget=kv_budget, kv_bytes_per_token=self.kv_bytes_per_token)

    def concurrency(self, kv_budget: Exact, context: int) -> Any:
        """Sequences of one length whose cache a budget of bytes holds."""
        return self.impl.concurrency(kv_budget=kv_budget, context=context, kv_bytes_per_token=self.kv_bytes_per_token)

    def fits(self, kv_budget: Exact, concurrency: int, context: int) -> bool:
        """Say whether the caches of so many sequences of one length fit a budget of bytes."""
        return bool(
            self.impl.fits(
                kv_budget=kv_budget,
                concurrency=concurrency,
                context=context,
                kv_bytes_per_token=self.kv_bytes_per_token,
            )
        )

    def _only(self, *names: str) -> dict[str, int]:
        sizes = self.sizes
        return {name: sizes[name] for name in names}

    def _roof(self) -> dict[str, Fraction]:
        return self.rates | {"mfu": self.mfu, "mbu": self.mbu}


def parameters(impl: Any, name: str) -> Any:
    """Count the parameters of a model of the catalogue, dense or with experts (MLA excepted), by the laws."""
    sizes = model(name).quantities()

    def given(*names: str) -> dict[str, int]:
        return {n: sizes[n] for n in names}

    attention = impl.attention_parameters(
        **given("hidden", "heads", "kv_heads", "head_dim", "attention_sinks", "qk_norm", "o_bias", "qkv_bias")
    )
    network = impl.feed_forward_parameters(**given("hidden", "intermediate", "gated", "mlp_bias"))
    whole = given(
        "layers", "hidden", "vocab", "tied", "norm_vectors", "norms_per_layer", "position_embeddings", "lm_head_bias"
    ) | {"attention_parameters": attention, "feed_forward_parameters": network}
    if "experts" not in sizes:
        return impl.parameters(**whole)
    expert = impl.expert_parameters(**given("hidden", "moe_intermediate", "gated", "mlp_bias"))
    router = impl.router_parameters(**given("experts", "hidden", "router_bias"))
    experts = given("experts", "shared_experts", "dense_layers")
    return impl.parameters(**whole, **experts, expert_parameters=expert, router_parameters=router)


def parameters_approx(impl: Any, name: str) -> Any:
    """Count the parameters of a model of the catalogue by the chapter's rule."""
    sizes = model(name).quantities()
    return impl.parameters_approx(**{n: sizes[n] for n in ("layers", "hidden", "vocab")})


def kv_budget(impl: Any, gpu_name: str = "a100-80gb", unit: int = GB, margin: int = CHAPTER_MARGIN // GB) -> Any:
    """Return the bytes for cache that the chapter's example leaves: 14 of weights, 8 of activations, 4 of margin.

    `unit` is what its GB are read as: 10^9 or 2^30 bytes.
    """
    return impl.kv_budget(
        gpu_memory=gpu(gpu_name).marketed.base / GB * unit,
        weights=CHAPTER_WEIGHTS // GB * unit,
        activations=CHAPTER_ACTIVATIONS // GB * unit,
        safety_margin=margin * unit,
    )


def within(value: Any, low: Exact, high: Exact) -> bool:
    """Say whether a number lies in a range, ends included."""
    return bool(low <= value <= high)


def rounds_to(value: Any, printed: Exact, unit: Exact = 1) -> bool:
    """Say whether a value is a printed number of units, rounded to whole ones; a half counts either way."""
    return within(value / Fraction(unit), printed - Fraction(1, 2), printed + Fraction(1, 2))


def first(true_at: Callable[[int], bool], low: int = 1, high: int = 2**40) -> int:
    """Return the smallest whole number at which a statement that stays true once it is true becomes true.

    Raises:
        NoValueError: it is not true at `high` either.
    """
    if not true_at(high):
        raise NoValueError(f"nothing up to {high:,} is enough")
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if true_at(middle) else (middle + 1, high)
    return low


def text(value: Any, digits: int = 3) -> str:
    """Write a number: whole ones and those above a thousand in full with separators, others with so many digits."""
    if not isinstance(value, int | Fraction):
        return str(value)
    if value == int(value):
        return f"{int(value):,}"
    if abs(value) >= 10**digits:
        return f"{round(value):,}"
    shown = Decimal(f"{float(value):.{digits}g}")
    return f"{shown:f}"


def yes(statement: bool) -> str:  # noqa: FBT001  the one thing that is written
    """Write whether a statement is true."""
    return "yes" if statement else "no"


def percent(value: Any, digits: int = 3) -> str:
    """Write a share in percent."""
    return f"{text(100 * value, digits)} %"


def gigabytes(size: Any, digits: int = 3) -> str:
    """Write a size in bytes in decimal gigabytes."""
    return f"{text(Fraction(size) / GB, digits)} GB"
