"""Options and arguments that several commands take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from grader.cli.address import AddressType

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

exercise_id: Decorator = click.argument("address", metavar="ID", type=AddressType())
part: Decorator = click.option("--part", metavar="LETTER", help="The part meant, of an exercise with several.")
as_json: Decorator = click.option("--json", "as_json", is_flag=True, help="Print one JSON object; words go to stderr.")
ledger: Decorator = click.option(
    "--ledger", metavar="FILE", help="The ledger; GRADE_LEDGER, else a file in your data folder."
)
_student: Decorator = click.option("--student", metavar="NAME", help="Who answers; GRADE_STUDENT, else the local user.")


def whose(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say which ledger and which student are meant."""
    return ledger(_student(command))
