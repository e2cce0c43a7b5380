"""Printing a law in LaTeX and in plain text, in the author's order, with symbols or with numbers."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import sympy
from sympy.printing.latex import LatexPrinter
from sympy.printing.str import StrPrinter

if TYPE_CHECKING:
    from spec.laws import Law

RELATIONS = {"==": ("=", "="), "<=": (r"\le", "<="), "<": ("<", "<")}
Values = dict[str, str]


@lru_cache(maxsize=4096)
def flat(node: Any) -> Any:
    """Merge nested sums and products without changing the order of their terms."""
    if not node.args:
        return node
    args = [flat(arg) for arg in node.args]
    if node.is_Add or node.is_Mul:
        args = [inner for arg in args for inner in (arg.args if arg.func == node.func else (arg,))]
    return node.func(*args, evaluate=False)


SUM, PRODUCT, POWER, ATOM = range(4)  # how tightly a printed node holds together


def _tightness(node: Any, values: Values) -> int:
    if node.is_Symbol:
        number, _, unit = values.get(node.name, "").partition(" ")
        return PRODUCT if "/" in number else POWER if unit else ATOM
    if _negated(node)[0] or node.is_Add:
        return SUM
    if (
        node.is_Mul
        or (node.is_Rational and not node.is_Integer)
        or (node.is_Pow and node.exp.could_extract_minus_sign())
    ):
        return PRODUCT
    return POWER if node.is_Pow else ATOM


def _split(node: Any) -> tuple[list[Any], list[Any]]:
    """Split a product into what stands over and under the fraction line."""
    under = [a for a in node.args if a.is_Pow and a.exp.is_Integer and a.exp < 0]
    return [a for a in node.args if a not in under], [_reciprocal(a) for a in under]


def _reciprocal(power: Any) -> Any:
    return power.base if power.exp == -1 else sympy.Pow(power.base, -power.exp, evaluate=False)


class _Latex(LatexPrinter):  # type: ignore[misc]  # SymPy ships no types
    """Symbols by their letter, or the numbers of one exercise with explicit times signs."""

    def __init__(self, values: Values | None) -> None:
        super().__init__({"order": "none"})
        self.values = values or {}

    def _print_Symbol(self, symbol: Any, style: str = "plain") -> str:  # noqa: ARG002  the printer's own signature
        return tex_amount(self.values[symbol.name]) if symbol.name in self.values else str(symbol.tex)

    def _bracketed(self, node: Any, level: int) -> str:
        text = str(self._print(node))
        return rf"\left({text}\right)" if _tightness(node, self.values) <= level else text

    def _print_Add(self, node: Any, order: Any = None) -> str:  # noqa: ARG002  the printer's own signature
        text = ""
        for i, term in enumerate(node.args):
            negative, body = _negated(term)
            printed = self._bracketed(body, SUM)
            text += f"{' - ' if i else '- '}{printed}" if negative else f"{' + ' if i else ''}{printed}"
        return text

    def _print_Mul(self, node: Any) -> str:
        negative, body = _negated(node)
        if negative:
            return f"- {self._bracketed(body, SUM)}"
        over, under = _split(node)
        if under or any(a.is_Rational and not a.is_Integer for a in over):
            under = [*under, *(sympy.Integer(a.q) for a in over if a.is_Rational and a.q != 1)]
            over = [sympy.Integer(a.p) if a.is_Rational else a for a in over if not a.is_Rational or a.p != 1]
            return rf"\frac{{{self._factors(over)}}}{{{self._factors(under)}}}"
        return self._factors(over)

    def _factors(self, nodes: list[Any]) -> str:
        if len(nodes) == 1:
            return str(self._print(nodes[0]))
        text = ""
        for node in nodes:
            printed = self._bracketed(node, SUM)
            text += self._times(text, printed) + printed if text else printed
        return text or "1"

    def _times(self, before: str, after: str) -> str:
        if self.values:
            return r" \times "
        if after[0].isdigit():
            return r" \cdot "
        return r" \, " if r"\mathrm" in before + after else " "

    def _print_Function(self, node: Any, exp: Any = None) -> str:  # noqa: ARG002  the printer's own signature
        return rf"\operatorname{{{node.func.__name__}}}\left({', '.join(map(self._print, node.args))}\right)"

    def _print_Pow(self, node: Any) -> str:
        if node.exp.is_Integer and node.exp < 0:
            return rf"\frac{{1}}{{{self._print(_reciprocal(node))}}}"
        return rf"{self._bracketed(node.base, POWER)}^{{{self._print(node.exp)}}}"


def tex_amount(text: str) -> str:
    """Print a number, or a number with its unit, in LaTeX."""
    number, _, unit = text.partition(" ")
    over, slash, under = number.replace(",", "{,}").partition("/")
    return (rf"\frac{{{over}}}{{{under}}}" if slash else over) + (rf"\,\text{{{unit}}}" if unit else "")


class _Text(StrPrinter):  # type: ignore[misc]  # SymPy ships no types
    """The same in plain text, each symbol by its name or by what `values` puts in its place."""

    def __init__(self, values: Values | None) -> None:
        super().__init__({"order": "none"})
        self.values = values or {}

    def _print_Symbol(self, symbol: Any) -> str:
        return str(self.values.get(symbol.name, symbol.name))

    _print_Quantity = _print_Symbol  # SymPy's own printer has a method of that name for its units

    def _print_Integer(self, number: Any) -> str:
        return str(number)

    def _bracketed(self, node: Any, level: int) -> str:
        text = str(self._print(node))
        return f"({text})" if _tightness(node, self.values) <= level else text

    def _print_Add(self, node: Any, order: Any = None) -> str:  # noqa: ARG002  the printer's own signature
        text = ""
        for i, term in enumerate(node.args):
            negative, body = _negated(term)
            printed = self._bracketed(body, SUM)
            text += f"{' - ' if i else '-'}{printed}" if negative else f"{' + ' if i else ''}{printed}"
        return text

    def _print_Mul(self, node: Any) -> str:
        negative, body = _negated(node)
        if negative:
            return f"-{self._bracketed(body, SUM)}"
        over, under = _split(node)
        top = " * ".join(self._bracketed(a, SUM if i == 0 else PRODUCT) for i, a in enumerate(over)) or "1"
        if not under:
            return top
        if len(under) > 1:
            return f"{top} / ({' * '.join(self._bracketed(a, PRODUCT) for a in under)})"
        return f"{top} / {self._bracketed(under[0], PRODUCT)}"

    def _print_Pow(self, node: Any, rational: bool = False) -> str:  # noqa: ARG002, FBT001, FBT002  the printer's own signature
        if node.exp.is_Integer and node.exp < 0:
            return f"1 / {self._bracketed(_reciprocal(node), PRODUCT)}"
        return f"{self._bracketed(node.base, POWER)}^{self._bracketed(node.exp, POWER)}"

    def _print_Function(self, node: Any) -> str:
        name = {sympy.ceiling: "ceil"}.get(node.func, node.func.__name__)
        return f"{name}({', '.join(map(self._print, node.args))})"

    _print_floor = _print_ceiling = _print_Max = _print_Min = _print_LatticeOp = _print_Function


def _negated(term: Any) -> tuple[bool, Any]:
    """Split a leading minus off a term."""
    if term.is_Number and term < 0:
        return True, -term
    if term.is_Mul and term.args[0].is_Number and term.args[0] < 0:
        rest = term.args[1:] if term.args[0] == -1 else (-term.args[0], *term.args[1:])
        return True, rest[0] if len(rest) == 1 else sympy.Mul(*rest, evaluate=False)
    return False, term


def latex(node: Any, values: Values | None = None) -> str:
    """Print one expression in LaTeX."""
    return str(_Latex(values).doprint(flat(node)))


def text(node: Any, values: Values | None = None) -> str:
    """Print one expression in plain text."""
    return str(_Text(values).doprint(flat(node)))


def formula(node: Any) -> str:
    """Print one expression as people type it, with the letters of its symbols: `12 * L * H^2 + 2 * V * H`."""
    return text(node, {symbol.name: symbol.symbol for symbol in node.free_symbols})


def law_latex(law: Law, values: Values | None = None) -> str:
    """Print both sides of a law in LaTeX; the target of an Identity keeps its letter."""
    left = latex(law.left, None if law.relation == "==" else values)
    return f"{left} {RELATIONS[law.relation][0]} {latex(law.right, values)}"


def law_text(law: Law, values: Values | None = None) -> str:
    """Print both sides of a law in plain text; the target of an Identity keeps its letter."""
    left = text(law.left, None if law.relation == "==" else values)
    return f"{left} {RELATIONS[law.relation][1]} {text(law.right, values)}"
