"""`grade diagnose`: is a published number right, and if not, which step went wrong?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from grader.cli import options
from grader.cli.answering import Answering
from grader.cli.givens import (
    Givens,
    catalog_rows,
    config_fields,
    config_sentences,
    named_rows,
    read_config,
)
from grader.cli.output import Refused, examples, print_json, printed, wrapped

if TYPE_CHECKING:
    from grader.diagnosing import Diagnosis, Published
    from spec.catalog.config import Config
    from spec.solving import Exact

COARSE = "No known slip explains it better than chance would; a number of so few figures is met by many."


@click.command(
    "diagnose",
    cls=Answering,
    epilog=examples(
        "grade diagnose 524288B --quantity kv_bytes_per_token --model llama-3-8b",
        'grade diagnose "4.3 GB" --quantity kv_bytes_per_sequence --model llama-3-8b context=8192 --json --exit-zero',
        "grade diagnose 131072B --quantity kv_bytes_per_token --model llama-3-8b",
        'grade diagnose "38 t/s/u" --quantity decode_rate weights=6.4GB bandwidth=576GB/s efficiency=0.85 --json',
        'grade diagnose "1979 TFLOPS" --quantity compute --gpu "NVIDIA H200" dtype=bf16',
        "grade diagnose 147456B --quantity kv_bytes_per_token --config config.json",
    ),
)
@click.argument("number")
@click.argument("values", metavar="[NAME=VALUE]...", nargs=-1, type=Givens())
@click.option("--quantity", required=True, metavar="Q", type=Givens(), help="What the number measures.")
@click.option("--model", metavar="NAME", help="Take the sizes of this model.")
@click.option("--config", metavar="FILE", help="Take the sizes of a Hugging Face config.json.")
@click.option("--gpu", metavar="NAME", help="Take memory, bandwidth and compute rate of this GPU.")
@click.option("--catalog", metavar="FILE", help="A TOML file with models and GPUs of your own.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever the verdict.")
@options.as_json
def command(
    number: str,
    values: tuple[str, ...],
    quantity: str,
    model: str | None,
    config: str | None,
    gpu: str | None,
    catalog: str | None,
    *,
    exit_zero: bool,
    as_json: bool,
) -> int:
    """Judge a number that somebody published, and name the step that went wrong.

    The number is right if it agrees with what follows from the rest, within its printed rounding. Else the shortest
    combination of up to three known slips that gives it is named, or all that fit equally well. An explanation that
    chance would give too easily is not offered.

    Names and numbers may be pasted as they were published: tp=8, dtype=fp8, "~47 ms per token", --gpu "NVIDIA H200".
    Where the right value is known but does not follow from the rest, give it too: decode_rate=76.5.

    Exit status: 0 right, 1 wrong, 2 unusable.
    """
    rows = catalog_rows(catalog)
    from grader.calc import Unusable
    from grader.diagnosing import diagnose, read_published
    from grader.diagnosing.question import asked, meant, peak, question
    from grader.diagnosing.synonyms import spelled

    try:
        goal = asked(quantity, number, values)
        readings = read_published(goal, number)
        given = question(goal, values)
        its_model, its_gpu = named_rows(rows, model and spelled(model, rows.models), gpu and spelled(gpu, rows.gpus))
        its_config = read_config(config, model)
        its_model = its_config.model if its_config else its_model
        peak(given, its_gpu)
        found = diagnose(readings, given, its_model, its_gpu)
    except Unusable as error:
        raise Refused(str(error)) from error
    called = meant(quantity) if meant(quantity).unit == goal.unit else goal
    (_print_json if as_json else _print)(found, called.name, its_config)
    return 0 if found.is_right or exit_zero else 1


def _print_json(found: Diagnosis, called: str, config: Config | None) -> None:
    from grader.exercise import exact
    from spec.solving import Infeasible

    print_json(
        quantity=called,
        right="none" if isinstance(found.right, Infeasible) else exact(found.right),
        unit=found.quantity.unit.name,
        verdict="right" if found.is_right else "wrong",
        explanations=[
            {
                "slips": [fault.slug for fault in explanation.faults],
                "value": exact(explanation.value),
                "sentence": " ".join(fault.sentence for fault in explanation.faults),
            }
            for explanation in found.explanations
        ],
        **({"convention": found.convention} if found.convention else {}),
        **({"config": config_fields(config)} if config else {}),
    )


def _print(found: Diagnosis, called: str, config: Config | None) -> None:
    _print_verdict(found, called)
    if found.convention:
        click.echo(wrapped(f"Understood: {found.convention}."))
    for sentence in [*config_sentences(config), *config.remarks] if config else []:
        click.echo(wrapped(sentence))


def _print_verdict(found: Diagnosis, name: str) -> None:
    from grader.wording import reason
    from spec.solving import Infeasible

    unit = found.quantity.unit.name
    if isinstance(found.right, Infeasible):
        printed("Wrong: there is no such value.", "red")
        click.echo(wrapped(reason(found.right)))
        return
    right = _amount(found.right, unit)
    if found.is_right:
        printed(f"Right: {name} = {right}.", "green")
        return
    typed = f" ({found.published.convention})" if found.published.convention else ""
    printed(f"Wrong: {name} = {right}, not {_amount(found.published.value, unit)}{typed}.", "red")
    if not found.explanations:
        click.echo(wrapped(_unexplained(found)))
        return
    several = len(found.explanations) > 1
    click.echo("Each of these gives the published number:" if several else "What gives the published number:")
    for explanation in found.explanations:
        words = " ".join(fault.sentence for fault in explanation.faults)
        click.echo(wrapped(f"- {words} That makes {_amount(explanation.value, unit)}.", indent=2))


def _unexplained(found: Diagnosis) -> str:
    if found.published.value < 0:
        return f"{found.quantity.name} is never negative."
    return "No known slip explains it." if _is_fine(found.published) else COARSE


def _is_fine(published: Published) -> bool:
    """Say whether a number has more than two figures, so that chance alone seldom meets it."""
    return published.half * 100 < abs(published.value)


def _amount(value: Exact, unit: str) -> str:
    """Print a value as people write it: rates with a prefix, prices for a million tokens."""
    from grader.amounts import natural
    from grader.calc.scale import readable

    if unit == "$/token":
        return natural(value * 10**6, "$/Mtoken")
    return readable(value, unit) if unit in {"B/s", "FLOP/s", "s"} else natural(value, unit)
