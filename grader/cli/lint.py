"""`grade lint`: says what the file of a family lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from grader.cli import options
from grader.cli.output import Refused, aside, examples, print_json, printed, wrapped

if TYPE_CHECKING:
    from grader.linting import Lack

SENTENCES = {
    # The file.
    "no-python": "It is no Python file: a family is a module such as problems/max_context.py.",
    "unreadable": "It cannot be read: {why}.",
    "syntax": "Line {line} is no Python: {why}.",
    "fails": "Line {line} stops it: {why}.",
    "no-family": "It has no `family`: the name that holds a Family, a CaseFamily or a FormulaFamily.",
    "other-thing": "Its `family` is a {kind}, not a family: it cannot pose exercises.",
    "file-name": "The name {slug} of the file has other signs than small letters, digits and underscores.",
    "no-docstring": "It does not begin with a sentence that says what the family asks for.",
    "revision": "Its revision is {revision}; the first one is 1.",
    "objective": "The objective {name} is none of the chapter's: {known}.",
    "section": "The chapter has no section {name}; it has {known}.",
    # The menu and the laws.
    "small-grid": "Its menu has {size} points; {wanted} are wanted, so that seeds differ.",
    "menu-unit": "The menu's {choice} for {name} is no amount of it: {why}.",
    "menu-domain": "The menu's {choice} for {name} lies outside its domain, {domain}.",
    "not-used": "The menu draws {name}, which no question needs and no text prints.",
    "undefined": "A text names what it has no value for: {why}.",
    "no-derivation": "The laws in `by` do not lead to {goal}: {missing} is missing.",
    "unit": "A unit is not known: {why}.",
    "raises": "A function of the family raises {why}.",
    "float": "A function of the family gives the float {value}; numbers are exact here: integers and Fractions.",
    # Drawing.
    "undrawable": "Seed {seed} poses nothing; the last point was rejected because: {why}.",
    "many-tried": "A seed tries {tried} points before it finds a good one; {wanted} at most are wanted. "
    "Narrow the menu or `keep`.",
    "few-different": "Of {of} seeds only {different} differ.",
    "on-the-key": "The slip {slip} says the same as the key at {share} of the points, so it is hardly a slip there.",
    "never-asked": "{name} is declared as an unknown and never asked with an answer.",
    # Answers.
    "wide": "The tolerance {tolerance} of {part} is too wide: from {limit} on it would hide K against Ki.",
    "narrow": "The tolerance {tolerance} of {part} is too narrow: three significant figures need {limit}.",
    "few-slips": "{part} has only {slips} different wrong answers in {id}; {wanted} are wanted.",
    "slip-twice": "The slip {slip} stands twice in one question.",
    "slip-never": "The slip {slip} gives no wrong answer of its own in any of {seeds} seeds.",
    "slip-name": "The slip name {slip} has other signs than small letters, digits and dashes.",
    "slip-sentence": "The sentence of the slip {slip} is none: it needs a capital and a full stop.",
    "not-declared": "{share} of its points have no answer, and the family does not say `infeasible=True`.",
    "no-reason": "{id} has no answer and does not say why.",
    # Words.
    "statement-end": "The statement of {id} does not end with a full stop.",
    "typography": "A text of {id} has a double space, a space before a comma, or a value that was not written out.",
    "no-convention": "{id} prints sizes and does not say what GB and GiB mean.",
    "question": "Part {part} of {id} does not ask in a sentence.",
    "key-told": "A text of {id} prints the key.",
    "given-not-told": "The given {name} stands in no text of {id}.",
    "hints": "{id} has {given} hints; {wanted} are wanted.",
    "no-solution": "{id} has no worked solution.",
}


@click.command("lint", epilog=examples("grade lint problems/max_context.py", "grade lint problems/ttft.py --json"))
@click.argument("path", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@options.as_json
def command(path: str, *, as_json: bool) -> int:
    """Say in sentences what the file of a family lacks before it can be certified.

    The file is run, wherever it lies, and its first seeds are posed. docs/authoring.md tells how a family is written.
    Exit status: 0 nothing is missing, 1 something is, 2 there is no family to look at.
    """
    from pathlib import Path

    from grader.linting import SEEDS, NoFamily, lacks, loaded

    try:
        slug, family, says = loaded(Path(path))
    except NoFamily as error:
        raise Refused(f"{path}: {sentence(error.lack)}") from error
    found = lacks(slug, family, says)
    if as_json:
        print_json(family=slug, seeds=SEEDS, lacks=[{"lack": lack.code, "sentence": sentence(lack)} for lack in found])
        return int(bool(found))
    if not found:
        printed(f"{slug} lacks nothing that {SEEDS} seeds show.", "green")
        aside(f"To certify it: python -m grader.certify {slug}")
        return 0
    for lack in found:
        click.echo(wrapped(f"- {sentence(lack)}", indent=2))
    return 1


def sentence(lack: Lack) -> str:
    """Put a lack into words."""
    return SENTENCES[lack.code].format(**lack.about)
