"""Interview question 7: which changes of a server make more tokens a second without another GPU, by runs of it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, Given
from grader.exercise import exact
from spec import catalog
from spec.serving.measured import Measured, measured
from spec.serving.remedies import UNCHANGED
from spec.stream import Stream

ACTIONS = ("half-slots", "double-slots", "fp8-cache", "4-bit-weights", "smaller-model", "tight-limit", "static-batches")
ASKED = 5  # actions of a question
GAIN = Fraction(110, 100)  # what an action must bring
UNCLEAR = Fraction(105, 100), Fraction(116, 100)  # gains that are too near to that
BEST = Fraction(105, 100)  # of the best action to the next


@dataclass(frozen=True, slots=True)
class Choice:
    """What was measured on a server, and the actions to choose from."""

    at: Measured
    actions: tuple[str, ...]

    def gain(self, action: str) -> Fraction:
        """The tokens a second with an action over those without."""
        return Fraction(self.at.tokens[action], self.at.tokens[UNCHANGED])

    @property
    def best(self) -> str:
        """The action with the most tokens a second."""
        return max(self.actions, key=self.gain)

    @property
    def helping(self) -> tuple[str, ...]:
        """The actions that bring what is wanted."""
        return tuple(action for action in self.actions if self.gain(action) >= GAIN)


def draw(stream: Stream) -> Choice:
    """Draw a server and what may be changed."""
    at = stream.choice(measured())
    actions = [action for action in ACTIONS if action in at.tokens]
    while len(actions) > ASKED:
        actions.remove(stream.choice(actions))
    return Choice(at, tuple(actions))


def keep(case: Choice) -> bool:
    """Keep gains that are clearly enough or not, some of them enough, and one that is clearly the best."""
    gains = sorted((case.gain(action) for action in case.actions), reverse=True)
    clear = not any(UNCLEAR[0] < gain < UNCLEAR[1] for gain in gains)
    return clear and gains[0] >= BEST * gains[1] and bool(case.helping) and len(case.helping) < len(case.actions)


def statement(case: Choice) -> str:
    """Tell of the server and what is measured."""
    return (
        f"{case.at.deployment.says} In a simulated run 200 requests are all there at the start, and the output tokens "
        "per second are taken until the last one is done. No GPU may be added. How good the answers are is not judged "
        "here."
    )


def givens(case: Choice) -> tuple[Given, ...]:
    """List the sizes."""
    at = case.at.deployment
    return (
        Given("gpu_memory", "M", str(catalog.gpu(at.gpu).marketed.number), "GB", "memory of the GPU"),
        Given("weights", "W", exact(Fraction(at.tenths, 10)), "GB", "weights, rounded"),
        Given("reserved", "R", str(at.reserved), "GB", "activations and safety margin"),
        Given("kv_bytes_per_token", "k", str(at.kv_bytes_per_token), "B/token", "KV cache per token"),
    )


def listed(case: Choice) -> str:
    """List the actions with what they mean."""
    return "; ".join(f"{action} ({case.at.deployment.means(action)})" for action in case.actions)


def shown(case: Choice) -> tuple[Explained, ...]:
    """Tell what was measured of each action."""

    def line(action: str) -> Explained:
        means = case.at.deployment.means(action)
        return Explained(
            "measured", f"{means[0].upper()}{means[1:]}.", f"{action}: {case.at.tokens[action]:,} tokens/s"
        )

    return tuple(map(line, (UNCHANGED, *sorted(case.actions, key=case.gain, reverse=True))))


def with_all(case: Choice, *actions: str) -> tuple[str, ...]:
    """Give the right actions and some more, in their order."""
    return tuple(action for action in case.actions if action in case.helping or action in actions)


def without(case: Choice, action: str) -> tuple[str, ...]:
    """Give the right actions but one."""
    return tuple(each for each in case.helping if each != action)


def counted(slug: str, sentence: str, action: str, *, helps: bool) -> CaseSlip[Choice]:
    """Make the misconception that an action helps, or that it does not."""

    def wrong(case: Choice) -> tuple[str, ...]:
        return with_all(case, action) if helps else without(case, action)

    return CaseSlip(
        slug,
        sentence,
        wrong,
        lambda c: action in c.actions and (action in c.helping) != helps and bool(wrong(c)),
    )


def alike(case: Choice) -> bool:
    """Say whether all outputs are equally long."""
    least, most = case.at.deployment.output
    return least == most


STATIC: tuple[tuple[Callable[[Choice], bool], str], ...] = (
    (lambda c: not alike(c), "A padded batch works on for sequences that have ended."),
    (alike, "All outputs are equally long, so a padded batch does no better."),
)


def only(where: Callable[[Choice], bool], slip: CaseSlip[Choice]) -> CaseSlip[Choice]:
    """Keep a misconception to some of the cases in which it applies."""
    return replace(slip, applies=lambda c: where(c) and slip.applies(c))


helping: CaseAsk[Choice] = CaseAsk(
    asks="helping",
    question=lambda c: f"Which of these make at least 10 % more output tokens per second: {listed(c)}?",
    kind="choices",
    options=lambda c: c.actions,
    key=lambda c: c.helping,
    slips=(
        counted(
            "more-slots-always",
            "More places help only while there is room for more caches, and while steps do not grow as much.",
            "double-slots",
            helps=True,
        ),
        counted(
            "weights-do-not-matter",
            "Smaller weights leave room for more sequences, and each step reads less.",
            "4-bit-weights",
            helps=False,
        ),
        counted(
            "weights-always",
            "Smaller weights were taken to help in any case; see what a step reads, and what limits the batch.",
            "4-bit-weights",
            helps=True,
        ),
        counted(
            "smaller-model-does-not-matter",
            "With fewer weights and a smaller cache each step reads less; how good the answers are is not judged here.",
            "smaller-model",
            helps=False,
        ),
        counted(
            "smaller-model-always",
            "A model with fewer weights may have a larger cache: fewer sequences fit, or each step reads more.",
            "smaller-model",
            helps=True,
        ),
        counted(
            "cache-does-not-matter",
            "A smaller cache lets more sequences in, and each step reads less.",
            "fp8-cache",
            helps=False,
        ),
        counted(
            "cache-always",
            "A smaller cache helps only where caches fill the memory or take much of a step.",
            "fp8-cache",
            helps=True,
        ),
        counted(
            "reservation-does-not-matter",
            "What is reserved and never used keeps others out.",
            "tight-limit",
            helps=False,
        ),
        counted(
            "reservation-always",
            "It helps only as far as more was reserved than the longest output takes, and where room runs out.",
            "tight-limit",
            helps=True,
        ),
        counted(
            "smaller-batches",
            "Smaller batches answer each sequence sooner, and make fewer tokens in all.",
            "half-slots",
            helps=True,
        ),
        *(only(where, counted("static-batches", sentence, "static-batches", helps=True)) for where, sentence in STATIC),
    ),
    hints=lambda _: (
        "Throughput is a full batch over the time of a step and its share of the prefills.",
        "First find what limits the batch, the places or the room for caches; then what a step reads.",
        "Divide the memory that is left by the cache of a request with all that is reserved for it.",
    ),
    explained=lambda c: (
        *shown(c),
        Explained("measured", "Those with a tenth more.", ", ".join(c.helping)),
    ),
)


def top(slug: str, sentence: str, action: str) -> CaseSlip[Choice]:
    """Make the misconception that an action is the best."""
    return CaseSlip(slug, sentence, lambda _: action, lambda c: action in c.actions and c.best != action)


best: CaseAsk[Choice] = CaseAsk(
    asks="best",
    question=lambda _: "Which one of them makes the most output tokens per second?",
    kind="choice",
    options=lambda c: c.actions,
    key=lambda c: c.best,
    slips=(
        top("weights-first", "Smaller weights do less here than another change.", "4-bit-weights"),
        top("smaller-model-first", "A smaller model does less here than another change.", "smaller-model"),
        top("cache-first", "A smaller cache does less here than another change.", "fp8-cache"),
        top("slots-first", "More places do less here than another change.", "double-slots"),
        top("reservation-first", "Reserving less does less here than another change.", "tight-limit"),
        top("smaller-batches", "Smaller batches make fewer tokens in all.", "half-slots"),
        *(only(where, top("static-batches", sentence, "static-batches")) for where, sentence in STATIC),
    ),
    hints=lambda _: (
        "Of the changes that help, ask which one changes the batch most, and which one what a step reads.",
        "Throughput is B over (time of a step + B prefills over the steps of an output).",
        "Work out the batch and the step for each of the changes that help.",
    ),
    explained=lambda c: (
        *shown(c),
        Explained("measured", "The most of them.", c.best),
    ),
)


family: CaseFamily[Choice] = CaseFamily(
    draw=draw,
    statement=statement,
    ways=((helping, best),),
    revision=2,
    givens=givens,
    keep=keep,
    rubric=(
        "Did you say what limits the batch before naming a remedy?",
        "Did you say what each remedy costs in quality, in latency or in risk?",
        "Did you name remedies beside batch size, fewer bits and routing, such as tighter limits or shared prefixes?",
        "Did you say how you would measure that it worked?",
    ),
    objective="serving-speed",
    section="batching",
)
