"""An implementation as a check asks it: an answer is a value, and where there is none the check ends with the reason.

A statement rests on numbers. Where one of them does not exist, or a law cannot be asked for it, there is nothing to
compare, and a check that went on would raise some error of its own instead of saying what could not be computed.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

from spec.invariants.reference import Unanswered
from spec.quantities import quantities
from spec.solving import Infeasible, OutsideDomain


class NoValueError(Exception):
    """Something that a check asked for has no value; its text says what and why.

    Attributes:
        none: what the law answered, where it was asked and has no solution.
    """

    def __init__(self, why: str, none: Infeasible | None = None) -> None:
        super().__init__(why)
        self.none = none


class Definite:
    """An implementation whose functions return a value or raise.

    Attributes:
        impl: the implementation that is asked.
    """

    def __init__(self, impl: Any) -> None:
        self.impl = impl

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return the function of that name, which raises `NoValueError` where it has no answer."""
        asked = getattr(self.impl, name)

        def function(**known: Any) -> Any:
            try:
                answer = asked(**known)
            except (Unanswered, OutsideDomain) as error:
                raise NoValueError(f"{name}: {error}") from error
            except KeyError as error:  # a replaced law needs a quantity that nobody passes
                raise NoValueError(f"{name}: {error.args[0]} is not known") from error
            except ArithmeticError as error:
                raise NoValueError(f"{name}: {in_words(error)}") from error
            if isinstance(answer, Infeasible):
                raise NoValueError(str(answer), answer)
            if isinstance(answer, Fraction) and answer.denominator != 1 and name in _whole():
                raise NoValueError(f"{name}: {float(answer):.6g} is not a whole number")
            return answer

        self.__dict__[name] = function
        return function


def missing(ask: Callable[[], Any]) -> Infeasible | None:
    """Return why what is asked for does not exist, or None where it does.

    Raises:
        NoValueError: it could not be asked for.
    """
    try:
        ask()
    except NoValueError as error:
        if error.none is None:
            raise
        return error.none
    return None


def in_words(error: ArithmeticError) -> str:
    """Say what went wrong in a calculation."""
    return "a division by zero" if isinstance(error, ZeroDivisionError) else "a number too large to write"


@cache
def _whole() -> frozenset[str]:
    return frozenset(name for name, quantity in quantities().items() if quantity.domain.integer)
