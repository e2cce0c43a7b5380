"""What there is to choose from: of each family its objective, and the slips that its draws show.

`python -m grader.practising` writes `families.toml`. An entry counts only as long as the file of its family is the one
it was made from; a family without such an entry is loaded for its objective, and nothing is known of its slips.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import problems
from grader.families import family, slugs
from grader.practising.showing import READ, shown

try:
    from _blake2 import blake2b  # without OpenSSL, as in the ledger
except ImportError:
    from hashlib import blake2b

DRAWS = 40  # of a family that are looked at
TABLE = Path(__file__).with_name("families.toml")


@dataclass(frozen=True, slots=True)
class Entry:
    """What a family offers.

    Attributes:
        objective: as in its file.
        preset: it is an exercise printed in the chapter, with one draw.
        slips: what some of its draws show; none are known of a family that the table does not know.
    """

    objective: str
    preset: bool
    slips: frozenset[str]


def families() -> dict[str, Entry]:
    """Return every family there is, the ones printed in the chapter included."""
    stored = tomllib.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}
    found = {}
    for slug in slugs():
        kept = stored.get(slug)
        if kept is None or kept["source"] != source(slug):
            found[slug] = Entry(family(slug).objective, family(slug).preset, frozenset())
        else:
            found[slug] = Entry(kept["objective"], kept["preset"], frozenset(kept["slips"]))
    return found


def source(slug: str) -> str:
    """Digest the file of a family; one that is made from another, as `max-context-mistake` is, has that one's."""
    folder = Path(problems.__path__[0])
    names = (slug, slug.rpartition("-")[0])
    file = next(path for name in names if (path := folder / f"{name.replace('-', '_')}.py").exists())
    return blake2b(file.read_text(encoding="utf-8").encode("utf-8"), digest_size=8).hexdigest()


def looked_at(slug: str, draws: int) -> Entry:
    """Load a family and look at its first draws; at none of one that is not drawn, or whose answers are run."""
    from grader.posing import Undrawable

    of = family(slug)
    slips: set[str] = set()
    if not of.preset and READ.intersection(of.kinds):
        for seed in range(1, draws + 1):
            with suppress(Undrawable):
                slips |= shown(of.pose(slug, seed))
    return Entry(of.objective, of.preset, frozenset(slips))


def text(entries: Iterable[tuple[str, Entry]]) -> str:
    """Write the table as TOML."""
    lines = ["# Computed by `python -m grader.practising`; not to be edited."]
    for slug, entry in entries:
        names = "".join(f'\n    "{name}",' for name in sorted(entry.slips))
        lines += ["", f"[{slug}]", f'source = "{source(slug)}"', f'objective = "{entry.objective}"']
        lines += [f"preset = {str(entry.preset).lower()}", f"slips = [{names}\n]" if names else "slips = []"]
    return "\n".join(lines) + "\n"
