"""The closed grammar of numbers and expressions, parsed by precedence into a `Formula`.

sum     := product (('+' | '-') product)*          a number starts at product: it has no sums
product := signed (('*' | '/') signed | power)*    no sign between factors means times, in expressions only
signed  := ('+' | '-')? power
power   := postfix ('^' signed)?                   binds to the right
postfix := atom '!'?
atom    := number | symbol | function '(' sum (',' sum)* ')' | function power | '(' sum ')' | root
           | floor and ceiling brackets
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from grader.reading.formula import Builder, Formula
from grader.reading.lexer import COMPLAINTS, Token, expression_tokens, number_tokens
from grader.reading.number import Number
from grader.reading.symbols import NAME, Alphabet, alphabet, canonical
from grader.reading.text import Unreadable

DEEPEST = 40
MOST_NODES = 2000
ARGUMENTS: Mapping[str, tuple[int, int]] = {"min": (2, 8), "max": (2, 8), "log": (1, 2)}
BRACKETS: Mapping[str, tuple[str, str]] = {
    "(": (")", ""),
    "\u230a": ("\u230b", "floor"),
    "\u2308": ("\u2309", "ceil"),
}
STARTS = frozenset({"number", "symbol", "function", "\u221a", *BRACKETS})
_ORDER = re.compile(r"\s*O\s*(?=\()")
_LEFT_SIDE = re.compile(rf"\s*({NAME.pattern})\s*=(?!=)\s*")


class Parser:
    """One pass over the tokens; nesting is bounded, so recursion is."""

    def __init__(self, tokens: list[Token], length: int, *, sums: bool) -> None:
        self.tokens = [*tokens, Token("end", None, length)]
        self.sums = sums
        self.place = 0
        self.depth = 0
        self.ambiguous = False
        self.built = Builder()

    @property
    def next(self) -> Token:
        """The token that is looked at."""
        return self.tokens[self.place]

    def take(self) -> Token:
        """Move on by one token and return the one passed."""
        token = self.tokens[self.place]
        self.place += 1
        return token

    def whole(self) -> None:
        """Read everything, or complain about the first token that does not fit.

        Raises:
            Unreadable: the tokens are no number or expression.
        """
        self.outermost()
        if self.next.kind != "end":
            raise self.complaint()
        if len(self.built.nodes) > MOST_NODES:
            raise Unreadable("too-long", about={"limit": str(MOST_NODES)})

    def outermost(self) -> None:
        """A sum in an expression, a product in a number."""
        if self.sums:
            self.sum()
        else:
            self.product()

    def sum(self) -> None:
        """Terms with plus and minus between them."""
        self.product()
        while self.next.kind in {"+", "-"}:
            sign = self.take()
            if self.next.kind in {"+", "-"}:
                raise Unreadable("double-sign", self.next.at)
            self.product()
            self.built.binary(sign.kind, sign.at)

    def product(self) -> None:
        """Factors with times, division or, in an expression, nothing between them."""
        self.signed()
        divided = False
        while True:
            operator = self.next
            if operator.kind in {"*", "/"}:
                self.take()
                self.signed()
                divided = operator.kind == "/" or divided
                self.built.binary(operator.kind, operator.at)
            elif operator.kind in STARTS and self.sums:
                self.power()
                self.ambiguous = self.ambiguous or divided
                self.built.binary("*", operator.at)
            else:
                return

    def signed(self) -> None:
        """A power with at most one sign before it."""
        sign = self.next
        if sign.kind not in {"+", "-"}:
            self.power()
            return
        self.take()
        if self.next.kind in {"+", "-"}:
            raise Unreadable("double-sign", self.next.at)
        self.power()
        if sign.kind == "-":
            self.built.unary("neg", sign.at)

    def power(self) -> None:
        """A power; `x^y^z` is `x^(y^z)`."""
        self.atom()
        if self.next.kind == "!":
            self.built.unary("factorial", self.take().at)
        if self.next.kind == "^":
            operator = self.take()
            self.deeper(operator.at)
            self.signed()
            self.depth -= 1
            self.built.binary("^", operator.at)

    def atom(self) -> None:
        """A number, a symbol, something in brackets, or a function of something."""
        token = self.next
        if token.kind not in STARTS:
            raise self.complaint()
        self.take()
        if token.kind == "number":
            self.built.number(token.value)
        elif token.kind == "symbol":
            self.built.symbol(token.value)
        elif token.kind == "\u221a":
            self.deeper(token.at)
            self.atom()
            self.depth -= 1
            self.built.call("sqrt", 1)
        elif token.kind == "function":
            self.call(token)
        else:
            closing, function = BRACKETS[token.kind]
            self.deeper(token.at)
            self.outermost()
            self.close(token, closing)
            if function:
                self.built.call(function, 1)

    def call(self, function: Token) -> None:
        """The arguments of a function, in brackets; a logarithm or a root takes the power that follows without them."""
        if self.next.kind != "(":
            self.deeper(function.at)
            self.power()
            self.depth -= 1
            self.built.call("ln" if function.value == "log" else function.value, 1)
            return
        opening = self.take()
        self.deeper(opening.at)
        self.sum()
        arguments = 1
        while self.next.kind == ",":
            self.take()
            self.sum()
            arguments += 1
        self.close(opening, ")")
        least, most = ARGUMENTS.get(function.value, (1, 1))
        if not least <= arguments <= most:
            raise Unreadable("arguments", function.at, {"text": function.value, "wanted": str(least)})
        if function.value == "factorial":
            self.built.unary("factorial", function.at)
        elif function.value == "log":
            self.built.call("log" if arguments > 1 else "ln", arguments)
        else:
            self.built.call(function.value, arguments)

    def deeper(self, at: int) -> None:
        """Count one level of nesting."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise Unreadable("too-deep", at, {"limit": str(DEEPEST)})

    def close(self, opening: Token, closing: str) -> None:
        """Take the bracket that closes `opening`."""
        self.depth -= 1
        if self.next.kind == closing:
            self.take()
        elif self.next.kind == "end":
            raise Unreadable("missing-bracket", opening.at)
        else:
            raise self.complaint()

    def complaint(self) -> Unreadable:
        """Say what is wrong with the next token."""
        token, before = self.next, self.tokens[self.place - 1].kind if self.place else ""
        leading = token.kind in {"*", "/", "^", "!"} and before in {"", "*", "/", "^", "+", "-", "("}
        if token.kind == "end" or leading:
            if len(self.tokens) == 1:
                return Unreadable("nothing", token.at)
            return Unreadable("dangling-operator", self.tokens[self.place - 1].at if token.kind == "end" else token.at)
        code = COMPLAINTS.get(token.kind, "unexpected")
        if token.kind == "-" and not self.sums:
            follows = self.tokens[self.place + 1].kind
            code = "range" if follows == "number" else "dangling-operator" if follows == "end" else "sum"
        return Unreadable(code, token.at, {"text": token.kind})


def read_number(text: str, at: int, locale: str) -> tuple[Number, int]:
    """Read the number at the front of `text[at:]`; return its exact value and where it ends.

    Raises:
        Unreadable: there is no number, or more than one.
    """
    tokens, end = number_tokens(text, at, locale)
    if not tokens and end < len(text):
        raise Unreadable("no-number", end, {"text": text[end:][:40]})
    parser = Parser(tokens, end, sums=False)
    parser.whole()
    kind, value = parser.built.nodes[0]
    if kind != "number" or len(parser.built.nodes) > 1:
        raise Unreadable("irrational-number", at)
    return value, end


def read_formula(text: str, symbols: tuple[str, ...], names: tuple[str, ...] = ()) -> Formula:
    """Read an expression in these symbols; a left side may name the asked quantity, one of `names` where any is given.

    Raises:
        Unreadable: it is no expression in these symbols.
    """
    letters = alphabet(symbols)
    at = _after_left_side(text, letters, names)
    order = _ORDER.match(text, at) if "O" not in letters.names else None
    parser = Parser(expression_tokens(text, letters, order.end() if order else at), len(text), sums=True)
    if order:
        parser.atom()
        if parser.next.kind != "end":
            raise Unreadable("order-inside", order.start())
    else:
        parser.whole()
    return Formula(tuple(parser.built.nodes), symbols, bool(order), parser.ambiguous)


def _after_left_side(text: str, letters: Alphabet, names: tuple[str, ...]) -> int:
    """The place after `P =`, or the start."""
    left = _LEFT_SIDE.match(text)
    if left is None:
        return 0
    name = canonical(left.group(1))
    allowed = {canonical(n).casefold() for n in names}
    if name in letters.names or (allowed and name.casefold() not in allowed):
        raise Unreadable("left-side", left.start(1), {"text": name, "wanted": ", ".join(names)})
    return left.end()
