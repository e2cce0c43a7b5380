"""`grade new`: poses an exercise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from grader.cli import options
from grader.cli.address import MOST_DIGITS, PRESET_SEED, FamilyType
from grader.cli.learner import Learner, drawn, family, learner, shown
from grader.cli.output import Refused, examples
from grader.cli.posed import print_exercise

if TYPE_CHECKING:
    from grader.exercise import Exercise
    from grader.families import Poses

SEEDS_TRIED = 20


@click.command("new", epilog=examples("grade new", "grade new max-context --seed 7", "grade new littles-law --json"))
@click.argument("slug", metavar="[FAMILY]", required=False, type=FamilyType())
@click.option(
    "--seed", type=click.IntRange(0, 10**MOST_DIGITS - 1), metavar="N", help="Which exercise of the family; see above."
)
@options.as_json
@options.whose
def command(slug: str | None, seed: int | None, ledger: str | None, student: str | None, *, as_json: bool) -> None:
    """Pose an exercise and print its id, FAMILY/SEED.

    Without FAMILY it is of the family you met least often, the first of these in the alphabet. Without a seed it is
    the lowest seed from 1 on that you have not met. The same seed poses the same exercise everywhere.
    """
    with learner(ledger, student) as who:
        slug = (slug or _least_met(who)).lower()
        found = family(slug)
        exercise = who.pose(_unmet(who, found, slug) if seed is None else drawn(found, slug, seed))
    print_exercise(exercise, as_json=as_json)


def _least_met(who: Learner) -> str:
    from grader.families import slugs

    met = [address.partition("/")[0] for address in who.ids()]
    return min((slug for slug in slugs() if not family(slug).preset), key=met.count)


def _unmet(who: Learner, found: Poses, slug: str) -> Exercise:
    if found.preset:
        return drawn(found, slug, PRESET_SEED)
    met = set(who.ids())
    seeds = (seed for seed in range(1, len(met) + 1 + SEEDS_TRIED) if shown(slug, seed) not in met)
    for seed in seeds:
        try:
            return drawn(found, slug, seed)
        except Refused as error:
            last = error
    raise last
