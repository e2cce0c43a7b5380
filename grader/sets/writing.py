"""Putting files into a folder: all of them whole, none of them over what is there unless told to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


class Exists(FileExistsError):
    """Files that would be overwritten."""

    def __init__(self, paths: list[Path]) -> None:
        super().__init__(paths)
        self.paths = paths

    def __str__(self) -> str:
        more = f" and {len(self.paths) - 1} more exist" if len(self.paths) > 1 else " exists"
        return f"{self.paths[0]}{more} already; --force overwrites."


def write(folder: Path, files: Mapping[str, str], *, force: bool) -> list[Path]:
    """Write files by their path inside `folder`, and return their paths.

    Raises:
        Exists: some are there already, and `force` is not set. Nothing was written.
        OSError: the disk is full, the folder cannot be written, ...; files that are there are whole.
    """
    paths = {folder / name: text for name, text in files.items()}
    there = [path for path in paths if path.exists()]
    if there and not force:
        raise Exists(there)
    for path, text in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, text)
    return list(paths)


def _replace(path: Path, text: str) -> None:
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        unfinished.write_text(text, encoding="utf-8", newline="\n")
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
