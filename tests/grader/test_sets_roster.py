"""The roster of a class, and the secret that its codes and draws come from."""

from __future__ import annotations

import os
import re
import secrets
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.codes import plain_code
from grader.sets import BadSecret, InvalidRoster, Secret, find_secret, read_roster


@pytest.mark.parametrize(
    ("content", "identity", "name", "email"),
    [
        ("id,name,email\n7,Ada,a@b.c\n", "7", "Ada", "a@b.c"),
        ('\ufeffSID;Full Name\r\n007;"Lovelace; Ada"\r\n', "007", "Lovelace; Ada", ""),
        ("First name\tSurname\tID number\tEmail address\nAda\tLovelace\t7\tA@B.c\n", "7", "Ada Lovelace", "a@b.c"),
        ('Student,ID,SIS User ID,SIS Login ID,Section\n"Lovelace, Ada",1,u7,ada,s\n', "u7", "Lovelace, Ada", ""),
        ("E-Mail\n\nAda@B.c\n\n", "ada@b.c", "", "ada@b.c"),
        ("Matrikelnummer;Vorname;Nachname\n7;Ada;Lovelace\n", "7", "Ada Lovelace", ""),
        ('id,name\n7,"Ada\nLovelace"\n', "7", "Ada Lovelace", ""),
    ],
)
def test_a_roster_is_read_as_platforms_write_it(
    tmp_path: Path, content: str, identity: str, name: str, email: str
) -> None:
    (tmp_path / "r.csv").write_text(content, encoding="utf-8", newline="")
    (student,) = read_roster(tmp_path / "r.csv").students
    assert (student.identity, student.name, student.email) == (identity, name, email)


@pytest.mark.parametrize(
    ("content", "line", "says"),
    [
        (b"", 0, "no student"),
        (b"id,name\n", 0, "no student"),
        (b"7,Ada\n8,Bob\n", 1, "named id or email"),
        (b"name\nAda\n", 1, "named id or email"),
        (b"id,name\n7,Ada\n\n8,Lovelace, Ada\n", 4, "3 columns"),
        (b"id,name\n7,Ada\n7,Bob\n", 3, "line 2 already"),
        (b"id,name\n,Ada\n", 2, "neither an id"),
        (b"id,name\n7,\xff\n", 2, "UTF-8"),
        (b'id,name\n7,"Ada\n', 2, "quotation"),
        (b"id,name\n7,A\x07\n", 2, "does not print"),
        (b"id,name\n7," + b"A" * 201 + b"\n", 2, "200 characters"),
    ],
)
def test_a_mistake_in_a_roster_is_one_sentence_with_its_line(
    tmp_path: Path, content: bytes, line: int, says: str
) -> None:
    (tmp_path / "r.csv").write_bytes(content)
    with pytest.raises(InvalidRoster, match=re.escape(says)) as caught:
        read_roster(tmp_path / "r.csv")
    assert caught.value.line == line
    assert "\n" not in str(caught.value)


def test_a_repeated_line_is_noted_and_left_out(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("id,name\n7,Ada\n8,Bob\n7,Ada\n", encoding="utf-8")
    roster = read_roster(tmp_path / "r.csv")
    assert [s.identity for s in roster.students] == ["7", "8"]
    assert roster.notes == ("r.csv, line 4: it repeats line 2 and was left out.",)
    with pytest.raises(InvalidRoster):
        read_roster(tmp_path / "none.csv")


@pytest.mark.law
@given(st.text(max_size=20), st.binary(min_size=16, max_size=40))
def test_a_code_belongs_to_one_secret_and_is_read_however_it_is_typed(identity: str, value: bytes) -> None:
    code = Secret(value).code(identity)
    assert code == Secret(value).code(identity) != Secret(value + b"x").code(identity)
    assert re.fullmatch("[C-X][2-9C-X]{3}-[2-9C-X]{4}", code)
    assert plain_code(f" {code.lower().replace('-', ' ')}") == code
    assert plain_code("Ada Lovelace ") == "Ada Lovelace"


def test_a_secret_is_that_of_the_file_or_the_variable_or_made(tmp_path: Path) -> None:
    own, file = tmp_path / "keys" / "secret", tmp_path / "s"
    file.write_text("from the file, and long\n", encoding="utf-8")
    environ = {"GRADE_SECRET": "from the variable, and long"}
    assert find_secret(str(file), environ, own).mark == Secret(b"from the file, and long").mark
    assert find_secret(None, environ, own).mark == Secret(b"from the variable, and long").mark
    assert not own.exists()
    made = find_secret(None, {}, own)
    assert find_secret(None, {}, own).mark == made.mark
    if os.name == "posix":
        assert stat.S_IMODE(own.stat().st_mode) == 0o600
    assert len(own.read_text(encoding="ascii").strip()) == 64
    for value in (b"", b"x" * 15):
        with pytest.raises(BadSecret, match="shorter"):
            Secret(value)
    for name in (str(tmp_path / "none"), str(tmp_path), "a\0b"):
        with pytest.raises(BadSecret, match="cannot be read"):
            find_secret(name, {}, own)


def test_a_secret_that_two_make_at_once_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, seen = tmp_path / "secret", list[str]()
    token = secrets.token_hex

    def interrupted(size: int) -> str:
        if size == 32:
            monkeypatch.setattr(secrets, "token_hex", token)
            seen.append(find_secret(None, {}, own).mark)
        return token(size)

    monkeypatch.setattr(secrets, "token_hex", interrupted)
    seen.append(find_secret(None, {}, own).mark)
    assert len(seen) == 2
    assert len(set(seen)) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]
