"""Files of answers, and folders of them: what kind each is, and what stands in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from grader.answers.answer import Answer, Unplaced
from grader.answers.documents import from_json, from_notebook, from_toml
from grader.answers.spreadsheet import from_table

Found = Answer | Unplaced
LARGEST = 16 * 1024 * 1024  # bytes of a file that is read as a whole
WHOLE: Mapping[str, Callable[[str, str], Iterator[Found]]] = {
    ".json": from_json,
    ".toml": from_toml,
    ".ipynb": from_notebook,
}
TABLES = (".csv", ".tsv", ".txt")


class Unreadable(ValueError):
    """There is no file to read; the message is one sentence."""


def read_answers(path: Path) -> Iterator[Found]:
    """Give what stands in a file, or in all files of a folder by their names; a file that cannot be read costs itself.

    Raises:
        Unreadable: there is nothing of that name.
    """
    try:
        if path.is_dir():
            return _folder(path)
        if path.is_file():
            return _file(path, path.name)
        there = path.exists()
    except (OSError, ValueError) as error:
        raise Unreadable(f"{str(path)!r} cannot be read ({getattr(error, 'strerror', None) or error}).") from None
    raise Unreadable(f"{path} is neither a file nor a folder." if there else f"There is no file {path}.")


def _folder(path: Path) -> Iterator[Found]:
    files = sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith("."))
    if not files:
        yield Unplaced(path.name, 0, "", "", "the folder holds no file")
    for file in files:
        yield from _file(file, str(file.relative_to(path)))


def _file(path: Path, name: str) -> Iterator[Found]:
    kind = path.suffix.lower()
    try:
        if kind in TABLES:
            yield from from_table(path, name)
        elif kind in WHOLE:
            yield from _whole(path, name, WHOLE[kind])
        else:
            yield Unplaced(name, 0, "", "", "files of answers are CSV, TOML, JSON or notebooks (.ipynb)")
    except OSError as error:
        yield Unplaced(name, 0, "", "", f"it cannot be read ({error.strerror})")


def _whole(path: Path, name: str, reader: Callable[[str, str], Iterator[Found]]) -> Iterator[Found]:
    with path.open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        yield Unplaced(name, 0, "", "", f"it is larger than {LARGEST >> 20} MiB; write many answers as CSV")
        return
    try:
        text = content.decode("utf-16" if content[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig")
    except UnicodeDecodeError:
        yield Unplaced(name, 0, "", "", "it is no UTF-8 text")
        return
    yield from reader(text, name)
