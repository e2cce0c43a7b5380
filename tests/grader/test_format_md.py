"""Markdown sheets, as a CommonMark parser with tables reads them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from grader.givens import shown
from grader.sets import rendered, showing
from grader.sets.formats.md import escaped
from grader.solution import answer, lines
from tests.grader.every_family import NAME, TITLE, exercises, sheet

READER = MarkdownIt("commonmark").enable("table")


def paragraphs(text: str) -> Iterator[tuple[str, str]]:
    """Give every run of text with the tag of the block that it stands in."""
    tokens = READER.parse(text)
    for before, token in pairwise(tokens):
        if token.type == "inline":
            yield before.tag, "".join(plain(child) for child in token.children or ())


def plain(token: Token) -> str:
    """Give the text of a piece; whatever is not plain or strong was no markup that we wrote."""
    if token.type in {"softbreak", "hardbreak"}:
        return " "
    assert token.type in {"text", "text_special", "strong_open", "strong_close"}, token
    return token.content


def blocks(text: str) -> set[str]:
    return {token.type for token in READER.parse(text)}


@pytest.mark.parametrize("kind", ["sheet", "key"])
def test_only_the_blocks_that_the_template_writes_are_there(kind: str) -> None:
    wanted = {"heading", "paragraph", "bullet_list", "list_item"}
    if kind == "sheet":
        wanted |= {"table", "thead", "tbody", "tr", "th", "td"}
    alone = {"inline", "fence"} if kind == "sheet" else {"inline"}
    assert blocks(rendered(kind, sheet(), "md")) == alone | {*(f"{w}_{e}" for w in wanted for e in ("open", "close"))}


def test_a_sheet_is_read_word_for_word() -> None:
    found = list(paragraphs(rendered("sheet", sheet(), "md")))
    assert found[0] == ("h1", TITLE)
    assert [text for tag, text in found if tag == "h2"] == [
        f"Exercise {n} (2.5 points)" for n, _ in enumerate(exercises(), 1)
    ]
    texts = [text for _, text in found]
    assert f"Name: {NAME}" in texts
    for exercise in exercises():
        assert [words for words in showing.paragraphs(exercise) if words not in texts] == []
        assert not exercise.convention or exercise.convention in texts
        for part in exercise.parts:
            assert any(text.endswith(part.question) for text in texts)
            listed = [f"Options: {', '.join(part.options)}"] if showing.on_a_line(part) else part.options
            assert not part.options or [line for line in listed if line not in texts] == []
        cells = [text for tag, text in found if tag in {"td", "th"}]
        for given_ in (*exercise.givens, *(g for part in exercise.parts for g in part.givens)):
            assert {given_.symbol, shown(given_), given_.says} <= set(cells)


def test_a_key_is_read_word_for_word() -> None:
    texts = [text for _, text in paragraphs(rendered("key", sheet(), "md"))]
    for exercise in exercises():
        assert any(text.endswith(f": {exercise.family}@{exercise.revision}/{exercise.seed}") for text in texts)
        for part in exercise.parts:
            assert any(answer(part) in text and part.reason in text for text in texts)
            assert [line.text for line in lines(exercise, part) if line.text not in texts] == []
            assert [f for f in map(": ".join, showing.mistakes(part)) if f not in texts] == []
        assert [question for question in exercise.rubric if question not in texts] == []


@pytest.mark.roundtrip
@given(
    st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1)
    | st.from_regex(r"[-+=#.)0-9*_~|>`]{1,9}( \w)?", fullmatch=True)
)
def test_a_text_comes_out_as_it_went_in(text: str) -> None:
    """Anywhere in a line, in a cell, at the start of a paragraph."""
    assert list(paragraphs(f"Name: {escaped(text)}\n")) == [("p", f"Name: {text}")]
    assert list(paragraphs(f"{escaped(text)}\n")) == [("p", text)]
    assert list(paragraphs(f"| a |\n| --- |\n| {escaped(text)} |\n")) == [("th", "a"), ("td", text)]
