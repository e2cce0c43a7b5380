"""A formula as a postfix program: built bottom-up, folded where constant, printed and evaluated without recursion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from grader.reading.number import BITS, Number, simplest, written
from grader.reading.text import Unreadable

Node = tuple[str, Number]
"""`("number", value)`, `("symbol", place)`, an operator, or a function with its number of arguments."""

BINARY = frozenset("+-*/^")
IRRATIONAL = frozenset({"sqrt", "ln", "exp", "log", "log2", "log10"})
STEPPED = frozenset({"floor", "ceil", "min", "max", "abs"})
_SUM, _NEGATIVE, _PRODUCT, _POWER, _ATOM = range(5)


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula that was read.

    Attributes:
        program: the nodes, operands before operators.
        symbols: the symbols of the question; a node names one by its place.
        order: whether it stood in `O(...)`.
        ambiguous: whether a product without a sign follows a division: `M/2LH`.
    """

    program: tuple[Node, ...]
    symbols: tuple[str, ...]
    order: bool = False
    ambiguous: bool = False

    @property
    def constant(self) -> bool:
        """Whether no symbol occurs."""
        return all(kind != "symbol" for kind, _ in self.program)

    @property
    def rational(self) -> bool:
        """Whether it is a quotient of polynomials: then it is decided by a few points in general position."""
        return all(
            kind in {"number", "symbol", "neg", "+", "-", "*", "/"}
            or (kind == "^" and self.program[i - 1][0] == "number" and self.program[i - 1][1].denominator == 1)
            for i, (kind, _) in enumerate(self.program)
        )

    @property
    def irrational(self) -> bool:
        """Whether it holds a root, a logarithm or an exponential."""
        return any(kind in IRRATIONAL for kind, _ in self.program)

    def without_order(self) -> Formula:
        """The same formula outside its `O(...)`."""
        return replace(self, order=False)

    def __str__(self) -> str:
        text = printed(self, _called)
        return f"O({text})" if self.order else text


def power(base: Number, exponent: Number, at: int = -1) -> Number:
    """Raise to an integer power, refusing results of more than `BITS` bits before computing them.

    Raises:
        Unreadable: `too-large`, `division-by-zero`.
    """
    n = exponent.numerator
    if base == 0 and n < 0:
        raise Unreadable("division-by-zero", at)
    size = max(abs(base.numerator), base.denominator)
    if size > 1 and (size**8).bit_length() * abs(n) > 8 * BITS:
        raise Unreadable("too-large", at)
    if size <= 1:
        return base if n % 2 else base * base if n else 1
    raised: Number = base**n if n >= 0 else Fraction(base) ** n
    return simplest(raised)


def factorial(of: Number, at: int = -1) -> Number:
    """The factorial of a small natural number.

    Raises:
        Unreadable: `factorial-domain` for another number, `too-large` beyond `BITS` bits.
    """
    n = of.numerator
    if of.denominator != 1 or n < 0:
        raise Unreadable("factorial-domain", at)
    if n * n.bit_length() > BITS:
        raise Unreadable("too-large", at)
    product = 1
    for factor in range(2, n + 1):
        product *= factor
    return product


def quotient(over: Number, under: Number, at: int = -1) -> Number:
    """Divide exactly.

    Raises:
        Unreadable: `division-by-zero`.
    """
    if under == 0:
        raise Unreadable("division-by-zero", at)
    return simplest(Fraction(over) / under)


class Builder:
    """Collects the nodes of a formula and folds constants as they meet, within the bounds of `power`."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []

    def number(self, value: Number) -> None:
        """Add a constant."""
        self.nodes.append(("number", value))

    def symbol(self, place: int) -> None:
        """Add a symbol."""
        self.nodes.append(("symbol", place))

    def unary(self, kind: str, at: int) -> None:
        """Negate, or take the factorial of, what was added last."""
        last, value = self.nodes[-1]
        if last != "number":
            self.nodes.append((kind, 1))
            return
        self.nodes[-1] = ("number", -value if kind == "neg" else factorial(value, at))

    def binary(self, kind: str, at: int) -> None:
        """Combine the last two operands."""
        if len(self.nodes) >= 2 and self.nodes[-1][0] == self.nodes[-2][0] == "number":  # noqa: PLR2004  two operands
            folded = _folded(kind, self.nodes[-2][1], self.nodes[-1][1], at)
            if folded is not None:
                self.nodes[-2:] = [("number", folded)]
                return
        elif kind == "/" and self.nodes[-1] == ("number", 0):
            raise Unreadable("division-by-zero", at)
        self.nodes.append((kind, 2))

    def call(self, function: str, arguments: int) -> None:
        """Apply a function to the last operands."""
        self.nodes.append((function, arguments))


def _folded(kind: str, left: Number, right: Number, at: int) -> Number | None:
    """Compute a constant, or None where its value is not rational."""
    if kind == "^":
        return power(left, right, at) if right.denominator == 1 else None
    if kind == "/":
        return quotient(left, right, at)
    result = left + right if kind == "+" else left - right if kind == "-" else left * right
    if max(result.numerator.bit_length(), result.denominator.bit_length()) > BITS:
        raise Unreadable("too-large", at)
    return simplest(result)


def _called(function: str, arguments: Sequence[str]) -> str:
    return f"{function}({', '.join(arguments)})"


def printed(formula: Formula, called: Callable[[str, Sequence[str]], str]) -> str:
    """Write a formula, and functions by `called`, which takes a name and the arguments in text."""
    stack: list[tuple[str, int]] = []
    for kind, value in formula.program:
        if kind == "number":
            stack.append(_constant(value))
        elif kind == "symbol":
            stack.append((formula.symbols[value.numerator], _ATOM))
        elif kind in BINARY:
            right, left = stack.pop(), stack.pop()
            stack.append(_operation(kind, left, right))
        elif kind == "neg":
            stack.append((f"-{_within(stack.pop(), _POWER)}", _NEGATIVE))
        elif kind == "factorial":
            stack.append((f"{_within(stack.pop(), _ATOM)}!", _POWER))
        else:
            arguments = [text for text, _ in stack[-value.numerator :]]
            stack[-value.numerator :] = [(called(kind, arguments), _ATOM)]
    return stack[-1][0]


def _constant(value: Number) -> tuple[str, int]:
    mantissa, exponential, power_of_ten = written(value).partition("e")
    if exponential:  # e may be a symbol
        return f"{mantissa}*10^{_within((power_of_ten, _NEGATIVE), _ATOM)}", _NEGATIVE if value < 0 else _PRODUCT
    return mantissa, _NEGATIVE if value < 0 else _PRODUCT if "/" in mantissa else _ATOM


def _operation(kind: str, left: tuple[str, int], right: tuple[str, int]) -> tuple[str, int]:
    if kind == "^":
        return f"{_within(left, _ATOM)}^{_within(right, _ATOM)}", _POWER
    if kind in "*/":
        return f"{_within(left, _NEGATIVE)}{kind}{_within(right, _POWER)}", _PRODUCT
    minus = right[0].startswith("-")
    return f"{left[0]} {kind} {_within(right, _ATOM if minus else _NEGATIVE)}", _SUM


def _within(operand: tuple[str, int], least: int) -> str:
    """An operand as it stands, or in brackets where it binds too loosely."""
    text, strength = operand
    return text if strength >= least else f"({text})"


def numbers(formula: Formula) -> Sequence[Number]:
    """The constants that occur."""
    return [value for kind, value in formula.program if kind == "number"]
