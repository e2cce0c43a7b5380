"""The operations and the memory traffic of prefill and decode, and how they add up."""

from __future__ import annotations

from typing import Any

from spec import quantities as q
from spec.invariants import Invariant
from spec.invariants.draws import HALF, Among, Draws, Grid, of
from spec.solving import Exact

HEADS = of(q.layers, q.heads, q.head_dim)
AMOUNT = Grid(HALF, 10, HALF)
MORE = Grid(1, 12)
TOKENS = Grid(1, 40)
MODEL: Draws = {**HEADS, **of(q.weights, q.kv_bytes_per_token), "parameters": Grid(1, 200)}
PREFILL = ("flops_per_token", "prefill_attention_flops", "prefill_flops", "prefill_bytes")
STEP = (
    "cached_tokens", "flops_per_token", "decode_matrix_flops", "decode_attention_flops", "decode_flops",
    "decode_bytes",
)  # fmt: skip


def plus(given: dict[str, Exact], **more: Exact) -> dict[str, Exact]:
    """Return the values with some of them raised."""
    return given | {name: given[name] + amount for name, amount in more.items()}


def doubled(given: dict[str, Exact], *names: str) -> dict[str, Exact]:
    """Return the values with some of them doubled."""
    return given | {name: 2 * given[name] for name in names}


def prefill_work(impl: Any, prompt: Exact, **model: Exact) -> tuple[Any, Any]:
    """Return the operations and the bytes of a prefill."""
    flops = impl.prefill_flops(
        flops_per_token=impl.flops_per_token(parameters=model["parameters"]),
        prompt=prompt,
        prefill_attention_flops=impl.prefill_attention_flops(prompt=prompt, **heads(model)),
    )
    cache = model["kv_bytes_per_token"]
    return flops, impl.prefill_bytes(weights=model["weights"], prompt=prompt, kv_bytes_per_token=cache)


def step_work(impl: Any, batch: Exact, context: Exact, **model: Exact) -> tuple[Any, Any]:
    """Return the operations and the bytes of a decode step."""
    cached = impl.cached_tokens(batch=batch, context=context)
    per_token = impl.flops_per_token(parameters=model["parameters"])
    flops = impl.decode_flops(
        decode_matrix_flops=impl.decode_matrix_flops(batch=batch, flops_per_token=per_token),
        decode_attention_flops=impl.decode_attention_flops(cached_tokens=cached, **heads(model)),
    )
    cache = model["kv_bytes_per_token"]
    return flops, impl.decode_bytes(weights=model["weights"], cached_tokens=cached, kv_bytes_per_token=cache)


def heads(model: dict[str, Exact]) -> dict[str, Exact]:
    """Return the sizes that attention depends on."""
    return {name: model[name] for name in HEADS}


multiply_and_add = Invariant(
    "flops-multiply-and-add",
    "Every parameter is multiplied once and added once for a token, and parameters add up.",
    of(q.parameters),
    ("flops_per_token",),
    lambda impl, parameters: (
        impl.flops_per_token(parameters=1) == 1 + 1
        and impl.flops_per_token(parameters=parameters + 1) - impl.flops_per_token(parameters=parameters)
        == impl.flops_per_token(parameters=1)
    ),
)
score_and_value = Invariant(
    "decode-score-and-value",
    "A head of one element spends a multiply and an add on the score of a cached token, and again on its value.",
    {"cached_tokens": TOKENS},
    ("decode_attention_flops",),
    lambda impl, cached_tokens: (
        impl.decode_attention_flops(layers=1, heads=1, head_dim=1, cached_tokens=cached_tokens + 1)
        - impl.decode_attention_flops(layers=1, heads=1, head_dim=1, cached_tokens=cached_tokens)
        == (1 + 1) + (1 + 1)
    ),
)
decode_attention_adds = Invariant(
    "decode-attention-adds",
    "Layers, heads, elements of a head and cached tokens each add their own attention.",
    {**HEADS, "cached_tokens": TOKENS, "more": MORE, "part": Among((0, 1, 2, 3))},
    ("decode_attention_flops",),
    lambda impl, more, part, **shape: all(
        impl.decode_attention_flops(**{**shape, name: shape[name] + more})
        == impl.decode_attention_flops(**shape) + impl.decode_attention_flops(**{**shape, name: more})
        for name in [("layers", "heads", "head_dim", "cached_tokens")[part]]
    ),
)
prefill_attention_adds = Invariant(
    "prefill-attention-adds",
    "Layers, heads and elements of a head each add their own attention over the prompt.",
    {**HEADS, **of(q.prompt), "more": MORE, "part": Among((0, 1, 2))},
    ("prefill_attention_flops",),
    lambda impl, more, part, **shape: all(
        impl.prefill_attention_flops(**{**shape, name: shape[name] + more})
        == impl.prefill_attention_flops(**shape) + impl.prefill_attention_flops(**{**shape, name: more})
        for name in [("layers", "heads", "head_dim")[part]]
    ),
)
attention_bends = Invariant(
    "I68",
    "Each further prompt token adds 4 L n_h d_h operations more than the token before it added.",
    {**HEADS, **of(q.prompt)},
    ("prefill_attention_flops",),
    lambda impl, prompt, **shape: (
        impl.prefill_attention_flops(prompt=prompt + 2, **shape)
        - 2 * impl.prefill_attention_flops(prompt=prompt + 1, **shape)
        + impl.prefill_attention_flops(prompt=prompt, **shape)
        == 4 * shape["layers"] * shape["heads"] * shape["head_dim"]
    ),
)
prompt_token_as_decoded = Invariant(
    "prefill-token-as-decoded",
    "One more prompt token costs, in attention, the mean of decoding it over the tokens before it and with itself.",
    {**HEADS, **of(q.prompt)},
    ("prefill_attention_flops", "decode_attention_flops"),
    lambda impl, prompt, **shape: (
        2
        * (
            impl.prefill_attention_flops(prompt=prompt + 1, **shape)
            - impl.prefill_attention_flops(prompt=prompt, **shape)
        )
        == impl.decode_attention_flops(cached_tokens=prompt, **shape)
        + impl.decode_attention_flops(cached_tokens=prompt + 1, **shape)
    ),
)
twice_the_prompt = Invariant(
    "prefill-attention-doubling",
    "Twice the prompt takes four times the attention.",
    {**HEADS, **of(q.prompt)},
    ("prefill_attention_flops",),
    lambda impl, prompt, **shape: (
        impl.prefill_attention_flops(prompt=2 * prompt, **shape)
        == 4 * impl.prefill_attention_flops(prompt=prompt, **shape)
    ),
)
prefill_parts = Invariant(
    "prefill-parts",
    "To the operations of a prefill every further token adds its own, attention adds all of its own, and nothing else.",
    {**of(q.flops_per_token, q.prompt, q.prefill_attention_flops), "more": AMOUNT},
    ("prefill_flops",),
    lambda impl, more, **given: (
        impl.prefill_flops(**plus(given, prompt=1)) - impl.prefill_flops(**given) == given["flops_per_token"]
        and impl.prefill_flops(**plus(given, prefill_attention_flops=more)) - impl.prefill_flops(**given) == more
        and impl.prefill_flops(**doubled(given, "flops_per_token", "prefill_attention_flops"))
        == 2 * impl.prefill_flops(**given)
    ),
)
prefill_joins = Invariant(
    "I59",
    "Two prompts joined take at least the operations that they take apart.",
    {**MODEL, "one": Grid(1, 40), "other": Grid(1, 40)},
    PREFILL,
    lambda impl, one, other, **model: (
        prefill_work(impl, one + other, **model)[0]
        >= prefill_work(impl, one, **model)[0] + prefill_work(impl, other, **model)[0]
    ),
)
prefill_reads = Invariant(
    "prefill-reads-once",
    "Prefill reads the weights once, and every further token adds the cache that it writes.",
    {**of(q.weights, q.prompt, q.kv_bytes_per_token), "more": AMOUNT},
    ("prefill_bytes",),
    lambda impl, more, **given: (
        impl.prefill_bytes(**plus(given, prompt=1)) - impl.prefill_bytes(**given) == given["kv_bytes_per_token"]
        and impl.prefill_bytes(**plus(given, weights=more)) - impl.prefill_bytes(**given) == more
        and impl.prefill_bytes(**doubled(given, "weights", "kv_bytes_per_token")) == 2 * impl.prefill_bytes(**given)
    ),
)
step_reads = Invariant(
    "decode-reads",
    "A step with nothing cached reads the weights alone, and every cached token adds its own bytes.",
    of(q.weights, q.cached_tokens, q.kv_bytes_per_token),
    ("decode_bytes",),
    lambda impl, **given: (
        impl.decode_bytes(**{**given, "cached_tokens": 0}) == given["weights"]
        and impl.decode_bytes(**plus(given, cached_tokens=1)) - impl.decode_bytes(**given)
        == given["kv_bytes_per_token"]
    ),
)
only_tokens_count = Invariant(
    "I100",
    "What a step reads depends on the weights and on all cached tokens, not on how many sequences they belong to.",
    of(q.weights, q.batch, q.context, q.kv_bytes_per_token),
    ("decode_bytes", "cached_tokens"),
    lambda impl, batch, context, **rest: (
        impl.decode_bytes(cached_tokens=impl.cached_tokens(batch=batch, context=context), **rest)
        == impl.decode_bytes(cached_tokens=impl.cached_tokens(batch=1, context=batch * context), **rest)
        == impl.decode_bytes(cached_tokens=impl.cached_tokens(batch=batch * context, context=1), **rest)
    ),
)
matrices_per_sequence = Invariant(
    "decode-matrices-per-sequence",
    "A step of one sequence works one token through the matrices, and every further sequence one more.",
    of(q.batch, q.flops_per_token),
    ("decode_matrix_flops",),
    lambda impl, batch, flops_per_token: (
        impl.decode_matrix_flops(batch=1, flops_per_token=flops_per_token)
        == flops_per_token
        == impl.decode_matrix_flops(batch=batch + 1, flops_per_token=flops_per_token)
        - impl.decode_matrix_flops(batch=batch, flops_per_token=flops_per_token)
    ),
)
step_parts = Invariant(
    "decode-parts",
    "The operations of a step are those of the matrices and those of attention, each in full.",
    {**of(q.decode_matrix_flops, q.decode_attention_flops), "more": AMOUNT},
    ("decode_flops",),
    lambda impl, more, **given: (
        impl.decode_flops(**plus(given, decode_matrix_flops=more))
        == impl.decode_flops(**plus(given, decode_attention_flops=more))
        == impl.decode_flops(**given) + more
        and impl.decode_flops(**doubled(given, *given)) == 2 * impl.decode_flops(**given)
    ),
)
prefill_intensity = Invariant(
    "I58",
    "A longer prompt does more operations for every byte that it moves.",
    {**MODEL, "prompt": Grid(1, 40)},
    PREFILL,
    lambda impl, prompt, **model: all(
        longer[0] * shorter[1] > shorter[0] * longer[1]
        for shorter, longer in [(prefill_work(impl, prompt, **model), prefill_work(impl, prompt + 1, **model))]
    ),
)
decode_intensity = Invariant(
    "I62",
    "A larger batch does more operations for every byte, but never more than one sequence does for its own cache.",
    {**MODEL, "batch": Grid(1, 20), "context": Grid(1, 40)},
    STEP,
    lambda impl, batch, context, **model: all(
        larger[0] * smaller[1] > smaller[0] * larger[1]
        and smaller[0] * context * model["kv_bytes_per_token"] < step_work(impl, 1, context, **model)[0] * smaller[1]
        for smaller, larger in [tuple(step_work(impl, batch + more, context, **model) for more in (0, 1))]
    ),
)
