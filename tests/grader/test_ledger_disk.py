"""A ledger on a disk that is closed to us, or full, says so in one sentence, and never loses what it held."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from grader.exercise import Exercise, Part
from grader.ledger import Ledger, LedgerError, Row, Submission, database

pytestmark = pytest.mark.law

EXERCISE = Exercise("ttft", 1, 3, "How long until the first token?", (), (Part("a", "ttft", "?", "count", "3", "ms"),))


def submit(ledger: Ledger, raw: str = "1") -> Submission:
    return ledger.submit("ann", EXERCISE, "a", raw=raw, reading=raw, verdict="incorrect", score=Fraction(0))


def used(path: Path) -> list[Row]:
    """Open a ledger, write to it, and return its rows."""
    with Ledger.open(path, timeout=0.05) as ledger:
        submit(ledger)
        return list(ledger.rows())


def failure(action: Callable[[], object], kind: str, path: Path, *words: str) -> None:
    with pytest.raises(LedgerError) as caught:
        action()
    check_sentence(str(caught.value), path)
    assert caught.value.kind == kind, caught.value
    assert all(word in str(caught.value) for word in words), caught.value


def check_sentence(text: str, path: Path) -> None:
    assert str(path) in text
    assert text[0].isupper()
    assert text.endswith(".")
    assert text.isprintable()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def became_nobody() -> bool:
    try:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    except PermissionError:
        return False
    return True


def as_another_user(action: Callable[[], object]) -> list[str]:
    """Run `action` where permissions count, which they do not for root; return the kind and text of its error."""
    if not hasattr(os, "fork"):
        pytest.skip("needs the permissions of POSIX")
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        result = ["none", ""]
        try:
            if os.getuid() == 0 and not became_nobody():
                result = ["skip", "root, but unable to become another user"]
            elif not os.access(database._MIGRATIONS, os.R_OK):  # noqa: SLF001 - what opening reads
                result = ["skip", "the sources are private"]
            else:
                action()
        except LedgerError as error:
            result = [error.kind, str(error)]
        except BaseException as error:  # noqa: BLE001 - nothing else may leave the child
            result = [type(error).__name__, str(error)]
        finally:
            os.write(writing, json.dumps(result).encode())
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as pipe:
        kind, text = json.load(pipe)
    if kind == "skip":
        pytest.skip(text)
    return [kind, text]


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that every user can reach, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    yield folder
    folder.chmod(0o700)
    for inner in folder.iterdir():
        inner.chmod(0o700)
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("file", "folder", "kind"),
    [
        (0o444, 0o777, "read-only"),
        (0o444, 0o555, "read-only"),
        (0o666, 0o555, "read-only"),
        (0o000, 0o777, "unopenable"),
    ],
)
def test_permissions_are_told_apart(public: Path, file: int, folder: int, kind: str) -> None:
    path = public / "ledger.sqlite"
    used(path)
    path.chmod(file)
    public.chmod(folder)
    found, text = as_another_user(lambda: used(path))
    check_sentence(text, path)
    assert found == kind


@pytest.mark.parametrize(("mode", "kind"), [(0o555, "read-only"), (0o000, "unopenable")])
@pytest.mark.parametrize("name", ["ledger.sqlite", "deeper/ledger.sqlite"])
def test_a_folder_in_which_nothing_can_be_created(public: Path, mode: int, kind: str, name: str) -> None:
    folder = public / "closed"
    folder.mkdir()
    folder.chmod(mode)
    found, text = as_another_user(lambda: used(folder / name))
    check_sentence(text, folder / name)
    assert found == kind or "/" in name


def test_a_read_only_ledger_can_still_be_read(public: Path) -> None:
    path = public / "ledger.sqlite"
    rows = used(path)
    path.chmod(0o444)

    def read() -> None:
        with Ledger.open(path) as ledger:
            assert list(ledger.rows()) == rows

    assert as_another_user(read) == ["none", ""]


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    failure(lambda: used(tmp_path), "unopenable", tmp_path, "folder")
    below = tmp_path / "file" / "ledger.sqlite"
    below.parent.write_text("")
    failure(lambda: used(below), "unopenable", below)
    long = tmp_path / ("x" * 300)
    failure(lambda: used(long), "unopenable", long)
    failure(lambda: used(Path("/dev/null")), "unopenable", Path("/dev/null"), "not a file")
    for name in ("a\0b", "a\ud800b"):
        with pytest.raises(LedgerError, match="cannot be opened"):
            Ledger.open(name)


def test_the_name_of_sqlites_memory_is_a_file_like_any_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    used(Path(":memory:"))
    assert (tmp_path / ":memory:").stat().st_size


def on_own_disk(work: str, tmp_path: Path) -> dict[str, Any]:
    """Run ledger_worker.py on a disk of 2 MiB that only it sees."""
    script = 'mount -t tmpfs -o size=2m none "$1" && exec "$2" "$3" "$4" "$1"'
    alone = (
        ["unshare", "--mount"] if os.name == "posix" and os.getuid() == 0 else ["unshare", "--mount", "--map-root-user"]
    )
    worker = Path(__file__).with_name("ledger_worker.py")
    root = str(Path(database.__file__).parents[2])
    probe = shutil.which("unshare") and subprocess.run(
        [*alone, "sh", "-c", 'mount -t tmpfs none "$1"', "sh", str(tmp_path)], check=False, capture_output=True
    )
    if not probe or probe.returncode:
        pytest.skip("needs a mount of its own")
    run = subprocess.run(
        [*alone, "sh", "-c", script, "sh", str(tmp_path), sys.executable, str(worker), work],
        env=os.environ | {"PYTHONPATH": root},
        check=True,
        capture_output=True,
        text=True,
    )
    result: dict[str, Any] = json.loads(run.stdout)
    return result


def test_a_read_only_disk_is_named(tmp_path: Path) -> None:
    result = on_own_disk("read-only", tmp_path)
    assert result["old"][0] == result["new"][0] == "read-only"
    check_sentence(result["old"][1], tmp_path / "ledger.sqlite")
    check_sentence(result["new"][1], tmp_path / "deep" / "new.sqlite")


def test_a_full_disk_is_named_and_loses_nothing(tmp_path: Path) -> None:
    result = on_own_disk("full", tmp_path)
    assert {result[name][0] for name in ("old", "closed", "new")} == {"full"}, result
    check_sentence(result["old"][1], tmp_path / "ledger.sqlite")
    check_sentence(result["new"][1], tmp_path / "new.sqlite")
    assert result["rows"] > 20
    assert result["lost"] == result["faults"] == []


def test_a_ledger_that_may_not_grow_is_full_and_loses_nothing(path: Path) -> None:
    with Ledger.open(path) as ledger:
        rows = [submit(ledger)]
        connection = ledger._database._connection  # noqa: SLF001 - the limit belongs to the connection
        connection.execute("PRAGMA max_page_count = 40")

        def fill() -> None:
            while True:
                rows.append(submit(ledger, "x" * 500))

        failure(fill, "full", path)
        assert list(ledger.submissions()) == rows
        connection.execute("PRAGMA max_page_count = 1000000")
        rows.append(submit(ledger))
        assert list(ledger.submissions()) == rows
        assert ledger.verify() == []
