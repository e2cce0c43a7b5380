"""Moodle XML: one file for the question bank, for the instructor alone, since it holds every key.

Each place of the set is a category below the title of the set, and what the students of a class were drawn for it are
the questions in it: a quiz that adds "a random question" from each category gives everybody a variant. A part of an
exercise is a question of its own, with the whole story.

* Numbers are `numerical`: the right range first, then a range of fraction 0 for each slip, with its sentence. A slip
  outside of them gets none. The general feedback is the worked solution, the hints are those of `grade hint`.
* Moodle reads no words in a number, so -1 stands for "no such value", in every question: a field for words where there
  is no value would tell that there is none.
* Units are chosen from a list where there is more than one to choose from. Moodle also offers units that are typed and
  optional, and then takes `40 s` for `40 ms`: it tries the number without its unit as well. From a list the unit is
  graded, and a wrong one costs all points.
* Labels are `multichoice`, with "None of these" below: one that is right earns all, several that are their parts.
* What Moodle cannot compare, such as formulas, lists and properties, are essays; the key stands in the information for
  graders.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from grader.exercise import Part, exact
from grader.sets.formats import Files, Format
from grader.sets.questions import FILTERS, Option, Question, in_plural, pool
from grader.sets.rendering import rendered
from grader.sets.sheets import Sheet
from grader.solution import hints
from spec.units import UnknownUnit, unit

CHOSEN_FROM = (
    ("B", "bit", "kB", "KiB", "MB", "MiB", "GB", "GiB", "TB", "TiB"),
    ("us", "ms", "s", "min", "h"),
)
DECIMALS = 19  # of a multiplier in Moodle's database
PRECISE = Fraction(1, 10**16)  # of its arithmetic


def units(part: Part) -> list[tuple[str, str]]:
    """Return the units to choose from, that of the part first, with how many of each make one of it.

    Only those whose multiplier Moodle keeps in full; none where there is nothing to choose.
    """
    if part.kind == "count":
        return []
    factors = part.unit.split("/")
    found = {part.unit: Fraction(1)}
    for place, factor in enumerate(factors):
        for other in next((group for group in CHOSEN_FROM if factor in group), ()):
            name = "/".join([*factors[:place], other, *factors[place + 1 :]])
            try:
                ratio = unit(part.unit).factor / unit(name).factor
            except UnknownUnit:
                continue
            if abs(_kept(ratio) - ratio) <= PRECISE * ratio:
                found.setdefault(name, ratio)
    return [(in_plural(name), exact(_kept(ratio))) for name, ratio in found.items()] if len(found) > 1 else []


def _kept(ratio: Fraction) -> Fraction:
    return Fraction(round(ratio * 10**DECIMALS), 10**DECIMALS)


def share(question: Question, option: Option) -> str:
    """Return what an option earns, in percent: all together, or its part; a wrong one of several takes as much away.

    Moodle knows the parts up to a tenth, to five decimals.
    """
    part = 100 / question.right
    if not question.several:
        return "100" if option.right else "0"
    return f"{part if option.right else -part:.5f}".rstrip("0").rstrip(".")


def category(text: str) -> str:
    """Write the name of a category inside a path of categories, where a slash is doubled."""
    return text.replace("/", "//")


class Moodle(Format):
    """One file for the class, from the template for keys; nothing to hand out, and nothing for each student."""

    filters = {  # noqa: RUF012  never changed
        **FILTERS, "share": share, "units": units, "category": category,
        "hints": lambda asked: hints(asked.exercise, asked.part),
    }  # fmt: skip

    def files(self, kind: str, sheet: Sheet, text: str) -> Files:  # noqa: ARG002  the signature of the format
        """Return nothing: a question bank is for everybody."""
        return {}

    def class_files(self, kind: str, sheets: Iterable[Sheet]) -> Files:
        """Return the question bank."""
        pooled = pool(sheets) if kind == "key" else None
        return {"moodle.xml": rendered(kind, pooled, "moodle")} if pooled else {}


writer = Moodle()
