"""How the right value follows: by the laws, or by a simpler reading of them where the rest is not given.

Published times leave things out: decode counts the weights alone, prefill its arithmetic alone. Such a reading takes
one branch of a roofline or one term of a sum, and is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from types import SimpleNamespace

import sympy

from grader.calc.calculation import NotCovered, Underived, Unsolved, derived
from grader.calc.coverage import covering, traits
from spec.catalog import GPU, Model
from spec.chain import Link, NoDerivation, chain, follow
from spec.domains import COUNT
from spec.index import laws
from spec.laws import Bound, Identity, Law, Slip
from spec.quantities import Quantity, quantities
from spec.solving import Exact, Infeasible, NotInvertible, OutsideDomain, whole

SMALL = (20, 21)  # what may be left out of a right number: a value within 20 / 21 of the full one


@dataclass(frozen=True, slots=True)
class Derived:
    """Steps to a quantity, the numbers they start from, and what the right value is.

    Attributes:
        steps: the chain; empty where the right value was looked up or stated.
        values: what the steps start from.
        known: the same without what was only assumed.
        right: the value, or why there is none.
        convention: what this reading leaves out; empty for the laws as they stand.
    """

    steps: tuple[Link, ...]
    values: dict[str, Exact]
    known: dict[str, Exact]
    right: Exact | Infeasible
    convention: str = ""
    every: dict[str, Exact] = field(default_factory=dict)


def derivations(
    goal: Quantity,
    given: Mapping[str, Exact],
    model: Model | None = None,
    gpu: GPU | None = None,
    stated: Exact | None = None,
) -> list[Derived]:
    """Return the ways to the right value, the fullest first; there is one at least.

    Raises:
        Unusable: it does not follow from what is given, nor is it stated.
    """
    found: list[Derived] = []
    failure: Underived | NotCovered | Unsolved | None = None
    simpler_only = goal.name == "weights" and "runtime_memory" in given
    two_kinds = not vocabulary().keys() - quantities().keys() - given.keys() and "sliding_layers" in given
    try:
        if not (two_kinds or simpler_only):
            known = {name: value for name, value in given.items() if name in quantities()}
            full = derived(goal, known, model, gpu)
            brought = full.known if full.steps else _brought(given, model, gpu)
            found.append(_followed(goal.name, full.steps, full.values, brought))
    except (Underived, NotCovered, Unsolved) as error:
        failure = error
    except (NotInvertible, OutsideDomain, ZeroDivisionError) as error:
        failure = Unsolved(goal.name, str(error))
    if stated is not None and (not found or found[0].right != stated):
        brought = _brought(given, model, gpu) | {goal.name: stated}
        found.insert(0, Derived((), brought, brought, stated, every=brought))
        return found[:1]
    if not isinstance(failure, NotCovered):
        found += _simpler(goal, given, model, gpu)
    found += [way for way in map(_without_embeddings, found) if way is not None]
    if not found and failure is not None:
        raise failure
    return found


def _without_embeddings(way: Derived) -> Derived | None:
    """Return a decode step that reads no embedding table: of that, a step needs a row for each sequence."""
    if not any(step.law.name == "decode_step_time" for step in way.steps) or "parameters" not in way.values:
        return None
    if not {"vocab", "hidden"} <= way.known.keys() or way.known.get("tied", 1):
        return None
    read = way.values["parameters"] - way.known["vocab"] * way.known["hidden"]
    if read <= 0:
        return None
    said = "; ".join(filter(None, (way.convention, "the embedding table is not read")))
    return _followed(way.steps[-1].gives, way.steps, {**way.values, "parameters": read}, way.known, said)


def _followed(
    goal: str, steps: tuple[Link, ...], values: dict[str, Exact], known: dict[str, Exact], convention: str = ""
) -> Derived:
    results = follow(steps, values) if steps else dict(values)
    every = {name: value for name, value in results.items() if not isinstance(value, Infeasible)} | known
    return Derived(steps, values, known, results[goal], convention, every)


def _brought(given: Mapping[str, Exact], model: Model | None, gpu: GPU | None) -> dict[str, Exact]:
    known = quantities()
    rows = [row.quantities() for row in (model, gpu) if row is not None]
    return {n: whole(v) for row in rows for n, v in row.items() if n in known} | dict(given)


def _simpler(goal: Quantity, given: Mapping[str, Exact], model: Model | None, gpu: GPU | None) -> Iterator[Derived]:
    known = _brought(given, model, gpu)
    known.pop(goal.name, None)
    usual: dict[str, Exact] = {
        n: q.assumed for n, q in quantities().items() if q.assumed is not None and n not in known and n != goal.name
    }
    ones = {n: words for n, (words, goals) in ONE.items() if n not in known and goal.name in goals}
    found = traits(model, known) if model else []
    for changed in _readings():
        applicable = covering(list({**laws(), **changed}.values()), found, known, goal.name)
        try:
            steps = chain(goal.name, {*known, *usual, *ones}, applicable)
            needed = {name for step in steps for name in step.needs}
            said = [LEFT_OUT[step.law.name] for step in steps if step.law.name in changed]
            said += [words for name, words in ones.items() if name in needed]
            yield _followed(
                goal.name, steps, usual | dict.fromkeys(ones, 1) | known, known, "; ".join(filter(None, said))
            )
        except (NoDerivation, NotInvertible, OutsideDomain, ZeroDivisionError):
            continue


ONE = {  # what is one where nothing is said of it, for the quantities that turn on it
    "gpus": ("one GPU is paid for", ("cost_per_token",)),
    "concurrency": ("one sequence is served", ("context",)),
    "heads": ("one head is counted", ("score_bytes",)),
    "batch": ("the batch is one sequence", ("score_bytes", "decode_rate", "tpot", "decode_step_time", "throughput")),
}
LEFT_OUT = {
    "kv_bytes_of_layers": "",
    "holds_tokens": "",
    "weights": "",
    "kv_bytes_of_two_kinds": "one token takes its place in every layer",
    "kv_bytes_of_two_kinds_per_sequence": "",
    "throughput_end_to_end": "all the time counts, prefill included",
    "serves_tokens": "the GPUs make all output tokens",
    "holds_weights": "the weights alone have to fit",
    "ttft": "the first token comes after the wait and the prefill",
    "prefill_time": "prefill is bound by its arithmetic",
    "prefill_flops": "only the matrices are counted, without attention",
    "decode_step_time": "decode is bound by memory traffic",
    "decode_bytes": "a step reads the weights and no cache",
}


def _readings() -> Iterator[dict[str, Law]]:
    """Give the simpler readings, the fullest first: the laws that each of them replaces or adds."""
    prefill = {"ttft": _prefill_first(laws()["ttft"])}
    yield prefill | _added()
    yield {"weights": _with_overhead(laws()["weights"])}
    prefill = prefill | {"prefill_time": _branch(laws()["prefill_time"], "compute")}
    yield prefill
    yield prefill | {"prefill_flops": _slipped("prefill_flops", "attention-forgotten")}
    memory = {"decode_step_time": _branch(laws()["decode_step_time"], "bandwidth")}
    yield memory
    yield memory | {"decode_bytes": _slipped("decode_bytes", "cache-unread")}


@cache
def vocabulary() -> dict[str, Quantity]:
    """Return every quantity by name, with those of models whose sliding layers have heads of their own."""
    also = (
        Quantity("sliding_kv_heads", "n_s_kv", "head", COUNT, "key-value heads of a sliding layer", "kv-cache"),
        Quantity("sliding_head_dim", "d_s", "element", COUNT, "size of one head of a sliding layer", "kv-cache"),
    )
    return {**quantities(), **{quantity.name: quantity for quantity in also}}


def _added() -> dict[str, Law]:
    """Give the short sums of publications that no law of the specification is."""
    q = SimpleNamespace(**vocabulary())
    full = (q.layers - q.sliding_layers) * q.kv_heads * q.head_dim
    sliding = q.sliding_layers * q.sliding_kv_heads * q.sliding_head_dim
    kept = q.sliding_kv_heads * q.sliding_head_dim * q.sliding_layers * sympy.Min(q.context, q.sliding_window)
    added = [
        Identity(
            q.kv_bytes_per_token,
            2 * q.kv_width * (full + sliding),
            name="kv_bytes_of_two_kinds",
            says="Full and sliding layers have heads of their own.",
            section="",
        ),
        Identity(
            q.kv_bytes_per_sequence,
            2 * q.kv_width * (q.context * full + kept),
            name="kv_bytes_of_two_kinds_per_sequence",
            says="Full and sliding layers have heads of their own.",
            section="",
            slips=[
                Slip(
                    "window-ignored",
                    "The sliding window was ignored: those layers keep only its tokens.",
                    2 * q.kv_width * q.context * (full + sliding),
                )
            ],
        ),
        Identity(
            q.kv_bytes_per_token,
            q.layers * q.kv_bytes_per_layer,
            name="kv_bytes_of_layers",
            says="Every layer keeps as much.",
            section="",
        ),
        Identity(
            q.throughput,
            q.batch * q.output / q.total_time,
            name="throughput_end_to_end",
            says="All tokens over all the time.",
            section="",
        ),
        Bound(
            "serves_tokens",
            q.arrival_rate * q.output <= q.gpus * q.throughput,
            says="The GPUs make the tokens that are asked for.",
            section="",
        ),
        Bound(
            "holds_tokens",
            q.concurrency * q.context <= q.token_capacity,
            says="All sequences together fit the tokens that the cache holds.",
            section="",
        ),
        Bound("holds_weights", q.weights <= q.gpus * q.gpu_memory, says="The GPUs hold the weights.", section=""),
    ]
    return {law.name: law for law in added}


def _branch(law: Law, name: str) -> Law:
    """Return a roofline with only the branch in which a quantity stands."""
    branches = [b for b in law.right.args if name in {s.name for s in b.free_symbols}]
    return law.changed(right=branches[0]) if isinstance(law.right, sympy.Max) else law


def _slipped(name: str, slug: str) -> Law:
    law = laws()[name]
    return law.with_slip(next(slip for slip in law.slips if slip.slug == slug))


def _with_overhead(law: Law) -> Law:
    """Return the weights with what a publication adds to them for the runtime."""
    more = quantities()["runtime_memory"]
    slips = tuple(Slip(slip.slug, slip.sentence, slip.instead + more, slip.unless) for slip in law.slips)
    return replace(law.changed(right=law.right + more), slips=slips)


def _prefill_first(law: Law) -> Law:
    """Return the time to first token with the prefill time where the law has the prompt over its rate."""
    known = quantities()
    wait, time = known["wait"], known["prefill_time"]
    kept = {"wait-forgotten": time, "wait-only": wait}
    slips = tuple(
        Slip(slip.slug, slip.sentence, kept[slip.slug], slip.unless) for slip in law.slips if slip.slug in kept
    )
    return replace(law.changed(right=wait + time), slips=slips)
