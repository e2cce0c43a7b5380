"""From a SymPy tree to a plain Python function, exact and reusable on other kinds of value.

The emitted body uses Python's operators and the names `div`, `Max`, `Min`, `floor` and `ceil`, which each kind of
value binds in its own way: numbers stay integers and Fractions, units check dimensions, intervals bound a menu.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import sympy

from spec.units import ONE, Unit

Body = Callable[..., Any]
Kind = Mapping[str, Any]


class Algorithm(sympy.Function):  # type: ignore[misc]  # SymPy ships no types
    """A function that is computed by a program rather than by a formula.

    A subclass defines `exact(*args)` on exact numbers, `senses` (+1 rising or -1 falling in each argument)
    and `bounds`, the ends of its range.
    """

    senses: tuple[int, ...]
    bounds: tuple[int, int]

    @staticmethod
    def exact(*args: Any) -> Any:
        """Compute the value from exact arguments."""
        raise NotImplementedError


def algorithms() -> dict[str, type[Algorithm]]:
    """Return every program that a law may call, by name."""
    return {cls.__name__: cls for cls in Algorithm.__subclasses__()}


def source(node: Any) -> str:
    """Emit a Python expression for a tree, rationals exact.

    Raises:
        TypeError: the tree holds something that is no rational operation, Max, Min, floor, ceiling or Algorithm.
    """
    if node.is_Symbol:
        return str(node.name)
    if node.is_Integer:
        return str(node) if node >= 0 else f"({node})"
    if node.is_Rational:
        return f"div({node.p}, {node.q})"
    if node.is_Add:
        return "(" + " + ".join(map(source, node.args)) + ")"
    if node.is_Mul:
        return _product(node)
    if node.is_Pow and node.exp.is_Integer:
        return f"div(1, {_power(node)})" if node.exp < 0 else _power(node)
    if isinstance(node, sympy.Max | sympy.Min | sympy.floor | sympy.ceiling | Algorithm):
        name = {sympy.ceiling: "ceil"}.get(node.func, node.func.__name__)
        return f"{name}({', '.join(map(source, node.args))})"
    raise TypeError(f"no exact form for {node.func.__name__} in {node}")


def _power(node: Any) -> str:
    exponent, base = abs(int(node.exp)), source(node.base)
    if exponent == 1:
        return base
    return f"({base})**{exponent}" if node.base.is_Pow else f"{base}**{exponent}"


def _product(node: Any) -> str:
    over, under = [], []
    for factor in node.args:
        if factor.is_Pow and factor.exp.is_Integer and factor.exp < 0:
            under.append(_power(factor))
        elif factor.is_Rational and not factor.is_Integer:
            over.append(str(factor.p))
            under.append(str(factor.q))
        else:
            over.append(source(factor))
    top = "*".join(over) or "1"
    return f"div({top}, {'*'.join(under)})" if under else f"({top})"


def compiled(node: Any, kind: Kind) -> Body:
    """Return a function of the tree's symbols, taken by keyword, over one kind of value."""
    names = sorted(symbol.name for symbol in node.free_symbols)
    text = f"lambda {', '.join([*names, '**_'])}: {source(node)}"
    body: Body = eval(text, dict(kind))  # noqa: S307  the text is emitted above from a law's own tree
    return body


def exact_kind() -> Kind:
    """Bind the names for exact numbers."""
    names = {name: cls.exact for name, cls in algorithms().items()}
    return {"div": Fraction, "Max": max, "Min": min, "floor": math.floor, "ceil": math.ceil, **names}


def _common(*values: Any) -> Any:
    units = [v for v in values if isinstance(v, Unit)]
    for other in units[1:]:
        units[0] + other  # raises where they differ
    return units[0] if units else values[0]


def _ratio(over: Any, under: Any) -> Any:
    return over / under if isinstance(over, Unit) or isinstance(under, Unit) else 1


def _plain(*values: Any) -> Unit:
    _common(*values)
    return ONE


def unit_kind() -> Kind:
    """Bind the names for units: the same body then checks dimensions."""
    names = dict.fromkeys(algorithms(), _plain)
    return {"div": _ratio, "Max": _common, "Min": _common, "floor": _common, "ceil": _common, **names}
