"""What a format cannot judge: said before anything is written, with the formats that can do with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grader.sets.rendering import NoFormat, format_names, writer


class CannotJudge(ValueError):
    """A platform cannot judge what an exercise asks for; the message is one sentence.

    Attributes:
        number, family: the exercise.
        kind: of the answer.
        refused: the formats that were wanted and cannot.
        able: those that can.
    """

    def __init__(self, number: int, family: str, kind: str, refused: Sequence[str], able: Sequence[str]) -> None:
        super().__init__(number, family, kind, refused, able)
        self.number, self.family, self.kind = number, family, kind
        self.refused, self.able = tuple(refused), tuple(able)

    def __str__(self) -> str:
        return (
            f"Exercise {self.number}, {self.family}, asks for a {self.kind}, which {' and '.join(self.refused)} cannot "
            f"judge; these formats can have it: {', '.join(self.able)}."
        )


def check(places: Iterable[tuple[int, str, Iterable[str]]], formats: Sequence[str]) -> None:
    """Check that all formats can judge what is asked.

    Args:
        places: the number of each exercise, its family, and the kinds of its parts.
        formats: their names.

    Raises:
        CannotJudge: one cannot.
        NoFormat: there is no such format.
    """
    for number, family, kinds in places:
        for kind in kinds:
            refused = [name for name in formats if kind in writer(name).refuses]
            if refused:
                able = [name for name in format_names() if _judges(name, kind)]
                raise CannotJudge(number, family, kind, refused, able)


def _judges(name: str, kind: str) -> bool:
    try:
        return kind not in writer(name).refuses
    except NoFormat:
        return False
