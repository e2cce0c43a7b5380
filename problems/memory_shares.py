"""The partition of a GPU's memory by percentages, each of a base that is said (F08)."""

from collections.abc import Callable, Mapping
from fractions import Fraction

from grader.family import FINE, Ask, Draw, Family, Menu, OwnSlip, weights_in_gb
from spec import quantities as q
from spec.memory import (
    activations_of_remaining,
    activations_of_total,
    kv_budget,
    kv_share,
    safety_of_remaining,
    safety_of_total,
)
from spec.quantities import Quantity

V = Mapping[str, Fraction]
A_TOTAL, A_LEFT = q.activation_share_of_total, q.activation_share_of_remaining
S_TOTAL, S_LEFT = q.safety_share_of_total, q.safety_share_of_remaining
LEFT_FOR_WHOLE = "of what the weights leave; it is of the whole memory"
WHOLE_FOR_LEFT = "of the whole memory; it is of what the weights leave"
AS_A_NUMBER = "The share was given as a plain number; it is asked in per cent."
SHARES = ("5 %", "6 %", "8 %", "10 %", "12 %", "15 %", "18 %", "20 %")


def worth_asking(draw: Draw) -> bool:
    """Keep weights that take a sixth of the GPU to all of it, or not much more than all.

    Then the base of a share makes a difference, and a budget that is missed is not missed at first sight.
    """
    memory, weights = draw.values["gpu_memory"], draw.values["weights"]
    return memory <= 6 * weights <= 8 * memory


def _share(v: V, one: Quantity, other: Quantity) -> Fraction:
    return v[one.name] if one.name in v else v[other.name]


def _a(v: V) -> Fraction:
    return _share(v, A_TOTAL, A_LEFT)


def _s(v: V) -> Fraction:
    return _share(v, S_TOTAL, S_LEFT)


def _left(v: V) -> Fraction:
    return v["gpu_memory"] - v["weights"]


def _off(v: V, activations: Fraction, margin: Fraction) -> Fraction | None:
    rest = _left(v) - activations - margin
    return None if rest < 0 else rest


def _other_base(v: V) -> Fraction | None:
    """Take every share of the base that it is not of."""
    a = v[A_TOTAL.name] * _left(v) if A_TOTAL.name in v else v[A_LEFT.name] * v["gpu_memory"]
    s = v[S_TOTAL.name] * _left(v) if S_TOTAL.name in v else v[S_LEFT.name] * v["gpu_memory"]
    return _off(v, a, s)


def _asked_reserve(of: Quantity, share: Quantity) -> tuple[OwnSlip, ...]:
    """The slips of asking for a reserve that is a share of what the weights leave."""

    def rest(v: V) -> Fraction | None:
        return None if _left(v) < 0 else (1 - v[share.name]) * _left(v)

    wrong: list[tuple[str, str, Callable[[V], Fraction | None]]] = [
        ("of-the-weights", "The share was taken of the weights.", lambda v: v[share.name] * v["weights"]),
        ("what-remains", "That is what remains beside the reserve.", rest),
    ]
    if of == q.safety_margin:  # the law of activations has this one
        wrong += [
            ("share-of-total", f"The share was taken {WHOLE_FOR_LEFT}.", lambda v: v[share.name] * v["gpu_memory"])
        ]
    return tuple(OwnSlip(slug, sentence, value, of) for slug, sentence, value in wrong)


def _asked_share(of: Quantity, reserve: str, *, of_total: bool) -> tuple[OwnSlip, ...]:
    """The slips of asking for a share."""

    def other_base(v: V) -> Fraction:
        return v[reserve] / (_left(v) if of_total else v["gpu_memory"])

    wrong: list[tuple[str, str, Callable[[V], Fraction]]] = [
        ("other-base", f"The share was taken {LEFT_FOR_WHOLE if of_total else WHOLE_FOR_LEFT}.", other_base),
        ("of-the-weights", "The share was taken of the weights.", lambda v: v[reserve] / v["weights"]),
        (
            "cache-share",
            "That is the share of the KV cache in the whole memory.",
            lambda v: v["kv_budget"] / v["gpu_memory"],
        ),
        ("share-as-a-number", AS_A_NUMBER, lambda v: v[of.name] / 100),
    ]
    return tuple(OwnSlip(slug, sentence, value, of) for slug, sentence, value in wrong)


KV_SHARE = "What share of the whole memory, in %, is left for the KV cache?"
KV = "How much memory is left for the KV cache, in GB?"
ACTIVATIONS = "How much memory do activations get, in GB?"
MARGIN = "How large is the safety margin, in GB?"

family = Family(
    asks=Ask(q.kv_budget, KV, "GB", FINE, hides=(A_LEFT, S_LEFT)),
    inverse=(
        Ask(q.kv_budget, KV, "GB", FINE, hides=(A_TOTAL, S_LEFT)),
        Ask(q.kv_budget, KV, "GB", FINE, hides=(A_LEFT, S_TOTAL)),
        Ask(q.kv_budget, KV, "GB", FINE, hides=(A_TOTAL, S_TOTAL)),
        Ask(q.kv_share, KV_SHARE, "%", hides=(A_TOTAL, S_LEFT)),
        # A reserve is asked for where both are of what the weights leave: others may not fit there at all.
        Ask(q.activations, ACTIVATIONS, "GB", FINE, hides=(A_TOTAL, S_TOTAL)),
        Ask(q.safety_margin, MARGIN, "GB", FINE, hides=(A_TOTAL, S_TOTAL)),
        Ask(
            A_TOTAL,
            "What share of the whole memory, in %, do activations get if {{ kv_budget }} are left for the KV cache?",
            "%",
            hides=(A_LEFT, S_LEFT),
        ),
        Ask(
            A_LEFT,
            "What share of the memory that the weights leave, in %, do activations get "
            "if {{ kv_budget }} are left for the KV cache?",
            "%",
            hides=(A_TOTAL, S_LEFT),
        ),
        Ask(
            S_TOTAL,
            "What share of the whole memory, in %, is the safety margin if {{ kv_budget }} are left for the KV cache?",
            "%",
            hides=(A_LEFT, S_LEFT),
        ),
        Ask(
            S_LEFT,
            "What share of the memory that the weights leave, in %, is the safety margin "
            "if {{ kv_budget }} are left for the KV cache?",
            "%",
            hides=(A_LEFT, S_TOTAL),
        ),
        Ask(
            q.weights,
            "How much memory do the weights take, in GB, if {{ kv_budget }} are left for the KV cache?",
            "GB",
            FINE,
            hides=(A_LEFT, S_LEFT),
        ),
    ),
    by=(activations_of_total, safety_of_total, activations_of_remaining, safety_of_remaining, kv_budget, kv_share),
    given=Menu(
        model=(
            *("llama-2-7b", "llama-2-13b", "llama-2-70b", "llama-3-8b", "llama-3-70b", "mistral-7b-v0.3"),
            *("qwen2.5-7b", "qwen2.5-72b", "qwen3-8b", "gemma-7b", "falcon-7b", "phi-2", "gpt-j-6b", "gpt-neox-20b"),
            *("opt-6.7b", "pythia-6.9b", "mixtral-8x7b", "gemma-2-9b"),
        ),
        gpu=(
            *("a100-80gb", "a100-40gb", "h200", "l40s", "v100-32gb", "rtx-5090", "a10", "l4", "rtx-4090", "t4"),
            *("h100-80gb", "b200-sxm", "mi300x"),
        ),
        weights=weights_in_gb,
        activation_share_of_total=SHARES,
        activation_share_of_remaining=SHARES,
        safety_share_of_total=SHARES,
        safety_share_of_remaining=SHARES,
    ),
    wording="""One {{ gpu }} has {{ gpu_memory }} of memory, all of which is divided up. The weights
        {%- if weights is defined %} of {{ model }}, which take {{ weights }},{% else %} of a model{% endif %} come
        first.
        {% if activation_share_of_total is defined %}Activations get {{ activation_share_of_total }} of the whole
        memory.
        {% elif activation_share_of_remaining is defined %}Activations get {{ activation_share_of_remaining }} of what
        the weights leave.
        {% else %}Activations get a share too.
        {% endif %}
        {%- if safety_share_of_total is defined %}A safety margin of {{ safety_share_of_total }} of the whole memory is
        kept free.
        {% elif safety_share_of_remaining is defined %}A safety margin of {{ safety_share_of_remaining }} of what the
        weights leave is kept free.
        {% else %}A safety margin is kept free.
        {% endif %}The KV cache gets the rest.""",
    also=(q.weights, q.gpu_memory, A_TOTAL, A_LEFT, S_TOTAL, S_LEFT),
    slips=(
        OwnSlip(
            "activations-of-remaining",
            f"The share of activations was taken {LEFT_FOR_WHOLE}.",
            lambda v: _off(v, v[A_TOTAL.name] * _left(v), v["safety_margin"]),
            q.kv_budget,
        ),
        OwnSlip(
            "margin-of-remaining",
            f"The share of the margin was taken {LEFT_FOR_WHOLE}.",
            lambda v: _off(v, v["activations"], v[S_TOTAL.name] * _left(v)),
            q.kv_budget,
        ),
        OwnSlip(
            "margin-of-total",
            f"The share of the margin was taken {WHOLE_FOR_LEFT}.",
            lambda v: _off(v, v["activations"], v[S_LEFT.name] * v["gpu_memory"]),
            q.kv_budget,
        ),
        OwnSlip("both-bases", "Each share was taken of the base that it is not of.", _other_base, q.kv_budget),
        OwnSlip(
            "one-after-the-other",
            "The shares were taken one after the other, each of what was left before it.",
            lambda v: _left(v) * (1 - _a(v)) * (1 - _s(v)),
            q.kv_budget,
        ),
        OwnSlip(
            "of-the-weights",
            "The shares were taken of the weights.",
            lambda v: _off(v, _a(v) * v["weights"], _s(v) * v["weights"]),
            q.kv_budget,
        ),
        *(
            OwnSlip(slug, sentence, value, q.kv_share)
            for slug, sentence, value in (
                (
                    "share-of-remaining",
                    f"The share was taken {LEFT_FOR_WHOLE}.",
                    lambda v: None if _left(v) <= 0 else v["kv_budget"] / _left(v),
                ),
                ("share-as-a-number", AS_A_NUMBER, lambda v: v["kv_share"] / 100),
                ("reserved-share", "That is the share of all that is not cache.", lambda v: 1 - v["kv_share"]),
                (
                    "both-of-remaining",
                    "Both shares were taken of what the weights leave.",
                    lambda v: _left(v) / v["gpu_memory"] * (1 - _a(v) - _s(v)),
                ),
            )
        ),
        *_asked_reserve(q.activations, A_LEFT),
        *_asked_reserve(q.safety_margin, S_LEFT),
        *_asked_share(A_TOTAL, "activations", of_total=True),
        *_asked_share(A_LEFT, "activations", of_total=False),
        *_asked_share(S_TOTAL, "safety_margin", of_total=True),
        *_asked_share(S_LEFT, "safety_margin", of_total=False),
    ),
    revision=4,
    objective="memory-partition",
    section="memory-budgeting",
    infeasible=True,
    keep=worth_asking,
)
