"""The words of programs.

    name        [?A-Za-z_] [?A-Za-z0-9_]*
    number      digits, 0x with hexadecimal or 0b with binary digits; with a u behind it, unsigned
    address     a.b.c.d, each at most 255: a number, as Soufflé reads it (32 bits with a sign)
    float       digits . digits [e [+-] digits], or digits e [+-] digits
    string      "text" on one line, with the escapes \\" \\' \\\\ \\a \\b \\f \\n \\r \\t \\v
    directive   .decl .input .output ... with a blank behind it; any other . ends a clause or joins names
    comment     // to the end of the line, or /* ... */

What cannot be read becomes a BAD token that carries its reason, so that whoever parses meets each
mistake at its place and can go on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

from tocsin.syntax import HALF_PAIR, has_half_pair, shortened, stray

_DIRECTIVES = (
    "decl|functor|input|output|printsize|limitsize|type|number_type|symbol_type|lattice|comp|init|override|"
    "pragma|plan|include|once"
)
"""The words that start a statement when a point stands before them."""


class TokenKind(Enum):
    """What a token is."""

    NAME = auto()
    NUMBER = auto()
    UNSIGNED = auto()
    FLOAT = auto()
    STRING = auto()
    SYMBOL = auto()
    DIRECTIVE = auto()
    BAD = auto()
    END = auto()


class Token(NamedTuple):
    """`text` as written at `offset`; `value`: a string's text, an address' number, why it is bad."""

    kind: TokenKind
    text: str
    offset: int
    value: str = ""

    @property
    def end(self) -> int:
        """The offset just behind the token."""
        return self.offset + len(self.text)


_BLANK = r"(?:[ \t\r\n\f\v]++|//[^\n]*+|/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*+/)*+"
_TOKEN = re.compile(
    rf"{_BLANK}(?:"
    r"(?P<NAME>choice-domain\b|[?A-Za-z_][?A-Za-z0-9_]*+(?!\w))"
    rf"|(?P<DIRECTIVE>\.(?:{_DIRECTIVES})(?=[\s/\"]|\Z))"
    r"|(?P<OPEN_COMMENT>/\*[\s\S]*+)"
    r"|(?P<ODD>==|\*\*|&&?|\|\||<>|<-|~)"
    r"|(?P<SYMBOL>:-|<:|<=|>=|!=|[()\[\]{},:;.=<>!+\-*/^%@$|])"
    r"|(?P<UNSIGNED>(?:0x[0-9a-fA-F]++|0b[01]++|[0-9]++)u(?![\w?]))"
    r"|(?P<ADDRESS>[0-9]++(?:\.[0-9]++){3}(?![\w?]|\.[0-9]))"
    r"|(?P<FLOAT>[0-9]++(?:\.[0-9]++(?:[eE][+-]?[0-9]++)?|[eE][+-]?[0-9]++)(?![\w?]|\.[0-9]))"
    r"|(?P<NUMBER>(?:0x[0-9a-fA-F]++|0b[01]++|[0-9]++)(?![\w?]|\.[0-9]))"
    r"|(?P<BAD_NUMBER>[0-9][\w?]*+(?:\.[0-9][\w?]*+)*+)"
    r'|(?P<STRING>"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+")'
    r"|(?P<END>\Z)"
    r'|(?P<OPEN_STRING>"[^\n]*+)'
    r"|(?P<PREPROCESSOR>\#[^\n]*+)"
    r"|(?P<WORD>[\w?]++)"
    r"|(?P<STRAY>[\s\S])"
    r")"
)

ESCAPES = {'"': '"', "'": "'", "\\": "\\"} | dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True))
"""What stands behind a backslash in a string, and what it means."""

_ESCAPE = re.compile(r"\\(.)")
_ODD_HINTS = {
    "==": "equality is written =",
    "**": "a power is written ^",
    "&": "'and' is a comma in a body, and band between numbers",
    "&&": "'and' is a comma in a body, and land between numbers",
    "||": "'or' is a ; in a body, and lor between numbers",
    "<>": "inequality is written !=",
    "<-": "a head is followed by :-",
    "~": "the opposite of bits is bnot",
}
_STRAY_HINTS = dict.fromkeys("‘’“”", "a string is written in straight double quotes") | {
    "'": "a string is written in double quotes"
}
_REASONS = {
    "BAD_NUMBER": "'{shown}' is not a number",
    "OPEN_STRING": 'this string does not end on its line: expected a closing " (a line feed is written \\n)',
    "OPEN_COMMENT": "this comment never ends: expected */",
    "PREPROCESSOR": "a preprocessor is not supported: run it first, and give its output without lines of '#'",
    "WORD": "'{shown}' is not a name: a name has only A-Z, a-z, 0-9, _ and ?",
}


def tokenize(text: str, start: int = 0) -> Iterator[Token]:
    """The tokens of a text from an offset on, the last one END; never raises."""
    kinds = TokenKind.__members__
    match_at = _TOKEN.match
    while True:
        match = match_at(text, start)
        if match is None or match.lastgroup is None:
            raise AssertionError("every text has a next token")
        group, start = match.lastgroup, match.end()
        written = match[group]
        offset = start - len(written)
        if group == "STRING":
            yield _unquoted(written, offset)
        elif group == "ADDRESS":
            yield _address(written, offset)
        elif group in kinds:
            yield Token(kinds[group], written, offset)
            if group == "END":
                return
        else:
            yield Token(TokenKind.BAD, written, offset, _reason(group, written))


def describe(token: Token) -> str:
    """The token as an error message names it."""
    if token.kind is TokenKind.END:
        return "the end"
    text = shortened(token.text)
    return f"the string {text}" if token.kind is TokenKind.STRING else f"'{text}'"


def _unquoted(written: str, offset: int) -> Token:
    inner = written[1:-1]
    if "\\" in inner:
        unknown = next((found for found in _ESCAPE.findall(inner) if found not in ESCAPES), None)
        if unknown is not None:
            reason = f"the escape \\{unknown} has no meaning in a string (a backslash is written \\\\)"
            return Token(TokenKind.BAD, written, offset, reason)
        inner = _ESCAPE.sub(lambda found: ESCAPES[found[1]], inner)
    if has_half_pair(inner):
        return Token(TokenKind.BAD, written, offset, HALF_PAIR)
    return Token(TokenKind.STRING, written, offset, inner)


def _address(written: str, offset: int) -> Token:
    parts = written.split(".")
    if any(len(part) > 3 or int(part) > 255 for part in parts):
        return Token(TokenKind.BAD, written, offset, f"'{shortened(written)}' is not an IPv4 address")
    number = int.from_bytes(map(int, parts), "big", signed=True)
    return Token(TokenKind.NUMBER, written, offset, str(number))


def _reason(group: str, written: str) -> str:
    shown = shortened(written)
    if group == "ODD":
        return f"'{shown}' has no meaning here: {_ODD_HINTS[written]}"
    if group in _REASONS:
        return _REASONS[group].format(shown=shown)
    return stray(written, _STRAY_HINTS)
