"""`grade simulate`: a server simulated on a trace, on a workload or in a scenario, and what a monitor would see."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from grader.cli import options
from grader.cli.givens import Givens, catalog_rows, named_rows, read_values
from grader.cli.output import Refused, aside, examples, print_json, printed, verbatim, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from fractions import Fraction

    from click.shell_completion import CompletionItem

    from grader.simulation.machine import Machine
    from grader.simulation.running import Played
    from spec.serving.request import Request
    from spec.serving.server import Server

    Served = tuple[str, Machine, Server, Sequence[Request]]  # with what comes to it

MODEL, GPU = "chapter-7b", "a100-80gb"
SCENARIOS = ("prefill-starvation", "context-surprise", "breakage-order", "kv-oom", "preemption-thrash")
SERVED = "server"  # what the one server of a trace or a workload is called
FILES = """\
seed = 1
max_tokens = 512

[[phases]]
seconds = 120
rate = 1      # requests per second
to = 3        # climbing to this; without it the rate stays

[prompt]      # or low and high alone, or fixed = 1000
median = 1500
sigma = 0.6
low = 20
high = 8000

[output]
low = 50
high = 400
"""


class Input(Givens):
    """A file, or NAME=VALUE."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Offer the quantities, and files where none begins like that."""
        from click.shell_completion import CompletionItem

        return super().shell_complete(ctx, param, incomplete) or [CompletionItem(incomplete, type="file")]


class Exact(click.ParamType["Fraction"]):
    """A number from `low` to `high`, exactly."""

    name = "number"
    LONGEST = 20  # characters

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Fraction:
        """Read it."""
        from decimal import Decimal, InvalidOperation
        from fractions import Fraction

        try:
            number = Decimal(value)
        except InvalidOperation:
            number = Decimal("NaN")
        if not (number.is_finite() and self.low <= number <= self.high and len(str(value)) <= self.LONGEST):
            self.fail(f"{value!r} is no number from {self.low} to {self.high}.", param, ctx)
        return Fraction(number)


@click.command(
    "simulate",
    epilog=verbatim("A workload file:", *FILES.splitlines())
    + "\n\n"
    + examples(
        "grade simulate --scenario kv-oom",
        "grade simulate --scenario context-surprise --html surprise.html",
        "grade simulate --scenario breakage-order --model llama-3-8b --gpu h100-sxm --json",
        after="With files: grade simulate trace.csv --model llama-3-8b --gpu h100-sxm --slots 128\n"
        "            grade simulate --workload load.toml --reserve prompt --when-full recompute",
    ),
)
@click.argument("inputs", metavar="[TRACE] [NAME=VALUE]...", nargs=-1, type=Input())
@click.option("--workload", metavar="W.toml", help="Draw the requests as this file says.")
@click.option("--scenario", type=click.Choice(SCENARIOS), help="Play a failure beside its cures.")
@click.option("--model", metavar="NAME", help=f"The model served; {MODEL} unless told.")
@click.option("--gpu", metavar="NAME", help=f"The GPU it runs on; {GPU} unless told.")
@click.option("--catalog", metavar="FILE", help="A TOML file with models and GPUs of your own.")
@click.option("--seed", type=click.IntRange(0), metavar="N", help="Draw other requests; 1, or the file's.")
@click.option(
    "--unit", type=click.Choice(("s", "ms", "us", "ns")), default="s", help="What plain arrivals count in; s."
)
@click.option("--slots", type=click.IntRange(1, 10**6), default=64, metavar="N", help="Requests in flight at most; 64.")
@click.option("--static", "flush", type=Exact(0, 10**6), metavar="S", help="Static batches, started after S seconds.")
@click.option(
    "--scheduler",
    default="prefill-first",
    metavar="HOW",
    help="prefill-first, decode-first, share=0.2 (of the time for prefill) or chunked=512 (tokens of an iteration).",
)
@click.option(
    "--reserve",
    type=click.Choice(("turn", "prompt", "none")),
    default="turn",
    help="The room one that is let in gets; turn.",
)
@click.option(
    "--when-full",
    type=click.Choice(("crash", "recompute", "swap")),
    default="crash",
    help="What follows when a block is lacking; crash.",
)
@click.option("--watermark", type=Exact(0, 1), default="0", metavar="X", help="Share of the cache kept free; 0.")
@click.option("--queue", type=click.IntRange(0), metavar="N", help="Turn away one who finds so many waiting.")
@click.option("--block-size", type=click.IntRange(1, 10**6), default=16, metavar="N", help="Tokens of a block; 16.")
@click.option(
    "--overhead", type=Exact(0, 60), default="0", metavar="S", help="Seconds that each iteration takes besides; 0."
)
@click.option("--html", "page_file", metavar="FILE", help="Write a page with plots.")
@options.as_json
@click.pass_context
def command(ctx: click.Context, /, inputs: tuple[str, ...], *, as_json: bool, **chosen: Any) -> None:
    """Simulate a server, iteration by iteration, and say what a monitor would have seen.

    TRACE is a CSV or a file of JSON lines with arrival, prompt and output, under these or their usual names. Values
    such as token_capacity=50000 or mfu=40% win over those of the model and the GPU. --reserve gives a request room for
    its prompt and limit (turn), for its prompt, or none; --when-full says what happens when it needs more: all is lost
    (crash), or the last one leaves and is worked on again (recompute) or waits on the host (swap).

    Ctrl-C stops, prints what is known so far, and exits with 130.
    """
    traces = [text for text in inputs if "=" not in text]
    sources = [*traces, *filter(None, (chosen["workload"], chosen["scenario"]))]
    if len(sources) != 1:
        raise click.UsageError("Give one of a trace, --workload FILE or --scenario NAME.")
    values = tuple(text for text in inputs if "=" in text)
    servers: list[Served]
    if chosen["scenario"]:
        _only_the_card(ctx)
        title, says, servers = _scenario(values, chosen)
    else:
        title = f"Simulation of {sources[0]}"
        says, servers = _own(values, traces, chosen)
    played, whole = _play(servers)
    from grader.simulation.signals import signals

    assumed = _assumed([machine for _, machine, _, _ in servers])

    def write_page() -> None:
        if chosen["page_file"]:
            from grader.simulation.page import page

            _write(chosen["page_file"], page(title, says, assumed, played))
            aside(f"Written: {chosen['page_file']}")

    if as_json:
        write_page()  # where it fails, that is the one object
        print_json(
            **({"scenario": chosen["scenario"]} if chosen["scenario"] else {}),
            whole=whole,
            runs=[_fields(run, signals(run)) for run in played],
            assumed=[
                {"name": name, "value": value, "unit": unit}
                for name, value, unit in dict.fromkeys(_all_assumed([m for _, m, _, _ in servers]))
            ],
        )
    else:
        printed(title, "blue")
        click.echo(wrapped(says))
        _print(played)
        click.echo(wrapped(assumed))
        write_page()
    if not whole:
        aside("Stopped: this is what is known so far.")
        ctx.exit(130)


def _only_the_card(ctx: click.Context) -> None:
    """Refuse options of one's own server beside a scenario, which has its own servers."""
    from click.core import ParameterSource

    own = ("flush", "slots", "scheduler", "reserve", "when_full", "watermark", "queue", "block_size", "unit")
    for param in ctx.command.params:
        if param.name in own and ctx.get_parameter_source(param.name) is ParameterSource.COMMANDLINE:
            raise Refused(f"A scenario has its own servers; leave {param.opts[0]} out.")


def _scenario(values: tuple[str, ...], chosen: dict[str, Any]) -> tuple[str, str, list[Served]]:
    from spec.serving.scenarios import scenarios

    scenario = scenarios()[chosen["scenario"]]
    if chosen["model"] and any(case.model for case in scenario.cases):
        raise Refused(f"{scenario.name} is about its own models; leave --model out.")
    seed = 1 if chosen["seed"] is None else chosen["seed"]
    found: list[Served] = []
    for case in scenario.cases:
        machine = _machine(case.name, values, chosen, case.model)
        server = _built(partial(case.server, machine.card))
        found.append((case.name, machine, server, case.workload.requests(seed)))
    model = "" if any(case.model for case in scenario.cases) else f" of {chosen['model'] or MODEL}"
    return f"{scenario.name}{model} on {chosen['gpu'] or GPU}, seed {seed}", scenario.says, found


def _own(values: tuple[str, ...], traces: list[str], chosen: dict[str, Any]) -> tuple[str, list[Served]]:
    from grader.simulation.words import count

    requests = _trace(traces[0], chosen["unit"]) if traces else _workload(chosen)
    machine = _machine(SERVED, values, chosen)
    server = _built(partial(_server, machine, chosen))
    says = (
        f"{count(len(requests), 'request')} to {chosen['model'] or MODEL} on {chosen['gpu'] or GPU}: "
        f"{machine.card.tokens:,} tokens of cache, {server.batching.slots} slots."
    )
    return says, [(SERVED, machine, server, requests)]


def _machine(name: str, values: tuple[str, ...], chosen: dict[str, Any], model: str = "") -> Machine:
    from grader.calc import Unusable
    from grader.simulation.machine import machine

    rows = named_rows(catalog_rows(chosen["catalog"]), model or chosen["model"] or MODEL, chosen["gpu"] or GPU)
    try:
        return machine(name, read_values("", values), *rows, chosen["overhead"])
    except Unusable as error:
        raise Refused(str(error)) from error


def _server(machine: Machine, chosen: dict[str, Any]) -> Server:
    from spec.serving.admission import Reserve, Rules
    from spec.serving.batching import Continuous, Static
    from spec.serving.request import NANOSECONDS
    from spec.serving.server import Server, WhenFull

    flush, size = chosen["flush"], chosen["block_size"]
    return Server(
        machine.card.timing,
        machine.card.tokens // size,
        size,
        Continuous(chosen["slots"]) if flush is None else Static(chosen["slots"], int(flush * NANOSECONDS)),
        _scheduler(chosen["scheduler"]),
        Rules(Reserve(chosen["reserve"]), chosen["queue"], watermark=chosen["watermark"]),
        WhenFull(chosen["when_full"]),
    )


def _scheduler(how: str) -> Any:
    from fractions import Fraction

    from spec.serving.scheduler import Chunked, DecodeFirst, PrefillFirst, ReservedShare

    name, _, value = how.partition("=")
    try:
        if name in {"share", "chunked"} and len(value) < 12:  # noqa: PLR2004  as many digits as matter
            return ReservedShare(Fraction(value)) if name == "share" else Chunked(int(value))
    except (ValueError, ZeroDivisionError):
        pass
    if how not in {"prefill-first", "decode-first"}:
        raise Refused(
            f"There is no scheduler {how!r}; there are prefill-first, decode-first, share=0.2 (over 0 and under 1) and "
            "chunked=512 (at least 1)."
        )
    return PrefillFirst() if how == "prefill-first" else DecodeFirst()


def _built(build: Callable[[], Server]) -> Server:
    """Build a server, or say in a sentence why it cannot be."""
    try:
        server = build()
    except ValueError as error:
        text = str(error)
        raise Refused(f"{text[:1].upper()}{text[1:]}.") from error
    if server.blocks < 1:
        raise Refused("The cache has no room for a block; take a larger GPU or smaller blocks.")
    return server


def _trace(file: str, unit: str) -> list[Request]:
    from spec.serving.trace import BadTrace, read_trace

    try:
        with open(file, encoding="utf-8", newline="") as lines:  # noqa: PTH123  lines are read one by one
            return read_trace(lines, unit)
    except BadTrace as error:
        raise Refused(f"{file}: {error}.") from error
    except OSError as error:
        raise Refused(f"{file} cannot be read ({error.strerror}).") from error
    except ValueError as error:  # not UTF-8, or a NUL in the path
        raise Refused(f"{file} is no UTF-8 text.") from error


def _workload(chosen: dict[str, Any]) -> list[Request]:
    from pathlib import Path

    from grader.simulation.workload import read_workload
    from grader.sourced import InvalidSet

    try:
        return read_workload(Path(chosen["workload"]), chosen["seed"], chosen["block_size"])
    except InvalidSet as error:
        raise Refused(str(error)) from error


def _play(servers: list[Served]) -> tuple[list[Played], bool]:
    from grader.simulation.running import interruptible, play

    played: list[Played] = []
    with interruptible() as stop:
        for name, _, server, requests in servers:
            if played and stop.wanted:
                break
            played.append(play(name, server, requests, stop, _progress))
    if sys.stderr.isatty():
        click.echo("\r\033[K", err=True, nl=False)
    return played, len(played) == len(servers) and all(run.whole for run in played)


def _progress(name: str, done: int, total: int) -> None:
    text = f"{name}: {done:,} of {total:,} requests are through"
    if sys.stderr.isatty():
        click.echo(f"\r\033[K{text}", err=True, nl=False)
    else:
        click.echo(text, err=True)


def _print(played: list[Played]) -> None:
    import shutil

    from grader.simulation.signals import signals
    from grader.simulation.timeline import timeline
    from grader.simulation.words import rows

    tables = [rows(run.metrics) for run in played]
    names = [name for name in tables[0] if any(table.get(name) for table in tables)]
    widths = [max(len(run.name), *map(len, table.values())) for run, table in zip(played, tables, strict=True)]
    first = max(map(len, names))
    click.echo()
    if len(played) > 1:
        printed(f"{'':{first}}  " + "  ".join(f"{run.name:>{w}}" for run, w in zip(played, widths, strict=True)))
    for name in names:
        cells = (f"{table.get(name, ''):>{w}}" for table, w in zip(tables, widths, strict=True))
        click.echo(f"{name:{first}}  {'  '.join(cells)}".rstrip())
    click.echo()
    width = min(shutil.get_terminal_size().columns, 100)
    plain = not (sys.stdout.encoding or "").lower().startswith("utf")
    for run in played:
        printed(run.name if len(played) > 1 else "What is to be seen", "blue")
        for line in timeline(run, width - 1, plain=plain):
            click.echo(line)
        for sentence in signals(run):
            click.echo(wrapped(f"- {sentence}", 2))
        click.echo()


def _all_assumed(machines: list[Machine]) -> Iterator[tuple[str, str, str]]:
    from grader.exercise import exact

    for machine in machines:
        for used in machine.assumed:
            yield used.quantity.name, exact(used.value), used.quantity.unit.name


def _assumed(machines: list[Machine]) -> str:
    from grader.calc.scale import readable

    listed = dict.fromkeys(
        f"{used.quantity.name} = {readable(used.value, used.quantity.unit.name)}"
        for machine in machines
        for used in machine.assumed
    )
    parts = [f"Assumed: {', '.join(listed)}."] if listed else []
    parts.append("Times are those of the roofline laws; memory is as marketed.")
    unused = dict.fromkeys(name for machine in machines for name in machine.unused)
    return " ".join([*parts, *([f"Not needed: {', '.join(unused)}."] if unused else [])])


def _fields(run: Played, sentences: list[str]) -> dict[str, Any]:
    from dataclasses import asdict
    from fractions import Fraction

    from grader.simulation.signals import order
    from grader.simulation.timeline import columns

    def written(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: written(each) for name, each in value.items()}
        return value if value is None or isinstance(value, int) else round(float(value), 9)

    found, ticks = columns(run, 100)
    tick = Fraction(1, run.run.ticks_per_second)
    return {
        "name": run.name,
        "whole": run.whole,
        "coming": run.coming,
        "kv_tokens": run.server.blocks * run.server.block_size,
        "metrics": written(asdict(run.metrics)),
        "signals": sentences,
        "order": [{"what": what, "seconds": written(at)} for what, at in order(run)],
        "crashes": [
            {"seconds": written(crash.tick * tick), "members": list(crash.members), "wanted": crash.wanted}
            for crash in run.run.tally.crashes
        ],
        "timeline": [
            {
                "seconds": written(n * ticks * tick),
                "kv_use": written(Fraction(c.held, (c.ticks or 1) * run.server.blocks)),
                "kv_most": written(Fraction(c.most_held, run.server.blocks)),
                "waiting": c.most_waiting,
                "in_flight": c.most_running,
                "preemptions": c.preemptions,
            }
            for n, c in enumerate(found)
        ],
    }


def _write(file: str, text: str) -> None:
    try:
        with open(file, "w", encoding="utf-8") as out:  # noqa: PTH123  a NUL in the path is a ValueError here, too
            out.write(text)
    except (OSError, ValueError) as error:
        raise Refused(f"{file} cannot be written ({getattr(error, 'strerror', None) or error}).") from error
