"""Answers in JSON, TOML and notebooks.

A document is a list of documents, a row (`item`, `part`, `answer`), or a table of answers by exercise (`"2b"`, or `2`
with a table by part), perhaps below `answers`, for the `student` that it names or below the name of each student.

An answer that is a table itself, such as a policy, stands below its exercise (`[8]` in TOML), or is a file of its own,
whose name ends in the number: `K7Q2-9XMD-8.toml`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from grader.answers.answer import Answer, Unplaced, item_of
from grader.codes import CODE

DEEPEST = 8
_NAMED = re.compile(
    rf"(?:.*[/\\])?(?:.*{CODE.pattern}|exercise|answer|policy)[\s_.-]*\(?(\d{{1,4}})([a-h]?)\)?\.\w+", re.IGNORECASE
)
_FIELD = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")  # of an answer that is a table
_SHORTEST = 3  # of the name of a field; a part has a letter
_FENCED = re.compile(r"\s*(?:```|~~~)[\w-]*\n(.*?)\n?(?:```|~~~)\s*", re.DOTALL)
ABOUT = frozenset({"student", "code", "schema", "title", "set", "time", "name"})  # of a document, and no answers
_LABEL = re.compile(
    r"\s*(?:answer|exercise)\s+(\d{1,4})\s*\(?([a-h]?)\)?\s*:(.*)", re.IGNORECASE | re.DOTALL | re.ASCII
)


class _Number(str):
    """A number as it is typed."""

    __slots__ = ()


def from_json(text: str, name: str) -> Iterator[Answer | Unplaced]:
    """Give the answers of a JSON document; numbers stay as they are typed."""
    try:
        data = json.loads(text, parse_int=_Number, parse_float=_Number, parse_constant=_Number)
    except (ValueError, RecursionError) as error:
        yield Unplaced(name, getattr(error, "lineno", 0), "", "", f"it is not valid JSON ({_short(error)})")
        return
    yield from _document(data, text, name)


def from_toml(text: str, name: str) -> Iterator[Answer | Unplaced]:
    """Give the answers of a TOML document."""
    try:
        data = tomllib.loads(text, parse_float=_Number)
    except (ValueError, RecursionError) as error:
        yield Unplaced(name, 0, "", "", f"it is not valid TOML ({_short(error)})")
        return
    yield from _document(data, text, name)


def _document(data: Any, text: str, name: str) -> Iterator[Answer | Unplaced]:
    """Give the answers of a document, or the one that it is by its name and its fields."""
    named = _NAMED.fullmatch(name)
    if named and isinstance(data, dict) and _is_answer(data):
        yield Answer(name, 0, "", int(named[1]), named[2].lower(), text.strip())
    else:
        yield from _walk(data, name, "", "", 0)


def _is_answer(table: dict[str, Any]) -> bool:
    """Say whether a table is an answer: it has fields, and neither they nor those below are names of exercises."""
    below = [key for value in table.values() if isinstance(value, dict) for key in value]
    return bool(table) and all(
        _FIELD.fullmatch(key)
        and len(key) >= _SHORTEST
        and key not in {*ABOUT, "answers", "answer", "item", "part"}
        and not item_of(key)
        for key in (*table, *below)
    )


def from_notebook(text: str, name: str) -> Iterator[Answer | Unplaced]:
    """Give the answers of a notebook.

    A cell is an answer where its metadata say so, `{"servespec": {"item": 2, "part": "b"}}`, or where it begins with
    `Answer 2b:`. Whose they are stands in the metadata of the notebook, `{"servespec": {"student": "K7Q2-9XMD"}}`.
    """
    try:
        data = json.loads(text)
        cells = data["cells"]
        student = _mark(data).get("student", "")
        found = [(n, cell, _mark(cell)) for n, cell in enumerate(cells, 1) if isinstance(cell, dict)]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        yield Unplaced(name, 0, "", "", "it is no notebook")
        return
    any_answer = False
    for number, cell, mark in found:
        source = cell.get("source", "")
        typed = "".join(map(str, source)) if isinstance(source, list) else str(source)
        label = _LABEL.fullmatch(typed)
        item = item_of(f"{mark['item']}{mark.get('part', '')}") if "item" in mark else None
        if item is None and label is None:
            continue
        any_answer = True
        if label is not None:
            item, typed = item or (int(label[1]), label[2].lower()), label[3]
        if cell.get("cell_type") == "code":
            typed = "\n".join(line for line in typed.splitlines() if not line.lstrip().startswith("#"))
        if fenced := _FENCED.fullmatch(typed):
            typed = fenced[1]
        if item is not None:
            yield Answer(name, number, str(student), item[0], item[1], typed.strip())
    if not any_answer:
        yield Unplaced(name, 0, str(student), "", "no cell of the notebook is marked as an answer")


def _mark(holder: dict[str, Any]) -> dict[str, Any]:
    mark = holder.get("metadata", {}).get("servespec", {})
    return mark if isinstance(mark, dict) else {}


def _walk(data: Any, name: str, student: str, time: str, depth: int) -> Iterator[Answer | Unplaced]:
    if depth > DEEPEST:
        yield Unplaced(name, 0, student, "", "its tables are nested too deeply")
    elif isinstance(data, list):
        for entry in data:
            yield from _walk(entry, name, student, time, depth + 1)
    elif not isinstance(data, dict):
        yield Unplaced(name, 0, student, "", f"{_shown(data)} stands where a table of answers should")
    else:
        student = _text(data.get("student", data.get("code", student))) or ""
        time = _text(data.get("time", time)) or ""
        if "item" in data and "answer" in data:
            yield from _row(data, name, student, time)
        elif "answers" in data:
            yield from _walk(data["answers"], name, student, time, depth + 1)
        else:
            yield from _table(data, name, student, time, depth)


def _table(data: dict[str, Any], name: str, student: str, time: str, depth: int) -> Iterator[Answer | Unplaced]:
    for key, value in data.items():
        item = item_of(key)
        if item is not None:
            yield from _of_item(item, value, name, student, time)
        elif isinstance(value, dict | list):
            yield from _walk(value, name, student if isinstance(value, list) else key, time, depth + 1)
        elif key not in ABOUT:
            yield Unplaced(name, 0, student, key, "that names no exercise; write its number, such as 2 or 2b")


def _row(data: dict[str, Any], name: str, student: str, time: str) -> Iterator[Answer | Unplaced]:
    item = item_of(f"{_text(data['item'])}{_text(data.get('part')) or ''}")
    if item is None:
        yield Unplaced(name, 0, student, _shown(data["item"]), "that names no exercise; write its number")
    else:
        yield from _of_item(item, data["answer"], name, student, time)


def _of_item(item: tuple[int, str], value: Any, name: str, student: str, time: str) -> Iterator[Answer | Unplaced]:
    number, part = item
    if isinstance(value, dict) and _is_answer(value):
        value = _written(value, 0)
        if value is None:
            yield Unplaced(name, 0, student, f"{number}{part}", "its tables are nested too deeply")
            return
    if isinstance(value, dict) and not part:
        for letter, below in value.items():
            named = item_of(f"{number}{letter}")
            yield from (
                _of_item(named, below, name, student, time)
                if named and named[1]
                else iter([Unplaced(name, 0, student, f"{number} {letter}"[:40], "there is no part of that name")])
            )
        return
    text = "" if value is None else _text(value)
    if text is None:
        yield Unplaced(name, 0, student, f"{number}{part}", f"{_shown(value)} is no answer; write it as text")
    else:
        yield Answer(name, 0, student, number, part, text.strip(), time)


def _written(value: Any, depth: int) -> str | None:
    """Write a table in JSON again, its numbers as they were typed; None where it is nested too deeply."""
    if isinstance(value, _Number):
        return value.replace("_", "").removeprefix("+")
    if depth > DEEPEST:
        return None
    if isinstance(value, dict | list):
        below = [_written(each, depth + 1) for each in (value.values() if isinstance(value, dict) else value)]
        if None in below:
            return None
        if isinstance(value, list):
            return f"[{', '.join(map(str, below))}]"
        named = (f"{json.dumps(key)}: {each}" for key, each in zip(value, below, strict=True))
        return f"{{{', '.join(named)}}}"
    return json.dumps(value, default=str)


def _text(value: Any) -> str | None:
    """Return what is typed: a text or a number; None for anything else."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def _shown(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:40]}..."  # noqa: PLR2004  as much as one line of a message holds


def _short(error: BaseException) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error).partition("\n")[0][:120]
