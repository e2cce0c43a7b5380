"""Calculating any quantity from what is given: `grade calc`."""

from grader.calc.calculation import ASSUMED, GIVEN, Calculation, NotCovered, Underived, Unsolved, Used, calculate
from grader.calc.givens import Impossible, UnknownQuantity, UnreadableValue, Unusable, WrongDimension, named, read_given

__all__ = [
    "ASSUMED",
    "GIVEN",
    "Calculation",
    "Impossible",
    "NotCovered",
    "Underived",
    "UnknownQuantity",
    "UnreadableValue",
    "Unsolved",
    "Unusable",
    "Used",
    "WrongDimension",
    "calculate",
    "named",
    "read_given",
]
