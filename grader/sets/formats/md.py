"""Markdown."""

from __future__ import annotations

import re

from grader.sets.formats import Format

_MARKUP = re.compile(r"([\\`*_\[\]<>#|~$&])")


def escaped(text: str) -> str:
    """Escape what Markdown would take for markup."""
    return _MARKUP.sub(r"\\\1", text)


class Markdown(Format):
    """Templates alone; `md` escapes."""

    filters = {"md": escaped}  # noqa: RUF012  never changed


writer = Markdown()
