"""`grade submit`: reads an answer, judges it, records it, and says what came of it.

Everything loaded here is waited for at every answer: no SymPy, no templates, no families unless one must be drawn.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from grader.cli import options
from grader.cli.address import Address, AddressType
from grader.cli.answering import Answering
from grader.cli.output import Refused, aside, examples, print_json, print_rubric, printed

if TYPE_CHECKING:
    from grader.cli.learner import Learner
    from grader.exercise import Exercise, Part
    from grader.judging import Judgement
    from grader.ledger import Submission

LONGEST = 64 * 1024  # bytes of an answer from a file or from stdin
INCORRECT, INVALID, POLICY = "incorrect", "invalid", "policy"
UNWRITTEN = 2  # the status where the page of a report could not be written
STATUS = {"correct": 0, "partial": 1, "incorrect": 1, INVALID: 2}
COLOURS = {"correct": "green", "partial": "yellow", "incorrect": "red", INVALID: "yellow"}


@click.command(
    "submit",
    cls=Answering,
    epilog=examples(
        'grade submit max-context/10 "320 tokens"',
        "grade submit littles-law/3 -5 --dry-run",
        "echo 17 | grade submit littles-law/3 - --json",
        "grade submit exercise-3 none",
        after="A class: grade submit --answers answers.csv --key week-1/keys/key.json --out gradebook.csv\n"
        "A policy: grade submit session-policy/7 --file policy.toml --html report.html",
    ),
)
@click.argument("address", metavar="ID", type=AddressType(), required=False)
@click.argument("words", metavar="[ANSWER]", nargs=-1)
@options.part
@click.option("--file", "path", metavar="FILE", help="Read the answer from a file of at most 64 KiB.")
@click.option(
    "--answers",
    metavar="FILE",
    help="The answers to a set, in place of ID and ANSWER: CSV, TOML, JSON, a notebook, or a folder of them.",
)
@click.option("--key", metavar="FILE", help="The key.json of the set, with --answers.")
@click.option("--policy", metavar="SET.toml", help="A set file, the policy of which takes the place of the key's.")
@click.option("--out", metavar="FILE", help="The gradebook to write, with --answers.")
@click.option("--html", metavar="FILE", help="Write the report on a policy as a page.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Only show how the answer is read, or run a policy for practice; nothing is recorded.",
)
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever the verdict.")
@options.as_json
@options.whose
def command(
    address: Address | None,
    words: tuple[str, ...],
    part: str | None,
    path: str | None,
    answers: str | None,
    key: str | None,
    policy: str | None,
    out: str | None,
    html: str | None,
    ledger: str | None,
    student: str | None,
    *,
    dry_run: bool,
    exit_zero: bool,
    as_json: bool,
) -> int:
    """Judge an answer and record it; `-` reads it from standard input.

    An answer that cannot be read uses up no attempt. Exit status: 0 correct, 1 partial or incorrect, 2 not an answer.

    With --answers it judges a class by the key of its set. A CSV file has a row for each answer (columns student, item,
    part, answer) or for each student (columns student, 1, 2a, 2b, ...); students are named by code, id or e-mail
    address. Of several answers to a part the last that can be read counts, unless the policy of the set says else.
    What cannot be used is told on stderr and costs only itself: exit status 1. The same file again adds nothing to the
    ledger.
    """
    if answers is not None:
        if address or words or part or path or html or dry_run:
            raise click.UsageError(
                "--answers takes neither an exercise nor an answer beside it, nor --html, nor --dry-run."
            )
        from grader.cli.answers import submit_answers

        status = submit_answers(answers, key, policy, out, ledger, student, as_json=as_json)
        return 0 if exit_zero else status
    if key or policy or out:
        raise click.UsageError("--key, --policy and --out go with --answers.")
    if address is None:
        raise click.UsageError("Missing argument 'ID'.")
    text = answer_text(words, path)
    from grader.cli.learner import learner, part_of, shown

    with learner(ledger, student) as who:
        exercise = who.exercise(address)
        meant = part_of(exercise, part)
        runs = meant.kind == POLICY
        if html is not None and not runs:
            raise click.UsageError("--html goes with policies: other answers have no report.")
        judgement = _ran(meant, text, practice=dry_run) if runs else judged(who, exercise, meant, text)
        row = None if dry_run else record(who, exercise, meant, text, judgement)
    # What is printed from here on is durable.
    if as_json:
        _print_json(exercise, meant, judgement, row, secret=dry_run and not runs)
    elif dry_run and not runs and judgement.verdict != INVALID:
        click.echo(f"Read as {judgement.reading}.")
    else:
        print_judgement(judgement, meant, row)
        if exercise.rubric and judgement.verdict == "correct" and meant is exercise.parts[-1]:
            print_rubric(exercise.rubric)
        if row is not None and STATUS[judgement.verdict] == 1:
            aside(f"For a hint: grade hint {shown(exercise.family, exercise.seed)}")
    unwritten = html is not None and not _wrote_page(html, exercise, judgement)
    status = int(judgement.verdict == INVALID) * 2 if dry_run else STATUS[judgement.verdict]
    return UNWRITTEN if unwritten else 0 if exit_zero else status


def _ran(part: Part, text: str, *, practice: bool) -> Judgement:
    from grader.cli.executing import run

    return run(part, text, practice=practice)


def _wrote_page(path: str, exercise: Exercise, judgement: Judgement) -> bool:
    from grader.cli.executing import write_page

    return write_page(path, exercise, judgement)


def judged(who: Learner, exercise: Exercise, part: Part, text: str) -> Judgement:
    """Judge an answer of a learner; a wrong one with the answers before it, and with two slips at once."""
    from grader.judging import judge

    judgement = judge(part, text)
    if judgement.verdict != INCORRECT:
        return judgement
    if part.follows:
        from grader.judging.carried import judge_after

        before: dict[str, list[str]] = {}
        for row in who.ledger.submissions(who.student, exercise.family, exercise.seed):
            if row.revision == exercise.revision:
                before.setdefault(row.part, []).append(row.raw)
        judgement = judge_after(exercise, part, text, before)
    from grader.judging.compound import explained

    return explained(exercise, part, judgement)


def record(who: Learner, exercise: Exercise, part: Part, text: str, judgement: Judgement) -> Submission:
    """Make an answer and its verdict durable."""
    return who.ledger.submit(
        who.student,
        exercise,
        part.part,
        raw=text,
        reading=judgement.reading,
        verdict=judgement.verdict,
        score=judgement.score,
        slips=[diagnosis.slip for diagnosis in judgement.diagnoses],
    )


def answer_text(words: tuple[str, ...], path: str | None) -> str:
    """Return the text of the answer from wherever it stands.

    Raises:
        Refused: it cannot be read.
    """
    if bool(words) == (path is not None):
        raise click.UsageError(
            "Give the answer once: as an argument, with --file, or as - for standard input."
            if words
            else "The answer is missing; give it as an argument, with --file FILE, or as - for standard input."
        )
    if path is None and words != ("-",):
        return " ".join(words)
    named = path or "Standard input"
    try:
        if path is not None:
            with open(path, "rb") as file:  # noqa: PTH123  pathlib takes 4 ms to load
                content = file.read(LONGEST + 1)
        elif sys.stdin is None:
            raise Refused("Standard input is closed.")
        else:
            content = sys.stdin.buffer.read(LONGEST + 1)
    except OSError as error:
        raise Refused(f"{named} cannot be read: {error.strerror}.") from error
    except ValueError as error:  # a NUL in the name of the file
        raise Refused(f"{named!r} is no file name.") from error
    if len(content) > LONGEST:
        raise Refused(f"{named} is longer than 64 KiB, which no answer is.")
    try:
        return content.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise Refused(f"{named} is not UTF-8 text.") from error


def _print_json(exercise: Exercise, part: Part, judgement: Judgement, row: Submission | None, *, secret: bool) -> None:
    """Print the judgement; of a secret one only what would be the same for every key."""
    from grader.feedback import message

    secret = secret and judgement.verdict != INVALID
    carried = [finding.about["parts"] for finding in judgement.findings if finding.code.startswith("carried")]
    print_json(
        exercise=exercise.id,
        part=part.part,
        verdict=None if secret else judgement.verdict,
        score=None if secret else float(judgement.score),
        reading=judgement.reading,
        diagnoses=[] if secret else [{"slip": d.slip, "sentence": d.sentence} for d in judgement.diagnoses],
        message=f"Read as {judgement.reading}." if secret else message(judgement, part),
        **({"carried": carried[0].split(",")} if carried and not secret else {}),
        attempt=row.attempt if row else None,
        receipt=row.receipt if row else None,
    )


def print_judgement(judgement: Judgement, part: Part, row: Submission | None) -> None:
    """Print what the learner is told, and the receipt of what was recorded."""
    from grader.feedback import message

    verdict, _, why = message(judgement, part).partition("\n")
    printed(verdict, COLOURS[judgement.verdict])
    if why:
        click.echo(why)
    if judgement.verdict == "correct" and part.reason:
        click.echo(part.reason)
    if row is not None:
        used = "No attempt used" if judgement.verdict == INVALID else f"Attempt {row.attempt}"
        click.echo(f"{used}. Receipt {row.receipt}.")
