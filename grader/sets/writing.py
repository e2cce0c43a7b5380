"""Putting files into a folder: all of them whole, none of them over what is there unless told to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path


class Exists(FileExistsError):
    """Files that would be overwritten."""

    def __init__(self, paths: list[Path]) -> None:
        super().__init__(paths)
        self.paths = paths

    def __str__(self) -> str:
        more = f" and {len(self.paths) - 1} more exist" if len(self.paths) > 1 else " exists"
        return f"{self.paths[0]}{more} already; --force overwrites."


def write(folder: Path, files: Mapping[str, str | bytes], *, force: bool) -> list[Path]:
    """Write files by their path inside `folder`, and return their paths.

    Raises:
        Exists: some are there already, and `force` is not set. Nothing was written.
        OSError: the disk is full, the folder cannot be written, ...; files that are there are whole.
    """
    paths = {folder / name: content for name, content in files.items()}
    there = [path for path in paths if path.exists()]
    if there and not force:
        raise Exists(there)
    for path, content in paths.items():
        replace(path, [content])
    return list(paths)


def replace(path: Path, pieces: Iterable[str | bytes]) -> None:
    """Write a file piece by piece, so that at every moment there is the old one, or none, or the whole new one.

    A device or a pipe, such as /dev/stdout, is written to as it is. A link stays, and what it names is written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            file.writelines(_bytes(pieces))
        return
    path = path.resolve() if path.is_symlink() else path
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        with unfinished.open("wb") as file:
            file.writelines(_bytes(pieces))
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _bytes(pieces: Iterable[str | bytes]) -> Iterator[bytes]:
    return (piece.encode("utf-8") if isinstance(piece, str) else piece for piece in pieces)
