"""Asking for a quantity as a user does, with values as text."""

from __future__ import annotations

from grader.calc import calculate, named, read_given
from spec import catalog


def calc(goal: str, model: str = "", gpu: str = "", **texts: str) -> object:
    found = calculate(
        named(goal),
        {named(name).name: read_given(named(name), text) for name, text in texts.items()},
        catalog.model(model) if model else None,
        catalog.gpu(gpu) if gpu else None,
    )
    return found.result
