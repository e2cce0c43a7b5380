"""Exercises of the chapter with parts that no chain of laws answers: a label, the end of a search."""

from __future__ import annotations

from dataclasses import dataclass, replace

from grader.case import CaseAsk, part_of
from grader.exercise import Exercise
from grader.family import Family
from grader.menu import Draw
from grader.posing import Rejected, Undrawable, with_other_answers
from grader.wording import convention_of


@dataclass(frozen=True, eq=False)
class Preset(Family):
    """A family of one point that asks more of it than laws answer.

    Attributes:
        more: the parts behind those of `asks`, asked as of a case; see `grader.reckoned`.
        preset: it is one unless it is told otherwise.
    """

    preset: bool = True
    more: tuple[CaseAsk[Draw], ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of answer it asks for."""
        return tuple(dict.fromkeys([*super().kinds, *(ask.kind for ask in self.more)]))

    def search(self, slug: str, seed: int) -> tuple[Exercise, int]:
        """Make the exercise, the same for every seed.

        Raises:
            Undrawable: a question has no place in it.
        """
        base, tried = super().search(slug, seed)
        found = self._with_more(base)
        if isinstance(found, Rejected):
            raise Undrawable(slug, seed, found.reason)
        return found, tried

    def outcome(self, slug: str, point: int) -> tuple[Exercise | Rejected, list[str]]:
        """Make the exercise, or say why there is none; with the names of its slips."""
        base, names = super().outcome(slug, point)
        found = base if isinstance(base, Rejected) else self._with_more(base)
        return found, [*names, *(slip.slug for ask in self.more for slip in ask.slips)]

    def _with_more(self, base: Exercise) -> Exercise | Rejected:
        draw, parts = self.given.at(0), list(base.parts)
        for letter, ask in zip("abcdefgh"[len(parts) :], self.more, strict=False):
            part = part_of(letter, ask, ask.key(draw), draw)
            if isinstance(part, Rejected):
                return part
            parts.append(part)
        every = (*base.givens, *(given for part in parts for given in part.givens))
        convention = convention_of([given.unit for given in every], parts)
        return replace(base, parts=tuple(with_other_answers(parts)), convention=convention)
