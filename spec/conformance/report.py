"""The report of a run: a table of laws, then each fault as a short paragraph; or the same as one JSON object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from textwrap import fill
from typing import Any

from spec.conformance.declared import Declared
from spec.conformance.deviations import Sorted
from spec.conformance.judging import Reply
from spec.conformance.looks_like import Likeness
from spec.conformance.managing import SENTENCES
from spec.conformance.suite import OTHERS, Failure, Report, Useless
from spec.conformance.wording import law_in_words, likely, sentence, told
from spec.solving import Exact

ALSO = 3  # sentences that are named beside a broken law
WIDTH = 88


def text(report: Report, found: Sorted, declared: Declared, *, faults: bool = True, width: int = WIDTH) -> str:
    """Print the table, the faults unless they are told elsewhere, and what is not implemented."""
    blocks = ["\n".join([fill(summary(report, found), width), *_table(report, found)])]
    blocks += [
        "\n".join(fill(line, width, **INDENT) for line in block)
        for block in _blocks(report, found, declared, faults=faults)
    ]
    return "\n\n".join(blocks)


INDENT: Any = {"subsequent_indent": "  ", "break_long_words": False, "break_on_hyphens": False}


def _table(report: Report, found: Sorted) -> Iterator[str]:
    rows = [(name, "BROKEN", _short(found, name)) for name in found.broken]
    rows += [(name, "deviates", _why(found, name)) for name in found.deviating]
    rows += [(name, "obeyed", "") for name in report.obeyed]
    width = max((len(name) for name, _, _ in rows), default=0)
    if rows:
        yield ""
    for name, result, words in rows:
        yield f"{name:<{width}}  {result:<8}  {words}".rstrip()


def summary(report: Report, found: Sorted) -> str:
    """Return the run in one line."""
    counts = [f"{len(report.obeyed)} obeyed", f"{len(found.broken)} broken"]
    counts += [f"{len(found.deviating)} known to deviate"] * bool(found.deviating)
    laws = len(report.obeyed) + len(found.broken) + len(found.deviating)
    checked = f"{laws} law{'s' * (laws != 1)} checked in {report.calls:,} calls"
    return f"{report.title}: {checked}: {', '.join(counts)}; {len(report.missing)} not implemented."


def nothing(report: Report) -> str:
    """Say in one sentence why nothing could be checked."""
    if report.unasked:
        name, why = next(iter(report.unasked.items()))
        return f"{report.title} has nothing to check: of {name}, {why}."
    return f"{report.title} has nothing to check: no function of it is named as a quantity and takes those of a law."


def _short(found: Sorted, law: str) -> str:
    for one in found.useless:
        if law in one.laws:
            return f"{one.function} {one.fault.words}"
    failures = [failure for failure in found.faults if law in failure.laws]
    explained = next((_briefly(failure.likely) for failure in failures if failure.likely), "")
    return explained or next((failure.reply.wrong for failure in failures if failure.reply is not None), "")


def _briefly(found: Sequence[Likeness]) -> str:
    """Print the first explanation, a factor together with the slip that it comes from."""
    first, *others = found
    slips = [like.slug for like in others if like.sentence.endswith(".")]
    return f"{first.sentence} ({slips[0]})" if first.slug == "factor" and slips else likely([first])


def _why(found: Sorted, law: str) -> str:
    return next(reason for fault, reason in found.deviations if law in fault.laws)


def _blocks(report: Report, found: Sorted, declared: Declared, *, faults: bool) -> Iterator[list[str]]:
    seen: set[str] = set()
    for law in found.broken if faults else ():
        yield list(_fault(law, found, declared, seen))
    if report.unasked:
        yield [f"{name} is not checked: {why}." for name, why in report.unasked.items()]
    if report.missing:
        yield [f"Not implemented: {', '.join(_missing(report))}."]
    if found.over:
        yield [f"{name} no longer deviates; its line in the file of deviations can go." for name in found.over]


def _missing(report: Report) -> list[str]:
    """Name what is not implemented, the sentences on a cache manager as one where there is none."""
    whole = set(SENTENCES) <= set(report.missing)
    return [name for name in report.missing if not whole or name not in SENTENCES] + ["CacheManager"] * whole


def _fault(law: str, found: Sorted, declared: Declared, seen: set[str]) -> Iterator[str]:
    yield f"{law} is broken. {OTHERS.get(law) or law_in_words(law)}"
    yield from (f"  {sentence(one, declared)}" for one in found.useless if law in one.laws)
    failures = [failure for failure in found.faults if law in failure.laws]
    direct = [f for f in failures if f.told or (f.reply is not None and f.check == f.reply.asked.call)]
    for failure in direct or failures[:1]:
        if failure not in direct:
            yield f"  {failure.says} ({failure.check})"
        if failure.check in seen:
            yield f"  {failure.check}: as told above."
        else:
            yield from (f"  {line}" for line in told(failure, declared))
        seen.add(failure.check)
    others = [failure for failure in failures if failure not in (direct or failures[:1])]
    if others:
        plain = sorted(others, key=lambda failure: ":" in failure.check)  # written sentences before derived ones
        yield from (f"  So it also breaks: {failure.says} ({failure.check})" for failure in plain[:ALSO])
        if len(others) > ALSO:
            more = len(others) - ALSO
            yield f"  And {more} more {'sentence' if more == 1 else 'sentences'}."


def as_json(report: Report, found: Sorted, declared: Declared) -> dict[str, Any]:
    """Return the report as plain data."""
    faults: list[Failure | Useless] = [*found.useless, *found.faults]
    results = dict.fromkeys(found.broken, "broken") | dict.fromkeys(found.deviating, "deviates")
    results |= dict.fromkeys(report.obeyed, "obeyed") | dict.fromkeys(report.missing, "not-implemented")
    return {
        "candidate": report.title,
        "laws": results,
        "faults": [_as_data(fault, declared) for fault in faults],
        "deviations": [_as_data(fault, declared) | {"reason": reason} for fault, reason in found.deviations],
        "over": list(found.over),
        "skipped": dict(report.skipped),
        "unasked": dict(report.unasked),
        "calls": report.calls,
    }


def _as_data(fault: Failure | Useless, declared: Declared) -> dict[str, Any]:
    if isinstance(fault, Useless):
        return {
            "laws": list(fault.laws),
            "check": fault.function,
            "kind": fault.fault.kind,
            "message": sentence(fault, declared),
        }
    reply = fault.reply
    return {
        "laws": list(fault.laws),
        "check": fault.check,
        "kind": "wrong",
        "says": fault.says,
        "message": " ".join(told(fault, declared)),
        "counterexample": {name: _exact(value) for name, value in fault.point.items()},
        "looks_like": [
            {"slug": like.slug, "laws": list(like.laws), "sentence": like.sentence} for like in fault.likely
        ],
        **({} if reply is None else _values(reply, declared)),
    }


def _values(reply: Reply, declared: Declared) -> dict[str, Any]:
    name = reply.asked.name
    return {
        "call": {n: _exact(declared.stated(n, reply.values[n])) for n in reply.asked.given if n in reply.asked.passed},
        "units": {n: declared.unit_name(n) for n in reply.asked.given},
        "unit": declared.unit_name(name) if reply.asked.steps else "",
        "got": _plain(reply.got, name, declared),
        "right": _plain(reply.right, name, declared),
    }


def _plain(value: Any, name: str, declared: Declared) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return _exact(declared.stated(name, value)) if isinstance(value, int | Fraction) else "none"


def _exact(value: Exact) -> str:
    return str(Fraction(value))
