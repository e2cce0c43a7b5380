"""The policy as a set file says it: `[policy]`, `[[extensions]]` and `[[overrides]]`."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from grader.answers.answer import item_of
from grader.answers.policy import COUNTS, FIRST_YEAR, LAST_YEAR, MOST_DAYS, USUAL, Extension, Override, Policy, zone
from grader.sourced import WHOLE, Place, Source

POLICY_KEYS = ("policy", "extensions", "overrides")
KEYS = ("counts", "attempts", "penalty", "hint_cost", "unit_slips", "carried", "deadline", "zone", "late")
LATE_KEYS = ("late.per_day", "late.days")
EXTENSION_KEYS = ("student", "until", "days", "minutes", "reason")
OVERRIDE_KEYS = ("student", "item", "points", "reason")
MOST_ATTEMPTS, MOST_MINUTES, MOST_POINTS = 1000, 60 * 24 * 366, 1000
_TABLE = Place("policy")


def read_policy(path: Path) -> Policy:
    """Read the policy of a set file, and nothing else of it.

    Raises:
        InvalidSet: it cannot be read, or something in the policy is wrong.
    """
    return policy_of(Source(path))


def policy_of(source: Source) -> Policy:
    """Return the policy that a file says; the usual one where it says none.

    Raises:
        InvalidSet: something in it is wrong.
    """
    said = source.data.get("policy", {})
    if not isinstance(said, dict):
        raise source.wrong(WHOLE, "policy", said, "write a table, [policy]")
    source.known(_TABLE, said, KEYS)
    policy = _timed(source, said, USUAL)
    if "counts" in said:
        if said["counts"] not in COUNTS:
            raise source.wrong(_TABLE, "counts", said["counts"], f"write {', '.join(COUNTS)}")
        policy = replace(policy, counts=said["counts"])
    if "attempts" in said:
        attempts = source.whole(_TABLE, "attempts", said["attempts"], 1, MOST_ATTEMPTS)
        policy = replace(policy, attempts=attempts)

    def share(name: str) -> Fraction:
        usual: Fraction = getattr(USUAL, name)
        return source.number(_TABLE, name, said[name], 1, least=0) if name in said else usual

    extensions = source.tables("extensions", "write tables, [[extensions]]")
    overrides = source.tables("overrides", "write tables, [[overrides]]")
    return replace(
        policy,
        penalty=share("penalty"),
        hint_cost=share("hint_cost"),
        unit_slips=share("unit_slips"),
        carried=share("carried"),
        extensions=tuple(_extension(source, place, table, policy) for place, table in extensions),
        overrides=tuple(_override(source, place, table) for place, table in overrides),
    )


def _timed(source: Source, said: dict[str, Any], policy: Policy) -> Policy:
    if "zone" in said:
        try:
            zone(str(said["zone"]))
        except LookupError:
            raise source.wrong(_TABLE, "zone", said["zone"], "write a zone such as Europe/Berlin") from None
        policy = replace(policy, zone=said["zone"])
    deadline = said.get("deadline")
    if deadline is None:
        if "late" in said:
            raise source.wrong(_TABLE, "late", said["late"], "give a deadline too")
        return policy
    policy = replace(policy, deadline=_moment(source, _TABLE, "deadline", deadline, policy, zoned="zone" in said))
    late = said.get("late", {"days": 0})
    if not isinstance(late, dict) or "days" not in late:
        raise source.wrong(_TABLE, "late", late, "write a table such as { per_day = 0.1, days = 3 }")
    source.known(_TABLE, {f"late.{key}": value for key, value in late.items()}, LATE_KEYS)
    return replace(
        policy,
        late_per_day=source.number(_TABLE, "late.per_day", late.get("per_day", 0), 1, least=0),
        late_days=source.whole(_TABLE, "late.days", late["days"], 0, MOST_DAYS),
    )


def _moment(source: Source, place: Place, key: str, value: Any, policy: Policy, *, zoned: bool) -> datetime:
    if not isinstance(value, datetime):
        raise source.wrong(place, key, value, "write a moment such as 2026-12-04T23:59:00, without quotes")
    if value.tzinfo is None and not zoned:
        raise source.wrong(place, key, value, 'say where in [policy], such as zone = "Europe/Berlin"')
    try:
        return policy.in_utc(value)
    except ValueError:
        raise source.wrong(place, key, value, f"write a year from {FIRST_YEAR} to {LAST_YEAR}") from None


def _student(source: Source, place: Place, said: dict[str, Any]) -> str:
    student = said.get("student")
    if isinstance(student, bool) or not isinstance(student, str | int) or not str(student).strip():
        raise source.wrong(place, "student", student, "name a student by code, id or e-mail address")
    return str(student).strip()


def _reason(source: Source, place: Place, said: dict[str, Any]) -> str:
    reason = said.get("reason")
    if not isinstance(reason, str) or not reason.strip() or not reason.isprintable():
        raise source.wrong(place, "reason", reason, "write the reason as one line of text")
    return reason.strip()


def _extension(source: Source, place: Place, said: dict[str, Any], policy: Policy) -> Extension:
    source.known(place, said, EXTENSION_KEYS)
    student = _student(source, place, said)
    if policy.deadline is None:
        raise source.wrong(place, "student", student, "there is no deadline to extend")
    if not said.keys() & {"until", "days", "minutes"}:
        raise source.wrong(place, "until", None, "say until when, or how many days or minutes more")
    if "reason" in said:
        _reason(source, place, said)
    zoned = "zone" in source.data["policy"]
    return Extension(
        student,
        _moment(source, place, "until", said["until"], policy, zoned=zoned) if "until" in said else None,
        source.whole(place, "days", said.get("days", 0), 0, MOST_DAYS),
        source.whole(place, "minutes", said.get("minutes", 0), 0, MOST_MINUTES),
    )


def _override(source: Source, place: Place, said: dict[str, Any]) -> Override:
    source.known(place, said, OVERRIDE_KEYS)
    item = item_of(str(said.get("item", "")))
    if item is None:
        raise source.wrong(place, "item", said.get("item"), 'name a part such as 2 or "2b"')
    points = source.number(place, "points", said.get("points"), MOST_POINTS, least=0)
    return Override(_student(source, place, said), item[0], item[1], points, _reason(source, place, said))
