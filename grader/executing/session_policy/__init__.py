"""A policy for chat sessions as an answer: it is run, measured, and marked by what it achieves."""

from __future__ import annotations

from dataclasses import dataclass

from grader.executing.session_policy.graded import EXCELLENT, FAILED, Graded
from grader.executing.session_policy.reading import PolicyRefused, blank, read_answer
from grader.executing.session_policy.report import report
from grader.executing.session_policy.running import GRADING, PRACTICE, Progress, circumstances, run
from grader.exercise import Exercise, Part
from grader.judging.judgement import CORRECT, INCORRECT, INVALID, PARTIAL, ZERO, Finding, Judgement

__all__ = ["Run", "judged", "report_page", "template"]


@dataclass(frozen=True, slots=True)
class Run(Judgement):
    """What became of a policy; `graded` is all that was measured, None where it could not be read."""

    graded: Graded | None = None


def _quiet(done: int, of: int) -> None:
    """Say nothing of the progress."""


def judged(part: Part, typed: str, *, practice: bool = False, progress: Progress = _quiet) -> Run:
    """Run a policy and judge it.

    Args:
        part: the question; it says under which circumstances.
        typed: the policy, in JSON or TOML.
        practice: run it on other seeds than those that count.
        progress: told before each run how many are done, and of how many.

    Raises:
        ValueError: the record does not say under which circumstances.
    """
    if part.run is None:
        raise ValueError(f"part {part.part} does not say what is run")
    under, draw = circumstances(part.run.setting), part.run.setting["draw"]
    if not typed.strip():
        return Run(INVALID, ZERO, findings=(Finding("blank"),), typed=typed)
    try:
        answer = read_answer(typed, under.window)
    except PolicyRefused as refused:
        problems = tuple(Finding("told", {"text": str(problem)}) for problem in refused.problems)
        return Run(INVALID, ZERO, findings=problems, typed=typed)
    graded = run(answer, under, draw, PRACTICE if practice else GRADING, progress)
    score = graded.score
    verdict = CORRECT if score >= EXCELLENT else PARTIAL if score >= FAILED else INCORRECT
    lines = tuple(Finding("told", {"text": str(line)}) for line in report(graded))
    return Run(verdict, score, graded.reading, findings=lines, typed=typed, graded=graded)


def template(part: Part) -> str:
    """Return an answer in TOML in which every field is explained and has its default.

    Raises:
        ValueError: as `judged`.
    """
    if part.run is None:
        raise ValueError(f"part {part.part} does not say what is run")
    return blank(circumstances(part.run.setting).window)


def report_page(exercise: Exercise, judgement: Run) -> str:
    """Write the report on an answer as a page.

    Raises:
        ValueError: the answer was not run.
    """
    from grader.executing.session_policy.page import page
    from grader.feedback import message
    from spec.serving.sessions import SIMPLIFICATIONS

    if judgement.graded is None:
        raise ValueError("nothing was run")
    verdict = message(Judgement(judgement.verdict, judgement.score), exercise.parts[0]).rstrip(".").lower()
    return page(exercise.id, verdict, judgement.graded, SIMPLIFICATIONS)
