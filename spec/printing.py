"""Printing a law in LaTeX and in plain text, in the author's order, with symbols or with numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sympy
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import precedence
from sympy.printing.str import StrPrinter

if TYPE_CHECKING:
    from spec.laws import Law

RELATIONS = {"==": ("=", "="), "<=": (r"\le", "<="), "<": ("<", "<")}
Values = dict[str, str]


def flat(node: Any) -> Any:
    """Merge nested sums and products without changing the order of their terms."""
    if not node.args:
        return node
    args = [flat(arg) for arg in node.args]
    if node.is_Add or node.is_Mul:
        args = [inner for arg in args for inner in (arg.args if arg.func == node.func else (arg,))]
    return node.func(*args, evaluate=False)


class _Latex(LatexPrinter):  # type: ignore[misc]  # SymPy ships no types
    """Symbols by their letter, or the numbers of one exercise with explicit times signs."""

    def __init__(self, values: Values | None) -> None:
        super().__init__({"order": "none", "mul_symbol": "times" if values else None})
        self.values = values or {}

    def _print_Symbol(self, symbol: Any, style: str = "plain") -> str:  # noqa: ARG002  the printer's own signature
        return tex_amount(self.values[symbol.name]) if symbol.name in self.values else str(symbol.tex)

    def _print_Pow(self, node: Any) -> str:
        if node.base.is_Symbol and node.base.name in self.values and node.exp.is_Integer and node.exp > 1:
            return rf"{self._print(node.base)}^{{{node.exp}}}"
        return str(super()._print_Pow(node))


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

    def _print_Add(self, node: Any, order: Any = None) -> str:  # noqa: ARG002  the printer's own signature
        text = ""
        for i, term in enumerate(node.args):
            negative, body = _negated(term)
            printed = self.parenthesize(body, precedence(node) + 1 if negative else precedence(node))
            text += f"{' - ' if i else '-'}{printed}" if negative else f"{' + ' if i else ''}{printed}"
        return text

    def _print_Mul(self, node: Any) -> str:
        negative, body = _negated(node)
        if negative:
            return f"-{self.parenthesize(body, precedence(node))}"
        over = [a for a in node.args if not (a.is_Pow and a.exp.is_Integer and a.exp < 0)]
        under = [
            sympy.Pow(a.base, -a.exp, evaluate=False) if a.exp != -1 else a.base for a in node.args if a not in over
        ]
        top = " * ".join(self.parenthesize(a, precedence(node)) for a in over) or "1"
        if not under:
            return top
        bottom = " * ".join(self.parenthesize(a, precedence(node) + 1) for a in under)
        return f"{top} / {f'({bottom})' if len(under) > 1 else bottom}"

    def _print_Pow(self, node: Any, rational: bool = False) -> str:  # noqa: ARG002, FBT001, FBT002  the printer's own signature
        if node.exp.is_Integer and node.exp < 0:
            return f"1 / {self.parenthesize(node.base, precedence(node))}"
        return f"{self.parenthesize(node.base, precedence(node))}^{self.parenthesize(node.exp, precedence(node))}"

    def _print_Function(self, node: Any) -> str:
        name = {sympy.ceiling: "ceil"}.get(node.func, node.func.__name__)
        return f"{name}({', '.join(map(self._print, node.args))})"

    _print_floor = _print_ceiling = _print_Max = _print_Min = _print_Function

    def _print_LatticeOp(self, node: Any) -> str:
        return self._print_Function(node)


def _negated(term: Any) -> tuple[bool, Any]:
    """Split a leading minus off a term."""
    if term.is_Integer and term < 0:
        return True, -term
    if term.is_Mul and term.args[0] == -1:
        rest = term.args[1:]
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
