"""Policies for chat sessions: drawn over all that is allowed, and the samples whose fate is known."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from spec.serving.session_policy import MARGIN, WINDOW, SessionPolicy, fields_for, policy_from
from spec.serving.session_values import Choice, Field, Flag, Number

SAMPLES = Path(__file__).parents[1] / "data" / "session_policies.toml"


def samples() -> Mapping[str, tuple[SessionPolicy, dict[str, float]]]:
    """Return the samples by name, each with what was measured of it elsewhere."""
    rows = tomllib.loads(SAMPLES.read_text(), parse_float=Fraction)
    return {name: (policy_from(row["policy"]), row["expected"]) for name, row in rows.items()}


def allowed(field: Field) -> st.SearchStrategy[Any]:
    """Draw what a field may be."""
    kind = field.kind
    if isinstance(kind, Choice):
        return st.sampled_from(kind.options)
    if isinstance(kind, Flag):
        return st.booleans()
    assert isinstance(kind, Number)
    low, high = kind.low, kind.high
    if kind.whole:
        drawn: st.SearchStrategy[Any] = st.integers(int(low), int(high))
    else:
        drawn = st.integers(1 if kind.over else 0, 1000).map(lambda part: low + (high - low) * Fraction(part, 1000))
    return st.none() | drawn if kind.null else drawn


@st.composite
def policies(draw: st.DrawFn, window: int = WINDOW, **given: st.SearchStrategy[Any]) -> SessionPolicy:
    """Draw a policy that is allowed, some fields of it as they are given."""
    values = {field.name: draw(given.get(field.name, allowed(field))) for field in fields_for(window)}
    room = values["context_limit"] - MARGIN
    values["summary"] = max(min(values["summary"], room), 1 if values["context"] == "summarise" else 0)
    if room < values["summary"]:
        values["context_limit"], room = MARGIN + values["summary"], values["summary"]
    values["keep"] = min(values["keep"], room - values["summary"])
    return policy_from(values, window)
