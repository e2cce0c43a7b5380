"""`grade incident`: the production story replayed, under every cure that was tried."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from grader.cli import options
from grader.cli.output import examples, print_json, printed, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spec.serving.incident import Card, Outcome

GPUS = {"40 GB": "a100-40gb", "80 GB": "a100-80gb"}
MODEL, WEIGHTS = "chapter-7b", 14 * 10**9  # bytes: as the chapter rounds them
CASES = 18
SHOWN = 2  # broken batches of each row
WORDS = 3  # columns before the numbers
HEADS = ("card", "batching", "admission", "out of memory", "lost", "p99 TTFT", "mean latency", "elsewhere")


@click.command("incident", epilog=examples("grade incident", "grade incident --seed 2 --all", "grade incident --json"))
@click.option("--seed", type=click.IntRange(0), default=1, metavar="N", help="Draw other documents; 1.")
@click.option("--all", "everything", is_flag=True, help="Name every batch that broke, not the first two of each row.")
@options.as_json
def command(seed: int, *, everything: bool, as_json: bool) -> None:
    """Replay the production story: documents on which a server runs out of memory.

    600 documents of about 5,000 tokens, one every five seconds, come to static batches of 4 or 16 or to a continuous
    one of 16, on 40 or 80 GB, with no check on admission, of the prompt alone, or of the prompt and the limit of the
    answer.
    """
    from grader.simulation.story import ordered

    pairs = []
    for pair in replayed(seed):
        pairs.append(pair)
        _progress(len(pairs))
    cards = {outcome.card: card for outcome, card in pairs}
    outcomes = ordered([outcome for outcome, _ in pairs])
    if as_json:
        _print_json(outcomes, cards, seed)
    else:
        _print(outcomes, cards, seed, everything=everything)


def replayed(seed: int) -> Iterator[tuple[Outcome, Card]]:
    """Give the outcomes of the story on both cards, each with its card."""
    from grader.simulation.machine import machine
    from spec.catalog import gpu, model
    from spec.serving.incident import replay

    given = {"weights": WEIGHTS}
    cards = {name: machine(name, given, model(MODEL), gpu(row)).card for name, row in GPUS.items()}
    for outcome in replay(list(cards.values()), seed):
        yield outcome, cards[outcome.card]


def _progress(number: int) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r\033[K{number} of {CASES} cases" if number < CASES else "\r\033[K", err=True, nl=False)


def _print(outcomes: list[Outcome], cards: dict[str, Card], seed: int, *, everything: bool) -> None:
    from grader.simulation.story import ADMISSIONS, another, breakage, compared, cured_by, cures, single
    from grader.simulation.words import seconds

    table: list[tuple[str, ...]] = [HEADS]
    for outcome in outcomes:
        found, (times, lost) = outcome.metrics, another(outcome)
        table.append(
            (
                outcome.card,
                outcome.batching,
                ADMISSIONS[outcome.reserve],
                f"{found.out_of_memory:,}",
                f"{found.lost:,}",
                seconds(found.ttft.p99) if found.ttft else "",
                seconds(found.latency.mean) if found.latency else "",
                f"{times} / {lost}",
            )
        )
    widths = [max(len(row[n]) for row in table) for n in range(len(HEADS))]
    for number, row in enumerate(table):
        words, numbers = list(zip(row, widths, strict=True))[:WORDS], list(zip(row, widths, strict=True))[WORDS:]
        cells = [f"{cell:{width}}" for cell, width in words] + [f"{cell:>{width}}" for cell, width in numbers]
        printed("  ".join(cells).rstrip(), None if number else "blue")
    click.echo()
    note = f"{len(outcomes[0].requests)} documents, seed {seed}. {compared(outcomes)}"
    click.echo(wrapped(note))
    click.echo()
    printed("Which documents broke which batch: number (tokens of prompt)", "blue")
    for outcome in outcomes:
        crashes = outcome.crashes if everything else outcome.crashes[:SHOWN]
        if crashes:
            click.echo(f"{outcome.card}, {outcome.batching}, admission {ADMISSIONS[outcome.reserve]}:")
        for crash in crashes:
            click.echo(wrapped(f"  - {breakage(outcome, crash, cards[outcome.card].tokens)}", 4))
        if len(crashes) < len(outcome.crashes):
            click.echo(f"  - and {len(outcome.crashes) - len(crashes)} more; --all names them.")
    click.echo()
    click.echo(wrapped(single(outcomes)))
    click.echo("Each change alone, whatever else was done:")
    for sentence in cures(outcomes):
        click.echo(wrapped(f"- {sentence}", 2))
    printed(wrapped(cured_by(outcomes)), "green")


def _print_json(outcomes: list[Outcome], cards: dict[str, Card], seed: int) -> None:
    from grader.simulation.story import another, compared, cured_by, cures, milliseconds, single

    ticks = {name: card.timing.ticks_per_second for name, card in cards.items()}
    print_json(
        seed=seed,
        documents={number: request.prompt for number, request in outcomes[0].requests.items()},
        rows=[
            {
                "card": outcome.card,
                "kv_tokens": cards[outcome.card].tokens,
                "batching": outcome.batching,
                "admission": outcome.reserve.value,
                "out_of_memory": outcome.metrics.out_of_memory,
                "lost": outcome.metrics.lost,
                "served": outcome.metrics.done,
                "ttft_p99": outcome.metrics.ttft and milliseconds(outcome.metrics.ttft.p99),
                "latency_mean": outcome.metrics.latency and milliseconds(outcome.metrics.latency.mean),
                "elsewhere": dict(zip(("out_of_memory", "lost"), another(outcome), strict=True)),
                "broken": [
                    {
                        "seconds": round(crash.tick / ticks[outcome.card], 3),
                        "members": list(crash.members),
                        "wanted": crash.wanted,
                    }
                    for crash in outcome.crashes
                ],
            }
            for outcome in outcomes
        ],
        compared=compared(outcomes),
        single=single(outcomes),
        cures=cures(outcomes),
        cured_by=cured_by(outcomes),
    )
