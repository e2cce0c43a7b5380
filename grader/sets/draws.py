"""Individual draws: for every student of a class an own exercise of each item, all of them equally hard.

A draw comes from the course secret, the title of the set, the student's code and the place on the sheet. Equally hard
means that a place asks everybody for the same quantities, in the same units, by derivations of as many steps, for the
same points; whether such a value exists may differ, so that nobody can tell from a neighbour. No exercise goes to two
students while its family has one left, and none stands on a sheet where another one prints its answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain

from grader.exercise import Exercise
from grader.families import pose
from grader.posing import Undrawable
from grader.sets.definition import Item, ProblemSet
from grader.sets.secret import Secret
from grader.sets.sheets import Entry, Sheet, TooFew, content
from grader.sets.telling import Numbers
from grader.sets.tolerance import reached

LARGEST_SEED = 10**17  # of an individual draw
SAMPLE = 8  # draws of which the most common shape is the one that everybody gets
DRAWS_TRIED = 2000  # for one of that shape; what is the most common of a few draws is not rare
ALL_TAKEN = 50  # draws in a row that others have: then the family is taken to have no more

Shape = tuple[tuple[str, str, str, str, int], ...]


@dataclass(frozen=True, slots=True)
class Place:
    """One exercise of every sheet, numbered from 1, and the shape that it has on all of them."""

    number: int
    item: Item
    shape: Shape = ()


@dataclass(frozen=True, slots=True)
class Drawn:
    """A draw: the seed, and a digest of what the reader of the exercise sees."""

    seed: int
    digest: str


def shape(exercise: Exercise) -> Shape:
    """Return what makes exercises of a family equally hard: what each part asks for, and in how many steps it comes."""
    return tuple((p.part, p.asks, p.unit, p.kind, len(p.steps)) for p in exercise.parts)


def places(problem_set: ProblemSet, secret: Secret) -> tuple[Place, ...]:
    """Return the places of a set, each with the shape that the secret chooses.

    Raises:
        TooFew: a family has no exercise of the parts that its item gives points to.
        Undrawable: a seed of the set file gives no exercise.
    """
    items = [item for item in problem_set.items for _ in range(item.count)]
    return tuple(
        Place(number, item, _shape_of(problem_set.title, secret, number, item)) for number, item in enumerate(items, 1)
    )


def _shape_of(title: str, secret: Secret, number: int, item: Item) -> Shape:
    if item.seed is not None:
        return shape(pose(item.family, item.seed))
    stream = secret.stream("shape", title, number, item.family)
    found: Counter[Shape] = Counter()
    for _ in range(DRAWS_TRIED):
        # Whatever the tolerance, so that a new one changes nobody's shape.
        exercise = _posed(item.family, 1 + stream.below(LARGEST_SEED))
        if exercise and (not item.parts or [p.part for p in exercise.parts] == [letter for letter, _ in item.parts]):
            found[shape(exercise)] += 1
        if found.total() == SAMPLE:
            return found.most_common(1)[0][0]
    raise TooFew(item.family, item.count)


def _posed(family: str, seed: int) -> Exercise | None:
    try:
        return pose(family, seed)
    except Undrawable:
        return None


def candidates(title: str, secret: Secret, place: Place, student: str) -> Iterator[Drawn]:
    """Give the draws of a student for a place, in the order in which they are to be tried.

    Raises:
        TooFew: the family hardly has an exercise of the shape.
    """
    item = place.item
    if item.seed is not None:
        yield Drawn(item.seed, digest(pose(item.family, item.seed)))
        return
    stream = secret.stream("draw", title, student, place.number, item.family)
    missed = 0
    while missed < DRAWS_TRIED:
        seed = 1 + stream.below(LARGEST_SEED)
        exercise = _posed(item.family, seed)
        if exercise and shape(exercise) == place.shape and not reached(exercise, item.tolerance):
            missed = 0
            yield Drawn(seed, digest(exercise))
        else:
            missed += 1
    raise TooFew(item.family, item.count)


def digest(exercise: Exercise) -> str:
    """Return a digest of what the reader sees."""
    return blake2b(repr(content(exercise)).encode("utf-8", "backslashreplace"), digest_size=12).hexdigest()


def first_draws(title: str, secret: Secret, places: Sequence[Place], student: str) -> list[Drawn]:
    """Return the first draw of each place, whatever others have; this is most of the work, and nobody waits for it."""
    return [next(candidates(title, secret, place, student)) for place in places]


class Allotment:
    """Who has which exercise. Students are added one after the other, and who was added keeps what they have."""

    def __init__(self, title: str, secret: Secret, places: Sequence[Place]) -> None:
        self._title, self._secret, self._places = title, secret, places
        self._holders: Counter[tuple[str, str]] = Counter()
        self._allowed: Counter[str] = Counter()  # by family: how many others may have the exercise
        self.draws: dict[str, tuple[Drawn, ...]] = {}

    def keep(self, student: str, draws: Sequence[Drawn]) -> None:
        """Take over what a student was given before."""
        self.draws[student] = tuple(draws)
        for place, drawn in zip(self._places, draws, strict=True):
            self._holders[place.item.family, drawn.digest] += 1

    def add(self, student: str, first: Sequence[Drawn]) -> None:
        """Give a student an exercise for each place, `first` (of `first_draws`) where nobody has it yet.

        Raises:
            TooFew: a family does not have enough exercises for one sheet.
        """
        fixed = [(p.item.family, d) for p, d in zip(self._places, first, strict=True) if p.item.seed is not None]
        own = {(family, drawn.digest) for family, drawn in fixed}
        beside = [Numbers.of(pose(family, drawn.seed)) for family, drawn in fixed]
        draws = []
        for place, drawn in zip(self._places, first, strict=True):
            taken = drawn
            if place.item.seed is None:
                taken, numbers = self._free(student, place, drawn, own, beside)
                own.add((place.item.family, taken.digest))
                beside.append(numbers)
            draws.append(taken)
        self.keep(student, draws)

    def _free(
        self, student: str, place: Place, first: Drawn, own: set[tuple[str, str]], beside: Sequence[Numbers]
    ) -> tuple[Drawn, Numbers]:
        family = place.item.family
        missed, elsewhere = 0, False
        for drawn in chain([first], candidates(self._title, self._secret, place, student)):
            numbers = Numbers.of(pose(family, drawn.seed))
            telling = any(numbers.tells(other) for other in beside)
            if not telling and self._may_have((family, drawn.digest), own):
                return drawn, numbers
            missed, elsewhere = missed + 1, elsewhere or (not telling and (family, drawn.digest) not in own)
            if missed == ALL_TAKEN and not elsewhere:
                break
            if missed == ALL_TAKEN:
                self._allowed[family] += 1
                missed, elsewhere = 0, False
        raise TooFew(family, place.item.count)

    def _may_have(self, exercise: tuple[str, str], own: set[tuple[str, str]]) -> bool:
        return exercise not in own and self._holders[exercise] <= self._allowed[exercise[0]]

    def shared(self) -> dict[int, int]:
        """Return, by the number of the place, how many students have an exercise there that another has too."""
        return {
            place.number: shared
            for index, place in enumerate(self._places)
            if place.item.seed is None
            and (
                shared := sum(
                    self._holders[place.item.family, draws[index].digest] > 1 for draws in self.draws.values()
                )
            )
        }


def individual_sheet(
    problem_set: ProblemSet, places: Sequence[Place], student: str, name: str, draws: Sequence[Drawn]
) -> Sheet:
    """Return the sheet of a student from the draws that were allotted."""
    entries = tuple(
        Entry.of(place.number, place.item, pose(place.item.family, drawn.seed))
        for place, drawn in zip(places, draws, strict=True)
    )
    return Sheet(problem_set.title, student, entries, name)
