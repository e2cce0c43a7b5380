"""`grade practice`: asks, judges and explains, one exercise after another.

What is said of an answer is on the ledger before it is printed, so that a session may end at any moment, by whatever
cause, and the next one goes on with the exercise that was asked last.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from grader.cli import options
from grader.cli.asking import Ended, Unusable, ask
from grader.cli.learner import Learner, learner, shown
from grader.cli.new import posed_next
from grader.cli.output import Refused, counted, examples, printed, wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from grader.exercise import Exercise, Part
    from grader.judging import Judgement
    from grader.practising import Entry, History, Objective

POLICY = "policy"  # a kind of answer that is run for seconds, and that is a file
OFFER = "Answer, or type hint, solution, skip or quit; @FILE takes the answer from a file."


class Left(Exception):
    """The learner ends the session."""


class Skipped(Exception):
    """The learner leaves an exercise."""


@click.command(
    "practice", epilog=examples("echo quit | grade practice", "echo 131072 | grade practice --objective kv-cache")
)
@click.option("--objective", "name", metavar="NAME", help="Practise this alone.")
@options.whose
def command(name: str | None, ledger: str | None, student: str | None) -> None:
    """Practise: exercises that you need, asked one after another, until you master an objective, or all of them.

    The objectives are attention, kv-cache, phases, batching, memory and first-token, and those that `grade list` shows.
    An answer is judged and explained at once, and you may try again; hint, solution, skip and quit are words to type,
    and @FILE takes the answer from a file. End whenever you like: the next session goes on where this one was.

    The rule: an objective is mastered when four of its last five questions were right with the first answer and without
    help. Next comes the objective of which most is missing, the more so the longer ago it was practised. Of its
    families comes one that shows a slip which you made and have not avoided since; else one that is new to you, or that
    you met long ago, and that can show most slips not yet tested on you. Of its draws comes the one that shows most of
    them, and none comes twice.
    """
    from grader.practising import OBJECTIVES, UnknownObjective, families, found

    if sys.stdin is None:
        raise Refused("Standard input is closed, so that nothing can be answered; `grade new` poses an exercise.")
    by = families()
    try:
        wanted = OBJECTIVES if name is None else (found(name.lower(), (entry.objective for entry in by.values())),)
    except UnknownObjective as error:
        raise Refused(str(error)) from error
    with learner(ledger, student) as who:
        session = Session(who, by, wanted)
        with suppress(Left):
            session.run()
        session.print_end()


class Session:
    """A learner at a terminal, and what they practise."""

    def __init__(self, who: Learner, by: Mapping[str, Entry], objectives: Sequence[Objective]) -> None:
        self.who, self.by, self.objectives = who, by, objectives
        self.asked = 0

    def run(self) -> None:
        """Ask until everything is mastered.

        Raises:
            Left: the learner ends the session before.
            Refused: no exercise can be drawn.
            LedgerError: something cannot be recorded.
        """
        from grader.practising import trained, unfinished

        known = self._known()
        if self._open(known):
            self._print_standings(known)
            click.echo(f"\n{OFFER}")
        families = [slug for each in self.objectives for slug in trained(self.by, each, drawn=True)]
        exercise = unfinished(self.who.ledger, known, families)
        if exercise is not None:
            click.echo("This one is still open.")
        while self._open(known):
            exercise = exercise or posed_next(self.who, self.by, self._open(known))
            try:
                self._ask(exercise, known)
            except Skipped:
                click.echo("Skipped.")
            known = self._known()
            self._print_standings(known, of=exercise.family)
            exercise = None

    def print_end(self) -> None:
        """Print how the learner stands."""
        known = self._known()
        if not self._open(known):
            printed("Mastered.", "green")
        self._print_standings(known)
        if self.asked:
            click.echo(f"{counted(self.asked, 'exercise')} in this session. Everything is recorded.")

    def _known(self) -> History:
        from grader.practising import history

        return history(self.who.ledger, self.who.student)

    def _open(self, known: History) -> list[Objective]:
        """Return what has families and is not mastered."""
        from grader.practising import trained

        return [
            each
            for each in self.objectives
            if trained(self.by, each, drawn=True) and not known.standing(trained(self.by, each)).mastered
        ]

    def _ask(self, exercise: Exercise, known: History) -> None:
        """Ask what is open of an exercise, part after part."""
        from grader.cli.posed import statement

        self.asked += 1
        click.echo()
        printed(shown(exercise.family, exercise.seed), "cyan")
        click.echo(f"\n{statement(exercise)}\n")
        for part in exercise.parts:
            if (exercise.family, exercise.seed, exercise.revision, part.part) not in known.closed:
                self._ask_part(exercise, part)

    def _ask_part(self, exercise: Exercise, part: Part) -> None:
        """Ask until the answer is right, or the solution was shown."""
        from grader.cli.hint import next_hint, print_hint
        from grader.cli.solution import print_solution, solved

        several = len(exercise.parts) > 1
        labels = {label.casefold() for label in part.options}
        if part.kind == POLICY:
            click.echo(f"To begin: grade show {exercise.id} --template > policy.toml. To answer: @policy.toml")
        while True:
            text = _typed(f"{part.part}) > " if several else "> ")
            word = "" if text.casefold() in labels else text.casefold()
            if not text or word in {"help", "?"}:
                click.echo(OFFER)
            elif word == "quit":
                raise Left
            elif word == "skip":
                raise Skipped
            elif word == "hint":
                print_hint(next_hint(self.who, exercise, part))
            elif word == "solution":
                print_solution(part, solved(self.who, exercise, part), several=several)
                return
            elif self._is_right(exercise, part, text):
                return

    def _is_right(self, exercise: Exercise, part: Part, text: str) -> bool:
        """Judge an answer, record it, and then say what came of it."""
        from grader.cli.executing import run
        from grader.cli.submit import judged, print_judgement, record

        if part.kind == POLICY:
            judgement: Judgement = run(part, text, practice=False)
        else:
            judgement = judged(self.who, exercise, part, text)
        print_judgement(judgement, part, record(self.who, exercise, part, text, judgement))
        return judgement.verdict == "correct"

    def _print_standings(self, known: History, of: str | None = None) -> None:
        """Print how the learner stands in everything practised, or only in what a family trains."""
        from grader.practising import LAST, trained

        width = max(len(each.name) for each in self.objectives)
        click.echo()
        for each in self.objectives:
            families = trained(self.by, each)
            if of is not None and of not in families:
                continue
            standing = known.standing(families)
            marks = "".join("+" if score == 1 else "~" if score else "-" for score in standing.scores)
            words = "mastered" if standing.mastered else f"{_short(standing.right)} of {LAST}"
            line = f"  {each.name:{width}}  {marks:.<{LAST}}  {words if families else 'no exercises'}"
            says = f"  {each.says}" if of is None else ""
            click.echo(wrapped(f"{line:{width + LAST + 18}}{says}".rstrip(), indent=width + LAST + 20))


def _typed(prompt: str) -> str:
    """Ask until something is typed that can be taken for an answer or a word."""
    while True:
        try:
            return ask(prompt)
        except Ended:
            raise Left from None
        except Unusable as error:
            click.echo(str(error))


def _short(number: Fraction) -> str:
    """Write a sum of scores with one decimal at most."""
    return f"{float(number):.1f}".removesuffix(".0")
