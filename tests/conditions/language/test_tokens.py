from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.conditions.language import TRIGGER_WORDS, TokenKind, tokenize
from tocsin.conditions.language.tokens import describe


def brief(text: str) -> list[tuple[str, str]]:
    return [(token.kind.name, token.value) for token in tokenize(text)[:-1]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a<-5", [("NAME", "a"), ("SYMBOL", "<"), ("NUMBER", "-5")]),
        ("a = -5", [("NAME", "a"), ("SYMBOL", "="), ("NUMBER", "-5")]),
        ("a=+1.5e3", [("NAME", "a"), ("SYMBOL", "="), ("NUMBER", "+1.5e3")]),
        ("a=1E-3)", [("NAME", "a"), ("SYMBOL", "="), ("NUMBER", "1E-3"), ("SYMBOL", ")")]),
        ("a<--5", [("NAME", "a"), ("SYMBOL", "<")]),
        ("a=5--5", [("NAME", "a"), ("SYMBOL", "="), ("NUMBER", "5")]),
        ("--5\n7", [("NUMBER", "7")]),
        ("-- a\n-- b\r\n c --", [("NAME", "c")]),
        (
            "a<=1<>!=>=",
            [("NAME", "a"), *(("SYMBOL", "<="), ("NUMBER", "1"))]
            + [("SYMBOL", each) for each in ("<>", "!=", ">=")],
        ),
        ('a.b."c.d"', [("NAME", "a"), ("SYMBOL", "."), ("NAME", "b"), ("SYMBOL", "."), ("QUOTED", "c.d")]),
        ("a.5", [("NAME", "a"), ("SYMBOL", "."), ("NUMBER", "5")]),
        ("NoT AND_ xNOR", [("KEYWORD", "not"), ("NAME", "AND_"), ("KEYWORD", "xnor")]),
        ("'it''s' '' ''''", [("STRING", "it's"), ("STRING", ""), ("STRING", "'")]),
        ('"a""b" "" "in"', [("QUOTED", 'a"b'), ("QUOTED", ""), ("QUOTED", "in")]),
        ("'a\n--b'", [("STRING", "a\n--b")]),
        ("timestamp'x'", [("NAME", "timestamp"), ("STRING", "x")]),
        ("\t\n\r\f\v ", []),
    ],
)
def test_reads(text: str, expected: list[tuple[str, str]]) -> None:
    assert brief(text) == expected


@pytest.mark.parametrize(
    ("text", "offset", "part"),
    [
        ("x = 1.", 4, "digit after the point"),
        ("x = .5", 4, "digit before the point"),
        ("x = -.5", 4, "digit before the point"),
        ("x = 1e", 4, "after the exponent"),
        ("x = 1e+", 4, "after the exponent"),
        ("x = 1.2.3", 4, "not a number"),
        ("x = 10and y", 4, "letter"),
        ("x = - 5", 4, "touches its digits"),
        ("x = 'abc", 4, "string never ends"),
        ("x = 'abc''", 4, "string never ends"),
        ('"abc', 0, "name never ends"),
        ("größe = 1", 0, "double quotes"),
        ("a\u00a0= 1", 1, "U+00A0"),
        ("a = \x00", 4, "U+0000"),
        ("a = \u2018x\u2019", 4, "single quotes"),
        ("a = `b`", 4, "double quotes"),
        ("a @ b", 2, "'@' has no meaning"),
        ("a = '\ud800'", 4, "surrogate"),
    ],
)
def test_bad_tokens_say_why(text: str, offset: int, part: str) -> None:
    bad = [token for token in tokenize(text) if token.kind is TokenKind.BAD]
    assert bad[0].offset == offset
    assert part in bad[0].value


def test_trigger_words_are_reserved_only_in_triggers() -> None:
    assert tokenize("when")[0].kind is TokenKind.NAME
    assert tokenize("When", TRIGGER_WORDS)[0].kind is TokenKind.KEYWORD


def test_long_tokens_are_cut_in_messages() -> None:
    token = tokenize("'" + "x" * 1000 + "'")[0]
    assert len(describe(token)) < 60


@given(st.text(alphabet=st.sampled_from("ab1.+-eE'\" \n=<>!&|(),;$\u00e9\u2028"), max_size=40))
def test_tokens_cover_the_text(text: str) -> None:
    """Whatever stands between tokens is blank or a comment; nothing is dropped."""
    tokens = tokenize(text)
    assert tokens[-1].kind is TokenKind.END
    at = 0
    for token in tokens:
        between = text[at : token.offset]
        assert all(not part.strip(" \t\n\r\f\v") for part in uncommented(between)), between
        assert text[token.offset : token.end] == token.text
        at = token.end
    assert at == len(text)


def uncommented(text: str) -> list[str]:
    return [line.partition("--")[0] for line in text.split("\n")]


@given(st.text())
def test_quoting_is_undone(text: str) -> None:
    if any("\ud800" <= char <= "\udfff" for char in text):
        return
    string, name = tokenize("'" + text.replace("'", "''") + "' \"" + text.replace('"', '""') + '"')[:2]
    assert (string.kind, string.value) == (TokenKind.STRING, text)
    assert (name.kind, name.value) == (TokenKind.QUOTED, text)
