"""The autograder for Gradescope, run by its own script in folders like those of Gradescope."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from grader.cli.app import app
from grader.exercise import Exercise, Part, SlipValue
from grader.sets import Entry, Item, Sheet, files, writer
from grader.solution import answer
from tests.grader.every_family import judged_by, sheet

ADA, BOB = "K7Q2-9XMD", "C234-5678"
ROSTER = f"code,id,name,email\n{ADA},u1,Ada,ada@example.org\n{BOB},u2,Bob,bob@example.org\n"
FIELDS = {"score", "output", "output_format", "visibility", "stdout_visibility", "extra_data", "tests"}
TEST_FIELDS = {"name", "score", "max_score", "status", "output", "output_format", "visibility"}
SECRET = Part(
    *("a", "x", "How many?", "count", "987654321", "token"),
    unit_in_question=True, slips=(SlipValue("other", "Something else.", "5"),), reason="A reason.",
)  # fmt: skip
NONE = Part("a", "x", "How many?", "count", None, "token", unit_in_question=True, reason="It is short by 3 GB.")
Results = dict[str, Any]


def small(student: str, *parts: Part) -> Sheet:
    found = [Exercise("fam", 1, 77, "S.", (), (part,)) for part in parts]
    entries = tuple(Entry.of(n, Item("fam", 77, 1, Fraction(2)), e) for n, e in enumerate(found, 1))
    return Sheet("t", student, entries)


def bundle(sheets: Sequence[Sheet]) -> bytes:
    content = writer("gradescope").class_files("key", sheets)["gradescope.zip"]
    assert isinstance(content, bytes)
    return content


@dataclass
class Platform:
    """Gradescope, in a folder of its own instead of /autograder."""

    root: Path

    @classmethod
    def upload(cls, content: bytes, root: Path) -> Platform:
        """Unpack a bundle, by the modes in it, and copy the script that is run to where Gradescope has it."""
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for info in archive.infolist():
                path = Path(archive.extract(info, root / "source"))
                path.chmod(info.external_attr >> 16 & 0o777)
        shutil.copy(root / "source" / "run_autograder", root)
        return cls(root)

    def add(self, name: str, text: str) -> None:
        (self.root / "source" / name).write_text(text, encoding="utf-8")

    def grade(self, submitted: dict[str, str | bytes] | None = None, **metadata: Any) -> Results:
        """Hand in files, run the autograder, and return what it wrote; with that, check what always holds."""
        for folder in ("submission", "results"):
            shutil.rmtree(self.root / folder, ignore_errors=True)
        (self.root / "submission").mkdir()
        for name, content in (submitted or {}).items():
            path = self.root / "submission" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return self.run(**metadata)

    def run(self, **metadata: Any) -> Results:
        (self.root / "submission_metadata.json").write_text(json.dumps(metadata), encoding="utf-8")
        shutil.rmtree(self.root / "results", ignore_errors=True)
        done = subprocess.run(
            [self.root / "run_autograder"], cwd=self.root, capture_output=True, text=True, check=False,
            env={
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "AUTOGRADER_ROOT": str(self.root),
                "PYTHONPATH": str(self.root / "submission"),  # of an image that was set up carelessly
            },
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        return valid(json.loads((self.root / "results" / "results.json").read_text(encoding="utf-8")))


def valid(results: Results) -> Results:
    """Check results by what Gradescope documents of them."""
    assert results.keys() <= FIELDS
    assert results["output"].strip()
    assert type(results["score"]) is float
    assert results["stdout_visibility"] == "hidden"
    for test in results.get("tests", []):
        assert test.keys() == TEST_FIELDS
        assert 0 <= test["score"] <= test["max_score"]
        assert test["status"] in {"passed", "failed"}
    for shown in [results, *results.get("tests", [])]:
        assert shown["visibility"] in {"hidden", "after_due_date", "after_published", "visible"}
        assert shown["output_format"] == "text"  # so that no answer is taken for markup
        assert "Traceback" not in shown["output"]
    return results


def every(student: str) -> Sheet:
    """Give a sheet with all that can be judged; without the choice, which has no right answer."""
    found = sheet(student=student)
    entries = [entry for entry in found.entries if entry.exercise.family in judged_by("gradescope")]
    return replace(found, entries=tuple(replace(entry, number=n) for n, entry in enumerate(entries, 1)))


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Platform:
    return Platform.upload(bundle([every(ADA), every(BOB)]), tmp_path_factory.mktemp("autograder"))


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Platform:
    return Platform.upload(bundle([small(ADA, SECRET, NONE), small(BOB, SECRET)]), tmp_path_factory.mktemp("small"))


@pytest.fixture
def enrolled(tmp_path: Path) -> Platform:
    found = Platform.upload(bundle([small(ADA, SECRET, NONE), small(BOB, SECRET)]), tmp_path / "enrolled")
    found.add("roster.csv", ROSTER)
    return found


def typed(name: str, *texts: str) -> str:
    """Give the CSV sheet of a student with answers typed into it."""
    return f"student,item,answer\n{''.join(f'{name},{n},{text}' + chr(10) for n, text in enumerate(texts, 1))}"


def scores(results: Results) -> list[float]:
    return [test["score"] for test in results["tests"]]


# What is handed in.


def test_right_answers_to_every_family_get_all_points_from_each_kind_of_file(everything: Platform) -> None:
    asked = [(entry.number, entry.exercise) for entry in every(ADA).entries]
    parts = [(n, e, p) for n, e in asked for p in e.parts]
    (book,) = files("sheet", every(ADA), "jupyter").values()
    notebook = json.loads(str(book))
    cells = [cell for cell in notebook["cells"] if "servespec" in cell["metadata"]]
    for cell, (_, _, part) in zip(cells, parts, strict=True):
        cell["source"][-1] += answer(part)
    (table,) = files("sheet", every(ADA), "csv").values()
    head, *rows = str(table).splitlines()
    lines = [head, *(f'{row}"{answer(part)}"' for row, (_, _, part) in zip(rows, parts, strict=True))]
    answers = {f"{n}{p.part if len(e.parts) > 1 else ''}": answer(p) for n, e, p in parts}
    points = 2.5 * len(asked)
    for name, content in (
        ("work.ipynb", json.dumps(notebook)),
        ("answers.csv", "\n".join(lines)),
        (f"deep/{ADA.lower()}.json", json.dumps({"answers": answers})),
    ):
        results = everything.grade({name: content})
        assert results["score"] == points, results["output"]
        assert results["output"] == f"{points:g} of {points:g} points."
        assert {test["status"] for test in results["tests"]} == {"passed"}
        assert [test["name"] for test in results["tests"]] == [f"Exercise {name}" for name in answers]
        assert sum(test["max_score"] for test in results["tests"]) == pytest.approx(points, abs=1e-2)


def test_a_wrong_answer_gets_its_diagnosis_and_no_key(platform: Platform) -> None:
    results = platform.grade({"a.csv": typed(ADA, "5 tokens")})
    assert scores(results) == [0, 0]
    first, second = results["tests"]
    assert first["output"] == "Your answer: 5 tokens\nNot correct.\nSomething else."
    assert second["output"] == "Nothing was handed in."
    assert first["max_score"] == 2
    assert results["output"] == "0 of 4 points."


@pytest.mark.law
@pytest.mark.parametrize("text", ["5", "987654322", "none", "?", "5 GB", "12 tokens", "0", "-987654321", "987654.321"])
def test_no_output_says_a_key(platform: Platform, text: str) -> None:
    results = platform.grade({"a.csv": typed(ADA, text, text)})
    shown = json.dumps(results).replace(json.dumps(text)[1:-1], "")
    shown = shown.replace("987,654", "").replace("987654322", "").replace("-987654321", "")  # as it was read
    hidden = ["987654321", "A reason", "short by", "No such value", "fam", "77", "other"]
    assert [word for word in hidden if word in shown] == []
    right = {"none": [0, 2], "0": [0, 0]}
    assert scores(results) == right.get(text, [0, 0])


def test_what_cannot_be_read_is_told(platform: Platform) -> None:
    results = platform.grade({"a.csv": typed(ADA, "987654321", "7 7"), "b.py": "print(1)", "c.json": "{"})
    assert scores(results) == [2, 0]
    told = results["output"].split("\n")
    assert told[0] == "2 of 4 points."
    assert [line.partition(":")[0] for line in told[1:]] == [
        f"a.csv, line 3, {ADA}, exercise 2",
        "b.py",
        "c.json, line 1",
    ]
    assert results["tests"][1]["output"].startswith("Your answer: 7 7\nNot read as an answer, so it does not count.\n")


@pytest.mark.parametrize(
    ("submitted", "says"),
    [
        ({}, "There is no file in the submission."),
        ({".hidden": "x", "__MACOSX/a.csv": typed(ADA, "5")}, "There is no file in the submission."),
        ({"a.csv": typed("", "5")}, "Nothing in the submission says whose it is."),
        ({"a.csv": typed("X999-9999", "5")}, "Nothing in the submission says whose it is."),
        ({"a.csv": ""}, "it is empty"),
        ({"a.csv": typed(ADA, "5") + typed(BOB, "5")}, "several students"),
        ({"a.bin": bytes(range(256)) * 99, f"{ADA}.csv": bytes(range(256)) * 99}, f"{ADA}.csv"),
        ({f"{ADA}.ipynb": b"\xff\xfe\x00"}, f"{ADA}.ipynb: "),
        ({f"{ADA}.json": "[" * 100_000}, "nested too deeply"),
        ({f"{ADA}.csv": "x" * (17 << 20)}, "larger than 16 MiB"),
        ({f"{ADA}.csv": "x" * (15 << 20)}, "longer than 64 KiB"),
    ],
)
def test_what_holds_no_answers_gets_no_points_and_a_sentence(
    platform: Platform, submitted: dict[str, str | bytes], says: str
) -> None:
    results = platform.grade(submitted)
    assert results["score"] == 0
    assert says in results["output"]
    assert len(results["output"]) < 3000


def test_more_than_anybody_would_type_is_cut_off(platform: Platform) -> None:
    many = platform.grade({"a.csv": typed(ADA) + f"{ADA},1,?\n" * 100_000 + f"{ADA},1,987654321\n"})
    assert many["output"].count("\n") == 21
    assert "And 4981 more." in many["output"]
    assert many["score"] == 0
    few = platform.grade({f"{n:03}.csv": typed(ADA, "5") for n in range(100)} | {"~.csv": typed(ADA, "987654321")})
    assert "Only 100 files and 5000 answers are read" in few["output"]
    assert few["score"] == 0


def test_no_link_is_followed_and_nothing_is_executed(platform: Platform) -> None:
    platform.grade()
    submission = platform.root / "submission"
    (submission / "key.json").symlink_to("../source/key.json")
    (submission / "all").symlink_to("../source")
    assert platform.run()["output"].startswith("There is no file")
    (submission / "grader").mkdir()
    for name in ("grader/__init__.py", "__main__.py", "json.py", "sitecustomize.py"):
        (submission / name).write_text("open('/autograder/out', 'w'); raise SystemExit('run')", encoding="utf-8")
    (submission / "a.csv").write_text(typed(ADA, "987654321", "none"), encoding="utf-8")
    assert platform.run()["score"] == 4


# Whose it is.


def by(*emails: str, **more: Any) -> dict[str, Any]:
    users = [{"email": email, "id": 7, "name": "A name"} for email in emails]
    return {
        "id": 1,
        "created_at": "2026-12-01T12:00:00.123456-08:00",
        "users": users,
        "previous_submissions": [],
    } | more


def test_with_the_roster_a_submission_is_of_the_account(enrolled: Platform) -> None:
    right = {"a.csv": "item,answer\n1,987654321\n"}
    assert enrolled.grade(right, **by("ada@example.org"))["extra_data"]["student"] == ADA
    assert enrolled.grade(right, **by("BOB@example.org"))["score"] == 2
    assert scores(enrolled.grade({"a.csv": typed(ADA, "987654321", "none")}, **by("ada@example.org"))) == [2, 2]
    assert scores(enrolled.grade({"a.csv": typed("u1", "987654321")}, **by("ada@example.org"))) == [2, 0]
    others = enrolled.grade({"a.csv": typed(BOB, "987654321")}, **by("ada@example.org"))
    assert scores(others) == [0, 0]
    assert f"it is on the sheet of somebody else, {BOB}; yours is {ADA}" in others["output"]
    nothing = enrolled.grade({}, **by("ada@example.org"))
    assert scores(nothing) == [0, 0]
    assert "There is no file in the submission." in nothing["output"]
    together = by("ada@example.org", "bob@example.org")
    assert enrolled.grade({"a.csv": typed(BOB, "987654321")}, **together)["extra_data"]["student"] == BOB
    assert "says whose it is" in enrolled.grade(right, **together)["output"]
    assert "A name" not in json.dumps(nothing)


def test_a_sheet_for_everybody_needs_no_name(tmp_path: Path) -> None:
    platform = Platform.upload(bundle([small("", SECRET)]), tmp_path)
    for name in ("", "Zoë", ADA):
        assert platform.grade({"a.csv": typed(name, "987654321")}, **by("x@example.org"))["score"] == 2
        assert platform.grade({"a.csv": typed(name, "987654321")})["score"] == 2
    assert "2 of 2 points" in platform.grade({"a.json": '{"1": "987654321"}'})["output"]


# The policy.


def with_policy(platform: Platform, **policy: Any) -> None:
    key = json.loads((platform.root / "source" / "key.json").read_text(encoding="utf-8"))
    platform.add("key.json", json.dumps(key | {"policy": policy}))


def test_attempts_and_penalties_count_over_all_submissions(enrolled: Platform) -> None:
    with_policy(enrolled, counts="best", attempts=2, penalty="1/4")
    before: list[dict[str, Any]] = [{"submission_time": "2026-11-01T12:00:00-08:00", "results": None}, {"score": 3.0}]
    found = []
    for text in ("5", "?", "987654321", "987654321"):
        submitted = {"a.csv": f"item,answer\n1,{text}\n"}
        results = enrolled.grade(submitted, **by("ada@example.org", previous_submissions=before))
        before.append({"submission_time": "2026-11-02T12:00:00-08:00", "score": results["score"], "results": results})
        found.append(results["score"])
    assert found == [0, 0, 1.5, 1.5]
    other = enrolled.grade(
        {"a.csv": "item,answer\n1,987654321\n"}, **by("bob@example.org", previous_submissions=before)
    )
    assert other["score"] == 2


def test_a_submission_is_late_by_when_it_was_handed_in_whatever_it_says(enrolled: Platform) -> None:
    with_policy(enrolled, deadline="2026-12-01T20:00:00+00:00", zone="Europe/Berlin", late_per_day="1/2", late_days=1)
    submitted = {"a.csv": "item,answer,time\n1,987654321,2026-11-01 10:00:00\n"}
    for moment, points in (("11:59:59", 2), ("12:00:01", 1), ("23:00:00", 1)):
        assert (
            enrolled.grade(submitted, **by("ada@example.org", created_at=f"2026-12-01T{moment}-08:00"))["score"]
            == points
        )
    late = enrolled.grade(submitted, **by("ada@example.org", created_at="2026-12-03T12:00:00-08:00"))
    assert late["score"] == 0
    assert late["tests"][0]["output"].endswith("It came too late to count.")


# The bundle.


def test_the_same_class_gives_the_same_bundle_and_the_sheets_hold_nothing_of_it() -> None:
    sheets = [small(ADA, SECRET), small(BOB, SECRET)]
    assert bundle(sheets) == bundle(sheets)
    assert writer("gradescope").class_files("sheet", sheets) == writer("gradescope").class_files("key", []) == {}
    assert [files(kind, sheets[0], "gradescope") for kind in ("sheet", "key")] == [{}, {}]
    with zipfile.ZipFile(io.BytesIO(bundle(sheets))) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert {"setup.sh", "run_autograder", "README.md", "key.json"} <= set(names)
        assert "2 points" in archive.read("README.md").decode()
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        modes = {name: archive.getinfo(name).external_attr >> 16 & 0o777 for name in names}
    assert {name for name, mode in modes.items() if mode & 0o111} == {"setup.sh", "run_autograder"}


def test_a_broken_bundle_says_so_and_blames_nobody(enrolled: Platform) -> None:
    enrolled.add("key.json", "{")
    (enrolled.root / "submission").mkdir()
    done = subprocess.run(
        [enrolled.root / "run_autograder"], capture_output=True, text=True, check=False,
        env={"PATH": os.environ["PATH"], "AUTOGRADER_ROOT": str(enrolled.root)},
    )  # fmt: skip
    results = valid(json.loads((enrolled.root / "results" / "results.json").read_text(encoding="utf-8")))
    assert results["output"] == "The autograder failed, and that is no fault of this submission. Tell your instructor."
    assert "is no key file" in done.stderr  # which Gradescope shows to the instructor alone


def shims(folder: Path, python: str) -> dict[str, str]:
    """Give an environment in which the one Python is a given one, and what apt-get is told is written down."""
    folder.mkdir(exist_ok=True)
    for name, text in (("python3", python), ("apt-get", f'echo "$@" >> "{folder}/told"')):
        (folder / name).write_text(f"#!/bin/bash\n{text}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    for name in ("bash", "env", "mkdir"):
        (folder / name).symlink_to(shutil.which(name) or name)
    return {"PATH": str(folder)}


@pytest.mark.parametrize(
    ("python", "told"),
    [
        (f'exec "{sys.executable}" "$@"', []),
        (f'case "$2" in *zoneinfo*) exit 1;; esac; exec "{sys.executable}" "$@"', ["tzdata"]),
        ("exit 1", ["python3.11", "tzdata"]),
    ],
)
def test_the_set_up_installs_what_is_missing_and_no_more(
    enrolled: Platform, tmp_path: Path, python: str, told: list[str]
) -> None:
    environment = shims(tmp_path / "bin", python)
    subprocess.run([enrolled.root / "source" / "setup.sh"], capture_output=True, check=False, env=environment)
    log = tmp_path / "bin" / "told"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    assert [line.split()[-1] for line in lines if line.startswith("install")] == told
    assert lines.count("update") == len(told)


def test_without_python_there_are_still_results(enrolled: Platform, tmp_path: Path) -> None:
    environment = shims(tmp_path / "bin", "exit 1") | {"AUTOGRADER_ROOT": str(enrolled.root)}
    subprocess.run([enrolled.root / "run_autograder"], check=True, env=environment)
    results = json.loads((enrolled.root / "results" / "results.json").read_text(encoding="utf-8"))
    assert results == {"score": 0, "output": "The autograder was not set up. Tell your instructor."}


def test_the_judge_is_that_of_the_bundle_and_needs_nothing_else(platform: Platform) -> None:
    script = "import json, runpy, sys; sys.argv = ['', sys.argv[1]]; sys.path.insert(0, sys.argv[1] + '/source')\n"
    script += "runpy.run_path(sys.argv[1] + '/source/__main__.py', run_name='__main__')\n"
    script += "print(json.dumps([[n, getattr(m, '__file__', None)] for n, m in sys.modules.items()]))"
    platform.grade({"a.csv": typed(ADA, "987654321")})
    done = subprocess.run(
        [sys.executable, "-I", "-c", script, platform.root], capture_output=True, text=True, check=True
    )
    loaded = {name: file for name, file in json.loads(done.stdout) if name.split(".")[0] in {"grader", "spec"}}
    source = platform.root / "source"
    assert {Path(file) for file in loaded.values()} <= set(source.rglob("*.py"))
    assert {name.split(".")[0] for name, _ in json.loads(done.stdout)} & {"jinja2", "sympy", "click"} == set()


def test_a_class_of_the_command_line_is_graded(tmp_path: Path) -> None:
    (tmp_path / "set.toml").write_text(
        'title = "Übung <1>"\n[[items]]\nfamily = "exercise-4"\npoints = 8\n[policy]\nattempts = 1\n', encoding="utf-8"
    )
    (tmp_path / "roster.csv").write_text("id,name,email\nu1,Zoë,zoe@example.org\nu2,Bob,b@example.org\n", "utf-8")
    arguments = ["set", tmp_path / "set.toml", "--roster", tmp_path / "roster.csv", "--out", tmp_path / "c"]
    formats = ["--format", "gradescope", "--format", "csv", "--workers", "1"]
    done = CliRunner().invoke(app, [*map(str, arguments), *formats])
    assert done.exit_code == 0, done.output
    keys = tmp_path / "c" / "keys"
    assert {p.suffix for p in (tmp_path / "c/sheets").iterdir()} == {".csv"}
    with zipfile.ZipFile(keys / "gradescope.zip", "a") as archive:
        (tmp_path / "plain.json").write_bytes(archive.read("key.json"))
    platform = Platform.upload((keys / "gradescope.zip").read_bytes(), tmp_path / "autograder")
    for name in ("key.json", "roster.csv"):  # as its README says
        shutil.copy(keys / name, platform.root / "source" / name)
    answers = {
        "answers.json": json.dumps(
            {"1": {"a": "17", "b": "18", "c": "41 sequences", "d": "7", "e": "3", "f": "memory"}}
        )
    }
    results = platform.grade(answers, **by("zoe@example.org"))
    assert [round(s, 2) for s in scores(results)] == [1.33, 1.33, 1.33, 0, 1.33, 0]
    assert results["score"] == 5.3333
    assert "Zoë" not in json.dumps(results, ensure_ascii=False)
