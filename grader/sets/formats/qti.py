"""QTI 1.2 as Canvas imports it: a package for the instructor alone, since it holds every key.

Each place of the set is a section that draws one of its items: a quiz gives everybody a variant. A part of an exercise
is an item of its own, with the whole story. The general feedback is the worked solution.

* Numbers are `numerical_question`. The right range alone sets SCORE. A slip selects its feedback by strict bounds or by
  equality alone and sets nothing, since Canvas takes every response condition that sets SCORE, or that has a lower and
  an upper bound with equality, for a right answer; Canvas has no feedback for one wrong number. So the feedback for
  wrong answers, which Canvas does show, lists where each slip leads.
* Numbers only: -1 stands for "no such value", in every item: an item that takes words where there is no value would
  tell that there is none. There is no field for a unit; it is the one that the question names.
* Labels are `multiple_choice_question`, or `multiple_answers_question` where several may be right, with "None of
  these" below.
* What cannot be compared, such as formulas, lists and properties, is `essay_question`; the key stands in the general
  feedback.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from hashlib import blake2b

from grader.amounts import rounded
from grader.exercise import Part
from grader.sets.formats import Files, Format
from grader.sets.questions import FILTERS, Question, in_plural, pool
from grader.sets.ranges import NONE, Range, plain
from grader.sets.rendering import rendered
from grader.sets.sheets import Sheet

MANIFEST = """\
<?xml version="1.0" encoding="UTF-8"?>
<manifest identifier="{ident}_manifest" xmlns="http://www.imsglobal.org/xsd/imscp_v1p1">
<metadata><schema>IMS Content</schema><schemaversion>1.1.3</schemaversion></metadata>
<organizations/>
<resources>
<resource identifier="{ident}" type="imsqti_xmlv1p2"><file href="{ident}/{ident}.xml"/></resource>
</resources>
</manifest>
"""
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the first moment that a package can name: the same set gives the same bytes


def identifier(text: str) -> str:
    """Return a name that is the same for the same text, and of letters that every platform takes."""
    return f"i{blake2b(text.encode('utf-8', 'backslashreplace'), digest_size=12).hexdigest()}"


def item_identifier(question: Question) -> str:
    """Return the name of an item: a package that is imported again replaces what it brought before."""
    exercise = question.exercise
    return identifier(f"{question.place} {exercise.family}@{exercise.revision}/{exercise.seed}")


def led_to(found: Range, part: Part) -> str:
    """Write the number in the middle of a range with its unit, to a few figures."""
    if found.low == NONE:
        return plain(NONE)
    return f"{rounded(found.middle)} {in_plural(part.unit)}".strip()


class Qti(Format):
    """One package for the class, from the template for keys; nothing to hand out, and nothing for each student."""

    filters = {  # noqa: RUF012  never changed
        **FILTERS, "ident": identifier, "item": item_identifier, "led_to": led_to
    }  # fmt: skip

    def files(self, kind: str, sheet: Sheet, text: str) -> Files:  # noqa: ARG002  the signature of the format
        """Return nothing: a package is for everybody."""
        return {}

    def class_files(self, kind: str, sheets: Iterable[Sheet]) -> Files:
        """Return the package."""
        pooled = pool(sheets) if kind == "key" else None
        return {"qti.zip": _package(pooled)} if pooled else {}


def _package(sheet: Sheet) -> bytes:
    ident = identifier(sheet.title)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as package:
        for path, text in (
            ("imsmanifest.xml", MANIFEST.format(ident=ident)),
            (f"{ident}/{ident}.xml", rendered("key", sheet, "qti")),
        ):
            package.writestr(zipfile.ZipInfo(path, LONG_AGO), text, zipfile.ZIP_DEFLATED)
    return content.getvalue()


writer = Qti()
