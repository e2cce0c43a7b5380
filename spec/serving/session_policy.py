"""What a server does with the caches of chat sessions: a policy as a record, and the table of its fields.

Reading one reports every problem, and repairs none: what is not allowed is refused with the field, the value that was
given and the values that are allowed.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from fractions import Fraction
from textwrap import wrap
from types import MappingProxyType
from typing import Any

from spec.serving.session_values import Choice, Field, Flag, Number, Wild, exact, shown

WINDOW = 8192  # tokens: the longest context of the model
MARGIN = 1024  # tokens of the context limit that a trimmed history leaves to the next message and its reply
LONGEST = 2**16  # characters of a policy
WIDE = 100  # characters of a line of the template
DAY = 86_400  # seconds: longer than any run


class Book(StrEnum):
    """What a turn books before its prefill."""

    NONE = "none"
    PROMPT = "prompt"
    TURN = "turn"
    WINDOW = "window"


class Victim(StrEnum):
    """Which idle cache goes first where room is needed."""

    NONE = "none"
    LRU = "lru"
    LARGEST = "largest"
    OLDEST_SESSION = "oldest_session"
    CHEAPEST = "cheapest"


class Tier(StrEnum):
    """Where an evicted cache goes."""

    DROP = "drop"
    HOST = "host"


class Context(StrEnum):
    """What happens to a history that has outgrown its limit."""

    NONE = "none"
    SLIDE = "slide"
    SUMMARISE = "summarise"


class When(StrEnum):
    """When a summary is written."""

    INLINE = "inline"
    IDLE = "idle"


class Kill(StrEnum):
    """Which session is ended where nothing else frees room."""

    NONE = "none"
    OLDEST = "oldest_when_full"


class Order(StrEnum):
    """Who of those that wait comes first."""

    FCFS = "fcfs"
    NEW_FIRST = "new_first"
    RETURNING_FIRST = "returning_first"
    SHORTEST_FIRST = "shortest_first"


@dataclass(frozen=True, slots=True)
class SessionPolicy:
    """A policy. `FIELDS` says what each field means and may be; times are seconds, lengths are tokens."""

    reserve: Book = Book.TURN
    window_hold: bool = False
    evict: Victim = Victim.LRU
    evict_to: Tier = Tier.DROP
    idle_ttl_s: Fraction | None = None
    context: Context = Context.SLIDE
    context_limit: int = WINDOW
    keep: int = WINDOW // 2
    summary: int = 0
    summarise_when: When = When.INLINE
    kill: Kill = Kill.NONE
    max_age_s: Fraction | None = None
    session_cap: int | None = None
    headroom: Fraction = Fraction(0)
    watermark: Fraction = Fraction(1)
    queue_timeout_s: Fraction | None = None
    order: Order = Order.FCFS

    def table(self) -> dict[str, Any]:
        """Return the fields by name, as `policy_from` takes them."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a policy.

    Attributes:
        field: the name of the field; empty where it is the text as a whole.
        given: what was written there, shortened.
        wanted: what is allowed.
        near: fields that may have been meant.
    """

    field: str
    given: str
    wanted: str
    near: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.field:
            return f"This is no policy: {self.wanted}."
        if self.near:
            return f"{self.field} = {self.given}: there is no such field; did you mean {' or '.join(self.near)}?"
        return f"{self.field} = {self.given}: {self.wanted}."


class PolicyRefused(ValueError):
    """A policy cannot be used; `problems` are all that is wrong with it."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


def fields_for(window: int = WINDOW) -> tuple[Field, ...]:
    """Return the table of the fields, for a model with this longest context in tokens."""
    seconds = Number(Fraction(0), Fraction(DAY), over=True, null=True, unit="seconds")
    return (
        Field(
            "reserve",
            Choice(Book),
            Book.TURN,
            "what a turn books before its prefill: nothing, and then no room is asked for either; history and message; "
            "these and the longest reply; the whole window",
        ),
        Field("window_hold", Flag(), default=False, meaning="keep the booking while the session is idle"),
        Field(
            "evict",
            Choice(Victim),
            Victim.LRU,
            "which idle session loses its cache where room is needed: none; the one idle the longest; the largest; "
            "that of the oldest session; the one that is the cheapest to work out again. A turn in flight never does",
        ),
        Field("evict_to", Choice(Tier), Tier.DROP, "where that cache goes: nowhere, or to the memory of the host"),
        Field("idle_ttl_s", seconds, None, "evict a cache that was idle for so long"),
        Field(
            "context",
            Choice(Context),
            Context.SLIDE,
            "what happens where history, message and longest reply exceed context_limit: the session ends; old "
            "history is dropped; old history becomes a summary",
        ),
        Field(
            "context_limit",
            Number(Fraction(MARGIN), Fraction(window), whole=True, unit="tokens"),
            window,
            "the limit that triggers this",
        ),
        Field(
            "keep",
            Number(Fraction(0), Fraction(window - MARGIN), whole=True, unit="tokens"),
            min(window // 2, window - MARGIN),
            "tokens of history that stay as they are: the system prompt and the newest",
        ),
        Field(
            "summary",
            Number(Fraction(0), Fraction(window - MARGIN), whole=True, unit="tokens"),
            0,
            "length of the summary, which the model itself writes",
        ),
        Field(
            "summarise_when",
            Choice(When),
            When.INLINE,
            "write the summary before the answer, or ahead while the session is idle",
        ),
        Field("kill", Choice(Kill), Kill.NONE, "end the oldest idle session where nothing else frees room"),
        Field("max_age_s", seconds, None, "end a session that is older than this"),
        Field(
            "session_cap",
            Number(Fraction(1), Fraction(10_000), whole=True, null=True, unit="sessions"),
            None,
            "the most sessions that are open at once; further ones wait",
        ),
        Field("headroom", Number(Fraction(0), Fraction(9, 10)), Fraction(0), "share of the cache for first turns only"),
        Field(
            "watermark",
            Number(Fraction(0), Fraction(1), over=True),
            Fraction(1),
            "share of the cache in use above which no new session starts",
        ),
        Field("queue_timeout_s", seconds, None, "turn a new session away that has waited so long (503)"),
        Field(
            "order",
            Choice(Order),
            Order.FCFS,
            "who comes first of those that wait. A session that holds its booking passes all",
        ),
    )


FIELDS = fields_for()


@dataclass(frozen=True, slots=True)
class Written:
    """What a text says.

    Attributes:
        values: by the name of the field.
        problems: what is wrong with the text itself, such as a field that is given twice.
    """

    values: Mapping[str, Any]
    problems: tuple[Problem, ...] = ()


def read_policy(text: str, window: int = WINDOW) -> SessionPolicy:
    """Read a policy from JSON or TOML.

    Args:
        text: the text; JSON where it begins with a brace or a bracket.
        window: tokens of the longest context of the model.

    Raises:
        PolicyRefused: something is wrong with it.
    """
    written = read_written(text)
    return policy_from(written.values, window, written.problems)


def read_written(text: str) -> Written:
    """Read the fields of a text, whatever they are; `policy_from` makes a policy of them.

    Raises:
        PolicyRefused: the text is neither a JSON object nor TOML.
    """
    text = text.removeprefix("\ufeff")
    if len(text) > LONGEST:
        raise _unreadable(f"it has {len(text):,} characters, and may have {LONGEST:,}")
    is_json = text.lstrip()[:1] in {"{", "["}
    try:
        return _read_json(text) if is_json else Written(MappingProxyType(tomllib.loads(text, parse_float=exact)))
    except json.JSONDecodeError as error:
        raise _unreadable(f"it is not JSON: line {error.lineno}, column {error.colno}: {error.msg}") from None
    except tomllib.TOMLDecodeError as error:
        why = shown(str(error), quoted=False, most=WIDE)
        raise _unreadable(f"it is neither a JSON object nor TOML: {why}") from None
    except RecursionError:
        raise _unreadable("it is nested too deep") from None
    except PolicyRefused:
        raise
    except ValueError:  # a number with more digits than Python reads
        raise _unreadable("a number in it has too many digits") from None


def policy_from(values: Mapping[str, Any], window: int = WINDOW, before: Iterable[Problem] = ()) -> SessionPolicy:
    """Make a policy of values by field; fields that are left out take their defaults.

    Args:
        values: by the name of the field.
        window: tokens of the longest context of the model.
        before: problems that are known already, to be reported with the others.

    Raises:
        PolicyRefused: there are problems, those known before included.
    """
    known = {field.name: field for field in fields_for(window)}
    problems = list(before)
    read: dict[str, Any] = {name: field.default for name, field in known.items()}
    for name, given in values.items():
        if name not in known:
            problems.append(_unknown(name, given, known))
            continue
        try:
            read[name] = known[name].kind.read(given)
        except (TypeError, ValueError):
            problems.append(Problem(name, shown(given), f"it must be {known[name].allowed}"))
    wrong = {problem.field for problem in problems}
    if not wrong & {"context", "context_limit", "keep", "summary"}:
        problems += _together(SessionPolicy(**read))
    if problems:
        raise PolicyRefused(tuple(problems))
    return SessionPolicy(**read)


def template(window: int = WINDOW) -> str:
    """Return a policy in TOML with every field at its default, and above each what it means and may be."""
    lines = ["# A policy for chat sessions. A field that is left out, or has a # before it, keeps its default."]
    for field in fields_for(window):
        value = field.default
        written = "# " * (value is None) + f"{field.name} = {field.kind.example if value is None else shown(value)}"
        default = " (default: null, which is what leaving it out says)" if value is None else ""
        said = [line for text in (field.meaning, field.allowed + default) for line in wrap(text, WIDE)]
        lines += ["", *(f"# {line}" for line in said), written]
    return "\n".join(lines) + "\n"


def _together(policy: SessionPolicy) -> list[Problem]:
    """Find what no field is to blame for alone."""
    if policy.context is Context.NONE:
        return []
    problems = []
    if policy.keep + policy.summary > policy.context_limit - MARGIN:
        wanted = (
            f"keep + summary must be at most context_limit - {MARGIN}, here {policy.context_limit} - {MARGIN} = "
            f"{policy.context_limit - MARGIN}"
        )
        problems.append(Problem("keep + summary", f"{policy.keep} + {policy.summary}", wanted))
    if policy.context is Context.SUMMARISE and not policy.summary:
        problems.append(Problem("summary", "0", "it must be at least 1 where context is summarise"))
    return problems


def _unknown(name: str, given: Any, known: Iterable[str]) -> Problem:
    from difflib import get_close_matches

    near = get_close_matches(name.casefold().replace("-", "_"), known, 2) if len(name) <= WINDOW else []
    return Problem(
        shown(name, quoted=False), shown(given), f"there is no such field; there are {', '.join(known)}", tuple(near)
    )


def _unreadable(why: str) -> PolicyRefused:
    return PolicyRefused((Problem("", "", why),))


def _read_json(text: str) -> Written:
    repeated: list[Problem] = []

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, value in found:
            if name in values:
                repeated.append(Problem(shown(name, quoted=False), shown(value), "it is given more than once"))
            values[name] = value
        return values

    values = json.loads(text, object_pairs_hook=pairs, parse_float=exact, parse_int=exact, parse_constant=Wild)
    if not isinstance(values, dict):
        raise _unreadable("write one JSON object, { ... }")
    return Written(MappingProxyType(values), tuple(repeated))
