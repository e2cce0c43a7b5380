"""`grade list`: the families of exercises."""

from __future__ import annotations

import click

from grader.cli import options
from grader.cli.output import Refused, examples, print_json


@click.command("list", epilog=examples("grade list", "grade list --objective memory-partition --json"))
@click.option("--objective", metavar="NAME", help="Only families that train this objective.")
@options.as_json
def command(objective: str | None, *, as_json: bool) -> None:
    """List the families of exercises, with objective, chapter section and kinds of answer."""
    from grader.families import family, slugs

    families = [(slug, family(slug)) for slug in slugs()]
    objectives = sorted({found.objective for _, found in families})
    if objective is not None and objective not in objectives:
        raise Refused(f"No family trains {objective!r}; the objectives are {', '.join(objectives)}.")
    chosen = [(slug, found) for slug, found in families if objective in {None, found.objective}]
    if as_json:
        print_json(
            families=[
                {"family": slug, "objective": f.objective, "section": f.section, "kinds": list(f.kinds)}
                for slug, f in chosen
            ]
        )
        return
    rows = [("family", "objective", "section", "answers")]
    rows += [(slug, f.objective, f.section, ", ".join(f.kinds)) for slug, f in chosen]
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    for row in rows:
        click.echo("  ".join(f"{cell:{width}}" for cell, width in zip(row, [*widths, 0], strict=True)).rstrip())
