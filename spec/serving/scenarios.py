"""Ways in which a server fails, each with what is said to cure it: named, small and the same for everybody.

A scenario is a few cases that differ in one thing. Rates and lengths suit the chapter's 7B on an 80 GB card; on
another card the same requests come.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from spec.serving.admission import Reserve, Rules
from spec.serving.batching import Continuous
from spec.serving.draws import Fixed, Lengths, Lognormal, Uniform
from spec.serving.incident import Card
from spec.serving.scheduler import Chunked, DecodeFirst, PrefillFirst, ReservedShare, Scheduler
from spec.serving.server import Server, WhenFull
from spec.serving.workload import Phase, Workload

BLOCK = 16  # tokens
Build = Callable[[Card], Server]


@dataclass(frozen=True, slots=True)
class Case:
    """One server and what comes to it.

    Attributes:
        name: what sets it apart from the others.
        server: builds the server on a card.
        workload: what comes.
        model: the model it serves, where the cases differ in that.
    """

    name: str
    server: Build
    workload: Workload
    model: str = ""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A failure and its cures.

    Attributes:
        name: how it is asked for.
        says: what is to be seen.
        cases: the servers, the failing one first.
    """

    name: str
    says: str
    cases: tuple[Case, ...]


def on(
    slots: int,
    *,
    scheduler: Scheduler | None = None,
    reserve: Reserve = Reserve.TURN,
    when_full: WhenFull = WhenFull.CRASH,
    watermark: Fraction = Fraction(0),
) -> Build:
    """Return what builds a server of paged blocks that batches continuously, on a card with room for one at least."""

    def build(card: Card) -> Server:
        return Server(
            card.timing,
            card.tokens // BLOCK,
            BLOCK,
            Continuous(slots),
            scheduler or PrefillFirst(),
            Rules(reserve, watermark=watermark),
            when_full,
        )

    return build


CHAT = (Lognormal(400, Fraction(8, 10), 20, 4000), Lognormal(150, Fraction(7, 10), 8, 500), 500)
DOCUMENTS = (Lognormal(3000, Fraction(1, 2), 200, 12000), Lognormal(500, Fraction(6, 10), 16, 2000), 2000)
UP_TO_4K = (Lognormal(3200, Fraction(1, 4), 500, 4096), Uniform(100, 400), 512)
ESSAYS = (Uniform(200, 600), Uniform(1000, 3000), 3000)


def _workload(phase: Phase, lengths: tuple[Lengths, Lengths, int]) -> Workload:
    prompt, output, limit = lengths
    return Workload((phase,), prompt, output, limit)


def _cases(workload: Workload, servers: dict[str, Build]) -> tuple[Case, ...]:
    return tuple(Case(name, build, workload) for name, build in servers.items())


def scenarios() -> dict[str, Scenario]:
    """Return the scenarios by name."""
    surprise = _workload(Phase(300, Fraction(3, 2)), UP_TO_4K)
    documents = _workload(Phase(300, Fraction(9, 10)), DOCUMENTS)
    essays = _workload(Phase(240, Fraction(3, 2)), ESSAYS)
    unchecked, recompute = Reserve.PROMPT, WhenFull.RECOMPUTE
    found = (
        Scenario(
            "prefill-starvation",
            "Chat at eight requests a second: those that decode come first, and who comes new waits for them all.",
            _cases(
                _workload(Phase(240, 8), CHAT),
                {
                    "decode first": on(64, scheduler=DecodeFirst()),
                    "prefill first": on(64),
                    "a tenth for prefill": on(64, scheduler=ReservedShare(Fraction(1, 10))),
                    "chunks of 512": on(64, scheduler=Chunked(512)),
                },
            ),
        ),
        Scenario(
            "context-surprise",
            "Prompts of up to 4,096 tokens, served well; then another 7B, whose cache takes four times as much.",
            (
                Case("mistral-7b-v0.3", on(64, reserve=unchecked), surprise, "mistral-7b-v0.3"),
                Case("llama-2-7b", on(64, reserve=unchecked), surprise, "llama-2-7b"),
                Case("llama-2-7b, reserving", on(64), surprise, "llama-2-7b"),
            ),
        ),
        Scenario(
            "breakage-order",
            "The load climbs until something breaks; what breaks first depends on the lengths and the slots.",
            (
                Case("prompts of 4K", on(64), _workload(Phase(600, Fraction(1, 10), 2), UP_TO_4K)),
                Case("200 in, 200 out", on(64), Workload((Phase(300, 1, 30),), Fixed(200), Fixed(200))),
            ),
        ),
        Scenario(
            "kv-oom",
            "Documents that are let in when their prompts fit: what they generate finds no room.",
            _cases(
                documents,
                {
                    "prompt only": on(64, reserve=unchecked),
                    "prompt and limit": on(64),
                    "preempting": on(64, reserve=unchecked, when_full=recompute),
                },
            ),
        ),
        Scenario(
            "preemption-thrash",
            "Short prompts, long outputs: requests are let in and have to leave again, over and over.",
            _cases(
                essays,
                {
                    "no watermark": on(256, reserve=unchecked, when_full=recompute),
                    "watermark of 5 %": on(256, reserve=unchecked, when_full=recompute, watermark=Fraction(1, 20)),
                    "prompt and limit": on(256),
                },
            ),
        ),
    )
    return {scenario.name: scenario for scenario in found}
