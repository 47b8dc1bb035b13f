from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.datalog.language.tokens import TokenKind, tokenize

K = TokenKind


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("p(?x,_y)", [K.NAME, K.SYMBOL, K.NAME, K.SYMBOL, K.NAME, K.SYMBOL]),
        (".decl p", [K.DIRECTIVE, K.NAME]),
        (".declare p", [K.SYMBOL, K.NAME, K.NAME]),
        ("a.decl(", [K.NAME, K.SYMBOL, K.NAME, K.SYMBOL]),
        ("1 0x1f 0b10 1u 0xfu", [K.NUMBER, K.NUMBER, K.NUMBER, K.UNSIGNED, K.UNSIGNED]),
        ("1.5 1e3 2.5E-1", [K.FLOAT, K.FLOAT, K.FLOAT]),
        ("1.\n2", [K.NUMBER, K.SYMBOL, K.NUMBER]),
        ("1.p", [K.NUMBER, K.SYMBOL, K.NAME]),
        (
            "x:-y<:z<=w!=!v",
            [K.NAME, K.SYMBOL, K.NAME, K.SYMBOL, K.NAME, K.SYMBOL, K.NAME, K.SYMBOL, K.SYMBOL, K.NAME],
        ),
        ("a//b\nc/*d*/e/ f", [K.NAME, K.NAME, K.NAME, K.SYMBOL, K.NAME]),
        ("/**/ /***/ /* ** / */ a", [K.NAME]),
        ("choice-domain x-y", [K.NAME, K.NAME, K.SYMBOL, K.NAME]),
        ("0x 0b2 1a 1.2.3 1uu", [K.BAD] * 5),
        ("'a' ==", [K.BAD, K.NAME, K.BAD, K.BAD]),
        ('"a\\q" "b', [K.BAD, K.BAD]),
        ("# line\na", [K.BAD, K.NAME]),
    ],
)
def test_kinds(text: str, kinds: list[TokenKind]) -> None:
    *tokens, end = tokenize(text)
    assert [token.kind for token in tokens] == kinds
    assert end.kind is K.END


@given(st.text())
def test_tokens_are_the_text_from_left_to_right(text: str) -> None:
    behind = 0
    for token in tokenize(text):
        assert token.offset >= behind
        assert text[token.offset : token.end] == token.text
        behind = token.end
    assert behind == len(text)
