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
    from collections.abc import Mapping, Sequence

    from grader.exercise import Exercise
    from grader.families import Poses
    from grader.practising import Entry, Objective

SEEDS_TRIED = 20


@click.command("new", epilog=examples("grade new", "grade new max-context --seed 10", "grade new littles-law --json"))
@click.argument("slug", metavar="[FAMILY]", required=False, type=FamilyType())
@click.option(
    "--seed", type=click.IntRange(0, 10**MOST_DIGITS - 1), metavar="N", help="Which exercise of the family; see above."
)
@options.as_json
@options.whose
def command(slug: str | None, seed: int | None, ledger: str | None, student: str | None, *, as_json: bool) -> None:
    """Pose an exercise and print its id, FAMILY/SEED.

    Without FAMILY it is the exercise that `grade practice` would ask next. With a family and without a seed it is the
    lowest seed from 1 on that you have not met. The same seed poses the same exercise everywhere.
    """
    with learner(ledger, student) as who:
        if slug is None and seed is None:
            exercise = posed_next(who)
        else:
            slug = (slug or _needed(who)).lower()
            found = family(slug)
            exercise = who.pose(_unmet(who, found, slug) if seed is None else drawn(found, slug, seed))
    print_exercise(exercise, as_json=as_json)


def posed_next(who: Learner, among: Mapping[str, Entry] | None = None, of: Sequence[Objective] = ()) -> Exercise:
    """Pose the exercise that is needed next, of all families and objectives, or of those given.

    Raises:
        Refused: there is none.
    """
    from grader.posing import Undrawable
    from grader.practising import OBJECTIVES, families, history, pose_next

    known = history(who.ledger, who.student)
    try:
        exercise = pose_next(who.ledger, who.student, known, among or families(), of or OBJECTIVES)
    except Undrawable as error:
        raise Refused(f"{error.slug} has no further exercise ({error.reason}).") from error
    if exercise is None:
        raise Refused("There is no family to draw an exercise from.")
    return exercise


def _needed(who: Learner) -> str:
    from grader.practising import OBJECTIVES, choose, families, history

    slug = choose(history(who.ledger, who.student), families(), OBJECTIVES)
    if slug is None:
        raise Refused("There is no family to draw an exercise from.")
    return slug


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
