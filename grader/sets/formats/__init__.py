"""What a format may do beside its templates: one file here, `NAME.py`, that holds a `writer`.

Most formats need none: `templates/sheet.NAME.j2` and `templates/key.NAME.j2` are rendered once for each sheet, with
`sheet` (a `grader.sets.Sheet`), and become `sheets/CODE.NAME` and `keys/CODE.NAME`, or `sheets/sheet.NAME` and
`keys/key.NAME` where one sheet is for everybody.

What a writer has at hand: the sheets as they are, `grader.sets.record_of` for what judging a sheet takes, and the marks
by which answers are read back from a notebook (`grader.answers.documents`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from grader.sets.sheets import Sheet

KINDS = ("sheet", "key")  # what a file is: one to hand out, below sheets/, or one to keep, below keys/
Files = Mapping[str, str | bytes]  # by their path below that folder


class Format:
    """A format. A writer is an instance of a subclass that overrides what differs.

    Attributes:
        suffix: of the files; the name of the format unless told.
        filters: for its templates, beside those of `grader.sets.rendering`.
        needs: the modules it imports that an installation may lack.
        extra: the extra of the package that brings them.
        refuses: the kinds of answers (`grader.exercise.KINDS`) that cannot be judged where it is taken.
    """

    suffix: str = ""
    filters: Mapping[str, Callable[..., Any]] = {}
    needs: tuple[str, ...] = ()
    extra: str = ""
    refuses: frozenset[str] = frozenset()

    def files(self, kind: str, sheet: Sheet, text: str) -> Files:
        """Return the files of one sheet, or of its key.

        Args:
            kind: one of `KINDS`. Nothing of a key may stand in a file of the kind `sheet`.
            sheet: the exercises, with their keys.
            text: the template of this kind, rendered; empty where there is none.
        """
        return {f"{sheet.stem(kind)}.{self.suffix}": text} if text else {}

    def class_files(self, kind: str, sheets: Iterable[Sheet]) -> Files:  # noqa: ARG002  for those that override it
        """Return files for the class as a whole; `sheets` are all of it, drawn one at a time as they are taken."""
        return {}
