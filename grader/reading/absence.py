"""Words for "no such value", which are an answer to every kind of question: right where the exercise is infeasible.

Zero is a value, so `0` is not among them; neither is `n/a`, which may also mean that the learner gives no answer.
"""

from __future__ import annotations

import re

_NOUN = (
    r"(?:solutions?|answers?|values?|numbers?|batch(?:es|\ sizes?)?|contexts?(?:\ lengths?)?|lengths?|"
    r"sequences?|requests?|"
    r"tokens?|gpus?|bits?(?:\ widths?)?|sizes?|rates?|memory|prompts?|configurations?|options?|layers?|time|one)"
)
_REACHED = r"(?:\ (?:be\ )?(?:done|met|reached|fit|held|served|satisfied|achieved|solved|work|exist|happen))?"
_ABSENT = re.compile(
    rf"""(?:(?:there|that|this|it|they)(?:\ is|\ are|'s|s)?\ |(?:is|are)\ )?
    (?: none(?:\ (?:exists?|fits?|works?|possible|of\ them))?
      | nothing(?:\ (?:fits?|works?))? | never(?:\ (?:fits?|works?|stable|possible))?
      | impossible | infeasible | unfeasible | unstable | unachievable | unattainable | unreachable | unsatisfiable
      | undefined | dne | not\ (?:feasible|possible|stable|achievable|attainable|reachable|satisfiable|defined)
      | (?:can\ ?not|can'?t){_REACHED}
      | (?:does|do|will)\ not\ (?:fit|exist|work) | (?:doesn'?t|don'?t|won'?t)\ (?:fit|exist|work)
      | no\ (?:such\ |feasible\ |valid\ |possible\ )?{_NOUN}(?:\ (?:exists?|fits?|works?|possible|meets\ it))?
    )""",
    re.VERBOSE,
)
_UNBOUNDED = re.compile(r"[+-]?(?:inf|infinity|infinite|nan|unbounded|unlimited|\u221e)(?:\W.*)?", re.DOTALL)
_UNSAID = re.compile(
    r"n/?a|n\.a\.?|not (?:applicable|available)|not sure|idk|i do(?: not|n'?t) know|unknown|no", re.DOTALL
)
LONGEST = 60


def says_no_value(typed: str) -> bool:
    """Whether a stripped text says that no such value exists."""
    if len(typed) > LONGEST or not (typed[:1].isalpha() or typed[:1] in {'"', "'", "("}):
        return False
    return _ABSENT.fullmatch(_folded(typed)) is not None


def complaint_code(typed: str) -> str:
    """`not-finite` or `no-opinion` for a text that looks like one of these words and is none; otherwise empty."""
    folded = _folded(typed[:LONGEST])
    return "not-finite" if _UNBOUNDED.fullmatch(folded) else "no-opinion" if _UNSAID.fullmatch(folded) else ""


def _folded(typed: str) -> str:
    text = typed.casefold().replace("\u2019", "'").strip("\"'().!")
    return re.sub(r"[\s_\-\u2010-\u2015]+", " ", text).strip()
