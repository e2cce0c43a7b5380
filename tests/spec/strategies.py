"""Hypothesis strategies for laws: values inside the domains and joint conditions of a law, and random formulas."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from operator import ge, gt, le, lt
from typing import Any

import sympy
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from spec.domains import Domain
from spec.index import laws
from spec.laws import Law
from spec.quantities import Quantity

Exact = int | Fraction
HOLDS = {"<": lt, "<=": le, ">": gt, ">=": ge}
# Erlang's recursion takes one step for each server, so loads and shares are drawn where a few dozen are enough.
NARROW = {
    "servers": Domain(1, 40, integer=True),
    "offered_load": Domain(0, 40, open_low=True),
    "blocking": Domain(Fraction(1, 1000), 1, open_high=True),
    "waiting": Domain(Fraction(1, 1000), 1, open_high=True),
    "covered": Domain(0, Fraction(999, 1000)),
    # A load under 1 is a product of these.
    "arrival_rate": Domain(0, Fraction(1, 2), open_low=True),
    "prefill_time": Domain(0, Fraction(2), open_low=True, open_high=True),
    "cache_step_time": Domain(0, Fraction(1, 10), open_low=True),
}
# For what is tried on each law and symbol; with so few examples the share that a condition leaves out is a chance.
FEWER = settings(
    max_examples=max(20, settings().max_examples // 5), suppress_health_check=[HealthCheck.filter_too_much]
)

LAWS = list(laws().values())
IDENTITIES = [law for law in LAWS if law.is_identity]
BOUNDS = [law for law in LAWS if not law.is_identity]
PAIRS = [(law, name) for law in LAWS for name in law.symbols]


def named(pairs: list[tuple[Law, str]]) -> list[str]:
    """Name pairs of a law and a symbol for a test report."""
    return [f"{law.name}-{name}" for law, name in pairs]


def numbers(domain: Domain, largest: int = 10**12) -> st.SearchStrategy[Exact]:
    """Draw numbers of a domain, small ones often; of a bounded one also parts of it."""
    low, high = domain.low or 0, largest if domain.high is None else domain.high
    if domain.integer:
        first, last = math.ceil(low), math.floor(high)
        return st.integers(first, min(last, first + 9)) | st.integers(first, last)
    if domain.high is None:
        parts = st.builds(lambda n, d: low + Fraction(n, d), st.integers(0, 10**6), st.integers(1, 1000))
        return (parts | st.integers(math.ceil(low), math.floor(high))).filter(domain.__contains__)
    share = st.builds(lambda n, d: Fraction(n % (d + 1), d), st.integers(0, 1000), st.integers(1, 1000))
    return share.map(lambda part: low + (high - low) * part).filter(domain.__contains__)


@cache
def number_of(symbol: Quantity) -> st.SearchStrategy[Exact]:
    """Draw a value of a quantity."""
    return numbers(NARROW.get(symbol.name, symbol.domain))


@cache  # building a strategy takes longer than drawing from it
def values(law: Law, *left_out: str, also: tuple[Any, ...] = ()) -> st.SearchStrategy[dict[str, Exact]]:
    """Draw every quantity of a law but those left out, and those of other trees, so that the joint conditions hold."""
    symbols = {**law.symbols, **{s.name: s for node in also for s in node.free_symbols}}
    names = {name: number_of(symbol) for name, symbol in symbols.items() if name not in left_out}
    drawn = st.tuples(st.fixed_dictionaries(names), st.sampled_from([0, 1, 3, 100])).map(_with_room)
    return drawn.filter(lambda drawn: conditions_hold(law, drawn))


def inputs(law: Law) -> st.SearchStrategy[dict[str, Exact]]:
    """Draw what a law is evaluated from: all quantities, of an Identity those of its right side."""
    return values(law, law.left.name) if law.is_identity else values(law)


def _with_room(pair: tuple[dict[str, Exact], int]) -> dict[str, Exact]:
    """Add so many times the parts of the memory to the memory, so that they often fit."""
    drawn, times = pair
    if "gpu_memory" in drawn:
        parts = sum(drawn.get(name, 0) for name in ("weights", "activations", "safety_margin", "kv_budget"))
        drawn["gpu_memory"] += times * parts
    if "gpu_memory_reported" in drawn and "memory_utilization" in drawn:
        parts = sum(drawn.get(name, 0) for name in ("weights", "activations", "runtime_memory", "kv_budget"))
        drawn["gpu_memory_reported"] += times * parts / Fraction(drawn["memory_utilization"])
    return drawn


def conditions_hold(law: Law, drawn: dict[str, Exact]) -> bool:
    """Say whether the joint conditions hold, as far as their quantities are drawn."""
    return all(
        HOLDS[c.rel_op](evaluated(c.lhs, drawn), evaluated(c.rhs, drawn))
        for c in law.where
        if {s.name for s in c.free_symbols} <= drawn.keys()
    )


def evaluated(node: Any, drawn: dict[str, Exact]) -> Fraction:
    """Evaluate a tree by SymPy itself: the second way that the compiled bodies are held against."""
    numbers_of = {s: sympy.Rational(Fraction(drawn[s.name])) for s in node.free_symbols}
    result = node.xreplace(numbers_of)
    for name, formula in (("ErlangB", loss), ("ErlangC", delay), ("PoissonCover", covered)):
        result = result.replace(*erlang(name, formula))
    result = result.doit()
    return Fraction(int(result.p), int(result.q))


def erlang(name: str, formula: Callable[[int, Fraction], Fraction]) -> tuple[Any, Any]:
    """Pair a test for calls of an algorithm with what to put in their place."""

    def put(node: Any) -> Any:
        servers, load = (Fraction(int(a.p), int(a.q)) for a in node.args)
        return sympy.Rational(formula(int(servers), load))

    return (lambda node: type(node).__name__ == name), put


def loss(servers: int, load: Exact) -> Fraction:
    """Erlang B by its sum: a^c/c! over the sum of a^k/k!."""
    terms = [Fraction(load) ** k / math.factorial(k) for k in range(servers + 1)]
    return terms[-1] / sum(terms)


def delay(servers: int, load: Exact) -> Fraction:
    """Erlang C by its sum; everyone waits where the queue is not stable."""
    if load >= servers:
        return Fraction(1)
    last = Fraction(load) ** servers / math.factorial(servers) * Fraction(servers) / (servers - Fraction(load))
    return last / (sum(Fraction(load) ** k / math.factorial(k) for k in range(servers)) + last)


def covered(slots: int, mean: Exact) -> Fraction:
    """Poisson's distribution by its formula, at so many digits that only their rounding down is left."""
    with localcontext(prec=60):
        load = Decimal(mean.numerator) / mean.denominator
        share = (-load).exp() * sum(load**k / math.factorial(k) for k in range(slots + 1))
        return Fraction(math.floor(share * 10**12), 10**12)


def steps_around(symbol: Quantity, value: Exact) -> Iterator[Exact]:
    """Give the values one step below and above a value, as far as the domain reaches."""
    step = 1 if symbol.domain.integer else Fraction(1, 97)
    yield from (v for v in (value - step, value + step) if v in symbol.domain)


LETTERS = [Quantity(name, name, "1", Domain(0, open_low=True), name, "tests") for name in "xyz"]


def trees(*, stepped: bool = True) -> st.SearchStrategy[Any]:
    """Draw formulas as an author may write them: unevaluated, nested, with negative numbers and fractions."""
    leaves = st.sampled_from(LETTERS) | st.integers(-4, 9).map(sympy.Integer)
    return _grown(
        _grown(st.recursive(leaves, lambda inner: _grown(inner, stepped=stepped), max_leaves=6), stepped=stepped),
        stepped=stepped,
    )


def _grown(inner: st.SearchStrategy[Any], *, stepped: bool) -> st.SearchStrategy[Any]:
    pairs = st.tuples(inner, inner)
    grown = [
        pairs.map(lambda p: sympy.Add(*p, evaluate=False)),
        pairs.map(lambda p: sympy.Mul(*p, evaluate=False)),
        pairs.map(lambda p: sympy.Add(p[0], sympy.Mul(-1, p[1], evaluate=False), evaluate=False)),
        pairs.map(lambda p: sympy.Mul(p[0], sympy.Pow(p[1], -1, evaluate=False), evaluate=False)),
        st.tuples(inner, st.integers(-3, 3)).map(lambda p: sympy.Pow(*p, evaluate=False)),
        st.tuples(inner, st.integers(2, 9)).map(
            lambda p: sympy.Mul(p[0], sympy.Rational(1, p[1]), evaluate=False),
        ),
    ]
    if stepped:
        grown += [
            inner.map(lambda a: sympy.floor(a, evaluate=False)),
            inner.map(lambda a: sympy.ceiling(a, evaluate=False)),
            pairs.map(lambda p: sympy.Max(*p, evaluate=False)),
            pairs.map(lambda p: sympy.Min(*p, evaluate=False)),
        ]
    return st.one_of(grown)


def by_hand(node: Any, drawn: dict[str, Exact]) -> Fraction:
    """Evaluate a tree node by node in Python, for trees that SymPy itself may rewrite.

    Raises:
        ZeroDivisionError: a divisor is zero.
    """
    if node.is_Symbol:
        return Fraction(drawn[node.name])
    if node.is_Rational:
        return Fraction(int(node.p), int(node.q))
    args = [by_hand(arg, drawn) for arg in node.args]
    if node.is_Add:
        return sum(args, Fraction(0))
    if node.is_Mul:
        return math.prod(args, start=Fraction(1))
    if node.is_Pow:
        return args[0] ** int(args[1])
    if node.is_Function and len(args) == 1:
        return Fraction({"floor": math.floor, "ceiling": math.ceil}[node.func.__name__](args[0]))
    return {"Max": max, "Min": min}[node.func.__name__](args)
