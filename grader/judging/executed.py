"""Judging answers that are run: inputs on which a rule fails, and policies."""

from __future__ import annotations

from importlib import import_module

from grader.exercise import Part
from grader.judging.judgement import Judgement


def judge_executed(part: Part, typed: str) -> Judgement:
    """Run an answer by the module that the part names.

    Raises:
        Unreadable: it is no answer.
        ValueError: the record does not say what is run.
    """
    if part.run is None or not part.run.what.replace("-", "_").isidentifier():
        raise ValueError(f"part {part.part} does not say what is run")
    beside = __name__.replace("judging.executed", "executing")  # also where the judge is a copy in another package
    module = import_module(f"{beside}.{part.run.what.replace('-', '_')}")
    judgement: Judgement = module.judged(part, typed)
    return judgement
