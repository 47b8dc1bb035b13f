"""The tokens of a text query: operators, parentheses, words and phrases.

    operator   & | ! ,    or the words AND, OR, NOT in capitals
    phrase     words in double quotes, then perhaps ~ and how many words may stand between neighbours:
               ~2, or ~* for any number
    word       any other run of characters without blanks; what it holds is cut as documents are, so
               e-mail is the phrase "e mail"

A `*` may stand behind a word, within a phrase too, and nowhere else.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import NamedTuple

from tocsin.text.language.query import ANY_GAP, Leaf, Word
from tocsin.text.tokenizer import cut, is_word_character, normalised

LARGEST_GAP = 1_000_000_000
"""A phrase with a larger gap than this is taken for a mistake: ~* means any number of words."""

_TOKEN = re.compile(
    r"""
    (?P<BLANK>    \s+ )
  | (?P<OPERATOR> [&|!,] | (?: AND | OR | NOT ) (?= [\s&|!,()"] | \Z ) )
  | (?P<OPEN>     \( )
  | (?P<CLOSE>    \) )
  | (?P<PHRASE>   "[^"]*" (?: ~ [^\s&|!,()"]* )? )
  | (?P<UNCLOSED> "[^"]*\Z )
  | (?P<WORD>     [^\s&|!,()"]+ )
    """,
    re.VERBOSE,
)
_OPERATORS = {"AND": "&", "OR": "|", "NOT": "!"}


class TokenKind(Enum):
    """What a token is."""

    OPERATOR = auto()
    OPEN = auto()
    CLOSE = auto()
    LEAF = auto()
    END = auto()


class Token(NamedTuple):
    """One token at a place of the query: an operator as its symbol, a word or phrase as its leaf."""

    kind: TokenKind
    text: str
    place: int
    leaf: Leaf | None = None


Problem = tuple[int, str]


def tokenize(text: str, any_gap: bool) -> tuple[list[Token], list[Problem]]:
    """The tokens of a query up to an END, and what is wrong with words and phrases.

    With `any_gap` the words of a phrase only need to come in order (`tm_contains`). A word or phrase
    that is wrong is left in as a token without a leaf.
    """
    tokens: list[Token] = []
    problems: list[Problem] = []
    for found in _TOKEN.finditer(text):
        kind, written, place = found.lastgroup, found[0], found.start()
        if kind == "BLANK":
            continue
        if kind == "OPERATOR":
            tokens.append(Token(TokenKind.OPERATOR, _OPERATORS.get(written, written), place))
        elif kind in ("OPEN", "CLOSE"):
            tokens.append(Token(TokenKind[kind], written, place))
        else:
            leaf = None
            try:
                leaf = _leaf(written, kind or "", any_gap)
            except _Mistake as mistake:
                problems.append((place + mistake.place, mistake.reason))
            tokens.append(Token(TokenKind.LEAF, written, place, leaf))
    tokens.append(Token(TokenKind.END, "", len(text)))
    return tokens, problems


class _Mistake(Exception):
    def __init__(self, place: int, reason: str) -> None:
        super().__init__(reason)
        self.place = place
        self.reason = reason


def _leaf(written: str, kind: str, any_gap: bool) -> Leaf:
    if kind == "UNCLOSED":
        raise _Mistake(0, "this '\"' is never closed")
    if kind == "WORD":
        return Leaf(_words(written, 0))
    end = written.rindex('"')
    words = _words(written[1:end], 1)
    gap = _gap(written[end + 1 :], end + 1, any_gap)
    return Leaf(words, gap if len(words) > 1 else 0)


def _gap(written: str, place: int, any_gap: bool) -> int:
    if not written:
        return ANY_GAP if any_gap else 0
    if any_gap:
        raise _Mistake(
            place,
            "'~' is for contains: in tm_contains any number of words may stand between those of a phrase",
        )
    if written == "~*":
        return ANY_GAP
    if not re.fullmatch("~[0-9]+", written):
        raise _Mistake(place, "expected a number or '*' after '~': how many words may stand between")
    digits = written[1:].lstrip("0")
    if len(digits) > len(str(LARGEST_GAP)) or int(digits or "0") > LARGEST_GAP:
        raise _Mistake(place, f"at most {LARGEST_GAP:,} words may stand between, or any number: '~*'")
    return int(digits or "0")


def _words(written: str, place: int) -> tuple[Word, ...]:
    """The words of a token, which begins at this place of what is reported."""
    words: list[Word] = []
    at = 0
    for piece in re.split(r"(\*)", written):
        if piece == "*":
            if not at or not is_word_character(normalised(written[at - 1])[-1:] or " "):
                raise _Mistake(place + at, "a '*' stands behind a word, and this one stands alone")
            if is_word_character(normalised(written[at + 1 : at + 2])[:1] or " "):
                raise _Mistake(place + at, "a '*' ends a word: put a space or an operator behind it")
            words[-1] = Word(words[-1].text, is_prefix=True)
        else:
            words.extend(Word(word) for word in cut(normalised(piece)))
        at += len(piece)
    if not words:
        raise _Mistake(place - 1 if place else 0, "there is no word in this")
    return tuple(words)
