"""What `calc` and `diagnose` are given: NAME=VALUE, a model, a GPU, a catalogue of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from grader.cli.output import Refused

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from spec.catalog import GPU, Catalog, Model
    from spec.catalog.config import Config
    from spec.solving import Exact


class Givens(click.ParamType[str]):
    """A quantity, or NAME=VALUE."""

    name = "name"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002  click's signature
        """Offer the quantities."""
        from click.shell_completion import CompletionItem

        from spec.quantities import quantities

        mark = "" if param.name == "quantity" else "="
        return [CompletionItem(name + mark) for name in quantities() if name.startswith(incomplete)]


def catalog_rows(path: str | None) -> Catalog:
    """Return the catalogue, with the rows of a file of one's own.

    Raises:
        Refused: the file cannot be used.
    """
    from spec import catalog

    try:
        return catalog.load(path) if path else catalog.Catalog(catalog.models(), catalog.gpus())  # type: ignore[arg-type]
    except (catalog.UnreadableFile, catalog.InvalidEntry) as error:
        raise Refused(f"{error}.") from error


def named_rows(rows: Catalog, model: str | None, gpu: str | None) -> tuple[Model | None, GPU | None]:
    """Find the model and the GPU that were named.

    Raises:
        Refused: there is none of that name.
    """
    from spec.catalog import UnknownName

    try:
        return rows.model(model) if model else None, rows.gpu(gpu) if gpu else None
    except UnknownName as error:
        near = " or ".join(error.suggestions)
        hint = f"did you mean {near}?" if near else f"`grade calc --{error.kind.lower()}s` lists them."
        raise Refused(f"There is no {error.kind} {error.name!r}; {hint}") from error


def read_config(path: str | None, model: str | None) -> Config | None:
    """Read the model of a config.json.

    Raises:
        Refused: the file does not give a model, or a model is named beside it.
    """
    if path is None:
        return None
    if model is not None:
        raise Refused("Give the sizes of one model: --model NAME or --config FILE, not both.")
    from spec.catalog import config

    try:
        return config.read(path)
    except config.UnusableConfig as error:
        text = str(error)
        raise Refused(text if text.endswith("?") else f"{text}.") from error


def config_fields(config: Config) -> dict[str, object]:
    """Return what `--json` says of a config.json."""
    return {"model_type": config.model_type, "used": config.used, "defaults": config.defaults}


def config_sentences(config: Config) -> list[str]:
    """Say which fields of a config.json were used, and what they leave out."""
    from spec.catalog.config_fields import shown

    def listed(values: dict[str, object]) -> str:
        return ", ".join(f"{name} = {shown(value)}" for name, value in values.items())

    read = f"Read from {config.model.name}: model_type = {config.model_type}, {listed(config.used)}."
    left = [f"Left to the architecture: {listed(config.defaults)}."] if config.defaults else []
    return [read, *left]


def read_values(goal: str, values: tuple[str, ...]) -> dict[str, Exact]:
    """Read NAME=VALUE, each in the unit of its quantity.

    Raises:
        Refused: it is not of that form, given twice, or what is asked for.
        Unusable: a quantity is unknown or its value unreadable.
    """
    from grader.calc import named, read_given

    given: dict[str, Exact] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals:
            raise Refused(f"{text!r} is not NAME=VALUE.")
        quantity = named(name)
        if quantity.name in given:
            raise Refused(f"{quantity.name} is given twice.")
        if quantity.name == goal:
            raise Refused(f"{quantity.name} is what is asked for; leave it out.")
        given[quantity.name] = read_given(quantity, value)
    return given
