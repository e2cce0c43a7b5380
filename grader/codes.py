"""The codes of students: their letters, and how they are read again."""

from __future__ import annotations

import re

FIRST, LETTERS = "CDFGHJKMNPQRTVWX", "23456789CDFGHJKMNPQRTVWX"  # no vowels: neither words nor months; no look-alikes
LENGTH = 8
CODE = re.compile(rf"(?<![0-9A-Z])[{FIRST}][{LETTERS}]{{3}}-[{LETTERS}]{{4}}(?![0-9A-Z])")
_DASHES = " -\u2010\u2011\u2012\u2013\u2014\u00a0"


def written(letters: str) -> str:
    """Return a code as it is given out: `K7Q2-9XMD`."""
    return f"{letters[: LENGTH // 2]}-{letters[LENGTH // 2 :]}"


def plain_code(text: str) -> str:
    """Return a code as it was given out, however it was typed: `k7q2 9xmd` is `K7Q2-9XMD`. Other text stays."""
    letters = "".join(c for c in text.upper() if c not in _DASHES)
    return written(letters) if len(letters) == LENGTH and set(letters) <= set(LETTERS) else text.strip()
