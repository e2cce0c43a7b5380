"""Exercises to write for a course platform, and the text of the HTML that is written."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from html.parser import HTMLParser

from grader.exercise import Exercise
from grader.families import family, pose, slugs
from grader.posing import Undrawable
from grader.sets.sheets import Entry, Sheet
from tests.grader.every_family import sampled

MARKUP = "a <b> & \"c\" 'd' ]]> $x$ 100 %_ \\(y\\) {z} Größe \u7b2c\u4e00 @@PLUGINFILE@@ [w] / //"
TABLES = {"p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
BLOCKS = {"p", "pre", "td", "th", "li", "br"}


class Text(HTMLParser):
    """The text of HTML, each paragraph, cell and item of a list by itself."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.blocks, self.tags = [""], set[str]()
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, _: object) -> None:
        self.tags.add(tag)
        if tag in BLOCKS:
            self.blocks.append("")

    def handle_data(self, data: str) -> None:
        self.blocks[-1] += data


def paragraphs(markup: str) -> list[str]:
    return [block.strip() for block in Text(markup).blocks if block.strip()]


def sheet(*exercises: Exercise, title: str = "Week 1") -> Sheet:
    entries = [
        Entry(n, Fraction(6), e, {p.part: Fraction(6, len(e.parts)) for p in e.parts})
        for n, e in enumerate(exercises, 1)
    ]
    return Sheet(title, "", tuple(entries))


def drawn() -> Iterator[Exercise]:
    """Give some exercises of the sampled families and of the chapter's."""
    for slug in sorted({*sampled(), *(slug for slug in slugs() if family(slug).preset)}):
        for seed in [0] if family(slug).preset else range(1, 7):
            try:
                yield pose(slug, seed)
            except Undrawable:
                continue
