"""The value of a formula at a point: exact where it can be, to 60 digits where roots and logarithms occur.

Evaluation walks the postfix program with a stack, so depth costs nothing, and every result is bounded in size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal, DecimalException, DivisionByZero, InvalidOperation, Overflow
from functools import cache
from typing import Any

from grader.reading.formula import Formula, factorial, power, quotient
from grader.reading.number import BITS, Number, simplest
from grader.reading.text import Unreadable

DIGITS = 60
NEGLIGIBLE = Decimal(10) ** -40
NOISE = Decimal(10) ** -50


class Irrational(Exception):
    """The exact value is no fraction: evaluate to 60 digits instead."""


class NoValue(Exception):
    """The function has no real value here: the root or logarithm of a negative number."""


def _bounded(number: Number) -> Number:
    if number.numerator.bit_length() > BITS or number.denominator.bit_length() > BITS:
        raise Unreadable("too-large")
    return number


def _exact_power(base: Number, exponent: Number) -> Number:
    if exponent.denominator != 1:
        raise Irrational
    return power(base, exponent)


def _irrational(*_: Number) -> Number:
    raise Irrational


EXACT: Mapping[str, Callable[..., Number]] = {
    "+": lambda a, b: _bounded(a + b),
    "-": lambda a, b: _bounded(a - b),
    "*": lambda a, b: _bounded(a * b),
    "/": lambda a, b: _bounded(quotient(a, b)),
    "^": _exact_power,
    "neg": lambda a: -a,
    "abs": abs,
    "min": min,
    "max": max,
    "floor": lambda a: a.numerator // a.denominator,
    "ceil": lambda a: -(-a.numerator // a.denominator),
    "factorial": factorial,
    **dict.fromkeys(("sqrt", "ln", "exp", "log", "log2", "log10"), _irrational),
}


class Approximate:
    """Decimal arithmetic to 60 digits."""

    def __init__(self) -> None:
        self.context = Context(
            prec=DIGITS, Emax=100_000, Emin=-100_000, traps=[InvalidOperation, DivisionByZero, Overflow]
        )
        context = self.context
        self.operations: Mapping[str, Callable[..., Decimal]] = {
            "+": context.add,
            "-": context.subtract,
            "*": context.multiply,
            "/": context.divide,
            "^": self._power,
            "neg": context.minus,
            "abs": context.abs,
            "min": min,
            "max": max,
            "floor": lambda a: self._step(a, "ROUND_FLOOR"),
            "ceil": lambda a: self._step(a, "ROUND_CEILING"),
            "factorial": self._factorial,
            "sqrt": lambda a: context.sqrt(self._at_least_zero(a)),
            "exp": context.exp,
            "ln": self._ln,
            "log": lambda a, base: context.divide(self._ln(a), self._ln(base)),
            "log2": lambda a: context.divide(self._ln(a), self._ln(Decimal(2))),
            "log10": lambda a: context.log10(self._positive(a)),
        }

    def decimal(self, number: Number) -> Decimal:
        """A fraction to 60 digits."""
        return self.context.divide(Decimal(number.numerator), Decimal(number.denominator))

    def run(self, formula: Formula, point: Sequence[Number]) -> tuple[Decimal, Decimal]:
        """The value at a point, and the largest magnitude met, which bounds what cancellation leaves."""
        stack: list[Decimal] = []
        top = Decimal(0)
        for kind, value in formula.program:
            if kind == "number":
                stack.append(self.decimal(value))
            elif kind == "symbol":
                stack.append(self.decimal(point[value.numerator]))
            else:
                _apply(self.operations[kind], stack, _arity(kind, value))
            top = max(top, abs(stack[-1]))
        return stack[-1], top

    def _at_least_zero(self, number: Decimal) -> Decimal:
        if number < 0:
            raise NoValue
        return number

    def _positive(self, number: Decimal) -> Decimal:
        if number <= 0:
            raise NoValue
        return number

    def _ln(self, number: Decimal) -> Decimal:
        return self.context.ln(self._positive(number))

    def _power(self, base: Decimal, exponent: Decimal) -> Decimal:
        if base < 0 and exponent != exponent.to_integral_value():
            raise NoValue
        return self.context.power(base, exponent)

    def _step(self, number: Decimal, rounding: str) -> Decimal:
        """Floor or ceiling; a value within rounding noise of an integer is that integer."""
        nearest = number.to_integral_value()
        if abs(number - nearest) <= NEGLIGIBLE * max(abs(number), Decimal(1)):
            return nearest
        return number.to_integral_value(rounding=rounding)

    def _factorial(self, number: Decimal) -> Decimal:
        if number != number.to_integral_value() or number > BITS:
            raise Unreadable("factorial-domain")
        return Decimal(int(factorial(int(number))))


@cache
def _arithmetic() -> Approximate:
    return Approximate()


def _arity(kind: str, value: Number) -> int:
    return 1 if kind in {"neg", "factorial"} else value.numerator


def _apply(operation: Callable[..., Any], stack: list[Any], arity: int) -> None:
    if arity == 1:
        stack[-1] = operation(stack[-1])
    else:
        arguments = stack[-arity:]
        del stack[-arity:]
        stack.append(operation(*arguments))


def exact(formula: Formula, point: Sequence[Number]) -> Number | None:
    """The exact value at a point, None where it is undefined or too large.

    Raises:
        Irrational: the value is no fraction.
    """
    stack: list[Any] = []
    push, pop = stack.append, stack.pop
    try:
        for kind, value in formula.program:
            if kind == "number":
                push(value)
            elif kind == "symbol":
                push(point[value.numerator])
            elif kind in _BINARY:
                right = pop()
                stack[-1] = EXACT[kind](stack[-1], right)
            else:
                _apply(EXACT[kind], stack, _arity(kind, value))
    except Unreadable:
        return None
    result: Number = stack[-1]
    return result if type(result) is int else simplest(result)


_BINARY = frozenset("+-*/^")


def approximate(formula: Formula, point: Sequence[Number]) -> tuple[Decimal, Decimal] | str | None:
    """The value to 60 digits with the largest magnitude met; `no-value` where there is none; None where undefined."""
    try:
        return _arithmetic().run(formula, point)
    except NoValue:
        return "no-value"
    except (Unreadable, DecimalException):
        return None


def decimals_differ(left: tuple[Decimal, Decimal], right: tuple[Decimal, Decimal]) -> bool:
    """Whether two values differ by more than 60 digits of arithmetic can be off."""
    (a, top_a), (b, top_b) = left, right
    return abs(a - b) > max(NEGLIGIBLE * max(abs(a), abs(b)), NOISE * max(top_a, top_b))
