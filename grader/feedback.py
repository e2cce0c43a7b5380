"""The words: what the learner is told about a judgement. Judging itself knows codes only."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from fractions import Fraction

from grader.exercise import Part
from grader.judging import CORRECT, INVALID, PARTIAL, Finding, Judgement

WINDOW = 60
ONE_IN = 50
CHANCE = "So small a count may also agree by chance."
SHORT, LONG = 200, 2000

COMPLAINTS: Mapping[str, str] = {
    # The text as a whole.
    "blank": "The answer is empty.",
    "too-long": "The answer is too long: at most {limit} characters are read.",
    "too-deep": "Brackets or powers are nested more than {limit} deep.",
    "too-large": "This number is too large or too small to be an answer.",
    "too-complex": "The formula grows too fast, or has too many roots and logarithms, to be compared.",
    "nothing": "There is nothing here to read.",
    "no-opinion": "If you mean that no such value exists, answer none.",
    "not-finite": "The answer must be a finite number. If you mean that no such value exists, answer none.",
    # Numbers.
    "no-number": "A number was expected, but {text} is none. If you mean that no such value exists, answer none.",
    "two-numbers": "These are two numbers, or digits that are not grouped in threes. Give one number.",
    "mixed-number": "Is this a whole number and a fraction, or a product? Write one decimal, such as 1.5.",
    "grouping": "The digits of {text} are not grouped in threes. Write the number without separators.",
    "decimal-comma": "The comma in {text} does not separate thousands. Write decimals with a point.",
    "decimal-point": "The point in {text} does not separate thousands. Write decimals with a comma.",
    "fractional-exponent": "The exponent of a power of ten must be a whole number.",
    "incomplete-exponent": "The exponent after e is missing.",
    "other-base": "{text} is not a decimal number. Write it with the digits 0 to 9.",
    "other-digits": "{text} is not one of the digits 0 to 9.",
    "irrational-number": "This power is no fraction. Give a decimal number.",
    "percent": "A percent sign cannot stand here.",
    "placeholder": "A question mark stands where the number should be.",
    "range": "This is a range, or a difference. Give one number.",
    "list": "This is a list. Give one answer.",
    "two-answers": "These are two answers. Give one.",
    "sum": "A sum cannot stand here. Give its value.",
    "equation": "This is an equation. Give the value alone.",
    "comparison": "This is a comparison. Give the value alone.",
    "double-sign": "Two signs stand side by side.",
    "division-by-zero": "This divides by zero. If you mean that no such value exists, answer none.",
    "factorial-domain": "Only a whole number from 0 up has a factorial.",
    # Units.
    "unit-missing": "The unit is missing: {reading} of what?",
    "plain-number": "The question asks for a plain number. Leave out {text}.",
    "byte-or-billion": "B is byte. If you mean billion, write {number}e9.",
    "unknown-unit": "{text} is no unit that is known here.{suggestion}",
    "lone-prefix": "{text} alone is only a prefix. Write the whole unit, or all the digits.{suggestion}",
    "ambiguous-unit": "{text} may be {first} or {second}. Write the one you mean.",
    "ambiguous-unit-product": "{text} would be read as {reading}. Put what stands below the line in brackets.",
    "kilobyte": "{text} may be 1000 or 1024 bytes. Write kB or KiB.",
    "unit-power": "The power of a unit cannot be read. Write s^-1 or s^2.",
    "number-in-unit": "A number, {text}, stands inside the unit. Work it into the value.",
    "dangling-unit": "The unit is incomplete.",
    "factorial-of-unit": "An exclamation mark is a factorial, and a unit has none.",
    # Expressions.
    "unknown-symbol": "{text} is no symbol of this question. Its symbols are {symbols}.{suggestion}",
    "digits-after-symbol": "Is {text} a power, a product or another symbol? Write ^ or *.",
    "missing-bracket": "A bracket opens here and is not closed.",
    "unmatched-bracket": "A bracket closes here that was not opened.",
    "missing-operator": "An operator is missing here.",
    "dangling-operator": "A number or symbol is missing at this operator.",
    "arguments": "{text} takes {wanted} or another number of arguments.",
    "left-side": "The left side names {text}, which is not what is asked for.",
    "order-inside": "O(...) must enclose the whole answer.",
    "order-not-asked": "The question asks for the formula itself, not for its order of growth.",
    "floor-division": "// is not read here. Write floor(.../...).",
    "double-factorial": "A double factorial is not read here.",
    "bars": "Bars are not read here. Write abs(...).",
    "character": "{text} cannot be read here.",
    "unexpected": "{text} cannot stand here.",
    # Properties.
    "no-relation": "A property compares. Write ==, <=, >=, <, > or != between two sides.",
    "no-function": "This says nothing of {functions}: a property compares values of functions.",
    "formula-given": "This is a formula: outside of the functions at most one letter may stand, not {letters}.",
    "worked-number": "This is one worked number. A property holds for every value of some letter.",
    "nowhere": "There are no values of the letters at which all of this has a value.",
    "root-in-property": "{text} gives no exact value. Write the property without roots and logarithms.",
    "unknown-argument": "{text} has no argument {letter}. Its arguments are {symbols}.",
    "argument-twice": "{text} is given {letter} twice.",
    "argument-without-name": "After an argument with a name, the others of {text} need names too: {symbols}.",
    "too-many-arguments": "{text} takes fewer arguments: {symbols}.",
    "too-long-property": "The property is too long: at most {limit} numbers, letters and operators are read.",
    # Labels.
    "unknown-label": "{text} is not among the choices: {options}.",
    "one-label": "Choose one: {labels} are several.",
    "alternatives": "Decide: {text} leaves the choice open.",
    # Rankings and lists.
    "ranking-missing": "A ranking names everything once; {labels} is missing.",
    "ranking-repeated": "A ranking names everything once; {labels} comes more than once.",
    "ranking-reversed": "Put the best first, with > between two: {text} leaves open which end is the best.",
    "ranking-unclear": "Either list everything in order with commas, or write > and = between two each time.",
    "ranking-dangling": "Something is missing before or after > or =.",
    "no-list": "A list of whole numbers was expected, such as 3, 1, 2, but {text} is none.",
    "list-gap": "A number is missing beside a comma.",
    "list-length": "These are {given}; at most {most} are allowed.",
    # Mistakes in a worked solution.
    "no-line": "Begin with the number of the wrong line, from 1 to {lines}, then its right value, as in 7: 12 GB.",
    "value-of-line": "What is the right value of line {line}? Write it behind the number, as in 7: 12 GB.",
    "list-range": "{text} is not allowed here: each number lies from 1 to {most}.",
}

FINDINGS: Mapping[str, str] = {
    "no-value": "No such value exists. {reason}",
    "value-exists": "There is such a value.",
    "one-exists": "There is one.",
    "wrong-dimension": "This measures {got}; the question asks for {wanted}.",
    "foreign-unit": "{text} is a unit of another field; the question asks for {wanted}.",
    "other-count": "This counts {text}s; the question asks for {wanted}.",
    "reciprocal": "It looks turned upside down: one divided by what is asked for.",
    "sign": "Only the sign is wrong.",
    "separator": "Check the separator: a thousands separator and a decimal mark look alike here.",
    "unrounded": "Parts do not count here: only whole ones do, so the answer must be a whole number.",
    "prefix": "The digits are right, but a unit prefix is off by a power of a thousand.",
    "case": "Case matters in units: did you mean {meant} rather than {text}?",
    "binary-decimal": "This is off by the factor between {first} and {second}: 1024 is not 1000.",
    "bit-byte": "This is off by exactly 8: bits and bytes are mixed up.",
    "time-unit": "This is off by exactly the factor between a {first} and a {second}.",
    "percent": "This is off by exactly 100: a fraction and a percentage are mixed up.",
    "truncated": "The last figure was cut off where it should be rounded.",
    "coarse": "This is the right value rounded to too few figures.",
    "strict-figures": "The value is right, but the question asks for exactly {wanted} significant figures.",
    "strict-decimals": "The value is right, but the question asks for exactly {wanted} decimals.",
    "unit-not-asked": "The value is right, but the question asks for it in {wanted}.",
    "percent-not-asked": "The value is right, but the question asks for a plain number, not a percentage.",
    "number-for-formula": "This is a number. The question asks for a formula in its symbols.",
    "ambiguous-division": "A product without a sign follows a division. It was read from left to right, as {reading}.",
    "counterexample": "Try {assignment}: your formula gives {yours}, the right one {right}.",
    "constant-factor": "The order is right, but a constant factor does not belong into O(...).",
    "lower-order-terms": "The order is right, but terms of lower order do not belong into O(...).",
    "labels": "{right} of {of} are right, and {extra} too many.",
    "order": "The first that is wrong is number {place}; {wanted} are asked for and {given} were given.",
    # Error carried forward.
    "carried": "It follows from your answer to part {answers}, which is wrong. Carried forward it earns half at most.",
    "carried-several": "It follows from your answers to parts {answers}, which are wrong. "
    "Carried forward it earns half at most.",
    "not-carried-no-number": "Your answer to part {part} ({answer}) is no amount of what is asked there; "
    "nothing is carried forward from it.",
    "not-carried-trivial": "This follows from your answer to part {part} ({answer}); 0 and 1 are not carried forward.",
    "not-carried-negative": "This follows from your answer to part {part} ({answer}); "
    "less than nothing is not carried forward.",
    "not-carried-fraction": "This follows from your answer to part {part} ({answer}); "
    "what is counted is whole, and not carried forward otherwise.",
    "not-carried-far": "This follows from your answer to part {part} ({answer}); "
    "that is too far off to be carried forward.",
    # Properties.
    "property-broken": "What is right does not have this property. At {assignment}, {comparison} becomes {found}.",
    "kills-none": "None of the {of} wrong ways breaks this, so it tells nothing apart.",
    "kills": "{killed} of {of} wrong ways break it.",
    "kills-too-few": "{killed} of {of} wrong ways break it; at least {wanted} have to.",
    "passes": "One that does not: {sentence}",
    "right-only-where": "It is right only where {faces}.",
    "right-where": "It is right where {faces}, but not everywhere.",
    # Mistakes in a worked solution.
    "a-line-is-wrong": "One line is wrong.",
    "line-stands": "Line {line} follows the right law.",
    "line-follows": "Line {line} follows the right law; it only takes a wrong value from a line before it.",
    "value-as-shown": "That line is wrong, and this is the value that it shows.",
    "value-of-line-wrong": "That line is wrong, but its right value is another.",
    # Rankings and examples that are executed.
    "pairs": "{right} of {of} pairs are in the right order.",
    "pair-reversed": "{first} and {second} are the wrong way round.",
    "pair-level": "{first} and {second} are not equal.",
    "makespans": "Executed, {first} takes {ours} and {second} {theirs}.",
    "misses": "Executed, {first} misses {ours} of {of} times and {second} {theirs}.",
    "example-exists": "There is one within these limits.",
    "no-example": "None does. {reason}",
    # Answers that are run, whose reports have words of their own.
    "told": "{text}",
}  # fmt: skip

_EVEN_WITH_SLIP = frozenset(
    {"counterexample", "ambiguous-division", "labels", "no-value"}
    | {code for code in FINDINGS if code.startswith("not-carried-")}
)
_VERDICTS = {CORRECT: "Correct.", PARTIAL: "Partly right.", INVALID: "Not read as an answer, so it does not count."}


def message(judgement: Judgement, part: Part) -> str:
    """What the learner is told: the verdict, how the answer was read, and why it is wrong or cannot be read."""
    if judgement.verdict == INVALID:
        return "\n".join(
            [_VERDICTS[INVALID], *(_complaint(finding, judgement.typed) for finding in judgement.findings)]
        )
    lines = [_VERDICTS.get(judgement.verdict, "Not correct.")]
    if judgement.reading and judgement.reading != judgement.typed:
        lines[0] += f" Read as {judgement.reading}."
    sentences = [diagnosis.sentence for diagnosis in judgement.diagnoses]
    if len(sentences) > 1:
        lines.append("Several slips lead to this answer. Which one is yours?")
        lines += (f"- {sentence}" for sentence in sentences)
    else:
        lines += sentences
    if sentences and may_be_chance(part):
        lines.append(CHANCE)
    lines += (
        sentence(finding, part)
        for finding in judgement.findings
        if not judgement.diagnoses or finding.code in _EVEN_WITH_SLIP
    )
    return "\n".join(line for line in lines if line)


def may_be_chance(part: Part) -> bool:
    """Say whether a wrong count easily meets a slip: more than one in fifty of those within ten times the key do.

    A count of a dozen has few wrong values, and its slips take many of them.
    """
    if part.kind != "count" or part.key is None or Fraction(part.key) <= 0:
        return False
    key = Fraction(part.key)
    values = {Fraction(slip.value) for slip in part.slips if slip.value is not None}
    return ONE_IN * sum(key / 10 <= value <= key * 10 for value in values) > key * 10 - key / 10


def sentence(finding: Finding, part: Part | None = None) -> str:
    """One finding in words."""
    template = FINDINGS.get(finding.code) or COMPLAINTS.get(finding.code) or finding.code
    about = {name: visible(value) for name, value in finding.about.items()}
    if finding.code == "unrounded" and part is not None and part.unit:
        return f"Part of a {part.unit} does not count: the answer must be a whole number."
    meant = about.get("meant", "")
    suggestion = f" Did you mean {' or '.join(meant.split(', '))}?" if meant else ""
    return template.format_map({**about, "suggestion": suggestion}).strip()


def _complaint(finding: Finding, typed: str) -> str:
    """A complaint, with a caret under the column it is about."""
    words = sentence(finding)
    if finding.at < 0 or not typed or finding.at > len(typed):
        return words
    start = max(0, finding.at - WINDOW // 2)
    shown, caret = typed[start : start + WINDOW], finding.at - start
    before = visible(shown[:caret])
    return f"  {visible(shown)}\n  {' ' * width(before)}^\n{words}"


def visible(text: str) -> str:
    r"""The same text with characters that do not print spelled out: `\x00`, `\u200b`."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def width(text: str) -> int:
    """How many columns a text takes on a terminal."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in {"W", "F"} else 1 for c in text
    )
