"""Markdown."""

from __future__ import annotations

import re

from grader.sets.formats import Format

_MARKUP = re.compile(r"([\\`*_\[\]<>#|~$&])")
_START = re.compile(r"\A(\d{0,9})([.)+-])(?=[\s-]|\Z)")  # at the start of a paragraph: an item of a list, a line across


def escaped(text: str) -> str:
    """Escape what Markdown would take for markup."""
    return _START.sub(r"\1\\\2", _MARKUP.sub(r"\\\1", text))


class Markdown(Format):
    """Templates alone; `md` escapes."""

    filters = {"md": escaped}  # noqa: RUF012  never changed


writer = Markdown()
