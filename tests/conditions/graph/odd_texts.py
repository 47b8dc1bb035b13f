"""Condition texts to hold two readers to one language: valid ones in odd dress, and broken ones."""

from __future__ import annotations

import random

from tests.cases import make_condition

from tocsin.conditions.language import Token, TokenKind, print_condition, tokenize

BLANKS = [" ", "  ", "\n", "\t", "\r\n", "\v", "\f", ' -- it\'s (a "comment"\n', "--\n", "--- and or\r\n"]

SNIPPETS = [
    *("and", "or", "xor", "xnor", "not", "true", "false", "between", "in", "is", "null", "like", "matches"),
    *("AND", "Or", "nOT", "TRUE", "Between", "cidr", "contains", "timestamp", "ilike", "from", "when"),
    *("(", ")", "((", "))", ",", ".", ";", "'", '"', "''", '""', "-", "--", "--\n", "+", "=", "==", "<>"),
    *("!=", "!", "<", "<=", "<--5", "&&", "||", "a", "b.and", 'a."or"', '"and"', '"a""b"', "'it''s'", "'"),
    *("1", "-1", "+1", "1.", ".5", "1.5", "1e", "1e5", "1e-5", "1e--5", "1and", "1or b", "5--x\n", "0x1F"),
    *("é", "aé", "andé", "ornß", "\u00a0", "\u2003", "\ufeff", "\x00", "\x1c", "\x85", "٣", "1٣", "\\", "`"),
    *("a between 1 and 2", "a not between 1 and 2", "a between 1", "between and", "a.between and b"),
    *("a in (1, 2)", "a in (1", "a in ()", "a not in ('x')", "a is null", "a is not null", "a not b"),
    *("a = 'x'and b", '"a"and"b"', "not(a)", 'not"a"', "(a)and(b)", "a=1)and(b", "a.b . c", "a. b", "a .b"),
    *("cidr(a, '10.0.0.0/8')", "cidr (a,'::/0')", "cidr = 1", "cidr.x", "timestamp = 1", "contains(a, 'x')"),
    *("t > timestamp '2026-01-31T12:00:00Z'", "true.x", "not.x", "x.not", "x.true = true", "a = true and b"),
    *("s like 'a\\'", "s like '%\\%'", "s matches '('", "a = 99999999999999999999", "a = 1e999", "_", "_1"),
]


def dressed(rng: random.Random) -> str:
    """A valid condition with odd blanks, comments and capitals between and in its tokens."""
    tokens = tokenize(print_condition(make_condition(rng)))[:-1]
    text = rng.choice(["", "", *BLANKS])
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        text += _in_capitals(rng, token)
        if (following is not None and _would_run_together(token, following)) or rng.random() < 0.3:
            text += rng.choice(BLANKS)
    return text + rng.choice(["", "", *BLANKS, "-- the end"])


def _in_capitals(rng: random.Random, token: Token) -> str:
    if token.kind is TokenKind.KEYWORD or token.value in ("cidr", "timestamp"):
        return "".join(rng.choice([letter.lower(), letter.upper()]) for letter in token.text)
    return token.text


def _would_run_together(token: Token, following: Token) -> bool:
    words = (TokenKind.NAME, TokenKind.KEYWORD, TokenKind.NUMBER)
    return token.kind in words and following.kind in words


def broken(rng: random.Random) -> str:
    """A condition with a few characters or snippets changed; now and then still valid."""
    text = dressed(rng)[:200]
    for _ in range(rng.randint(1, 3)):
        at = rng.randint(0, len(text))
        change = rng.randrange(4)
        if change == 0:
            text = text[:at] + text[at + rng.randint(1, 3) :]
        elif change == 1:
            text = text[:at] + rng.choice(SNIPPETS) + text[at:]
        elif change == 2:
            text = text[:at] + " " + rng.choice(SNIPPETS) + " " + text[at:]
        else:
            other = rng.randint(0, len(text))
            text = text[:at] + text[other : other + 5] + text[at:]
    return text


def soup(rng: random.Random) -> str:
    """Snippets in any order."""
    return rng.choice(["", " "]).join(rng.choice(SNIPPETS) for _ in range(rng.randint(0, 8)))
