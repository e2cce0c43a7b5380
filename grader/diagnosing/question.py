"""What is asked, in the words of those who publish: `kv_bytes_sequence`, `tp=8`, `dtype=fp8`, `--gpu "NVIDIA H200"`.

Everything is turned into the quantities of the specification. A word for a number format gives the width of a cached
element, of a weight or the peak of a GPU, whichever the question turns on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from grader.calc import named, read_given
from grader.calc.givens import Unusable
from grader.diagnosing.derivation import vocabulary
from grader.diagnosing.published import sized, typed_as
from grader.diagnosing.synonyms import BITS, MIXED, QUANTITIES
from spec.catalog import GPU, HUGGING_FACE_NAMES
from spec.quantities import Quantity, quantities
from spec.solving import Exact
from spec.units import unit

SCORES = ("attention_scores", "attention_scores_per_head", "attention_scores_per_layer")
FORMATS = ("dtype", "format", "precision", "quantization", "quant", "kv_dtype", "weight_dtype", "kv_cache_dtype")
CACHE = re.compile(r"kv_|token_capacity|context|cached_tokens|concurrency|sequences_per_gpu")
PEAKS = ("compute", "mfu", "ridge", "required_mfu", "prefill_time", "ttft")
SIZED_LENGTHS = ("context", "prompt", "output", "sliding_window")
REMARK = re.compile(r"\s*\([^()]*\)\s*$")  # `context=8192 tokens (printed 8K)`
K_TYPED = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([km])(?:\s*tokens?)?\s*", re.IGNORECASE)


class Unformatted(Unusable):
    """A word that names no number format."""

    def __init__(self, word: str) -> None:
        super().__init__(word)
        self.word = word

    def __str__(self) -> str:
        return f"{self.word!r} is no number format that is known here; give kv_width=... or weight_bits=... instead."


class NotAssigned(Unusable):
    """Something that is not NAME=VALUE, or a NAME that is given a second time."""

    def __init__(self, text: str, twice: str = "") -> None:
        super().__init__(text, twice)
        self.text, self.twice = text, twice

    def __str__(self) -> str:
        return f"{self.twice} is given twice." if self.twice else f"{self.text!r} is not NAME=VALUE."


@dataclass(slots=True)
class Question:
    """A quantity with what is given for it.

    Attributes:
        quantity: what is asked.
        given: exact values.
        halves: how far the last typed digit of each leaves it open.
        units: the units they were typed in.
        others: lengths typed with a K, read with the other K.
        stated: the right value, where it was given instead of what it follows from.
        bits: the width of the number format that was named, or None.
        blocks: blocks of a cache, each of `block_size` tokens.
    """

    quantity: Quantity
    given: dict[str, Exact] = field(default_factory=dict)
    halves: dict[str, Fraction] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    others: dict[str, Exact] = field(default_factory=dict)
    stated: Exact | None = None
    bits: Exact | None = None
    blocks: Exact = 0


def meant(word: str) -> Quantity:
    """Find a quantity by its name or by another word for it.

    Raises:
        UnknownQuantity: there is none.
    """
    plainly = word.strip().lower().replace("-", "_").replace(" ", "_")
    other = QUANTITIES.get(plainly) or HUGGING_FACE_NAMES.get(plainly)
    return quantities()[other] if other in quantities() and plainly not in quantities() else named(word)


def asked(word: str, number: str, values: Sequence[str] = ()) -> Quantity:
    """Find what a number measures: attention scores printed in bytes are the memory they take.

    The share of the peak that an achieved rate reaches is that which the rate needs.

    Raises:
        UnknownQuantity: there is no such quantity.
    """
    quantity = meant(word)
    in_bytes = re.search(r"\d\s*[KMGT]?i?[Bb]\b", number)
    if quantity.name in SCORES and in_bytes:
        return quantities()["score_bytes"]
    achieved = any(text.partition("=")[0].strip().lower().startswith("achieved") for text in values)
    return quantities()["required_mfu"] if quantity.name == "mfu" and achieved else quantity


def question(quantity: Quantity, values: Sequence[str]) -> Question:
    """Read what is given.

    Raises:
        Unusable: a name is unknown, a value unreadable or impossible, or one is given twice.
    """
    found = Question(quantity)
    for text in (part for typed in values for part in typed.split(";") if part.strip()):
        name, equals, value = (part.strip() for part in REMARK.sub("", text).partition("="))
        if not equals:
            raise NotAssigned(text)
        _read(found, name.lower().replace("-", "_").replace(" ", "_"), name, value)
    if "kv_budget" in found.given:  # a pool is that of the whole group
        found.given.pop("tensor_parallel", None)
    if found.blocks and quantity.name == "token_capacity":
        found.stated = found.blocks * found.given.get("block_size", quantities()["block_size"].assumed or 1)
    return found


def _read(found: Question, plainly: str, name: str, value: str) -> None:
    known = quantities()
    if plainly in FORMATS:
        _format(found, plainly, value)
    elif plainly in {"bytes_per_param", "bytes_per_parameter", "bytes_per_weight"}:
        _take(found, known["weight_bits"], 8 * read_given(known["weight_bits"], value))
    elif plainly in {"achieved", "achieved_flops", "achieved_compute"}:
        _take(found, known["flops_per_token"], read_given(known["compute"], value))
        _take(found, known["prefill_rate"], 1)
    elif plainly == "efficiency":
        share = known["mfu" if found.quantity.name in PEAKS else "mbu"]
        _take(found, share, read_given(share, value))
    elif plainly == "blocks":
        found.blocks = read_given(known["blocks_per_sequence"], value)
    else:
        _value(found, _given_name(found.quantity, plainly, name), value)
        if plainly == "generated":  # of the whole batch, as server benchmarks count
            found.given["batch"] = 1


def _given_name(goal: Quantity, plainly: str, name: str) -> Quantity:
    if plainly in {"sequence", "seq", "context", "tokens", "n"} and goal.name == "score_bytes":
        return quantities()["prompt"]
    if plainly == "rate":
        return quantities()["throughput" if goal.name == "cost_per_token" else "arrival_rate"]
    if plainly in {"per_gpu", "rate_per_gpu"}:
        return quantities()["throughput"]
    if plainly in {"kv", "kv_cache"}:
        return quantities()["kv_budget"]
    if plainly in {"memory_need", "need"}:
        return quantities()["weights"]
    if plainly == "tokens":
        return quantities()["cached_tokens" if goal.name == "kv_bytes_total" else "context"]
    if plainly == "kv_per_token":
        return quantities()["kv_bytes_per_token"]
    if plainly in {"sequence", "seq"}:
        return quantities()["context"]
    return vocabulary()[plainly] if plainly in vocabulary() else meant(name)


def _value(found: Question, quantity: Quantity, text: str) -> None:
    typed = K_TYPED.fullmatch(text) if quantity.name in SIZED_LENGTHS else None
    if typed:
        power = 1 if typed[2].lower() == "k" else 2
        sizes = [Fraction(typed[1]) * base**power for base in (1024, 1000)]
        for size, taken in zip(sizes, (found.given, found.others), strict=True):
            if quantity.name in found.given and taken is found.given:
                raise NotAssigned(text, quantity.name)
            taken[quantity.name] = int(size) if size.denominator == 1 else size
        found.halves[quantity.name], found.units[quantity.name] = Fraction(0), quantity.unit.name
        return
    text = sized(text) if quantity.unit == unit("parameter") else text
    number = read_given(quantity, text)
    if quantity.name == found.quantity.name:
        found.stated = number
        return
    _take(found, quantity, number)
    found.halves[quantity.name], found.units[quantity.name] = typed_as(quantity, text)


def _take(found: Question, quantity: Quantity, number: Exact) -> None:
    if quantity.name in found.given and not (quantity.name == "batch" and found.given["batch"] == 1):
        raise NotAssigned("", quantity.name)
    found.given[quantity.name] = int(number) if Fraction(number).denominator == 1 else number


def _format(found: Question, name: str, word: str) -> None:
    """Take the width of a number format for what the question turns on."""
    plainly = word.strip().lower().replace("-", "_").replace(" ", "_")
    half = Fraction(0)
    if plainly in MIXED:
        bits, half = (Fraction(text) for text in MIXED[plainly])
    elif plainly in BITS:
        bits = Fraction(BITS[plainly])
    else:
        raise Unformatted(word)
    goal = found.quantity.name
    known = quantities()
    cache = name.startswith("kv") or (CACHE.match(goal) and not name.startswith("weight"))
    if goal == "score_bytes":
        _take(found, known["activation_width"], bits / 8)
    elif cache:
        _take(found, known["kv_width"], bits / 8)
    else:
        _take(found, known["weight_bits"], bits)
        found.halves["weight_bits"] = half
    found.bits = bits


def peak(question: Question, gpu: GPU | None) -> None:
    """Take the peak of the GPU for the number format that was named, where the question turns on it."""
    if gpu is None or question.bits is None or question.quantity.name not in PEAKS:
        return
    at = gpu.compute_at(int(question.bits)) if question.bits in {4, 8} else None
    if at is not None and "compute" not in question.given:
        question.given["compute"] = at.base / unit("FLOP/s").factor
