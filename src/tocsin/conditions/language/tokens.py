"""The words of conditions and triggers.

One regular expression reads the text from left to right. What it cannot read becomes a BAD token
that carries its reason, so that whoever parses meets each mistake at its place and can go on.

    name       [A-Za-z_][A-Za-z0-9_]*, or any text in double quotes ("" is a quote)
    string     any text in single quotes ('' is a quote), newlines included
    number     [+-] digits [. digits] [e [+-] digits]; the sign touches the digits, and neither a
               letter nor a point may follow: 1. and .5 and 1e and 10and are no numbers
    comment    -- to the end of the line, so that a<--5 is `a<` and a comment
    blank      space, tab, line feed, carriage return, form feed, vertical tab; no other character
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import NamedTuple

from tocsin.conditions.operators import Shape, words_of_shape
from tocsin.syntax import HALF_PAIR, has_half_pair, shortened, stray

_SHAPES = (Shape.LIST, Shape.RANGE, Shape.BARE, Shape.WORD)
_OPERATOR_WORDS = {word for shape in _SHAPES for words in words_of_shape(shape) for word in words.split()}
CONDITION_WORDS = frozenset({"and", "or", "xor", "xnor", "not", "true", "false"} | _OPERATOR_WORDS)
"""The words that an unquoted name cannot be."""

TRIGGER_WORDS = CONDITION_WORDS | {"from", "when", "do", "after"}
"""The same within a `create trigger` statement."""


class TokenKind(Enum):
    """What a token is; KEYWORD is an unquoted name that is one of the reserved words."""

    NAME = auto()
    QUOTED = auto()
    KEYWORD = auto()
    STRING = auto()
    NUMBER = auto()
    SYMBOL = auto()
    BAD = auto()
    END = auto()


class Token(NamedTuple):
    """One token: `text` as written at `offset`, and `value` as meant.

    `value` is the name or string without its quotes, a keyword in lower case, a number or symbol as
    written, and for a BAD token the reason why it is one.
    """

    kind: TokenKind
    text: str
    value: str
    offset: int

    @property
    def end(self) -> int:
        """The offset just behind the token."""
        return self.offset + len(self.text)


_TOKEN = re.compile(
    r"""
    [ \t\n\r\f\v]*+ (?: --[^\n]*+ [ \t\n\r\f\v]*+ )*+
    (?:
      (?P<NAME>       [A-Za-z_][A-Za-z0-9_]*+ (?!\w) )
    | (?P<SYMBOL>     <=|>=|<>|!=|==|&&|\|\||[=<>(),;!] | \.(?![0-9]) | (?<=[\w"])\. )
    | (?P<NUMBER>     [+-]?[0-9]++ (?:\.[0-9]++)? (?:[eE][+-]?[0-9]++)? (?![\w.]) )
    | (?P<STRING>     '[^']*+(?:''[^']*+)*+' )
    | (?P<QUOTED>     "[^"]*+(?:""[^"]*+)*+" )
    | (?P<BAD_NUMBER> [+-]?\.?[0-9][\w.]*+ (?:(?<=[eE])[+-]\w*+)? )
    | (?P<END>        \Z )
    | (?P<OPEN>       ['"] [\s\S]*+ )
    | (?P<WORD>       \w++ )
    | (?P<SIGN>       [+-] )
    | (?P<STRAY>      [^\s\w'"(),.;=<>!+-]++ | [\s\S] )
    )
    """,
    re.VERBOSE,
)

_STRAY_HINTS = {
    "`": "a name is written in double quotes",
    "\u2018": "a string is written in straight single quotes",
    "\u2019": "a string is written in straight single quotes",
    "\u201c": "a name is written in straight double quotes",
    "\u201d": "a name is written in straight double quotes",
    "&": "use 'and'",
    "|": "use 'or'",
    "~": "use 'matches' or 'like'",
    "\ufeff": "a byte order mark is only allowed at the start of a file",
}


def tokenize(text: str, reserved: frozenset[str] = CONDITION_WORDS) -> list[Token]:
    """All tokens of the text, the last one END; never raises."""
    tokens: list[Token] = []
    append = tokens.append
    name, keyword, number, symbol = TokenKind.NAME, TokenKind.KEYWORD, TokenKind.NUMBER, TokenKind.SYMBOL
    for match in _TOKEN.finditer(text):
        group = match.lastgroup or ""
        written = match[group]
        offset = match.end() - len(written)
        if group == "NAME":
            word = written.lower()
            append(
                Token(keyword, written, word, offset)
                if word in reserved
                else Token(name, written, written, offset)
            )
        elif group == "SYMBOL":
            append(Token(symbol, written, written, offset))
        elif group == "NUMBER":
            append(Token(number, written, written, offset))
        elif group == "STRING" or group == "QUOTED":
            append(_unquoted(group, written, offset))
        elif group == "END":
            append(Token(TokenKind.END, "", "", offset))
            break
        else:
            append(Token(TokenKind.BAD, written, _reason(group, written), offset))
    return tokens


def describe(token: Token) -> str:
    """The token as an error message names it."""
    if token.kind is TokenKind.END and not token.text:
        return "the end"
    text = shortened(token.text)
    if token.kind is TokenKind.STRING:
        return f"the string {text}"
    if token.kind is TokenKind.QUOTED:
        return f"the name {text}"
    return f"'{text}'"


def _unquoted(group: str, written: str, offset: int) -> Token:
    quote = written[0]
    inner = written[1:-1]
    if quote in inner:
        inner = inner.replace(quote * 2, quote)
    if has_half_pair(inner):
        return Token(TokenKind.BAD, written, HALF_PAIR, offset)
    return Token(TokenKind[group], written, inner, offset)


def _reason(group: str, written: str) -> str:
    shown = shortened(written)
    if group == "BAD_NUMBER":
        return f"'{shown}' is not a number{_number_hint(written)}"
    if group == "OPEN":
        if written[0] == "'":
            return "this string never ends: expected a closing ' (a quote inside a string is written '')"
        return 'this name never ends: expected a closing " (a quote inside a quoted name is written "")'
    if group == "WORD":
        return (
            f"'{shown}' is not a plain name: a name with other characters than A-Z, a-z, 0-9 and _"
            " is written in double quotes"
        )
    if group == "SIGN":
        return f"'{shown}' stands alone: the sign of a number touches its digits"
    return stray(written, _STRAY_HINTS)


def _number_hint(written: str) -> str:
    digits = written.lstrip("+-")
    if digits.startswith("."):
        return ": expected a digit before the point"
    if digits.endswith("."):
        return ": expected a digit after the point"
    if re.fullmatch(r"[0-9.]+[eE][+-]?", digits):
        return ": expected digits after the exponent's e"
    if not digits.isascii() or not re.fullmatch(r"[0-9.]+", digits):
        return ": it runs into a letter"
    return ""
