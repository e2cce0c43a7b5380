"""The words of a report on a policy: a template for each line, filled with numbers that are written already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

WORDS: Mapping[str, str] = {
    "score": "The policy earns {points} of 100, the mean of {runs} runs ({low} to {high}), each scored by itself.",
    "practice": "For practice, on other runs than those that count: the policy earns {points} of 100, the mean "
    "of {runs} runs ({low} to {high}), each scored by itself.",
    "safety": "- {what:<38} {points:>5} of {of:<3} {ooms:>8}",
    "component": "- {says:<38} {points:>5} of {of:<3} {measured:>8}; all at {full}, 0 at {zero}",
    "bad": "- Sessions that were killed, aged out, lost, exhausted or refused, {share} of all, cost {points} "
    "points.",
    "forgotten": "- Forgetting more than half of the history, with {share} kept, costs {points} points.",
    "crashed": "- A run in which memory runs out earns 20 at most; that binds {runs} and costs {points} points.",
    "broken": "- A run in which over a quarter of the sessions end badly earns 40 at most, less their share; "
    "that binds {runs} and costs {points} points.",
    "wiped": "- A run in which a cut leaves less than a quarter of the history, in the mean, earns 40 at most; "
    "that binds {runs} and costs {points} points.",
    "left": "- A run with over 20 turns still queued at its end earns 30 at most; that binds {runs} and costs "
    "{points} points.",
    "nothing-lost": "Nothing cost any points.",
    "weakest": "What cost most: {says}, {points} points.",
    "most-safety": "What cost most: memory ran out, {points} points.",
    "most-bad": "What cost most: sessions that ended badly, {points} points.",
    "most-forgotten": "What cost most: conversations that were forgotten, {points} points.",
    "most-crashed": "What cost most: the cap on runs in which memory runs out, {points} points.",
    "most-broken": "What cost most: the cap on runs in which sessions end badly, {points} points.",
    "most-wiped": "What cost most: the cap on runs in which cuts leave next to nothing, {points} points.",
    "most-left": "What cost most: the cap on runs that end with a queue, {points} points.",
    "predictions": "The predictions earn {points} of {of}.",
    "prediction": "- {says}: {said} foretold, {measured} measured: {earned}",
    "in-all": "In all {score} of 100: four fifths of what the policy earns, and what the predictions do.",
    "timeline": "Tokens in the cache by the age of their session, first run, 0 s to {end} (bars up to {most}; "
    "the budget is {budget}):",
    "row": "- {age} {row}",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a report: what it says, and the numbers in it."""

    code: str
    about: Mapping[str, str]

    def __str__(self) -> str:
        return WORDS[self.code].format_map(self.about).rstrip()
