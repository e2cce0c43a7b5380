"""`grade calc`: any quantity from what is given, with its derivation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from grader.cli import options
from grader.cli.givens import (
    Givens,
    catalog_rows,
    config_fields,
    config_sentences,
    named_rows,
    read_config,
    read_values,
)
from grader.cli.output import Refused, examples, print_json, printed, wrapped

if TYPE_CHECKING:
    from grader.calc import Calculation, Used
    from grader.solution import Line
    from spec.catalog import Catalog, Model
    from spec.catalog.config import Config

AT_LEAST = {
    "decode_bytes_active",
    "decode_bytes_per_gpu_active",
    "prefill_time_sharded",
}  # laws that give a lower bound
EACH, TOGETHER = "each GPU of the group", "the group of GPUs together"
OF_GROUP = dict.fromkeys(("kv_budget", "gpu_memory"), EACH) | dict.fromkeys(
    ("token_capacity", "concurrency", "context", "kv_budget_of_group"), TOGETHER
)
LISTS = ("models", "gpus", "quantities")


@click.command(
    "calc",
    epilog=examples(
        "grade calc concurrency --model llama-2-7b --gpu a100-80gb context=4096",
        "grade calc gpu_memory --model llama-3-8b context=8192 concurrency=64 activations=4GB",
        "grade calc mean_concurrency arrival_rate=100/min service_time=10.2s --json",
        "grade calc parameters --config config.json",
        "grade calc --models",
    ),
)
@click.argument("quantity", metavar="[QUANTITY]", required=False, type=Givens())
@click.argument("values", metavar="[NAME=VALUE]...", nargs=-1, type=Givens())
@click.option("--model", metavar="NAME", help="Take the sizes of this model.")
@click.option("--config", metavar="FILE", help="Take the sizes of a Hugging Face config.json.")
@click.option("--gpu", metavar="NAME", help="Take memory, bandwidth and compute rate of this GPU.")
@click.option("--catalog", metavar="FILE", help="A TOML file with models and GPUs of your own.")
@click.option("--models", "listed", flag_value="models", help="List the models.")
@click.option("--gpus", "listed", flag_value="gpus", help="List the GPUs.")
@click.option("--quantities", "listed", flag_value="quantities", help="List the quantities.")
@options.as_json
def command(
    quantity: str | None,
    values: tuple[str, ...],
    model: str | None,
    config: str | None,
    gpu: str | None,
    catalog: str | None,
    listed: str | None,
    *,
    as_json: bool,
) -> None:
    """Calculate any quantity of any law from what is given.

    Values take units (14GB, 100/min, 10%, yes); a bare number is in the quantity's own unit. What is not given and has
    a usual value is assumed, and said. Where no value exists, that is the answer.
    """
    rows = catalog_rows(catalog)
    if listed:
        _list(listed, rows, as_json=as_json)
        return
    if quantity is None:
        raise click.UsageError("Name a quantity; --quantities lists them.")
    from grader.calc import Unusable, calculate, named

    try:
        goal = named(quantity)
        given = read_values(goal.name, values)
        its_model, its_gpu = named_rows(rows, model, gpu)
        its_config = read_config(config, model)
        its_model = its_config.model if its_config else its_model
        found = calculate(goal, given, its_model, its_gpu)
    except Unusable as error:
        raise Refused(str(error)) from error
    (_print_json if as_json else _print)(found, _remarks(found, its_model, its_config), its_config)


def _list(what: str, rows: Catalog, *, as_json: bool) -> None:
    table = {"models": _models, "gpus": _gpus, "quantities": _quantities}[what](rows)
    if as_json:
        print_json(**{what: table})
        return
    cells = [list(table[0]), *([_cell(value) for value in row.values()] for row in table)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]) - 1)]
    for row in cells:
        click.echo("  ".join(f"{cell:{width}}" for cell, width in zip(row, [*widths, 0], strict=True)).rstrip())


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value)
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _models(rows: Catalog) -> list[dict[str, Any]]:
    return [
        {
            "model": m.name,
            "parameters": m.parameters,
            "attention": m.attention,
            "window": m.window,
            "aliases": list(m.aliases),
        }
        for m in rows.models.values()
    ]


def _gpus(rows: Catalog) -> list[dict[str, Any]]:
    return [
        {
            "gpu": g.name,
            "marketed": str(g.marketed),
            "reported": g.reported and str(g.reported),
            "bandwidth": str(g.bandwidth),
            "compute": str(g.compute),
            "aliases": list(g.aliases),
        }
        for g in rows.gpus.values()
    ]


def _quantities(rows: Catalog) -> list[dict[str, Any]]:  # noqa: ARG001  one signature for all three
    from spec.quantities import quantities

    return [
        {
            "quantity": q.name,
            "symbol": q.symbol,
            "unit": q.unit.name,
            "assumed": None if q.assumed is None else str(q.assumed),
            "says": q.says,
        }
        for q in quantities().values()
    ]


def _remarks(found: Calculation, model: Model | None, config: Config | None) -> list[str]:
    """Say what a reader should know beside the number."""
    from spec.index import laws

    remarks = list(config.remarks) if config else []
    if found.unused:
        remarks.append(f"Not needed: {', '.join(found.unused)}.")
    if found.source:
        where = found.source if config and found.source == config.model.source else f"the catalogue ({found.source})"
        remarks.append(f"Looked up in {where}, not derived.")
    if found.quantity.name in OF_GROUP and "tensor_parallel" in {used.quantity.name for used in found.used}:
        remarks.append(f"{found.quantity.name} is that of {OF_GROUP[found.quantity.name]}.")
    remarks += [laws()[step.law].says for step in found.steps if step.law in AT_LEAST]
    lengths = [used.value for used in found.used if used.quantity.name == "context"]
    if found.quantity.name == "context" and isinstance(found.result, int):
        lengths = [found.result]
    if model is not None and model.window is not None and lengths and lengths[0] > model.window:
        remarks.append(f"The published window of {model.name} is {model.window:,} tokens.")
    return remarks


def _conventions(found: Calculation) -> list[tuple[Used, str]]:
    """Return what was assumed rather than given, each with what is meant by it."""
    from grader.calc import ASSUMED, GIVEN

    assumed = [(used, used.quantity.says) for used in found.used if used.origin == ASSUMED]
    marketed = "memory as marketed, 1 GB = 10^9 bytes"
    return assumed + [(u, marketed) for u in found.used if u.quantity.name == "gpu_memory" and u.origin != GIVEN]


def _derivation(found: Calculation) -> list[Line]:
    """Work it out line by line, as the solution of an exercise."""
    from grader.calc.scale import scaled
    from grader.exercise import Exercise, Given, Part, exact
    from grader.solution import lines

    amounts = [(used.quantity, *scaled(used.value, used.quantity.unit.name)) for used in found.used]
    givens = tuple(Given(quantity.name, quantity.symbol, exact(value), unit) for quantity, value, unit in amounts)
    part = Part("a", found.quantity.name, "", "number", None, steps=found.steps)
    return lines(Exercise("calc", 1, 0, "", givens, (part,)), part)


def _reason(found: Calculation) -> str | None:
    """Say why there is no value."""
    from grader.wording import reason
    from spec.quantities import quantities
    from spec.solving import Infeasible

    if not isinstance(found.result, Infeasible):
        return None
    if "=" in found.result.why or "<" in found.result.why:
        return f"A law on the way holds only where {found.result.why}, which is not so here."
    if found.result.why == "above":
        symbol = quantities()[found.result.gives]
        return f"There would be too much: {symbol.says} would exceed {symbol.domain.high}."
    return reason(found.result)


def _value(found: Calculation, written: str) -> str:
    """Return the value as it is written, or the words for there being none or no limit to it."""
    from spec.solving import Infeasible

    if isinstance(found.result, Infeasible):
        return "no limit" if found.result.why == "unbounded" else "none"
    return written


def _print_json(found: Calculation, remarks: list[str], config: Config | None) -> None:
    from grader.exercise import exact
    from spec.solving import Infeasible

    value = _value(found, "" if isinstance(found.result, Infeasible) else exact(found.result))
    steps = [
        {
            "law": step.law,
            "gives": step.gives,
            "value": step.value or "none",
            "unit": step.unit,
            "deficit": step.deficit,
        }
        | {"text": line.text, "latex": line.latex}
        for step, line in zip(found.steps, _derivation(found), strict=True)
    ]
    print_json(
        quantity=found.quantity.name,
        value=value,
        unit=found.quantity.unit.name,
        infeasible=value == "none",
        reason=_reason(found),
        binding=found.binding,
        steps=steps,
        assumed=[
            {"name": used.quantity.name, "value": exact(used.value), "unit": used.quantity.unit.name, "says": says}
            for used, says in _conventions(found)
        ],
        remarks=remarks,
        **({"config": config_fields(config)} if config else {}),
    )


def _print(found: Calculation, remarks: list[str], config: Config | None) -> None:
    from grader.calc.scale import readable
    from spec.solving import Infeasible

    name, unit = found.quantity.name, found.quantity.unit.name
    value = _value(found, "" if isinstance(found.result, Infeasible) else readable(found.result, unit))
    printed(f"{name} = {value}", "yellow" if isinstance(found.result, Infeasible) else "green")
    if isinstance(found.result, Infeasible):
        click.echo(wrapped(_reason(found) or ""))
    if found.binding:
        click.echo(f"Limited by {found.binding}.")
    if found.steps:
        click.echo()
    for line in _derivation(found):
        click.echo(wrapped(line.text, indent=4))
    conventions = [
        f"{u.quantity.name} = {readable(u.value, u.quantity.unit.name)} ({says})" for u, says in _conventions(found)
    ]
    if conventions:
        click.echo(f"\n{wrapped('Assumed: ' + '; '.join(conventions) + '.')}")
    for remark in [*(config_sentences(config) if config else []), *remarks]:
        click.echo(wrapped(remark))
