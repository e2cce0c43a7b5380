"""The policy of a set: which answers count, and what they are worth. Computed anew from the answers every time.

Moments are UTC; what a day is, the zone of the course says: a day that the clock changes has 23 or 25 hours.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from fractions import Fraction
from functools import lru_cache
from typing import Any

from grader.exercise import exact
from grader.judging import INCORRECT, Judgement
from grader.judging.judgement import HALF, is_carried

COUNTS = ("last", "best", "first")
# What judging finds where the number is right and the unit is not.
UNIT_SLIPS = frozenset({"prefix", "case", "binary-decimal", "bit-byte", "time-unit", "percent"})
MOST_DAYS = 366
FIRST_YEAR, LAST_YEAR = 1970, 2999  # of any moment; days can be added to them without end


@dataclass(frozen=True, slots=True)
class Extension:
    """More time for one student, named by code, id or e-mail address.

    `until` takes the place of the deadline; `days` and `minutes` are added to it.
    """

    student: str
    until: datetime | None = None
    days: int = 0
    minutes: int = 0


@dataclass(frozen=True, slots=True)
class Override:
    """Points given by hand to one part of one student, and the reason."""

    student: str
    item: int
    part: str
    points: Fraction
    reason: str


@dataclass(frozen=True, slots=True)
class Policy:
    """Which answers count, and what they are worth. Shares are of the points of a part.

    Attributes:
        counts: of several answers to a part, the `last`, the `best` or the `first`.
        attempts: how many answers to a part may count; None for any number.
        penalty: the share that each attempt before the one that counts takes off.
        hint_cost: the share that each hint takes off.
        unit_slips: the share for an answer where only the unit is wrong.
        deadline: the last moment; None for no end. In UTC.
        zone: the name of the course's time zone.
        late_per_day: the share of what was reached that each day takes off that has begun since the deadline.
        late_days: how many such days an answer may be late.
        extensions: more time for some.
        overrides: points given by hand.
        carried: the share for an answer that follows from a wrong answer to an earlier part.
    """

    counts: str = "last"
    attempts: int | None = None
    penalty: Fraction = Fraction(0)
    hint_cost: Fraction = Fraction(0)
    unit_slips: Fraction = Fraction(0)
    deadline: datetime | None = None
    zone: str = "UTC"
    late_per_day: Fraction = Fraction(0)
    late_days: int = 0
    extensions: tuple[Extension, ...] = field(default=())
    overrides: tuple[Override, ...] = field(default=())
    carried: Fraction = HALF

    def score(self, judged: Judgement) -> Fraction:
        """Return the share that an answer is worth by itself."""
        if is_carried(judged):
            return self.carried
        if judged.verdict == INCORRECT and any(finding.code in UNIT_SLIPS for finding in judged.findings):
            return max(judged.score, self.unit_slips)
        return judged.score

    def credit(self, score: Fraction, attempt: int, hints: int, days: int) -> Fraction:
        """Return the share of the points for an answer of a `score`, as which attempt, so many days late."""
        reached = score - self.penalty * (attempt - 1) - self.hint_cost * hints
        return max(Fraction(0), reached) * max(Fraction(0), 1 - self.late_per_day * days)

    def end(self, extension: Extension | None) -> datetime | None:
        """Return the deadline of a student in UTC; None where there is none."""
        if self.deadline is None:
            return None
        end = (extension and extension.until) or self.deadline
        if extension:
            end = self._days_after(end, extension.days) + timedelta(minutes=extension.minutes)
        return end

    def days_late(self, moment: datetime, end: datetime | None) -> int:
        """Return how many days have begun between a deadline and a moment: 0 in time, 1 a second later."""
        if end is None or moment <= end:
            return 0
        days = max(1, (moment - end).days)
        while moment > self._days_after(end, days):
            days += 1
        return days

    def in_utc(self, local: datetime) -> datetime:
        """Return a moment in UTC; one without a zone is the course's.

        A time that the clock shows twice is the later one; one that it skips is as long after the change.

        Raises:
            ValueError: the year is no year of a course.
        """
        if not FIRST_YEAR <= local.year <= LAST_YEAR:
            raise ValueError(local.year)
        return (local if local.tzinfo else local.replace(tzinfo=zone(self.zone), fold=1)).astimezone(UTC)

    def _days_after(self, moment: datetime, days: int) -> datetime:
        """Return the same time of day so many days later, in the zone of the course."""
        if not days:
            return moment
        local = moment.astimezone(zone(self.zone)).replace(tzinfo=None)
        return (local + timedelta(days=days)).replace(tzinfo=zone(self.zone), fold=1).astimezone(UTC)

    def to_data(self) -> dict[str, Any]:
        """Write the policy as JSON; what is as usual is left out."""
        data: dict[str, Any] = {}
        for name in self.__slots__:
            value = getattr(self, name)
            if value != getattr(USUAL, name):
                data[name] = _written(value)
        return data

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Policy:
        """Read a policy back; the inverse of `to_data`.

        Raises:
            ValueError, TypeError, KeyError, ArithmeticError: it was damaged.
        """
        fields = dict(data)
        for name in ("penalty", "hint_cost", "unit_slips", "carried", "late_per_day"):
            if name in fields:
                fields[name] = Fraction(fields[name])
        if "deadline" in fields:
            fields["deadline"] = datetime.fromisoformat(fields["deadline"])
        fields["extensions"] = tuple(
            Extension(**e | {"until": datetime.fromisoformat(e["until"]) if e["until"] else None})
            for e in fields.get("extensions", ())
        )
        fields["overrides"] = tuple(
            Override(**o | {"points": Fraction(o["points"])}) for o in fields.get("overrides", ())
        )
        return replace(USUAL, **fields)


USUAL = Policy()


def _written(value: Any) -> Any:
    if isinstance(value, Fraction):
        return exact(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple):
        return [{name: _written(getattr(entry, name)) for name in entry.__slots__} for entry in value]
    return value


@lru_cache
def zone(name: str) -> tzinfo:
    """Return a time zone of the IANA database, such as `Europe/Berlin`.

    Raises:
        LookupError: there is none of that name on this machine.
    """
    if name == "UTC":
        return timezone.utc  # noqa: UP017  the type is wanted
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        raise LookupError(name) from None
