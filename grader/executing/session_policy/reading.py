"""Reading an answer: a policy, and the predictions that may stand beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from grader.executing.session_policy.predictions import FORETOLD
from spec.serving.session_policy import (
    PolicyRefused,
    Problem,
    SessionPolicy,
    fields_for,
    policy_from,
    read_written,
    template,
)
from spec.serving.session_values import Number, decimal, shown

PREDICTIONS = "predictions"
MOST = 10**6  # of a prediction
_WANTED = Number(Fraction(0), Fraction(MOST), over=True, null=True)


@dataclass(frozen=True, slots=True)
class Answer:
    """A policy, and what is foretold of it, by name."""

    policy: SessionPolicy
    predictions: Mapping[str, Fraction]


def read_answer(text: str, window: int) -> Answer:
    """Read an answer.

    Args:
        text: JSON or TOML.
        window: tokens of the longest context of the model.

    Raises:
        PolicyRefused: something is wrong; all of it is named.
    """
    written = read_written(text)
    values = dict(written.values)
    said = values.pop(PREDICTIONS, {})
    read: dict[str, Fraction] = {}
    problems = [*written.problems, *_predictions(said, read)]
    return Answer(policy_from(values, window, problems), read)


def _predictions(said: Any, read: dict[str, Fraction]) -> Iterator[Problem]:
    """Enter what is foretold into `read`, and give what is wrong with the rest."""
    names = [each.name for each in FORETOLD]
    if not isinstance(said, dict):
        yield Problem(PREDICTIONS, shown(said), f"it must be a table of {', '.join(names)}")
        return
    for name, given in said.items():
        field = f"{PREDICTIONS}.{shown(name, quoted=False)}"
        if name not in names:
            from difflib import get_close_matches

            near = tuple(f"{PREDICTIONS}.{n}" for n in get_close_matches(name.casefold(), names, 1))
            yield Problem(field, shown(given), f"there is no such prediction; there are {', '.join(names)}", near)
            continue
        try:
            value = _WANTED.read(given)
        except (TypeError, ValueError):
            yield Problem(field, shown(given), f"it must be {_WANTED.allowed}")
            continue
        if value is not None:
            read[name] = Fraction(value)


def written(answer: Answer, window: int) -> str:
    """Write an answer on one line of JSON, without what says the default; read again, it gives the same."""
    fields = {field.name: field.default for field in fields_for(window)}
    parts = [
        f'"{name}": {shown(value)}' for name, value in answer.policy.table().items() if value != fields.get(name, value)
    ]
    if answer.predictions:
        said = ", ".join(f'"{name}": {decimal(value)}' for name, value in answer.predictions.items())
        parts.append(f'"{PREDICTIONS}": {{{said}}}')
    return f"{{{', '.join(parts)}}}"


def blank(window: int) -> str:
    """Return an answer in TOML in which every field is explained and has its default."""
    lines = ["", "# What you foretell of it. A line that is left out earns nothing.", f"[{PREDICTIONS}]"]
    lines += [line for each in FORETOLD for line in (f"# {each.says}", f"# {each.name} = 60")]
    return template(window) + "\n".join(lines) + "\n"


__all__ = ["Answer", "PolicyRefused", "blank", "read_answer", "written"]
