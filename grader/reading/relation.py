"""Properties of named functions, as people write them: `kv(2*c) == 2*kv(c) and kv(c, L=1) <= kv(c)`.

relation   := comparison ('and' comparison)*
comparison := sum (('==' | '=' | '!=' | '<' | '<=' | '>' | '>=') sum)+
call       := name '(' [argument (',' argument)*] ')'
argument   := sum | symbol '=' sum

Arguments go by place or by name, those by place first; one that is left out keeps its own letter.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.reading.formula import IRRATIONAL, Builder, Formula, printed
from grader.reading.grammar import Parser
from grader.reading.lexer import FUNCTIONS, Token, expression_tokens
from grader.reading.symbols import Alphabet, alphabet
from grader.reading.text import Unreadable

MOST_NODES = 400  # of all comparisons together
Signatures = Mapping[str, tuple[str, ...]]
"""The functions that may be named, each with the letters of its arguments in order."""

RELATIONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_SPELLED: Mapping[str, str] = {"=": "==", **{name: name for name in RELATIONS}}
_AND = re.compile(r"\band\b|&&|\u2227", re.ASCII | re.IGNORECASE)
_OUT_OF_PLACE = frozenset({"comparison", "equation", "list", "range", "sum"})  # complaints that say too much here


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison, or a chain of them; in the programs of its sides a call is a node of its own.

    Attributes:
        sides: what is compared, from left to right.
        relations: what stands between them.
        at: where it begins in the text.
    """

    sides: tuple[Formula, ...]
    relations: tuple[str, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Relation:
    """A property: all of its comparisons hold."""

    comparisons: tuple[Comparison, ...]
    signatures: Signatures

    def __str__(self) -> str:
        return " and ".join(map(self.text, self.comparisons))

    def text(self, comparison: Comparison) -> str:
        """Write one comparison; read back, it is the same."""
        first, *others = (printed(side, self._call) for side in comparison.sides)
        pairs = zip(comparison.relations, others, strict=True)
        return first + "".join(f" {relation} {side}" for relation, side in pairs)

    def _call(self, name: str, arguments: Sequence[str]) -> str:
        """Write a call: the first argument by place, others by name where they do not keep their letters."""
        letters = self.signatures.get(name)
        if letters is not None:
            pairs = list(zip(letters, arguments, strict=True))[1:]
            arguments = [arguments[0], *(f"{letter}={text}" for letter, text in pairs if letter != text)]
        return f"{name}({', '.join(arguments)})"


class _Comparing(Parser):
    """The parser of expressions, with calls of the functions of the question."""

    def __init__(self, tokens: list[Token], length: int, signatures: Signatures, letters: Alphabet) -> None:
        super().__init__(tokens, length, sums=True)
        self.signatures, self.letters = signatures, letters

    def comparison(self, at: int) -> Comparison:
        """Two sides or more, with a relation between each two."""
        sides, relations = [self.side()], []
        while self.next.kind in _SPELLED:
            relations.append(_SPELLED[self.take().kind])
            sides.append(self.side())
        if self.next.kind != "end":
            raise self.complaint()
        if not relations:
            raise Unreadable("no-relation", at)
        return Comparison(tuple(sides), tuple(relations), at)

    def side(self) -> Formula:
        """One side, in a program of its own."""
        self.built = Builder()
        self.sum()
        return Formula(tuple(self.built.nodes), self.letters.symbols)

    def atom(self) -> None:
        """What an expression has, but for roots."""
        if self.next.kind == "\u221a":
            raise Unreadable("root-in-property", self.next.at, {"text": "\u221a"})
        super().atom()

    def call(self, function: Token) -> None:
        """The arguments of a function of the question, by place and by name."""
        if function.value not in self.signatures:
            if function.value in IRRATIONAL:
                raise Unreadable("root-in-property", function.at, {"text": function.value})
            super().call(function)
            return
        letters, given = self.signatures[function.value], dict[str, Builder]()
        opening, outer = self.take(), self.built
        self.deeper(opening.at)
        while self.next.kind != ")" or given:
            letter = self.argument(function.value, letters, given)
            self.built = given[letter] = Builder()
            self.sum()
            if self.next.kind != ",":
                break
            self.take()
        self.close(opening, ")")
        self.built = outer
        for letter in letters:
            if letter in given:
                outer.nodes += given[letter].nodes
            else:
                outer.symbol(self.letters.symbols.index(letter))
        outer.call(function.value, len(letters))

    def argument(self, function: str, letters: tuple[str, ...], given: Mapping[str, Builder]) -> str:
        """The letter of the argument that comes next; its name is passed."""
        token, follows = self.next, self.tokens[min(self.place + 1, len(self.tokens) - 1)]
        about = {"text": function, "symbols": ", ".join(letters)}
        if token.kind == "symbol" and follows.kind == "=":
            letter: str = self.letters.symbols[token.value]
            if letter not in letters:
                raise Unreadable("unknown-argument", token.at, {**about, "letter": letter})
            if letter in given:
                raise Unreadable("argument-twice", token.at, {**about, "letter": letter})
            self.take()
            self.take()
            return letter
        if list(given) != list(letters[: len(given)]):
            raise Unreadable("argument-without-name", token.at, about)
        if len(given) == len(letters):
            raise Unreadable("too-many-arguments", token.at, about)
        return letters[len(given)]

    def complaint(self) -> Unreadable:
        """Say what is wrong with the next token, where a comparison may stand."""
        found = super().complaint()
        if found.why in _OUT_OF_PLACE:
            return Unreadable("unexpected", found.at, {"text": self.next.kind})
        return found


def read_relation(text: str, signatures: Signatures, symbols: tuple[str, ...]) -> Relation:
    """Read a property of these functions in these letters.

    Raises:
        Unreadable: it is none.
    """
    letters = alphabet(symbols)
    called = {**FUNCTIONS, **{name.casefold(): name for name in signatures}}
    comparisons = []
    for start, end in _clauses(text):
        tokens = _without_brackets(expression_tokens(text[:end], letters, start, called))
        comparisons.append(_Comparing(tokens, end, signatures, letters).comparison(start))
    if sum(len(side.program) for comparison in comparisons for side in comparison.sides) > MOST_NODES:
        raise Unreadable("too-long-property", about={"limit": str(MOST_NODES)})
    return Relation(tuple(comparisons), signatures)


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    """Where each comparison begins and ends."""
    start = 0
    for match in _AND.finditer(text):
        yield start + _margin(text[start:]), match.start()
        start = match.end()
    yield start + _margin(text[start:]), len(text)


def _margin(text: str) -> int:
    return len(text) - len(text.lstrip())


def _without_brackets(tokens: list[Token]) -> list[Token]:
    """The tokens of a comparison without brackets around the whole of it."""
    while len(tokens) > 1 and tokens[0].kind == "(" and _closing(tokens) == len(tokens) - 1:
        if not any(token.kind in _SPELLED for token in tokens):
            break
        tokens = tokens[1:-1]
    return tokens


def _closing(tokens: list[Token]) -> int:
    depth = 0
    for place, token in enumerate(tokens):
        depth += (token.kind == "(") - (token.kind == ")")
        if depth == 0:
            return place
    return -1
