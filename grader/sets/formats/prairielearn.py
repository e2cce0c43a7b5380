"""A course for PrairieLearn, below `keys/`: its server grades, so that the keys go with the questions."""

from __future__ import annotations

from collections.abc import Iterable

from grader.sets.formats import Files, Format
from grader.sets.sheets import Sheet


class PrairieLearn(Format):
    """One course for the class; the template is the page of a question, which PrairieLearn fills for each variant."""

    refuses = frozenset({"policy"})  # it takes the laws, and minutes

    def files(self, kind: str, sheet: Sheet, text: str) -> Files:  # noqa: ARG002  a sheet has no files of its own
        """Return nothing: PrairieLearn hands the exercises out."""
        return {}

    def class_files(self, kind: str, sheets: Iterable[Sheet]) -> Files:
        """Return the course."""
        if kind != "key":
            return {}
        from grader.sets.prairielearn.course import course
        from grader.sets.rendering import rendered

        files = course(sheets, lambda sheet: rendered("key", sheet, "prairielearn"))
        return {f"prairielearn/{path}": content for path, content in files.items()}


writer = PrairieLearn()
