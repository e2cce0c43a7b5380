"""`grade lab`: the chapter's lab, thirteen steps whose thirty-eight claims are measured when it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from grader.cli import options
from grader.cli.output import Refused, examples, print_json, printed, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spec.lab import Step

INDENT = 10  # "38  fails  "


@click.command("lab", epilog=examples("grade lab", "grade lab --step 7", "grade lab --step 12 --json"))
@click.option("--step", "wanted", metavar="N", help="Only this step, 1 to 13.")
@options.as_json
@click.pass_context
def command(ctx: click.Context, wanted: str | None, *, as_json: bool) -> None:
    """Run the lab: each claim is measured on the laws or on the simulated server, and holds or fails.

    Exit status 1 if a claim fails.
    """
    from spec.lab import STEPS

    chosen = dict(enumerate(STEPS, 1))
    if wanted is not None:
        chosen = {number: step for number, step in chosen.items() if str(number) == wanted.strip()}
        if not chosen:
            raise Refused(f"There is no step {wanted!r}; there are 1 to {len(STEPS)}.")
    measured = []
    for fields in _measured(chosen):
        measured.append(fields)
        if not as_json:
            _print_step(fields)
    claims = [claim for fields in measured for claim in fields["claims"]]
    holds = sum(claim["holds"] for claim in claims)
    if as_json:
        print_json(holds=holds, of=len(claims), steps=measured)
    else:
        printed(f"{holds} of {len(claims)} claims hold", "green" if holds == len(claims) else "red")
    ctx.exit(0 if holds == len(claims) else 1)


def _measured(steps: dict[int, Step]) -> Iterator[dict[str, Any]]:
    from spec.invariants.reference import Reference

    impl = Reference()
    for number, step in steps.items():
        found = []
        for claim in step.claims:
            outcome = claim.outcome(impl)
            found.append(
                {
                    "claim": int(claim.id),
                    "says": claim.says,
                    "measured": outcome.computed if outcome else "",
                    "holds": outcome is not None and outcome.general,
                }
            )
        yield {"step": number, "title": step.title, "note": step.note or None, "claims": found}


def _print_step(fields: dict[str, Any]) -> None:
    printed(f"Step {fields['step']}: {fields['title']}", "blue")
    for claim in fields["claims"]:
        verdict = click.style("holds", fg="green") if claim["holds"] else click.style("fails", fg="red", bold=True)
        head, *rest = wrapped(f"{'':{INDENT}}{claim['says']}", INDENT).splitlines()
        printed(f"{claim['claim']:>2}  {verdict} {head[INDENT:]}")
        for line in rest:
            click.echo(line)
        click.echo(wrapped(f"{'':{INDENT}}Measured: {claim['measured']}.", INDENT))
    if fields["note"]:
        click.echo(wrapped(f"    Note: {fields['note']}", INDENT))
    click.echo()
