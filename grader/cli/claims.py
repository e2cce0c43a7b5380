"""`grade claims`: the chapter's statements, what computing each says of it, and where they contradict each other."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from grader.cli import options
from grader.cli.output import Refused, examples, print_json, printed, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spec.claims import Claim, Conflict

COLOURS = {"holds": "green", "assumes": "yellow", "false": "red"}
WORDS = {
    "holds": "hold",
    "assumes": "hold under an assumption",
    "false": "are false",
    "not-checkable": "cannot be checked",
    "pending": "wait for the serving simulator",
}
INDENT = 6


@click.command(
    "claims",
    epilog=examples(
        "grade claims",
        "grade claims C125",
        "grade claims K1",
        "grade claims --section code --json",
        "grade claims --verdict false",
    ),
)
@click.argument("name", metavar="[ID]", required=False)
@click.option("--section", metavar="S", help="Only the statements of this section.")
@click.option("--verdict", metavar="V", help="Only holds, assumes, false, not-checkable or pending ones.")
@options.as_json
def command(name: str | None, section: str | None, verdict: str | None, *, as_json: bool) -> None:
    """Check the chapter's statements: the conflicts first, then the statements by section.

    A verdict is computed, not looked up: `holds` as it stands, `assumes` something that is named, `false` either way.
    ID is a statement, such as C125, or a conflict, such as K1.
    """
    from spec.claims import VERDICTS, claims, conflicts
    from spec.invariants.reference import Reference

    _known("section", section, dict.fromkeys(claim.section for claim in claims().values()))
    _known("verdict", verdict, VERDICTS)
    chosen, met = list(claims().values()), list(conflicts().values())
    if name is not None:
        wanted = name.strip().upper()
        _known("statement or conflict", wanted, [*claims(), *conflicts()])
        chosen, met = [c for c in chosen if c.id == wanted], [k for k in met if k.id == wanted]
    if section is not None:
        chosen = [claim for claim in chosen if claim.section == section]
        inside = {claim.id for claim in chosen}
        met = [conflict for conflict in met if name is not None or not inside.isdisjoint(conflict.claims)]
    impl = Reference()
    found = [_checked(claim, impl) for claim in chosen]
    if verdict is not None:
        found, met = [fields for fields in found if fields["verdict"] == verdict], []
    clashes = [_met(conflict, impl) for conflict in met]
    if as_json:
        print_json(conflicts=clashes, claims=found)
    elif not found and not clashes:
        click.echo("No statement is like that.")
    elif name is not None:
        for clash in clashes:
            _print_conflict(clash, _verdicts(clashes, [], impl))
        for fields in found:
            _print_claim(fields)
    else:
        _print_all(clashes, found, _verdicts(clashes, found, impl))


def _known(kind: str, name: str | None, known: Iterable[str]) -> None:
    from spec.catalog.names import alike

    if name is None or name in known:
        return
    near = alike(name, known)[:3]
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}."
    if kind.endswith("conflict") and not near:
        hint = "there are " + " and ".join(f"{ids[0]} to {ids[-1]}" for ids in _by_letter(known)) + "."
    raise Refused(f"There is no {kind} {name!r}; {hint}")


def _by_letter(ids: Iterable[str]) -> list[list[str]]:
    return [list(group) for _, group in groupby(ids, key=lambda name: name[0])]


def _checked(claim: Claim, impl: Any) -> dict[str, Any]:
    from spec.claims import conflicts_of, contradictions

    outcome = claim.outcome(impl)
    return {
        "id": claim.id,
        "section": claim.section,
        "says": claim.says,
        "verdict": claim.verdict_of(outcome),
        "assumption": claim.assumption or None,
        "contradicts": list(contradictions(claim)),
        "conflicts": list(conflicts_of(claim)),
        "computed": None if outcome is None else outcome.computed,
        "unchecked": claim.unchecked or None,
    }


def _met(conflict: Conflict, impl: Any) -> dict[str, Any]:
    return {
        "id": conflict.id,
        "says": conflict.says,
        "claims": list(conflict.claims),
        "numbers": conflict.computed(impl),
        "resolution": conflict.resolution,
    }


def _verdicts(clashes: list[dict[str, Any]], found: list[dict[str, Any]], impl: Any) -> dict[str, str]:
    """Return the verdict of every statement that is shown or that meets in a conflict, each checked once."""
    from spec.claims import claims

    verdicts = {fields["id"]: fields["verdict"] for fields in found}
    for name in {name for clash in clashes for name in clash["claims"]} - verdicts.keys():
        verdicts[name] = claims()[name].verdict(impl)
    return verdicts


def _print_all(clashes: list[dict[str, Any]], found: list[dict[str, Any]], verdicts: dict[str, str]) -> None:
    counts = {word: sum(fields["verdict"] == verdict for fields in found) for verdict, word in WORDS.items()}
    shown = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    printed(wrapped(f"{len(found)} statements: {shown}"), "blue")
    if clashes:
        click.echo()
        printed(f"{len(clashes)} conflicts between statements", "red")
    for clash in clashes:
        click.echo()
        _print_conflict(clash, verdicts)
    sections: dict[str, list[dict[str, Any]]] = {}
    for fields in found:
        sections.setdefault(fields["section"], []).append(fields)
    for section, inside in sections.items():
        click.echo()
        printed(section, "blue")
        for fields in inside:
            _print_claim(fields)


def _print_conflict(clash: dict[str, Any], verdicts: dict[str, str]) -> None:
    click.echo(wrapped(f"{clash['id']:<{INDENT}}{clash['says']}", INDENT))
    _line(f"Computed: {clash['numbers']}.")
    _line(f"Decided: {clash['resolution']}")
    met = [f"{name} ({verdicts[name]})" for name in clash["claims"]]
    _line(f"Statements: {', '.join(met)}.")


def _print_claim(fields: dict[str, Any]) -> None:
    printed(f"{fields['id']:<{INDENT}}{fields['verdict']}", COLOURS.get(fields["verdict"]))
    _line(fields["says"])
    if fields["assumption"]:
        _line(f"Assumes: {fields['assumption']}.")
    if fields["computed"]:
        _line(f"Computed: {fields['computed']}.")
    if fields["unchecked"]:
        _line(f"Not checked: {fields['unchecked']}.")
    if fields["contradicts"]:
        _line(f"Contradicts {', '.join(fields['contradicts'])}.")
    if fields["conflicts"]:
        _line(f"Conflicts: {', '.join(fields['conflicts'])}.")


def _line(text: str) -> None:
    click.echo(wrapped(f"{'':{INDENT}}{text}", INDENT))
