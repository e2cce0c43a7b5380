"""Commands that take a negative number as a plain argument."""

from __future__ import annotations

import click

LEAST_LETTERS = 3  # of a word after one dash that may be a mistyped option rather than a negative formula


class Answering(click.Command):
    """A command whose arguments may begin with a minus sign, while a mistyped option stays an error."""

    ignore_unknown_options = True

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse words that look like options and are none, then take the rest as they come."""
        known = [name for param in self.get_params(ctx) for name in param.opts if name.startswith("--")]
        for word in args[: args.index("--")] if "--" in args else args:
            name = word.partition("=")[0]
            if name not in known and _meant_as_option(name, known):
                raise click.NoSuchOption(name, possibilities=known, ctx=ctx)
        return super().parse_args(ctx, args)


def _meant_as_option(word: str, known: list[str]) -> bool:
    letters = word.lstrip("-")
    if word.startswith("--"):
        return letters[:1].isalpha()
    if not word.startswith("-") or len(letters) < LEAST_LETTERS or not letters.replace("-", "").isalpha():
        return False
    from difflib import get_close_matches

    return bool(get_close_matches(letters, [name.lstrip("-") for name in known], 1, 0.75))
