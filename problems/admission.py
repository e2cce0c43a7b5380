"""Who is let in when each request reserves all that it may use, what that takes, and whether less is safe (F27)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from grader.amounts import digits
from grader.case import Answer, CaseAsk, CaseFamily, CaseSlip, Explained, Given, told_apart
from spec.serving.admission import let_in
from spec.stream import Stream

NAMES = "abcdefghijklmnopqrst"
FEWEST, SHORT = 3, 8  # requests, and how many there are at most in most draws
WINDOWS = (2048, 4096, 8192)
ONE_IN = 3  # of so many draws one has a request over the window, and one a last request that fits exactly
WHOLE = "its prompt and its max_tokens"
PROMPT = "its prompt alone"
MEAN = "its prompt and the mean output so far"
FORETOLD = "its prompt and its output (which a predictor foretells, rightly this time)"
OUTPUT = "its max_tokens alone"
RULES = (WHOLE, WHOLE, WHOLE, PROMPT, MEAN, MEAN, MEAN, FORETOLD, FORETOLD, OUTPUT)  # what a request reserves
SAFE, UNSAFE = "safe", "unsafe"

Tokens = tuple[int, int, int]  # of a request: of its prompt, at most of its output, and of the output that comes


@dataclass(frozen=True, slots=True)
class Waiting:
    """Requests, the budget, the window and the mean output so far, all in tokens, and what else might be reserved."""

    requests: tuple[Tokens, ...]
    budget: int
    window: int
    rule: str = WHOLE
    mean: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The requests, in the order in which they came."""
        return tuple(NAMES[: len(self.requests)])


def _size(case: Waiting, rule: str, request: Tokens) -> int:
    """Return what a request reserves by a rule."""
    prompt, most, output = request
    sizes = {WHOLE: prompt + most, PROMPT: prompt, MEAN: prompt + case.mean, FORETOLD: prompt + output, OUTPUT: most}
    return sizes[rule]


def _whole(request: Tokens) -> int:
    return request[0] + request[1]


def _draw(stream: Stream) -> Waiting:
    window = stream.choice(WINDOWS)
    unit = window // 256 * (2 + stream.below(2))
    rule, mean = stream.choice(RULES), (8 + stream.below(32)) * unit
    most = SHORT if stream.below(4) else len(NAMES)
    requests = []
    for _ in range(FEWEST + stream.below(most - FEWEST + 1)):
        output = (4 + stream.below(44)) * unit
        requests.append(((4 + stream.below(44)) * unit, output, 1 + stream.below(output)))
    if stream.below(ONE_IN) == 0:
        place = stream.below(len(requests))
        output = requests[place][1]
        requests[place] = (window - output // 2, output, 1 + stream.below(output // 2))
    within = [request for request in requests if _whole(request) <= window]
    budget = sum(map(_whole, within)) * (45 + stream.below(60)) // 100
    case = Waiting(tuple(requests), max(1, budget), window, rule, mean)
    if stream.below(ONE_IN) == 0:
        fits = stream.choice((WHOLE, rule))
        case = replace(case, budget=_total(case, fits, _by(case, fits)) or case.budget)
    return case


def _keep(case: Waiting) -> bool:
    return 1 < len(_admitted(case)) < len(case.requests) and len(_running(case)) > 1


_let_in = lru_cache(maxsize=4096)(let_in)


def _by(
    case: Waiting, rule: str, *, backfill: bool = True, windowed: bool = True, strict: bool = False
) -> tuple[str, ...]:
    """Return who is let in by a rule; who could never fit is refused before. `strict` refuses the exact fit, too."""
    budget = case.budget - strict
    limit = min(budget, case.window) if windowed else budget
    able = [(name, r) for name, r in zip(case.names, case.requests, strict=True) if _whole(r) <= limit]
    places = _let_in(tuple(_size(case, rule, r) for _, r in able), budget, backfill=backfill)
    return tuple(able[place][0] for place in places)


def _admitted(case: Waiting) -> tuple[str, ...]:
    return _by(case, WHOLE)


def _running(case: Waiting) -> tuple[str, ...]:
    """Return who is let in by the rule of the case."""
    return _by(case, case.rule)


def _request(case: Waiting, name: str) -> Tokens:
    return case.requests[NAMES.index(name)]


def _total(case: Waiting, rule: str, names: tuple[str, ...]) -> int:
    return sum(_size(case, rule, _request(case, name)) for name in names)


def _reserved(case: Waiting) -> int:
    return _total(case, WHOLE, _admitted(case))


def _needed(case: Waiting) -> int:
    """Return what those that the rule of the case lets in need together in the end, at most."""
    return _total(case, WHOLE, _running(case))


def _safety(case: Waiting) -> str:
    return SAFE if _needed(case) <= case.budget else UNSAFE


def _smallest_first(case: Waiting) -> tuple[str, ...]:
    sizes = sorted((_whole(_request(case, name)), name) for name in case.names)
    able = [(size, name) for size, name in sizes if size <= case.window]
    return tuple(sorted(able[place][1] for place in _let_in(tuple(size for size, _ in able), case.budget)))


def _statement(case: Waiting) -> str:
    told = "; ".join(
        f"{name}: {'/'.join(map(digits, request))}" for name, request in zip(case.names, case.requests, strict=True)
    )
    return (
        f"A server has a KV budget of {digits(case.budget)} tokens, and the context window of its model is "
        f"{digits(case.window)} tokens. A request is let in if its prompt and its max_tokens together still fit into "
        "what is not reserved, and then it reserves both; an exact fit is a fit. One whose prompt and max_tokens "
        "together exceed the window or the whole budget is refused for good. All of these requests are there at the "
        "start, nothing is reserved yet, and the server goes through them in this order, passing by those that do not "
        "fit; the output is what each will generate, which the server learns only when it is there. The "
        f"{len(case.requests)} requests, each as prompt/max_tokens/output in tokens: {told}."
    )


def _table(case: Waiting, rule: str) -> str:
    held, lines = 0, []
    limit, over = min((case.window, "window"), (case.budget, "budget"))
    for name, request in zip(case.names, case.requests, strict=True):
        need, fits = _size(case, rule, request), name in _by(case, rule)
        if _whole(request) > limit:
            lines.append(f"{name}: {digits(_whole(request))} > {digits(limit)}, over the {over}")
            continue
        told = f"{digits(held)} + {digits(need)} = {digits(held + need)}"
        lines.append(f"{name}: {told} {'<=' if fits else '>'} {digits(case.budget)}, {'in' if fits else 'not now'}")
        held += need if fits else 0
    return "; ".join(lines)


def _sum(case: Waiting, names: tuple[str, ...]) -> str:
    added = " + ".join(digits(_whole(_request(case, name))) for name in names)
    return f"{added} = {digits(_total(case, WHOLE, names))} tokens"


def _rule(case: Waiting, rule: str) -> str:
    return f"its prompt and {digits(case.mean)} tokens (the mean output so far)" if rule == MEAN else rule


def _each_reserves(case: Waiting, rule: str = WHOLE) -> Explained:
    return Explained("admission", f"Each reserves {_rule(case, rule)}.", _table(case, rule))


SAYS = {
    "prompt-only": "Only the prompts were reserved; what a request may generate needs room as well.",
    "output-known": "The output that comes was reserved; the server does not know it beforehand.",
    "output-only": "Only max_tokens was reserved; the prompt is kept as well.",
    "exact-fit-refused": "What fits exactly fits.",
    "stops-at-the-first": "The server stopped at the first that does not fit; it goes on with those behind.",
    "window-ignored": "One of these does not fit into the window of the model.",
    "smallest-first": "The smallest were let in first; the server goes through them as they came.",
    "whole-budget": "That is the whole budget.",
    "free": "That is what stays free.",
    "prompts-of-those": "Those are the prompts alone.",
    "outputs-of-those": "Those are the max_tokens alone.",
    "everybody": "That is what all requests would need.",
    "reserved-alone": "That is what they reserve, which is not what they may come to need.",
    "outputs-that-come": "Those are the outputs that come; each may generate all of its max_tokens.",
    "rule-ignored": "Prompt and max_tokens were reserved; the other rule lets others in.",
    "safe-this-time": "The outputs that come fit; but each may generate all of its max_tokens.",
    "reserved-fits": "What is reserved fits; but for what they may generate beyond it there is no room.",
    "less-reserved": "The rule does not ensure it, but those let in fit with all of their max_tokens.",
    "all-at-once": "Those that are not let in hold nothing, and all that the others may need is reserved.",
    "largest-alone": "That is enough for the largest alone; they are reserved side by side.",
    "padded": "All were laid out for the largest; each reserves what it needs itself.",
    "window-each": "Each was given the whole window.",
    "prompt-forgotten": "Its prompt takes its part of the room.",
    "others-forgotten": "Those before it have their part of the budget; and the window is a limit, too.",
    "window-alone": "That is what the window leaves; the budget leaves less.",
    "those-behind-too": "Those behind it were counted as well; they come after it.",
    "prompts-before": "Those before it have reserved their max_tokens as well.",
    "outputs-before": "What those before it will generate is not known; they have reserved their max_tokens.",
}


def _slips(key: Callable[[Waiting], Answer], /, **values: Callable[[Waiting], Answer]) -> tuple[CaseSlip[Waiting], ...]:
    slugs = {name.replace("_", "-"): value for name, value in values.items()}
    return tuple(told_apart(slug, SAYS[slug], value, key) for slug, value in slugs.items())


ADMITTED: CaseAsk[Waiting] = CaseAsk(
    asks="admitted",
    question=lambda _: "Which requests are let in at the start?",
    kind="choices",
    key=_admitted,
    options=lambda c: c.names,
    slips=_slips(
        _admitted,
        prompt_only=lambda c: _by(c, PROMPT),
        output_known=lambda c: _by(c, FORETOLD),
        output_only=lambda c: _by(c, OUTPUT),
        exact_fit_refused=lambda c: _by(c, WHOLE, strict=True),
        stops_at_the_first=lambda c: _by(c, WHOLE, backfill=False),
        window_ignored=lambda c: _by(c, WHOLE, windowed=False),
        smallest_first=_smallest_first,
    ),
    hints=lambda c: (
        "Keep the sum of what is reserved, and go through the requests in order.",
        "Let in if reserved + prompt + max_tokens <= budget, and prompt + max_tokens <= window.",
        f"{c.names[0]} needs {digits(c.requests[0][0])} + {digits(c.requests[0][1])} tokens of {digits(c.budget)}.",
    ),
    explained=lambda c: (_each_reserves(c), Explained("result", "Let in.", f"admitted = {', '.join(_admitted(c))}")),
    least=3,
)

RESERVED: CaseAsk[Waiting] = CaseAsk(
    asks="reserved",
    question=lambda _: "How many tokens are reserved then?",
    kind="count",
    unit="token",
    key=_reserved,
    slips=_slips(
        _reserved,
        whole_budget=lambda c: c.budget,
        free=lambda c: c.budget - _reserved(c),
        prompts_of_those=lambda c: _total(c, PROMPT, _admitted(c)),
        output_known=lambda c: _total(c, FORETOLD, _admitted(c)),
        outputs_of_those=lambda c: _total(c, OUTPUT, _admitted(c)),
        everybody=lambda c: _total(c, WHOLE, c.names),
    ),
    hints=lambda c: (
        "Those that are let in reserve their prompts and max_tokens; the others reserve nothing.",
        "reserved = sum of (prompt + max_tokens) over those that are let in.",
        f"No more than {digits(c.budget)} tokens can be reserved.",
    ),
    explained=lambda c: (_each_reserves(c), Explained("reserved", "The sum over those let in.", _sum(c, _admitted(c)))),
)


def _by_which(case: Waiting) -> str:
    if case.rule == WHOLE:
        return "The server reserves as told."
    return (
        f"Now another rule holds: a request reserves {_rule(case, case.rule)}, and is let in if that fits. All else "
        "stays as it is, and the same are refused for good."
    )


NEEDED: CaseAsk[Waiting] = CaseAsk(
    asks="needed",
    question=lambda c: (
        f"{_by_which(c)} How many tokens would those let in at the start take up if each had generated all of its "
        "max_tokens and none had left yet?"
    ),
    kind="count",
    unit="token",
    key=_needed,
    slips=_slips(
        _needed,
        reserved_alone=lambda c: _total(c, c.rule, _running(c)),
        outputs_that_come=lambda c: _total(c, FORETOLD, _running(c)),
        rule_ignored=_reserved,
        whole_budget=lambda c: c.budget,
        prompts_of_those=lambda c: _total(c, PROMPT, _running(c)),
        outputs_of_those=lambda c: _total(c, OUTPUT, _running(c)),
        everybody=lambda c: _total(c, WHOLE, c.names),
        exact_fit_refused=lambda c: _total(c, WHOLE, _by(c, c.rule, strict=True)),
        stops_at_the_first=lambda c: _total(c, WHOLE, _by(c, c.rule, backfill=False)),
        window_ignored=lambda c: _total(c, WHOLE, _by(c, c.rule, windowed=False)),
    ),
    hints=lambda c: (
        "First go through the requests to see who is let in; then add up what those may need in the end.",
        "needed = sum of (prompt + max_tokens) over those let in, whatever was reserved for them.",
        f"{_running(c)[0]} is the first let in; it reserves {digits(_total(c, c.rule, _running(c)[:1]))} tokens.",
    ),
    explained=lambda c: (_each_reserves(c, c.rule), Explained("needed", "What they may need.", _sum(c, _running(c)))),
)


def _why_not(case: Waiting) -> str:
    """Name the misconception that leads to the other label."""
    if _safety(case) == SAFE:
        return "all-at-once" if case.rule == WHOLE else "less-reserved"
    return "safe-this-time" if _total(case, FORETOLD, _running(case)) <= case.budget else "reserved-fits"


def _mislabelled(slug: str) -> CaseSlip[Waiting]:
    return CaseSlip(slug, SAYS[slug], lambda c: (SAFE, UNSAFE)[_safety(c) == SAFE], lambda c: _why_not(c) == slug)


SAFETY: CaseAsk[Waiting] = CaseAsk(
    asks="safety",
    question=lambda _: (
        "Call it safe if those let in at the start can never need more than the budget together, however much of its "
        "max_tokens each generates and at whatever pace, and unsafe otherwise. Which is it?"
    ),
    kind="choice",
    key=_safety,
    options=lambda _: (SAFE, UNSAFE),
    slips=tuple(map(_mislabelled, ("safe-this-time", "reserved-fits", "less-reserved", "all-at-once"))),
    hints=lambda c: (
        "The outputs listed are what comes this time. What may come is max_tokens.",
        "It is safe if the sum of prompt + max_tokens over those let in is at most the budget.",
        f"Compare your answer to part a with {digits(c.budget)} tokens.",
    ),
    explained=lambda c: (
        Explained(
            "safety",
            "What they may need in the end against the budget.",
            f"{digits(_needed(c))} {'<=' if _safety(c) == SAFE else '>'} {digits(c.budget)}: {_safety(c)}",
        ),
    ),
)


def _for_all(case: Waiting) -> int | None:
    return None if max(map(_whole, case.requests)) > case.window else sum(map(_whole, case.requests))


FOR_ALL: CaseAsk[Waiting] = CaseAsk(
    asks="budget",
    question=lambda _: "What is the smallest budget with which all of these requests are let in at the start?",
    kind="count",
    unit="token",
    key=_for_all,
    reason=lambda c: f"What {_too_long(c)} may need exceeds the window, and is refused whatever the budget.",
    slips=_slips(
        _for_all,
        prompt_only=lambda c: _total(c, PROMPT, c.names),
        output_known=lambda c: _total(c, FORETOLD, c.names),
        output_only=lambda c: _total(c, OUTPUT, c.names),
        largest_alone=lambda c: max(map(_whole, c.requests)),
        padded=lambda c: len(c.requests) * max(map(_whole, c.requests)),
        window_each=lambda c: len(c.requests) * c.window,
        window_ignored=lambda c: _total(c, WHOLE, c.names),
    ),
    hints=lambda c: (
        "All that each may use is reserved for all of them at once. Does each fit into the window?",
        "budget = sum of (prompt + max_tokens).",
        f"There are {len(c.requests)} requests, and the window is {digits(c.window)} tokens.",
    ),
    explained=lambda c: (
        Explained(
            "admission",
            f"Each reserves {WHOLE}.",
            "; ".join(f"{name}: {digits(_whole(_request(c, name)))}" for name in c.names),
        ),
        Explained(
            "budget",
            "Side by side they need the sum.",
            f"{_too_long(c)} needs more than the window of {digits(c.window)} tokens"
            if _for_all(c) is None
            else _sum(c, c.names),
        ),
    ),
)


def _too_long(case: Waiting) -> str:
    return " and ".join(name for name in case.names if _whole(_request(case, name)) > case.window)


def _first_refused(case: Waiting) -> str:
    return next(name for name in case.names if name not in _admitted(case))


def _its_prompt(case: Waiting) -> int:
    return _request(case, _first_refused(case))[0]


def _before(case: Waiting, rule: str = WHOLE) -> int:
    """Return what those let in before the first that is not take of the budget."""
    return _total(case, rule, tuple(name for name in _admitted(case) if name < _first_refused(case)))


def _left(case: Waiting) -> int:
    return min(case.budget - _before(case), case.window) - _its_prompt(case)


def _most(case: Waiting) -> int | None:
    return _left(case) if _left(case) >= 1 else None


LARGEST: CaseAsk[Waiting] = CaseAsk(
    asks="max_tokens",
    question=lambda c: (
        f"With which max_tokens at most would {_first_refused(c)} be let in at the start, all else as it is?"
    ),
    kind="count",
    unit="token",
    key=_most,
    reason=lambda _: "What is left for it does not hold its prompt and one token more.",
    slips=_slips(
        _most,
        prompt_forgotten=lambda c: c.budget - _before(c),
        others_forgotten=lambda c: c.budget - _its_prompt(c),
        window_alone=lambda c: c.window - _its_prompt(c),
        those_behind_too=lambda c: c.budget - _reserved(c) - _its_prompt(c),
        prompts_before=lambda c: c.budget - _before(c, PROMPT) - _its_prompt(c),
        outputs_before=lambda c: c.budget - _before(c, FORETOLD) - _its_prompt(c),
    ),
    hints=lambda c: (
        "What those before it have reserved, its own prompt and its max_tokens must fit into the budget.",
        "max_tokens = min(budget - reserved before it, window) - prompt.",
        f"{_first_refused(c)} has a prompt of {digits(_its_prompt(c))} tokens, the budget is {digits(c.budget)}.",
    ),
    explained=lambda c: (
        _each_reserves(c),
        Explained(
            "max_tokens",
            "What is left for it, less its prompt.",
            f"min({digits(c.budget)} - {digits(_before(c))}, {digits(c.window)}) - {digits(_its_prompt(c))} = "
            + (f"{digits(_left(c))} tokens" if _left(c) >= 1 else f"{digits(_left(c))}: there is no room for a token"),
        ),
    ),
)

family = CaseFamily(
    draw=_draw,
    statement=_statement,
    givens=lambda c: (
        Given("budget", "T", str(c.budget), "token", "tokens that the KV cache holds"),
        Given("window", "w", str(c.window), "token", "context window of the model"),
    ),
    ways=((ADMITTED, RESERVED), (FOR_ALL,), (LARGEST,), (NEEDED, SAFETY)),
    keep=_keep,
    objective="admission",
    section="memory-budgeting",
    infeasible=True,
    revision=2,
)
