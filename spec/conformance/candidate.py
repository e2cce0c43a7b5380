"""A candidate in Python: finding it, asking it, and never being stopped by it."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Protocol

from spec.conformance.answers import Answer, Fault, Nothing, Unsupported, attribute, read, shortened
from spec.conformance.declared import Declared, Unusable, declared
from spec.conformance.limits import LOADING, LONGEST_LIMIT, MEMORY_LIMIT, TIME_LIMIT, Interrupted, TimeOver, limited
from spec.invariants.reference import Reference, Unanswered


@dataclass(frozen=True, slots=True)
class Takes:
    """Which keywords a function takes: these it must be given, these it may, or whatever it is given."""

    required: frozenset[str]
    optional: frozenset[str] = frozenset()
    anything: bool = False

    def accepts(self, names: Collection[str]) -> bool:
        """Say whether the function can be called with exactly these keywords."""
        return self.required <= set(names) and (self.anything or set(names) <= self.required | self.optional)


class Candidate(Protocol):
    """An implementation under test, in whatever language; a call of it may last `time_limit` seconds."""

    time_limit: float

    @property
    def title(self) -> str:
        """How it is named in a report."""

    @property
    def declared(self) -> Declared:
        """What it says about itself."""

    def takes(self, function: str) -> tuple[Takes, ...]:
        """Return the ways in which a function can be called; none where there is no such function."""

    def call(self, function: str, given: Mapping[str, Any]) -> Answer:
        """Call a function, whatever happens.

        Raises:
            Unusable: the candidate is gone for good.
        """

    def manager(self) -> Any:
        """Return its class `CacheManager`, or None."""

    def close(self) -> None:
        """Let go of what it holds."""


class Python:
    """A module or an object whose functions are called in this process."""

    def __init__(self, thing: Any, title: str = "", time_limit: float = TIME_LIMIT) -> None:
        self.thing, self.title, self.time_limit = thing, title or _title(thing), checked_limit(time_limit)
        self.declared = Declared(exact=True) if isinstance(thing, Reference) else declared(partial(attribute, thing))
        self.takes = cache(self._takes)

    def _function(self, name: str) -> Callable[..., Any] | None:
        found = attribute(self.thing, name)
        return found if callable(found) and not inspect.isclass(found) else None

    def _takes(self, function: str) -> tuple[Takes, ...]:
        found = self._function(function)
        if found is None:
            return ()
        try:
            parameters = inspect.signature(found).parameters.values()
        except (TypeError, ValueError):
            return (Takes(frozenset(), anything=True),)
        named = [p for p in parameters if p.kind in {p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY}]
        required = {p.name for p in named if p.default is p.empty}
        required |= {p.name for p in parameters if p.kind is p.POSITIONAL_ONLY and p.default is p.empty}
        anything = any(p.kind is p.VAR_KEYWORD for p in parameters)
        return (Takes(frozenset(required), frozenset(p.name for p in named) - required, anything),)

    def call(self, function: str, given: Mapping[str, Any]) -> Answer:
        """Call a function within the time limit."""
        found = self._function(function)
        if found is None:
            return Unsupported()
        try:
            answer: Answer = limited(lambda: read(found(**given)), self.time_limit)
        except Interrupted:
            raise KeyboardInterrupt from None
        except BaseException as error:  # noqa: BLE001  the code of others, which may raise a KeyboardInterrupt too
            return self._instead(function, error)
        return answer

    def _instead(self, function: str, error: BaseException) -> Answer:
        """Read what a function raised."""
        if isinstance(error, NotImplementedError | Unanswered):
            return Unsupported()
        if isinstance(error, ValueError | ZeroDivisionError):
            return Nothing(said(error))
        if isinstance(error, TypeError) and self.takes(function)[0].anything and "argument" in _text(error):
            return Unsupported()
        return stopped(error, self.time_limit) or Fault("raised", f"raised {said(error)}")

    def manager(self) -> Any:
        """Return its class `CacheManager`, or None."""
        found = None if isinstance(self.thing, Reference) else attribute(self.thing, "CacheManager")
        return found if callable(found) else None

    def close(self) -> None:
        """Do nothing: it holds nothing."""


def stopped(error: BaseException, time_limit: float) -> Fault | None:
    """Return the fault of a call that took too much or ended the program."""
    if isinstance(error, TimeOver):
        return Fault("hung", f"gave no answer within {time_limit:g} s")
    if isinstance(error, MemoryError):
        return Fault("memory", f"needed more than {MEMORY_LIMIT >> 30} GiB of memory")
    if isinstance(error, SystemExit):
        return Fault("raised", f"ended the program (exit status {shortened(str(error.code))})")
    return None


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001  the code of others
        return ""


def said(error: BaseException) -> str:
    """Return the kind of an error and its words on one line."""
    text = shortened(_text(error))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _title(thing: Any) -> str:
    return str(attribute(thing, "__name__", "")) or type(thing).__name__


def checked_limit(seconds: float) -> float:
    """Return a time limit.

    Raises:
        Unusable: no clock can be set to it.
    """
    if not 0 < seconds <= LONGEST_LIMIT:
        raise Unusable(f"A time limit of {seconds:g} s makes no sense; it is over 0 and at most {LONGEST_LIMIT:g} s.")
    return seconds


def load(where: str, time_limit: float = TIME_LIMIT) -> Python:
    """Find a candidate: `module`, `module:thing` or `path/to/file.py`, the last also with `:thing`.

    A class is called without arguments. Modules are also looked for in the current folder.

    Raises:
        Unusable: it cannot be found or loaded, or what it declares cannot be understood.
    """
    place, colon, attribute = where.rpartition(":")
    if not colon or "/" in attribute or "\\" in attribute:
        place, attribute = where, ""
    thing = _file(Path(place)) if place.endswith(".py") else _module(place)
    for name in filter(None, attribute.split(".")):
        if not hasattr(thing, name):
            raise Unusable(f"{place} has no {name!r}.")
        thing = getattr(thing, name)
    return Python(_loaded(thing, where) if inspect.isclass(thing) else thing, where, time_limit)


def _module(name: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    known = _loaded(lambda: _exists(name), name)
    if not known and (Path(name).is_file() or not all(part.isidentifier() for part in name.split("."))):
        raise Unusable(f"{name!r} is neither a module nor a .py file; another language is asked by a command.")
    if not known:
        raise Unusable(f"There is no module {name!r} here; a file is named with its ending, such as {name}.py.")
    return _loaded(lambda: importlib.import_module(name), name)


def _exists(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None  # which imports the packages above it
    except (ImportError, ValueError):
        return False


def _file(path: Path) -> Any:
    if not path.is_file():
        raise Unusable(f"There is no file {path}.")
    name = f"candidate_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise Unusable(f"{path} is no Python module.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    folder, loader = str(path.resolve().parent), spec.loader
    if folder not in sys.path:
        sys.path.insert(0, folder)
    _loaded(lambda: loader.exec_module(module), str(path))
    return module


def _loaded(make: Callable[[], Any], where: str) -> Any:
    try:
        return limited(make, LOADING)
    except Interrupted:
        raise KeyboardInterrupt from None
    except BaseException as error:  # the code of others, which may raise anything
        fault = stopped(error, LOADING)
        words = fault.words if fault else f"raised {said(error)}"
        raise Unusable(f"{where} cannot be loaded: it {words}.") from error
