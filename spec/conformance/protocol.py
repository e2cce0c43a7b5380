"""A candidate in any language: a program that answers JSON lines. PROTOCOL.md describes them."""

from __future__ import annotations

import json
import os
import queue
import re
import shlex
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import IO, Any, cast

from spec.conformance.answers import Answer, Fault, Nothing, Unsupported, number, shortened
from spec.conformance.candidate import Takes, checked_limit
from spec.conformance.declared import Unusable, declared
from spec.conformance.limits import TIME_LIMIT, limit_memory_of
from spec.solving import Exact, exact_number

STARTS = 16  # how often the program is started before it is given up
LONGEST = 100_000  # characters of an answer
WAITING = 100  # lines that are kept while nobody reads them; one that nobody asked for is a fault
ERROR = re.compile(r"[\w.]*(Error|Exception)\b")  # how the line begins that says why a program ended
FORM = '{"value": "..."}, {"none": true}, {"unsupported": true} or {"error": "..."}'


class Program:
    """A program that is asked by lines on its standard input and answers by lines on its standard output.

    It is started when it is first asked, and again after it ended or was stopped for taking too long.
    """

    def __init__(self, command: str | Sequence[str], time_limit: float = TIME_LIMIT) -> None:
        """Start it and ask what it offers.

        Raises:
            Unusable: it cannot be started or does not describe itself.
        """
        self.command = _words(command) if isinstance(command, str) else list(command)
        if not self.command:
            raise Unusable("The command is empty.")
        self.time_limit, self.starts, self.title = checked_limit(time_limit), 0, shlex.join(self.command)
        self._running: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str | None] = queue.Queue(WAITING)
        self._said = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115  closed by close()
        try:
            described = self._ask({"describe": True})
            self._functions = _functions(described)
            says = declared(lambda word, default: described.get(word.lower(), default))
        except BaseException:  # an interrupt too, which the program does not see
            self.close()
            raise
        self.declared = replace(says, fractions=True)
        self.title = shortened(str(described.get("name", self.title)))

    def takes(self, function: str) -> tuple[Takes, ...]:
        """Return the keyword sets that the program listed for a function."""
        return self._functions.get(function, ())

    def call(self, function: str, given: Mapping[str, Any]) -> Answer:
        """Ask for one value."""
        reply = self._exchange({"call": function, "with": {name: _written(value) for name, value in given.items()}})
        return reply if isinstance(reply, Fault) else _answer(reply)

    def manager(self) -> None:
        """Return None: a cache manager is tested in Python only."""

    def close(self) -> None:
        """Stop the program."""
        self._stop()
        self._said.close()

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        reply = self._exchange(question)
        if isinstance(reply, Fault):
            hint = "; its answer must be flushed at once" if reply.kind == "hung" else ""
            raise Unusable(f"{self.title} does not describe itself: it {reply.words}{hint}.")
        return reply

    def _exchange(self, question: dict[str, Any]) -> dict[str, Any] | Fault:
        running = self._running or self._start()
        if not self._lines.empty():
            unasked = self._lines.get()
            if unasked is None:
                return self._ended(running)
            return Fault("nonsense", f"wrote a line that nobody asked for: {shortened(unasked)!r}")
        to = cast("IO[str]", running.stdin)
        try:
            to.write(json.dumps(question) + "\n")
            to.flush()
            line = self._lines.get(timeout=self.time_limit)
        except OSError:
            line = None
        except queue.Empty:
            self._stop()
            return Fault("hung", f"gave no answer within {self.time_limit:g} s")
        if line is None:
            return self._ended(running)
        try:
            reply = json.loads(line, parse_float=Decimal)
        except (ValueError, RecursionError):
            return Fault("nonsense", f"answered {shortened(repr(line.strip()))}, which is no JSON")
        if not isinstance(reply, dict):
            return Fault("nonsense", f"answered {shortened(line)}, which is no JSON object")
        return reply

    def _start(self) -> subprocess.Popen[str]:
        if self.starts == STARTS:
            self.close()
            raise Unusable(f"{self.title} ended or hung {STARTS} times; it is not started again.")
        self.starts += 1
        try:
            running = subprocess.Popen(  # noqa: S603  the command is the user's own
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said,
                text=True, encoding="utf-8", errors="replace", bufsize=1,
                start_new_session=True,  # what it starts itself, as a shell does, is stopped with it
            )  # fmt: skip
        except OSError as error:
            raise Unusable(f"{self.title} cannot be started: {error.strerror or error}.") from None
        limit_memory_of(running.pid)
        self._running, self._lines = running, queue.Queue(WAITING)
        threading.Thread(target=_listen, args=(running, self._lines), daemon=True).start()
        return running

    def _stop(self) -> None:
        if self._running is not None:
            running, self._running = self._running, None
            _kill(running)
            running.wait()
            try:
                cast("IO[str]", running.stdin).close()
            except OSError:
                return

    def _ended(self, running: subprocess.Popen[str]) -> Fault:
        try:
            status: int | str = running.wait(timeout=1)
        except subprocess.TimeoutExpired:
            status = "none: it closed its output"
        self._stop()
        self._said.seek(0)
        lines = [line for line in self._said.read().splitlines() if line.strip()]
        last = [line for line in lines if ERROR.match(line)] or lines  # Node ends with a line of its version
        words = f"; it said: {shortened(last[-1])}" if last else ""
        return Fault("crashed", f"ended instead of answering (exit status {status}{words})")


def _listen(running: subprocess.Popen[str], lines: queue.Queue[str | None]) -> None:
    with cast("IO[str]", running.stdout) as said:  # closed here: to close it elsewhere would wait for its end
        while line := said.readline(LONGEST):
            lines.put(line)
    lines.put(None)


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise Unusable(f"The command {shortened(command)!r} cannot be read: {str(error).lower()}.") from None


def _kill(running: subprocess.Popen[str]) -> None:
    """Stop a program and, on Unix, what it started."""
    try:
        os.killpg(running.pid, signal.SIGKILL)
    except (AttributeError, OSError):  # not on Unix, or none of them is left
        running.kill()


def _functions(described: Mapping[str, Any]) -> dict[str, tuple[Takes, ...]]:
    listed = described.get("functions")
    if not isinstance(listed, dict):
        raise Unusable('The description has no "functions", an object from names to lists of keywords.')
    found = {}
    for name, keywords in listed.items():
        ways = keywords if isinstance(keywords, list) and keywords and isinstance(keywords[0], list) else [keywords]
        if not all(isinstance(way, list) and all(isinstance(word, str) for word in way) for way in ways):
            raise Unusable(f"The description gives {name} no list of keywords.")
        found[name] = tuple(Takes(frozenset(way)) for way in ways)
    return found


def _written(value: Any) -> Any:
    """Write a number as text that loses nothing: an integer, a decimal, or p/q."""
    if isinstance(value, list):
        return [_written(one) for one in value]
    exact = Fraction(value)
    rest = exact.denominator
    for factor in (2, 5):
        while rest % factor == 0:
            rest //= factor
    if exact.denominator == 1 or rest != 1:
        return str(exact)
    places = next(n for n in range(1, 2000) if 10**n % exact.denominator == 0)
    digits = str(abs(exact.numerator) * 10**places // exact.denominator).rjust(places + 1, "0")
    return f"{'-' * (exact < 0)}{digits[:-places]}.{digits[-places:]}"


def _answer(reply: Mapping[str, Any]) -> Answer:
    if "error" in reply:
        return Fault("raised", f"reported the error {shortened(str(reply['error']))!r}")
    if reply.get("unsupported") is True:
        return Unsupported()
    if reply.get("none") is True:
        return Nothing("none")
    if "value" not in reply:
        return Fault("nonsense", f"answered {shortened(str(dict(reply)))}; an answer is {FORM}")
    return _number(reply["value"])


def _number(value: Any) -> Answer:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lstrip("+-").lower() in {"nan", "inf", "infinity"}:
        return _no_number(value.strip().lower())
    if isinstance(value, float):
        return _no_number(str(value))  # json reads NaN and Infinity as floats, all other numbers as Decimals
    try:
        exact: Exact = exact_number("value", value)
    except TypeError:
        return Fault("type", f"returned {shortened(repr(value))} instead of a number")
    return number(exact, rounded=isinstance(value, Decimal) or any(sign in str(value) for sign in ".eE"))


def _no_number(text: str) -> Answer:
    if "nan" in text:
        return Fault("nan", 'returned NaN; where no value exists it should answer {"none": true}')
    return Nothing(text, unlimited="-" not in text)
