"""`grade check`: another implementation held against the laws."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

import click

from grader.cli import options
from grader.cli.output import Refused, examples, print_json, printed

if TYPE_CHECKING:
    from spec.conformance.candidate import Candidate


@click.command(
    "check",
    epilog=examples(
        "grade check spec.conformance.example --law kv_bytes_per_token",
        after="For another language: grade check --command 'node adapter.mjs'. spec/conformance/README.md tells what\n"
        "a candidate is, and PROTOCOL.md beside it which lines such a program reads and writes.",
    ),
)
@click.argument("where", metavar="[CANDIDATE]", required=False)
@click.option("--command", "program", metavar="CMD", help="A program that answers JSON lines, in any language.")
@click.option("--deviations", metavar="FILE", help="A TOML file of known deviations, each with its reason.")
@click.option("--law", "laws", metavar="LAW", multiple=True, help="Check only this law; may be given again.")
@click.option(
    "--time-limit", metavar="S", type=click.FloatRange(min=0, min_open=True), default=10.0, help="Seconds for a call."
)
@click.option("--examples", "count", metavar="N", type=click.IntRange(min=2), default=40, help="Points of every check.")
@options.as_json
def command(
    where: str | None,
    program: str | None,
    deviations: str | None,
    laws: tuple[str, ...],
    time_limit: float,
    count: int,
    *,
    as_json: bool,
) -> int:
    """Hold another implementation against the laws.

    CANDIDATE is a module, module:object or file.py whose functions are named as quantities and take the quantities
    of a law by keyword: kv_bytes_per_token(layers, kv_heads, head_dim, kv_width). What is missing is skipped.

    Exit status: 0 every law that is implemented is obeyed, 1 a law is broken, 2 the candidate cannot be used.
    """
    if (where is None) == (program is None):
        raise click.UsageError("Name a candidate, or a program with --command.")
    from spec.conformance import report
    from spec.conformance.declared import Unusable
    from spec.conformance.deviations import read, sorted_out
    from spec.conformance.suite import check

    candidate: Candidate | None = None
    try:
        known = read(deviations) if deviations else {}
        with redirect_stdout(sys.stderr):  # what a candidate prints is no part of the report
            candidate = _found(where, program, time_limit)
            outcome = check(candidate, examples=count, laws=laws)
        found = sorted_out(outcome, known)
    except Unusable as error:
        raise Refused(str(error)) from error
    finally:
        if candidate is not None:
            candidate.close()
    if not outcome.obeyed and not outcome.broken:
        raise Refused(report.nothing(outcome))
    if as_json:
        print_json(**report.as_json(outcome, found, candidate.declared))
    else:
        title, _, rest = report.text(outcome, found, candidate.declared).partition("\n")
        printed(title, "red" if found.broken else "green")
        click.echo(rest)
    return int(bool(found.broken))


def _found(where: str | None, program: str | None, time_limit: float) -> Candidate:
    from spec.conformance.candidate import load
    from spec.conformance.protocol import Program

    return Program(program, time_limit) if program is not None else load(where or "", time_limit)
