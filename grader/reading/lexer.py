"""Tokens of a number and of an expression.

A number stops where its unit begins; an expression has no unit, and its letters are the symbols of the question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from grader.reading import number
from grader.reading.symbols import NAME, Alphabet
from grader.reading.text import Unreadable

FUNCTIONS: Mapping[str, str] = {
    **{name: name for name in ("floor", "min", "max", "sqrt", "ln", "exp", "abs", "factorial", "log2", "log10")},
    "ceil": "ceil",
    "ceiling": "ceil",
    "log": "log",
    "log_2": "log2",
    "log_10": "log10",
}
WITHOUT_BRACKETS: Mapping[str, str] = {name: FUNCTIONS[name] for name in ("log", "ln", "sqrt")}  # `n log n`
MOST_TOKENS = 2000
IN_NUMBERS = frozenset({"+", "-", "*", "/", "^", "(", ")", "!"})
COMPLAINTS: Mapping[str, str] = {
    **dict.fromkeys(("==", "!=", "<", ">", "<=", ">="), "comparison"),
    **dict.fromkeys((",", ";"), "list"),
    **dict.fromkeys((")", "\u230b", "\u2309"), "unmatched-bracket"),
    **dict.fromkeys(("number", "symbol", "function", "(", "\u221a"), "missing-operator"),
    "=": "equation",
    "..": "range",
    "+": "sum",
    "?": "placeholder",
    "%": "percent",
    "//": "floor-division",
    "!": "double-factorial",
    "|": "bars",
}


class Token(NamedTuple):
    """One token: `kind` is `number`, `symbol`, `function`, an operator, or `end`."""

    kind: str
    value: Any
    at: int


_OPERATOR = re.compile(r"\*\*|==|<=|>=|!=|\.\.|//|[-+*/^()!,=<>;:?%&|\u230a\u230b\u2308\u2309\u221a]")
# Not before 10e3, which some take for 10^3.
_TIMES = re.compile(r"[xX](?= ?10+(?!\d|\.\d| ?[eE]\d))", re.ASCII)
_VULGAR = re.compile(rf"[{number.VULGAR}]")
# What ends the number and begins its unit: a letter, or a division or product that leads to one.
_UNIT = re.compile(rf"(?:1\s*(?:/|(?=per\b))|[*/])?[\s(]*[{number.UNIT_LETTERS}]")
# A factor with leading zeros is the end of a number whose groups are set apart by dots.
_WORD = re.compile(rf"[\s(]*[{number.UNIT_LETTERS}]")
# Thousands, where no comma can separate arguments.
_GROUPED = re.compile(r"([1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?)(?![\d,])()()()", re.ASCII)
_ZEROS = re.compile(r"0\d", re.ASCII)
_SPACE = re.compile(r"\s*")


def number_tokens(text: str, at: int, locale: str) -> tuple[list[Token], int]:
    """Split the number at the front of `text[at:]`; return its tokens and where the rest begins.

    Raises:
        Unreadable: a literal is malformed, or a character belongs to no number.
    """
    tokens: list[Token] = []
    operand = False  # whether the last token can end a number
    at = _skip(text, at)
    while at < len(text):
        if operand and (times := _TIMES.match(text, at)):
            tokens.append(Token("*", None, at))
            operand, at = False, _skip(text, times.end())
            continue
        if operand and _UNIT.match(text, at):
            break
        token, end = _number_token(text, at, locale, operand=operand)
        tokens.append(token)
        operand = token.kind in {"number", ")", "!"}
        at = _skip(text, end)
    return tokens, at


def _number_token(text: str, at: int, locale: str, *, operand: bool) -> tuple[Token, int]:
    character = text[at]
    if not operand and _WORD.match(text, at):
        raise _without_number(text, at)
    if character.isascii() and (character.isdigit() or (text[at + 1 : at + 2].isdigit() and character in ".,")):
        if operand and character.isdigit():
            raise Unreadable("two-numbers", at, {"text": text[:200]})
        if character == "," and locale == "en":
            raise Unreadable("list" if operand else "decimal-comma", at, {"text": text[at : at + 8]})
        cleaned, end = number.literal(text, at, locale)
        if text[:at].rstrip().endswith("*") and _ZEROS.match(cleaned):
            raise Unreadable("grouping", at, {"text": text[:end][-40:]})
        return Token("number", number.value(cleaned, at), at), end
    if _VULGAR.match(text, at):
        if operand:
            raise Unreadable("mixed-number", at, {"text": text[:200]})
        return Token("number", number.simplest(Fraction(_vulgar(character))), at), at + 1
    if match := _OPERATOR.match(text, at):
        kind = "^" if match.group() == "**" else match.group()
        if kind not in IN_NUMBERS:
            raise Unreadable(COMPLAINTS.get(kind, "unexpected"), at, {"text": kind})
        return Token(kind, None, at), match.end()
    raise unexpected(text, at, after_number=operand)


def _without_number(text: str, at: int) -> Unreadable:
    """Complain about letters where a number was expected."""
    if "=" in text[at:]:
        return Unreadable("equation", text.index("=", at))
    return Unreadable(
        "no-number" if not text[:at].strip() else "sum" if "+" in text[:at] else "unexpected",
        at,
        {"text": text[at : at + 40]},
    )


def _vulgar(character: str) -> str:
    from unicodedata import normalize

    return normalize("NFKC", character).replace("\u2044", "/")


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def unexpected(text: str, at: int, *, after_number: bool = False) -> Unreadable:
    """Complain about a character that belongs to no number and no expression."""
    character = text[at]
    if character.isalpha() and character.isascii():
        match = re.compile(r"\w+", re.ASCII).match(text, at)
        word = match.group() if match else character
        return Unreadable("word" if after_number else "no-number", at, {"text": word})
    if character.isnumeric():
        return Unreadable("other-digits", at, {"text": character})
    return Unreadable("character", at, {"text": character})


@lru_cache(maxsize=64)
def _numeral(exponents: str) -> re.Pattern[str]:
    """A literal of an expression; `e` writes an exponent unless it is a symbol of the question."""
    tail = rf"(?: ?[{exponents}] ?([+-]?) ?(\d+)(\.\d)?)?" if exponents else "()()()"
    return re.compile(rf"(\d+(?:\.(?!\.)\d*)?|\.\d+){tail}", re.ASCII)


def expression_tokens(text: str, alphabet: Alphabet, at: int = 0, called: Mapping[str, str] = FUNCTIONS) -> list[Token]:
    """Split an expression from `at` on; letters that run together are split into symbols, `2LH` into 2, L and H.

    `called` names, in small letters, what may stand before a bracket.

    Raises:
        Unreadable: an unknown symbol, a malformed literal, a character of no expression.
    """
    numeral = _numeral("".join(e for e in "eE" if e not in alphabet.names))
    tokens: list[Token] = []
    at = _skip(text, at)
    while at < len(text):
        operand = bool(tokens) and tokens[-1].kind in {"number", "symbol", ")", "!", "\u230b", "\u2309"}
        at = _skip(text, _expression_token(text, at, alphabet, numeral, tokens, called, operand=operand))
        if len(tokens) > MOST_TOKENS:
            raise Unreadable("too-long", about={"limit": str(MOST_TOKENS)})
    return tokens


def _expression_token(
    text: str,
    at: int,
    alphabet: Alphabet,
    numeral: re.Pattern[str],
    tokens: list[Token],
    called: Mapping[str, str],
    *,
    operand: bool,
) -> int:
    """Append the token or tokens at `at`; return where the next one begins."""
    grouped = _GROUPED.match(text, at)
    if grouped and any(token.kind == "function" for token in tokens):
        grouped = None  # its comma may separate arguments
    if match := grouped or numeral.match(text, at):
        if operand:
            raise _stray_digits(text, at, tokens)
        tokens.append(Token("number", _numeral_value(match, at), at))
        return match.end()
    if "x" not in alphabet.names and operand and tokens[-1].kind == "number" and (times := _TIMES.match(text, at)):
        tokens.append(Token("*", None, at))
        return times.end()
    if match := NAME.match(text, at):
        tokens += _names(match.group(), at, text[_skip(text, match.end()) :][:2], alphabet, called)
        return match.end()
    if _VULGAR.match(text, at):
        if operand and tokens[-1].kind == "number":
            raise Unreadable("mixed-number", at, {"text": text[max(0, at - 3) : at + 1]})
        tokens.append(Token("number", number.simplest(Fraction(_vulgar(text[at]))), at))
        return at + 1
    if match := _OPERATOR.match(text, at):
        kind = match.group()
        tokens.append(Token("^" if kind == "**" else kind, None, at))
        return match.end()
    raise unexpected(text, at, after_number=operand)


def _numeral_value(match: re.Match[str], at: int) -> number.Number:
    mantissa, sign, power, fraction = match.groups()
    if fraction:
        raise Unreadable("fractional-exponent", match.start(3))
    digits = mantissa.replace(",", "")
    return number.value(f"{digits}e{'-' if sign == '-' else ''}{power}" if power else digits, at)


def _names(run: str, at: int, after: str, alphabet: Alphabet, called: Mapping[str, str]) -> list[Token]:
    """The symbols of a run of letters, and the function at its end where `after` opens a bracket.

    A function of the question may stand without a bracket: it then takes its own letters.
    """
    if run == "e" and "e" not in alphabet.names and (after[:1] == "^" or after == "**"):
        return [Token("function", "exp", at), Token("(", None, at), Token("number", 1, at), Token(")", None, at)]
    named = called.get(run.casefold(), "")
    if named and run.casefold() not in FUNCTIONS and named not in alphabet.names and after[:1] != "(":
        return [Token("function", named, at), Token("(", None, at), Token(")", None, at)]
    callable_here = called if after[:1] == "(" else WITHOUT_BRACKETS if after[:1].isalnum() else {}
    found = alphabet.resolve(run, at, callable_here)
    return [Token(kind, value, at) for kind, value in found]


def _stray_digits(text: str, at: int, tokens: list[Token]) -> Unreadable:
    if tokens[-1].kind == "symbol":
        return Unreadable("digits-after-symbol", at, {"text": text[tokens[-1].at : at + 1].replace(" ", "")})
    return Unreadable("missing-operator", at)
