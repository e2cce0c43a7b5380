"""The smallest static batch that no longer fits, or the first of several that fails (F40)."""

from dataclasses import dataclass

from grader.amounts import digits
from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, told_apart
from spec.serving.padding import padded_tokens
from spec.stream import Stream

SHARES = (20, 25, 30, 40, 50, 60, 70, 80, 90, 97)  # of the longest document that fits, in hundredths
OUTPUTS = (64, 100, 128, 200, 256, 300, 400, 512)
SIZES = (4, 5, 6)
MEAN = (40, 45, 50, 55, 60, 65, 70)  # of the longest document, in hundredths


@dataclass(frozen=True, slots=True)
class Documents:
    """A KV budget in tokens, documents to summarise, and the most that is generated for each.

    Attributes:
        budget: what all sequences of a batch may take together.
        typical, mean: a usual length, and the mean.
        longest: the longest document.
        output: the most output tokens of each.
        slots: the largest batch that the server forms.
        size: of the batches into which the documents below are cut.
        lengths: documents in the order in which they came.
    """

    budget: int
    typical: int
    mean: int
    longest: int
    output: int
    slots: int
    size: int
    lengths: tuple[int, ...]


def _draw(stream: Stream) -> Documents:
    longest = 100 * (20 + stream.below(140))
    output = stream.choice(OUTPUTS)
    whole = longest + output
    slots = 8 * (1 + stream.below(4))
    places = 2 + stream.below(22)
    budget = places * whole + 1 + stream.below(whole - 1)
    mean = longest * stream.choice(MEAN) // 100
    typical = mean * (80 + stream.below(17)) // 1000 * 10
    size = stream.choice(SIZES)
    fits = max(0, budget // size - output)
    lengths = [fits * stream.choice(SHARES) // 1000 * 10 for _ in range(size * (3 + stream.below(2)))]
    for _ in range(stream.below(3)):  # documents that are just too long for their batch
        lengths[stream.below(len(lengths))] = (fits // 10 + 1 + stream.below(output // 10)) * 10
    return Documents(budget, typical, mean, longest, output, slots, size, tuple(lengths))


def _keep(case: Documents) -> bool:
    return case.typical < case.mean and min(case.lengths) > case.output


def _takes(case: Documents, lengths: tuple[int, ...]) -> int:
    """Return the tokens that a batch takes in the end: all are padded to the longest, and all may be generated."""
    return padded_tokens([length + case.output for length in lengths])


def _cut(case: Documents) -> list[tuple[int, ...]]:
    return [case.lengths[start : start + case.size] for start in range(0, len(case.lengths), case.size)]


def _statement(case: Documents) -> str:
    return (
        f"A server summarises documents in static batches and has a KV budget of {digits(case.budget)} tokens for "
        "them. Every document of a batch is padded to the longest of that batch, and for each up to "
        f"{digits(case.output)} output tokens are kept beside it, which the batch must have room for. It runs out of "
        "memory as soon as it would need more than the budget; an exact fit still runs."
    )


def _fails(case: Documents, each: int) -> int | None:
    """Return the smallest batch of documents that take so much each and that does not fit, of those that are formed."""
    size = case.budget // each + 1
    return size if size <= case.slots else None


def _smallest(case: Documents) -> int | None:
    sizes = range(1, case.slots + 1)
    return next((n for n in sizes if _takes(case, (case.longest,) * n) > case.budget), None)


SMALLEST: CaseAsk[Documents] = CaseAsk(
    asks="batch",
    question=lambda c: (
        f"Documents have {digits(c.typical)} tokens as a rule, {digits(c.mean)} in the mean and {digits(c.longest)} at "
        f"most, and a batch has at most {c.slots} of them. What is the smallest batch that runs out of memory once "
        "one of the longest is in it?"
    ),
    kind="count",
    key=_smallest,
    reason=lambda c: f"Even {c.slots} of the longest fit, with all that may be generated for them.",
    slips=(
        told_apart(
            "largest-that-fits",
            "That many still fit; the smallest that does not has one more.",
            lambda c: c.budget // (c.longest + c.output),
            _smallest,
        ),
        told_apart(
            "typical-length",
            "The usual length was taken; all are padded to the longest.",
            lambda c: _fails(c, c.typical + c.output),
            _smallest,
        ),
        told_apart(
            "padding-ignored",
            "The mean was taken, as if nothing were padded.",
            lambda c: _fails(c, c.mean + c.output),
            _smallest,
        ),
        told_apart(
            "output-forgotten",
            "What is generated takes room as well.",
            lambda c: _fails(c, c.longest),
            _smallest,
        ),
        told_apart(
            "output-alone-padded",
            "The output was taken for the whole batch together; each document has its own.",
            lambda c: next((n for n in range(1, c.slots + 1) if n * c.longest + c.output > c.budget), None),
            _smallest,
        ),
        told_apart("full-batch", "That is the largest batch that is formed.", lambda c: c.slots, _smallest),
        told_apart(
            "one-long-among-typical",
            "Only the longest was given its length; all others are padded to it.",
            lambda c: next(
                (n for n in range(1, c.slots + 1) if c.longest + (n - 1) * c.typical + n * c.output > c.budget),
                None,
            ),
            _smallest,
        ),
    ),
    hints=lambda c: (
        "Every document of the batch takes what the longest takes, and its output besides.",
        "It fails as soon as batch x (longest + output) > budget.",
        f"Each takes {digits(c.longest)} + {digits(c.output)} tokens of {digits(c.budget)}.",
    ),
    explained=lambda c: (
        Explained(
            "padded sequence",
            "The longest document and its output.",
            f"{digits(c.longest)} + {digits(c.output)} = {digits(c.longest + c.output)} tokens",
        ),
        Explained(
            "smallest that fails",
            "One more than what fits.",
            f"floor({c.budget}/{c.longest + c.output}) + 1 = {c.budget // (c.longest + c.output) + 1}"
            + f", which is more than {c.slots}" * (_smallest(c) is None),
        ),
    ),
)


def _first(case: Documents) -> int | None:
    batches = enumerate(_cut(case), 1)
    return next((number for number, batch in batches if _takes(case, batch) > case.budget), None)


FIRST: CaseAsk[Documents] = CaseAsk(
    asks="batch_number",
    question=lambda c: (
        f"Documents of {', '.join(map(digits, c.lengths))} tokens are cut into batches of {c.size}, "
        "in this order, and the batches run one after another. Counted from 1, which batch is the first to run out of "
        "memory?"
    ),
    kind="count",
    key=_first,
    reason=lambda _: "Every one of the batches fits.",
    slips=(
        told_apart(
            "padding-ignored",
            "The lengths were added up, as if nothing were padded.",
            lambda c: next(
                (n for n, batch in enumerate(_cut(c), 1) if sum(batch) + len(batch) * c.output > c.budget), None
            ),
            _first,
        ),
        told_apart(
            "output-forgotten",
            "What is generated takes room as well.",
            lambda c: next((n for n, batch in enumerate(_cut(c), 1) if padded_tokens(batch) > c.budget), None),
            _first,
        ),
        told_apart(
            "the-longest-document",
            "The batch with the longest document was taken; an earlier one may fail as well, or none.",
            lambda c: c.lengths.index(max(c.lengths)) // c.size + 1,
            _first,
        ),
        told_apart(
            "counted-from-zero",
            "Batches are counted from 1.",
            lambda c: None if (found := _first(c)) is None else found - 1,
            _first,
        ),
        told_apart(
            "never-freed",
            "The batches before it were still counted; each one ends before the next.",
            lambda c: next(
                (n for n in range(1, len(_cut(c)) + 1) if sum(_takes(c, batch) for batch in _cut(c)[:n]) > c.budget),
                None,
            ),
            _first,
        ),
        told_apart(
            "document-for-batch",
            "That is the number of the document; the question is about the batch.",
            lambda c: next((n for n, one in enumerate(c.lengths, 1) if c.size * (one + c.output) > c.budget), None),
            _first,
        ),
        told_apart(
            "batches-in-all",
            "That is how many batches there are.",
            lambda c: len(_cut(c)),
            _first,
        ),
        told_apart(
            "longest-of-all",
            "Every batch was padded to the longest document of all; each has a longest of its own.",
            lambda c: 1 if c.size * (max(c.lengths) + c.output) > c.budget else None,
            _first,
        ),
    ),
    hints=lambda c: (
        "Look at the longest document of each batch.",
        "A batch fails if its size x (its longest document + output) > budget.",
        f"With {c.size} in a batch each may take {digits(c.budget // c.size)} tokens, its output included.",
    ),
    explained=lambda c: (
        Explained(
            "padded batches",
            "Each takes its size times its longest document and output.",
            "; ".join(
                f"batch {number}: {len(batch)} x ({max(batch)} + {c.output}) = {_takes(c, batch)} "
                f"{'<=' if _takes(c, batch) <= c.budget else '>'} {c.budget}"
                for number, batch in enumerate(_cut(c), 1)
            ),
        ),
        Explained("result", "The first that needs more.", f"first = {_first(c) or 'none of them'}"),
    ),
)


def _longest_safe(case: Documents) -> int:
    return case.budget // case.size - case.output


SAFE: CaseAsk[Documents] = CaseAsk(
    asks="length",
    question=lambda c: (
        f"What is the greatest length that documents may have so that no batch of {c.size} of them runs out of memory?"
    ),
    kind="count",
    unit="token",
    key=_longest_safe,
    slips=(
        told_apart(
            "output-forgotten", "What is generated takes room as well.", lambda c: c.budget // c.size, _longest_safe
        ),
        told_apart(
            "output-once",
            "The output was taken once for the whole batch; each document has its own.",
            lambda c: (c.budget - c.output) // c.size,
            _longest_safe,
        ),
        told_apart(
            "rounded-up",
            "With that length the batch needs more than the budget; it rounds down.",
            lambda c: -(-c.budget // c.size) - c.output,
            _longest_safe,
        ),
        CaseSlip("whole-budget", "That is what one document alone may have.", lambda c: c.budget - c.output),
        CaseSlip(
            "output-added", "The output was added; it takes from the room.", lambda c: c.budget // c.size + c.output
        ),
    ),
    hints=lambda c: (
        "In the worst case all documents of the batch are padded to that length, and each has its output.",
        "length = floor(budget / batch) - output.",
        f"The budget is {digits(c.budget)} tokens for {c.size} sequences, of which {digits(c.output)} each are output.",
    ),
    explained=lambda c: (
        Explained(
            "share of one",
            "The batch shares the budget evenly, being padded.",
            f"floor({c.budget}/{c.size}) = {digits(c.budget // c.size)} tokens",
        ),
        Explained(
            "longest document",
            "Its output comes out of that.",
            f"{digits(c.budget // c.size)} - {digits(c.output)} = {digits(c.budget // c.size - c.output)} tokens",
        ),
    ),
)

family = CaseFamily(
    draw=_draw,
    statement=_statement,
    ways=((SMALLEST,), (FIRST,), (SAFE,)),
    keep=_keep,
    objective="cache-capacity",
    section="batching",
    infeasible=True,
)
