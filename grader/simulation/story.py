"""The production story in words: which documents broke which batch, and what cured it."""

from __future__ import annotations

from collections.abc import Sequence

from grader.simulation.words import count
from spec.serving.admission import Reserve
from spec.serving.incident import LIMIT, Outcome
from spec.serving.server import Crash
from spec.solving import Exact

ADMISSIONS = {Reserve.NONE: "none", Reserve.PROMPT: "prompt only", Reserve.TURN: "prompt and limit"}
# Times out of memory and documents lost in another simulation of the same story, written before and apart from this
# one: its documents were drawn from the same distributions by other means. All other rows lost none.
ANOTHER = {
    ("40 GB", "static 4", Reserve.NONE): (106, 424),
    ("40 GB", "static 16", Reserve.NONE): (72, 581),
    ("40 GB", "continuous", Reserve.NONE): (15, 100),
    ("40 GB", "continuous", Reserve.PROMPT): (4, 21),
    ("80 GB", "static 16", Reserve.NONE): (6, 66),
}


def another(outcome: Outcome) -> tuple[int, int]:
    """Return how often memory ran out, and how many documents were lost, in the other simulation."""
    return ANOTHER.get((outcome.card, outcome.batching, outcome.reserve), (0, 0))


def ordered(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Put the outcomes in the order of the story: what is checked on admission grows from row to row."""
    cards = list(dict.fromkeys(outcome.card for outcome in outcomes))
    batchings = list(dict.fromkeys(outcome.batching for outcome in outcomes))
    return sorted(
        outcomes,
        key=lambda o: (cards.index(o.card), batchings.index(o.batching), list(ADMISSIONS).index(o.reserve)),
    )


def breakage(outcome: Outcome, crash: Crash, tokens: int) -> str:
    """Say which documents ran out of memory together, and what they needed of so many tokens."""
    prompts = [outcome.requests[member].prompt for member in crash.members]
    listed = ", ".join(f"{member} ({prompt:,})" for member, prompt in zip(crash.members, prompts, strict=True))
    if outcome.batching.startswith("static"):
        padded = f"{len(prompts)} x {max(prompts):,} = {len(prompts) * max(prompts):,}"
        need = f"padded, {padded} tokens before the first answer"
    else:
        need = f"{sum(prompts):,} tokens of prompts, and up to {LIMIT} more for each"
    return f"{listed}: {need}, in a cache of {tokens:,}."


def tried(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    """Return the changes that were tried, each with the cases in which it was made, whatever else was."""
    cards = dict.fromkeys(outcome.card for outcome in outcomes)
    changes = {
        **{
            f"admission by {ADMISSIONS[reserve]}": [o for o in outcomes if o.reserve is reserve]
            for reserve in (Reserve.PROMPT, Reserve.TURN)
        },
        "continuous batching": [o for o in outcomes if o.batching == "continuous"],
        **{f"{card} instead": [o for o in outcomes if o.card == card] for card in list(cards)[1:]},
    }
    return {change: chosen for change, chosen in changes.items() if chosen}


def cures(outcomes: Sequence[Outcome]) -> list[str]:
    """Say of each change whether it keeps every document, whatever else is done."""
    return [_verdict(f"{change[:1].upper()}{change[1:]}", chosen) for change, chosen in tried(outcomes).items()]


def _verdict(change: str, chosen: Sequence[Outcome]) -> str:
    failing = [outcome for outcome in chosen if outcome.metrics.lost]
    if not failing:
        return f"{change}: no document is lost in any of {count(len(chosen), 'case')}."
    worst = max(failing, key=lambda outcome: outcome.metrics.lost)
    return (
        f"{change}: documents are lost in {len(failing)} of {count(len(chosen), 'case')}, at most "
        f"{worst.metrics.lost:,} ({_row(worst)})."
    )


def cured_by(outcomes: Sequence[Outcome]) -> str:
    """Say what cured the incident: the changes that keep every document whatever else is done."""
    good = [change for change, chosen in tried(outcomes).items() if not any(o.metrics.lost for o in chosen)]
    if not good:
        return "Nothing cured it alone."
    return f"What cured it, whatever else was done: {' and '.join(good)}."


def compared(outcomes: Sequence[Outcome]) -> str:
    """Say how this replay and the other one agree."""
    rows = [(outcome, outcome.metrics.lost > 0, another(outcome)[1] > 0) for outcome in outcomes]
    differ = [_row(outcome) for outcome, ours, theirs in rows if ours != theirs]
    same = f"they are the same rows but for {'; '.join(differ)}" if differ else "they are the same rows"
    return (
        "The last column is the same of another simulation of the story, whose documents were drawn by other means. "
        f"Of the rows that lose documents, {same}. The numbers differ as they do from seed to seed: continuous without "
        "a check on 40 GB breaks 4 to 98 times over seeds 1 to 8, because what queues up while the server starts again "
        "breaks the next batch. Static batches there are fuller when they break (8 documents of 16, here 6), so that "
        "fewer break and more is lost. A static batch reserves for all its members when it starts: checking the prompt "
        "comes to the same there as reserving."
    )


def _row(outcome: Outcome) -> str:
    return f"{outcome.card}, {outcome.batching}, admission {ADMISSIONS[outcome.reserve]}"


def single(outcomes: Sequence[Outcome]) -> str:
    """Say whether the size of a document tells who is lost."""
    lost, served = [], []
    for outcome in outcomes:
        gone = {member for crash in outcome.crashes for member in crash.members}
        if gone:
            lost += [outcome.requests[member].prompt for member in gone]
            served += [request.prompt for number, request in outcome.requests.items() if number not in gone]
    if not lost:
        return "No document was lost."
    return (
        f"No single document is the culprit: among those lost were prompts of {min(lost):,} tokens, and in the same "
        f"cases prompts of {max(served, default=0):,} were served."
    )


def milliseconds(value: Exact) -> float:
    """Round seconds to whole milliseconds, for print."""
    return round(float(value), 3)
