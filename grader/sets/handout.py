"""Handing out: the sheets and keys of a class, by as many processes as wanted, in a folder where it can go on."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import TypeVar

from grader.sets.blank import save_blank
from grader.sets.definition import ProblemSet
from grader.sets.draws import Allotment, Drawn, Place, first_draws, individual_sheet, places
from grader.sets.folder import Folder
from grader.sets.formats import KINDS
from grader.sets.refusing import check
from grader.sets.rendering import files, writer
from grader.sets.roster import Student
from grader.sets.secret import Secret
from grader.sets.sheets import Sheet, record, record_of
from grader.sets.writing import replace as put

A = TypeVar("A")
B = TypeVar("B")
Progress = Callable[[str, int, int], None]  # what is done, how many, of how many
AHEAD = 4  # tasks for each process that wait


@dataclass(frozen=True, slots=True)
class HandedOut:
    """What a run did.

    Attributes:
        students: how many there are.
        written: how many sheets were written, in any format.
        kept: how many were there already.
        gone: codes of students that have a sheet and stand no longer in the roster.
        shared: by the number of an exercise, how many students share theirs with another.
        files: all files of the class.
    """

    students: int
    written: int
    kept: int
    gone: tuple[str, ...]
    shared: dict[int, int]
    files: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class _Job:
    """One sheet: what it is made of, and in which formats it is still to be written."""

    problem_set: ProblemSet
    places: tuple[Place, ...]
    student: str
    name: str
    draws: tuple[Drawn, ...]
    formats: tuple[str, ...]
    folder: Path


@dataclass(frozen=True, slots=True)
class _Written:
    student: str
    record: str
    files: tuple[tuple[str, tuple[str, ...]], ...]


def coded(students: Iterable[Student], secret: Secret) -> list[Student]:
    """Give each student their code, and sort them by it, so that the order of a roster changes nothing."""
    found: dict[str, Student] = {}
    for student in sorted(students, key=lambda s: s.identity):
        turn = 0
        while (code := secret.code(student.identity, turn)) in found:
            turn += 1
        found[code] = replace(student, code=code)
    return [found[code] for code in sorted(found)]


def hand_out(
    problem_set: ProblemSet,
    students: Iterable[Student],
    secret: Secret,
    formats: Sequence[str],
    folder: Folder,
    *,
    workers: int,
    force: bool,
    progress: Progress,
) -> HandedOut:
    """Write the sheets and keys of a class. The same secret gives the same files, however many `workers` there are.

    Raises:
        CannotJudge: a format cannot judge what an item asks for.
        OtherClass: the folder holds another set, and `force` is not set; or another run is writing to it.
        TooFew, Undrawable: a family cannot give what an item asks for.
        OSError: a file cannot be written; the files that are there are whole, and a new run goes on.
    """
    folder.make()
    with folder.alone():
        if force:
            folder.forget()
        return _hand_out(problem_set, students, secret, formats, folder, workers, progress)


def _hand_out(
    problem_set: ProblemSet,
    students: Iterable[Student],
    secret: Secret,
    formats: Sequence[str],
    folder: Folder,
    workers: int,
    progress: Progress,
) -> HandedOut:
    named = {student.code: student for student in coded(students, secret)}
    spots = places(problem_set, secret)
    check(((spot.number, spot.item.family, [kind for _, _, _, kind, _ in spot.shape]) for spot in spots), formats)
    allotment = Allotment(problem_set.title, secret, spots)
    for code, draws in folder.draws(problem_set, secret).items():
        allotment.keep(code, draws)
    folder.save_roster(named.values())
    save_blank(folder.answers, [(p.number, [letter for letter, *_ in p.shape]) for p in spots], named)
    new = [code for code in named if code not in allotment.draws]
    with _processes(workers, len(named)) as run:
        tasks = [(problem_set.title, secret, spots, code) for code in new]
        for number, (code, first) in enumerate(zip(new, run(_first_draws, tasks), strict=True), 1):
            allotment.add(code, first)
            progress("drawn", number, len(new))
        if new:
            folder.save_draws(problem_set, secret, allotment.draws)
        finished = folder.finished()
        everybody = sorted(allotment.draws)
        jobs = [
            _Job(
                problem_set,
                spots,
                code,
                named[code].name if code in named else "",
                allotment.draws[code],
                tuple(name for name in formats if code in named and (code, name) not in finished),
                folder.path,
            )
            for code in everybody
        ]
        written = 0

        def records() -> Iterator[str]:
            nonlocal written
            for number, done in enumerate(run(_produce, jobs), 1):
                for name, paths in done.files:
                    folder.note(done.student, name, paths)
                    finished[done.student, name] = list(paths)
                    written += 1
                progress("written", number, len(jobs))
                yield done.record

        put(folder.keys / "key.json", record(problem_set, records()))
    shared_files = _class_files(problem_set, spots, named, allotment, formats, folder)
    sheets = [folder.path / path for (code, name), paths in finished.items() if name in formats for path in paths]
    return HandedOut(
        students=len(named),
        written=written,
        kept=len(named) * len(formats) - written,
        gone=tuple(code for code in everybody if code not in named),
        shared=allotment.shared(),
        files=(*sheets, *shared_files, folder.keys / "key.json", folder.keys / "roster.csv", folder.answers),
    )


def _class_files(
    problem_set: ProblemSet,
    spots: Sequence[Place],
    named: dict[str, Student],
    allotment: Allotment,
    formats: Sequence[str],
    folder: Folder,
) -> list[Path]:
    """Write what a format has for the class as a whole, always anew: it depends on the roster."""

    def sheets() -> Iterator[Sheet]:
        for code, student in named.items():
            yield individual_sheet(problem_set, spots, code, student.name, allotment.draws[code])

    paths = []
    for name in formats:
        for kind in KINDS:
            for file, content in writer(name).class_files(kind, sheets()).items():
                paths.append(folder.path / f"{kind}s" / file)
                put(paths[-1], [content])
    return paths


def _first_draws(task: tuple[str, Secret, tuple[Place, ...], str]) -> list[Drawn]:
    return first_draws(*task)


def _produce(job: _Job) -> _Written:
    """Write one sheet and its key in every format that is missing, and return its record."""
    sheet = individual_sheet(job.problem_set, job.places, job.student, job.name, job.draws)
    done = []
    for name in job.formats:
        paths = []
        for kind in KINDS:
            for file, content in files(kind, sheet, name).items():
                paths.append(f"{kind}s/{file}")
                put(job.folder / paths[-1], [content])
        done.append((name, tuple(paths)))
    return _Written(job.student, record_of(sheet), tuple(done))


class _Run:
    """Runs a function over tasks, here or in other processes, and gives the results in the order of the tasks."""

    def __init__(self, pool: ProcessPoolExecutor | None, ahead: int) -> None:
        self._pool, self._ahead = pool, ahead

    def __call__(self, function: Callable[[A], B], tasks: Sequence[A]) -> Iterator[B]:
        if self._pool is None:
            yield from map(function, tasks)
            return
        rest = iter(tasks)
        with _deaf():  # what is started now does not hear Ctrl-C; the one who waits for it does
            waiting: list[Future[B]] = [self._pool.submit(function, task) for task in islice(rest, self._ahead)]
        while waiting:
            yield waiting.pop(0).result()
            waiting += [self._pool.submit(function, task) for task in islice(rest, 1)]


@contextmanager
def _processes(workers: int, tasks: int) -> Iterator[_Run]:
    if workers == 1 or tasks < workers:
        yield _Run(None, 0)
        return
    pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=_begin)
    try:
        yield _Run(pool, AHEAD * workers)
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _deaf() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _begin() -> None:
    """End with the process that started this one, however it ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
