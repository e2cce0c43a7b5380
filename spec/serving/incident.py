"""The production story: documents that a server runs out of memory on, under every cure that was tried.

The card (40 or 80 GB), the batching (static in fours or sixteens, continuous) and the admission (none, by prompt, by
prompt and limit) vary; the documents are the same. The chapter credits continuous batching with the cure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from spec.serving.admission import Reserve, Rules
from spec.serving.batching import Continuous, Static
from spec.serving.draws import Lognormal, Uniform
from spec.serving.engine import Engine
from spec.serving.metrics import Metrics, metrics
from spec.serving.request import NANOSECONDS, Request
from spec.serving.server import Crash, Server
from spec.serving.timing import Timing
from spec.serving.workload import Phase, Workload

DOCUMENTS, LIMIT = 600, 256
# About 5,000 tokens in the mean and 10,500 at the 95th percentile, one document every five seconds.
STORY = Workload(
    (Phase(10**5, Fraction(1, 5)),),
    Lognormal(4400, Fraction(54, 100), 200, 12000),
    Uniform(80, LIMIT),
    max_tokens=LIMIT,
)
FLUSH, RESTART = 20 * NANOSECONDS, 30 * NANOSECONDS
BATCHINGS: dict[str, Static | Continuous] = {
    "static 4": Static(4, FLUSH),
    "static 16": Static(16, FLUSH),
    "continuous": Continuous(16),
}


@dataclass(frozen=True, slots=True)
class Card:
    """A GPU as the story has it.

    Attributes:
        name: what it is called.
        timing: how long an iteration takes on it.
        tokens: how many tokens its cache holds.
    """

    name: str
    timing: Timing
    tokens: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the documents fared.

    Attributes:
        card: name of the card.
        batching: `static 4`, `static 16` or `continuous`.
        reserve: what a request was given when it was let in.
        metrics: the numbers.
        crashes: when the server ran out of memory, and with which documents together.
        requests: the documents, by id.
    """

    card: str
    batching: str
    reserve: Reserve
    metrics: Metrics
    crashes: tuple[Crash, ...]
    requests: dict[int, Request]


def replay(cards: list[Card], seed: int = 1, documents: int = DOCUMENTS) -> Iterator[Outcome]:
    """Serve the documents on every card, under every batching and admission, one outcome after another."""
    requests = STORY.requests(seed, documents)
    by_id = {request.id: request for request in requests}
    for card, (name, batching), reserve in product(cards, BATCHINGS.items(), Reserve):
        server = Server(card.timing, card.tokens, batching=batching, rules=Rules(reserve), restart=RESTART)
        run = Engine(server, requests).run()
        yield Outcome(card.name, name, reserve, metrics(server, run), tuple(run.tally.crashes), by_id)
