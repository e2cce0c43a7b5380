"""`grade regrade`: judges every stored answer again, and shows which marks change."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli import options
from grader.cli.output import Refused, aside, counted, examples, print_json
from grader.cli.records import records

if TYPE_CHECKING:
    from grader.ledger import Ledger
    from grader.reporting.regrading import Again, Change

LONGEST = 60  # characters of an answer on a line


@click.command(
    "regrade",
    epilog=examples(
        "grade regrade --diff",
        "grade regrade --diff --student ada --json",
        after="After a correction: grade regrade --key week-1/keys/key.json --diff\n"
        '  and then: grade regrade --key week-1/keys/key.json --apply --reason "2 % was promised."',
    ),
)
@click.option("--diff", is_flag=True, expose_value=False, help="List the marks that change, which it always does.")
@click.option("--apply", "applying", is_flag=True, help="Record the new marks; the old ones stay beside them.")
@click.option("--reason", metavar="TEXT", help="Why, with --apply; it is recorded with every mark.")
@click.option("--keep-higher", is_flag=True, help="With --apply: leave every mark that would be lowered.")
@click.option("--key", metavar="FILE", help="The key.json of a set: judge the answers to it by the records there.")
@click.option("--student", metavar="NAME", help="Only the answers of one student.")
@click.option("--family", metavar="NAME", help="Only the answers to one family.")
@options.as_json
@options.ledger
def command(
    reason: str | None,
    key: str | None,
    student: str | None,
    family: str | None,
    ledger: str | None,
    *,
    applying: bool,
    keep_higher: bool,
    as_json: bool,
) -> None:
    """Judge every stored answer again, and list the marks that change with the old and the new reason.

    Answers are judged from their text as typed, by the record of the exercise as it was posed. A family that has been
    revised since draws other exercises, so old answers stay with their old record. Where a key file holds a corrected
    record of an exercise, such as one of another tolerance, --key judges by that. Only --apply writes: each new mark
    becomes a row of its own, with the reason, and the old one stays.
    """
    from grader.answers import BadKey, read_key
    from grader.reporting.regrading import OtherQuestion, judged_again

    if applying != bool(reason and reason.strip()):
        raise click.UsageError(
            "--apply needs --reason, which is recorded with every mark." if applying else "--reason goes with --apply."
        )
    if keep_higher and not applying:
        raise click.UsageError("--keep-higher goes with --apply.")
    try:
        known = read_key(Path(key)) if key else None
        with records(ledger) as opened:
            if opened is None:
                _print([], [], applied=0, as_json=as_json)
                return
            found = list(judged_again(opened, known, student, family))
            applied = [_applied(opened, again, str(reason), keep_higher=keep_higher) for again in found if applying]
    except (BadKey, OtherQuestion) as error:
        raise Refused(str(error)) from error
    _print(found, [change for again in found for change in again.changes], applied=sum(applied), as_json=as_json)
    if not applying and any(again.changes or again.records for again in found):
        aside("Nothing was recorded; --apply --reason TEXT records it.")


def _applied(ledger: Ledger, again: Again, reason: str, *, keep_higher: bool) -> int:
    from grader.reporting.regrading import LOWERED, apply

    changes = [change for change in again.changes if not (keep_higher and change.effect == LOWERED)]
    return apply(ledger, again, changes, reason.strip())


def _print(found: list[Again], changes: list[Change], *, applied: int, as_json: bool) -> None:
    from grader.exercise import exact
    from grader.reporting.regrading import LOWERED, RAISED, SAME

    judged, beyond = sum(again.judged for again in found), sum(again.beyond for again in found)
    newer = sum(len(again.records) for again in found)
    effects = {effect: sum(change.effect == effect for change in changes) for effect in (RAISED, LOWERED, SAME)}
    if as_json:
        print_json(
            judged=judged,
            changed=len(changes),
            **effects,
            records=newer,
            beyond=beyond,
            applied=applied,
            changes=[
                {
                    "student": change.submission.student,
                    "exercise": f"{change.submission.family}/{change.submission.seed}",
                    "part": change.submission.part,
                    "answer": change.submission.raw,
                    "effect": change.effect,
                    "before": {"verdict": change.old.verdict, "score": exact(change.old.score)}
                    | {"slips": list(change.old.slips), "reason": change.before},
                    "now": {"verdict": change.new.verdict, "score": exact(change.new.score)}
                    | {"slips": [d.slip for d in change.new.diagnoses], "reason": change.now},
                    "receipt": change.submission.receipt,
                }
                for change in changes
            ],
        )
        return
    for change in sorted(changes, key=lambda change: (LOWERED, RAISED, SAME).index(change.effect)):
        _print_change(change)
    counts = f"{effects[RAISED]} raised, {effects[LOWERED]} lowered, {effects[SAME]} the same for another reason"
    click.echo(f"{counted(judged, 'answer')} judged again. " + (f"Changed: {counts}." if changes else "None changes."))
    if newer:
        click.echo(f"Of {counted(newer, 'exercise')} the key has another record than the ledger.")
    if beyond:
        aside(f"Left, as this version cannot judge their kind: {counted(beyond, 'answer')}.")
    if applied:
        click.echo(f"Recorded: {counted(applied, 'new mark')}, beside the old.")


def _print_change(change: Change) -> None:
    from grader.exercise import exact
    from grader.feedback import visible

    row = change.submission
    text = visible(row.raw if len(row.raw) <= LONGEST else f"{row.raw[:LONGEST]}...")
    click.echo(f"{change.effect}: {visible(row.student)}, {row.family}/{row.seed} {row.part}, {text!r}")
    click.echo(f"  before  {change.old.verdict}, {exact(change.old.score)}. {change.before}".rstrip())
    click.echo(f"  now     {change.new.verdict}, {exact(change.new.score)}. {change.now}".rstrip())
