"""How an exercise is named on the command line: `max-context/10`, `max-context@1/10`, `exercise-1`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

MOST_DIGITS = 18  # of a seed
PRESET_SEED = 0  # an exercise printed in the chapter has one draw, so its name alone is enough


class Address(NamedTuple):
    """The name of an exercise.

    Attributes:
        family: the slug.
        seed: None where the name of the family stands alone.
        revision: None where any will do.
    """

    family: str
    seed: int | None
    revision: int | None


def read_address(text: str) -> Address:
    """Read `FAMILY/SEED`, `FAMILY@REVISION/SEED` or the family alone.

    Raises:
        ValueError: it is none of them.
    """
    name, slash, seed = text.strip().partition("/")
    family, at, revision = name.partition("@")
    if not family or (slash and not _number(seed)) or (at and not _number(revision)):
        raise ValueError(text)
    return Address(family.lower(), int(seed) if slash else None, int(revision) if at else None)


def _number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS


class AddressType(click.ParamType[Address]):
    """The id of an exercise as an argument."""

    name = "id"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Address:
        """Read the id."""
        try:
            return read_address(value)
        except ValueError:
            self.fail(f"{value!r} names no exercise; an id is FAMILY/SEED, such as max-context/10.", param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002  click's signature
        """Offer the exercises that were posed on this ledger."""
        from click.shell_completion import CompletionItem

        from grader.cli.learner import posed_ids

        return [CompletionItem(i) for i in posed_ids(ctx.params) if i.startswith(incomplete)]


class FamilyType(click.ParamType[str]):
    """The name of a family as an argument."""

    name = "family"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002  as above
        """Offer the families."""
        from click.shell_completion import CompletionItem

        from grader.families import slugs

        return [CompletionItem(slug) for slug in slugs() if slug.startswith(incomplete)]
