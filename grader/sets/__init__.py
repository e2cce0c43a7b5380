"""Problem sets: a set file becomes sheets to hand out, and keys to keep."""

from grader.sets.definition import InvalidSet, Item, ProblemSet, read_set
from grader.sets.rendering import formats, rendered
from grader.sets.sheets import Entry, Sheet, TooFew, record, sheet
from grader.sets.writing import Exists, write

__all__ = [
    "Entry",
    "Exists",
    "InvalidSet",
    "Item",
    "ProblemSet",
    "Sheet",
    "TooFew",
    "formats",
    "read_set",
    "record",
    "rendered",
    "sheet",
    "write",
]
