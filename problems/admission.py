"""Who is let in when each request reserves all that it may use, and what it takes to let more in (F27)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from grader.amounts import digits
from grader.case import CaseAsk, CaseFamily, CaseSlip, Explained, told_apart
from spec.serving.admission import Admission, Reserve, Rules
from spec.serving.cache import CacheManager
from spec.serving.request import Job, Request
from spec.stream import Stream

NAMES = "abcdefgh"
FEWEST = 4  # requests
WINDOWS = (2048, 4096, 8192)
EXACT_FIT = 3  # in one of so many draws the last one fits exactly


@dataclass(frozen=True, slots=True)
class Waiting:
    """Requests as (prompt, most output tokens, output tokens that come), the budget and the window, all in tokens."""

    requests: tuple[tuple[int, int, int], ...]
    budget: int
    window: int

    @property
    def names(self) -> tuple[str, ...]:
        """The requests, in the order in which they came."""
        return tuple(NAMES[: len(self.requests)])


def _draw(stream: Stream) -> Waiting:
    window = stream.choice(WINDOWS)
    unit = window // 256 * (1 + stream.below(2))
    requests = []
    for _ in range(FEWEST + stream.below(len(NAMES) - FEWEST + 1)):
        prompt, most = (4 + stream.below(60)) * unit, (4 + stream.below(30)) * unit
        requests.append((prompt, most, 1 + stream.below(most)))
    if stream.below(3) == 0:
        place = stream.below(len(requests))
        prompt, most, _ = requests[place]
        requests[place] = (window - most // 2, most, 1 + stream.below(most // 2))
    needs = [prompt + most for prompt, most, _ in requests if prompt + most <= window]
    if not needs:
        return Waiting(tuple(requests), window, window)
    budget = sum(needs) * (45 + stream.below(40)) // 100
    if stream.below(EXACT_FIT) == 0:
        held, fits = 0, []
        for need in needs:
            if held + need <= budget:
                held += need
                fits.append(held)
        budget = fits[-1] if fits else budget
    return Waiting(tuple(requests), budget, window)


def _keep(case: Waiting) -> bool:
    refused = [name for name in case.names if name not in _admitted(case)]
    return len(_admitted(case)) > 1 and bool(refused) and case.budget > max(min(p + m for p, m, _ in case.requests), 1)


@lru_cache(maxsize=4096)
def _let_in(sizes: tuple[int, ...], budget: int, *, backfill: bool = True) -> tuple[str, ...]:
    """Return who is let in of those that are there at once and reserve so much each."""
    admission = Admission(CacheManager(budget), Rules(Reserve.TURN, backfill=backfill))
    for number, size in enumerate(sizes):
        # One token of output in the size: what is reserved is all that counts here.
        admission.arrive(Job(Request(number, 0, max(1, size - 1), 1), 0))
    let_in = []
    while (job := admission.admit()) is not None:
        let_in.append(NAMES[job.request.id])
    return tuple(let_in)


def _fitting(case: Waiting) -> Waiting:
    """Leave out what exceeds the window: refused for good, whatever the budget."""
    return Waiting(tuple(r for r in case.requests if r[0] + r[1] <= case.window), case.budget, case.window)


def _by(case: Waiting, size: Callable[[tuple[int, int, int]], int], *, backfill: bool = True) -> tuple[str, ...]:
    """Return who is let in where a request is given `size` of it."""
    within = [name for name, r in zip(case.names, case.requests, strict=True) if r[0] + r[1] <= case.window]
    let_in = _let_in(tuple(size(r) for r in _fitting(case).requests), case.budget, backfill=backfill)
    return tuple(within[NAMES.index(name)] for name in let_in)


def _all_of_it(request: tuple[int, int, int]) -> int:
    return request[0] + request[1]


def _admitted(case: Waiting) -> tuple[str, ...]:
    return _by(case, _all_of_it)


def _request(case: Waiting, name: str) -> tuple[int, int, int]:
    return case.requests[NAMES.index(name)]


def _reserved(case: Waiting) -> int:
    return sum(_all_of_it(_request(case, name)) for name in _admitted(case))


def _strictly(case: Waiting) -> tuple[str, ...]:
    """Refuse the exact fit."""
    return _by(Waiting(case.requests, case.budget - 1, case.window), _all_of_it)


def _ignoring_the_window(case: Waiting) -> tuple[str, ...]:
    return _let_in(tuple(map(_all_of_it, case.requests)), case.budget)


def _smallest_first(case: Waiting) -> tuple[str, ...]:
    held, let_in = 0, []
    for size, name in sorted((_all_of_it(_request(case, name)), name) for name in case.names):
        if held + size <= case.budget and size <= case.window:
            held += size
            let_in.append(name)
    return tuple(sorted(let_in))


def _statement(case: Waiting) -> str:
    told = "; ".join(
        f"{name}: prompt {digits(prompt)}, max_tokens {digits(most)}, output {digits(output)}"
        for name, (prompt, most, output) in zip(case.names, case.requests, strict=True)
    )
    return (
        f"A server has a KV budget of {digits(case.budget)} tokens, and the context window of its model is "
        f"{digits(case.window)} tokens. A request is let in if its prompt and its max_tokens together still fit into "
        "what is not reserved, and then it reserves both; an exact fit is a fit. One whose prompt and max_tokens "
        "together exceed the window or the whole budget is refused for good. All of these requests are there at the "
        "start, nothing is reserved yet, and the server goes through them in this order, passing by those that do not "
        "fit; the output is what each will generate, which the server learns only when it is there. In tokens, "
        f"{told}."
    )


def _table(case: Waiting) -> str:
    held, lines = 0, []
    for name, (prompt, most, _) in zip(case.names, case.requests, strict=True):
        need = prompt + most
        if need > case.window:
            lines.append(f"{name}: {need} > {case.window}, over the window")
        elif name in _admitted(case):
            lines.append(f"{name}: {held} + {need} = {held + need} <= {case.budget}, in")
            held += need
        else:
            lines.append(f"{name}: {held} + {need} = {held + need} > {case.budget}, not now")
    return "; ".join(lines)


def _sum(case: Waiting, names: tuple[str, ...]) -> str:
    return " + ".join(digits(_all_of_it(_request(case, name))) for name in names)


ADMITTED: CaseAsk[Waiting] = CaseAsk(
    asks="admitted",
    question=lambda _: "Which requests are let in at the start?",
    kind="choices",
    key=_admitted,
    options=lambda c: c.names,
    slips=(
        told_apart(
            "prompt-only",
            "Only the prompts were reserved; what a request may generate needs room as well.",
            lambda c: _by(c, lambda r: r[0]),
            _admitted,
        ),
        told_apart(
            "output-known",
            "The output that comes was reserved; the server does not know it beforehand.",
            lambda c: _by(c, lambda r: r[0] + r[2]),
            _admitted,
        ),
        told_apart(
            "output-only",
            "Only max_tokens was reserved; the prompt is kept as well.",
            lambda c: _by(c, lambda r: r[1]),
            _admitted,
        ),
        told_apart("exact-fit-refused", "What fits exactly fits.", _strictly, _admitted),
        told_apart(
            "stops-at-the-first",
            "The server stopped at the first that does not fit; it goes on with those behind.",
            lambda c: _by(c, _all_of_it, backfill=False),
            _admitted,
        ),
        told_apart(
            "window-ignored",
            "One of these does not fit into the window of the model.",
            _ignoring_the_window,
            _admitted,
        ),
        told_apart(
            "smallest-first",
            "The smallest were let in first; the server goes through them as they came.",
            _smallest_first,
            _admitted,
        ),
    ),
    hints=lambda c: (
        "Keep the sum of what is reserved, and go through the requests in order.",
        "Let in if reserved + prompt + max_tokens <= budget, and prompt + max_tokens <= window.",
        f"{c.names[0]} needs {digits(c.requests[0][0])} + {digits(c.requests[0][1])} tokens of {digits(c.budget)}.",
    ),
    explained=lambda c: (
        Explained("admission", "Each reserves its prompt and its max_tokens.", _table(c)),
        Explained("result", "Let in at the start.", f"admitted = {', '.join(_admitted(c))}"),
    ),
    least=3,
)

RESERVED: CaseAsk[Waiting] = CaseAsk(
    asks="reserved",
    question=lambda _: "How many tokens are reserved then?",
    kind="count",
    unit="token",
    key=_reserved,
    slips=(
        told_apart("whole-budget", "That is the whole budget.", lambda c: c.budget, _reserved),
        told_apart("free", "That is what stays free.", lambda c: c.budget - _reserved(c), _reserved),
        CaseSlip(
            "prompts-of-those",
            "Those are the prompts alone.",
            lambda c: sum(_request(c, name)[0] for name in _admitted(c)),
        ),
        CaseSlip(
            "output-known",
            "The output that comes was reserved; the server does not know it beforehand.",
            lambda c: sum(_request(c, name)[0] + _request(c, name)[2] for name in _admitted(c)),
        ),
        CaseSlip(
            "output-only",
            "Those are the max_tokens alone.",
            lambda c: sum(_request(c, name)[1] for name in _admitted(c)),
        ),
        told_apart(
            "everybody", "That is what all requests would need.", lambda c: sum(map(_all_of_it, c.requests)), _reserved
        ),
    ),
    hints=lambda c: (
        "Those that are let in reserve their prompts and max_tokens; the others reserve nothing.",
        "reserved = sum of (prompt + max_tokens) over those that are let in.",
        f"No more than {digits(c.budget)} tokens can be reserved.",
    ),
    explained=lambda c: (
        Explained("admission", "Each reserves its prompt and its max_tokens.", _table(c)),
        Explained(
            "reserved",
            "The sum over those that are let in.",
            f"{_sum(c, _admitted(c))} = {digits(_reserved(c))} tokens",
        ),
    ),
)


def _for_all(case: Waiting) -> int | None:
    return None if max(map(_all_of_it, case.requests)) > case.window else sum(map(_all_of_it, case.requests))


FOR_ALL: CaseAsk[Waiting] = CaseAsk(
    asks="budget",
    question=lambda _: "What is the smallest budget with which all of these requests are let in at the start?",
    kind="count",
    unit="token",
    key=_for_all,
    reason=lambda c: (
        f"The prompt and max_tokens of {_too_long(c)} exceed the window, so that it is refused whatever the budget."
    ),
    slips=(
        CaseSlip(
            "prompt-only",
            "Only the prompts were reserved; what a request may generate needs room as well.",
            lambda c: sum(r[0] for r in c.requests),
        ),
        CaseSlip(
            "output-known",
            "The output that comes was reserved; the server does not know it beforehand.",
            lambda c: sum(r[0] + r[2] for r in c.requests),
        ),
        CaseSlip(
            "output-only",
            "Only max_tokens was reserved; the prompt is kept as well.",
            lambda c: sum(r[1] for r in c.requests),
        ),
        CaseSlip(
            "largest-alone",
            "That is enough for the largest alone; they are reserved side by side.",
            lambda c: max(map(_all_of_it, c.requests)),
        ),
        CaseSlip(
            "padded",
            "All were laid out for the largest; each reserves what it needs itself.",
            lambda c: len(c.requests) * max(map(_all_of_it, c.requests)),
            lambda c: len(set(map(_all_of_it, c.requests))) > 1,
        ),
        CaseSlip(
            "window-each",
            "Each was given the whole window.",
            lambda c: len(c.requests) * c.window,
        ),
        CaseSlip(
            "window-ignored",
            "One of these does not fit into the window of the model.",
            lambda c: sum(map(_all_of_it, c.requests)),
            lambda c: _for_all(c) is None,
        ),
    ),
    hints=lambda c: (
        "All that each may use is reserved for all of them at once. Does each fit into the window?",
        "budget = sum of (prompt + max_tokens).",
        f"There are {len(c.requests)} requests, and the window is {digits(c.window)} tokens.",
    ),
    explained=lambda c: (
        Explained(
            "admission",
            "Each reserves its prompt and its max_tokens.",
            "; ".join(f"{name}: {p} + {m} = {p + m}" for name, (p, m, _) in zip(c.names, c.requests, strict=True)),
        ),
        Explained(
            "budget",
            "Side by side they need the sum.",
            f"{_sum(c, c.names)} = {digits(sum(map(_all_of_it, c.requests)))} tokens"
            if _for_all(c) is not None
            else f"{_too_long(c)} needs more than the window of {digits(c.window)} tokens",
        ),
    ),
)


def _too_long(case: Waiting) -> str:
    long = [name for name in case.names if _all_of_it(_request(case, name)) > case.window]
    return " and ".join(long)


def _first_refused(case: Waiting) -> str:
    return next(name for name in case.names if name not in _admitted(case))


def _before(case: Waiting) -> int:
    """Return what is reserved when the first that does not get in is looked at."""
    return sum(_all_of_it(_request(case, name)) for name in _admitted(case) if name < _first_refused(case))


def _most(case: Waiting) -> int | None:
    prompt = _request(case, _first_refused(case))[0]
    room = min(case.budget - _before(case), case.window) - prompt
    return room if room >= 1 else None


LARGEST: CaseAsk[Waiting] = CaseAsk(
    asks="max_tokens",
    question=lambda c: (
        f"All else as it is, with which max_tokens at most would request {_first_refused(c)} be let in at the start?"
    ),
    kind="count",
    unit="token",
    key=_most,
    reason=lambda _: "What is left for it does not hold its prompt and one token more.",
    slips=(
        CaseSlip(
            "prompt-forgotten",
            "Its prompt takes its part of the room.",
            lambda c: c.budget - _before(c),
        ),
        CaseSlip(
            "others-forgotten",
            "Those before it have reserved their part of the budget.",
            lambda c: c.budget - _request(c, _first_refused(c))[0],
            lambda c: _before(c) > 0,
        ),
        told_apart(
            "window-alone",
            "That is what the window leaves; the budget leaves less.",
            lambda c: c.window - _request(c, _first_refused(c))[0],
            _most,
        ),
        told_apart(
            "those-behind-too",
            "Those behind it were counted as well; they come after it.",
            lambda c: c.budget - _reserved(c) - _request(c, _first_refused(c))[0],
            _most,
        ),
        told_apart(
            "prompts-of-those",
            "Those before it have reserved their max_tokens as well.",
            lambda c: (
                c.budget
                - sum(_request(c, name)[0] for name in _admitted(c) if name < _first_refused(c))
                - _request(c, _first_refused(c))[0]
            ),
            _most,
        ),
        told_apart(
            "output-known",
            "The server does not know what those before it will generate; it reserves their max_tokens.",
            lambda c: (
                c.budget
                - sum(_request(c, n)[0] + _request(c, n)[2] for n in _admitted(c) if n < _first_refused(c))
                - _request(c, _first_refused(c))[0]
            ),
            _most,
        ),
    ),
    hints=lambda c: (
        "What those before it have reserved, its own prompt and its max_tokens must fit into the budget.",
        "max_tokens = min(budget - reserved before it, window) - prompt.",
        f"{_first_refused(c)} has a prompt of {_request(c, _first_refused(c))[0]} tokens, the budget is {c.budget}.",
    ),
    explained=lambda c: (
        Explained("admission", "Each reserves its prompt and its max_tokens.", _table(c)),
        Explained(
            "max_tokens",
            "What is left for it, less its prompt.",
            f"min({c.budget} - {_before(c)}, {c.window}) - {_request(c, _first_refused(c))[0]} = "
            + (f"{digits(_most(c) or 0)} tokens" if _most(c) else f"{_left(c)}: there is no room for a token"),
        ),
    ),
)


def _left(case: Waiting) -> int:
    return min(case.budget - _before(case), case.window) - _request(case, _first_refused(case))[0]


family = CaseFamily(
    draw=_draw,
    statement=_statement,
    ways=((ADMITTED, RESERVED), (FOR_ALL,), (LARGEST,)),
    keep=_keep,
    objective="admission",
    section="memory-budgeting",
    infeasible=True,
)
