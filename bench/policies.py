"""A search for policies for chat sessions that win by a trick: drawn at random, played, and the best ten shown.

    python -m bench.policies COUNT FILE [PROCESSES]

Every policy is played for a short while first, those that promise something on one seed, and the best of these on five
others, with what was measured. Rows go to FILE as soon as they are there, and are not played again by a later search
with the same FILE.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from fractions import Fraction
from multiprocessing import Pool
from pathlib import Path
from typing import Any

from bench.timing import table
from spec.serving.session_policy import MARGIN, PolicyRefused, SessionPolicy, fields_for, policy_from
from spec.serving.session_values import Choice, Field, Flag, Number, shown
from spec.serving.sessions import Circumstances, play
from spec.solving import Exact
from spec.stream import Stream

FIRST, OTHERS = 1, (2, 3, 4, 5, 6)
SHORT, PROMISING = Circumstances(seconds=2400, warm_up=900), 80  # the short while, and the points that promise more
FINALISTS, SHOWN = 60, 10
PARTS = 1000
COLUMNS = ("policy", "score", "new p99 s", "TTFT p99 s", "redone", "Jain", "retained", "bad", "queued", "spared")


def drawn(number: int) -> SessionPolicy:
    """Draw a policy that is allowed; about half of its fields are at their defaults."""
    stream = Stream("policies", number)
    while True:
        values = {field.name: _value(field, stream) if stream.below(2) else field.default for field in fields_for()}
        room = values["context_limit"] - MARGIN
        values["summary"] = min(values["summary"], room // 4)
        values["keep"] = min(values["keep"], room - values["summary"])
        try:
            return policy_from(values)
        except PolicyRefused:  # a summary of nothing
            continue


def _value(field: Field, stream: Stream) -> Any:
    kind = field.kind
    if isinstance(kind, Choice):
        return stream.choice(list(kind.options))
    if isinstance(kind, Flag):
        return bool(stream.below(2))
    if not isinstance(kind, Number):
        raise TypeError(field.name)
    if kind.high > PARTS and not kind.whole:  # a time: short ones are as likely as long ones
        return Fraction(10 ** stream.below(4) * (1 + stream.below(9)), 2)
    if field.name == "session_cap":
        return 1 + stream.below(100)
    part = kind.low + (kind.high - kind.low) * Fraction(1 + stream.below(PARTS), PARTS)
    return int(part) if kind.whole else part


def scored(policy: SessionPolicy, seed: int, around: Circumstances | None = None) -> tuple[Exact, list[Exact]]:
    """Play one seed, and return the score and what it comes from."""
    from grader.executing.session_policy.running import measures
    from grader.executing.session_policy.scoring import score

    found = measures(play(policy, around or Circumstances(), seed))
    parts = [found.new_wait or 0, found.returning_ttft or 0, found.redone, found.fairness, found.retention, found.bad]
    return score(found).total, [*parts, found.queued, 1 if found.spared is None else found.spared]


def _one(number: int) -> tuple[int, float]:
    policy = drawn(number)
    first = scored(policy, FIRST, SHORT)[0]
    return number, float(first if first < PROMISING else scored(policy, FIRST)[0])


def search(count: int, path: Path, processes: int) -> dict[int, float]:
    """Play policies that the file does not have, and return the score of each by its number."""
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    known = {number: score for number, score in rows if number < count}
    missing = [number for number in range(count) if number not in known]
    with path.open("a") as out, Pool(processes) as pool:
        for row in pool.imap_unordered(_one, missing, chunksize=4):
            out.write(json.dumps(row) + "\n")
            out.flush()
            known[row[0]] = row[1]
    return known


def told(policy: SessionPolicy) -> str:
    """Write the fields of a policy that are not at their defaults."""
    usual = SessionPolicy().table()
    return ", ".join(
        f"{name} {shown(value, quoted=False)}" for name, value in policy.table().items() if value != usual[name]
    )


def run(count: int, path: Path, processes: int) -> str:
    """Search, and return a table of the best."""
    known = search(count, path, processes)
    best = sorted(known, key=lambda number: (-known[number], number))[:FINALISTS]
    rows = []
    for number in best:
        runs = [scored(drawn(number), seed) for seed in OTHERS]
        means = [sum(column, Fraction(0)) / len(runs) for column in zip(*(parts for _, parts in runs), strict=True)]
        rows.append((sum(total for total, _ in runs) / Fraction(len(runs)), means, told(drawn(number))))
    rows.sort(key=lambda row: -row[0])
    return table(
        f"The best of {count:,} policies, means over {len(OTHERS)} seeds",
        COLUMNS,
        [_cells(*row) for row in rows[:SHOWN]],
    )


def _cells(score: Exact, means: Sequence[Exact], policy: str) -> list[str]:
    return [policy, f"{float(score):.1f}", *(f"{float(value):.3g}" for value in means)]


def main(arguments: list[str]) -> int:
    """Print the best of a search."""
    if len(arguments) not in {2, 3} or not all(each.isdecimal() for each in (arguments[0], *arguments[2:])):
        print(__doc__, file=sys.stderr)
        return 2
    print(run(int(arguments[0]), Path(arguments[1]), int((arguments[2:] or ["2"])[0])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
