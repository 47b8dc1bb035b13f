"""Words, quotes and lists, which are read eight bytes at a time, against readers of one byte."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.arrays.byte_classes import WORD_AND, WORD_MATCHES, WORD_OTHER, classify, end_of_word, skip_quoted
from tocsin.conditions.kernels.predicate_extents import UNSURE, end_of_predicate

NAME_PARTS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
KEYWORDS = [
    "and",
    "or",
    "xor",
    "xnor",
    "not",
    "true",
    "false",
    "between",
    "in",
    "is",
    "null",
    "like",
    "ilike",
    "matches",
]

texts = st.lists(st.sampled_from([b"a", b"Z", b"09", b"_", b"'", b"''", b"{", b"@", b"\x7f", b"\xe9", b" "]))
every_text = texts.map(b"".join) | st.binary(max_size=40)


def bytes_of(text: bytes) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    return np.frombuffer(bytearray(text), np.uint8)


@given(every_text, every_text)
def test_a_word_ends_before_the_first_byte_that_is_no_part_of_it(text: bytes, behind: bytes) -> None:
    size = len(text)
    others = [place for place in range(size) if text[place] not in NAME_PARTS]
    assert end_of_word(bytes_of(text + behind), 0, size) == min([*others, size])


@given(every_text, every_text)
def test_quoted_text_ends_at_a_single_quote(text: bytes, behind: bytes) -> None:
    quoted = b"'" + text
    place = 1
    expected = -1
    while place < len(quoted):
        if quoted[place : place + 2] == b"''":
            place += 2
        elif quoted[place : place + 1] == b"'":
            expected = place + 1
            break
        else:
            place += 1
    assert skip_quoted(bytes_of(quoted + behind), 0, len(quoted)) == expected


@pytest.mark.parametrize("behind", [b"", b" = 1 and b = 2"])
@pytest.mark.parametrize("word", KEYWORDS)
def test_keywords_in_any_case_and_nothing_else(word: str, behind: bytes) -> None:
    codes = {classify(bytes_of(form.encode() + behind), 0, len(word)) for form in (word, word.upper())}
    assert len(codes) == 1
    assert WORD_OTHER not in codes
    for other in (word + "s", word[:-1], "z" + word[1:], word[:-1] + "_"):
        if other not in KEYWORDS:
            assert classify(bytes_of(other.encode() + behind), 0, len(other)) == WORD_OTHER


def test_keywords_have_different_codes() -> None:
    codes = [classify(bytes_of(word.encode()), 0, len(word)) for word in KEYWORDS]
    assert sorted(codes) == list(range(WORD_AND, WORD_MATCHES + 1))


values = st.sampled_from(["1", "-1", "12.5", "'a'", "'it''s'", "'(, \"x\" -- )'", "''", "'" + "v" * 20 + "'"])
blanks = st.sampled_from(["", " ", "         "])


@given(
    st.lists(st.tuples(blanks, values, blanks), min_size=1, max_size=8), st.sampled_from(["", " and b", ")"])
)
def test_a_list_ends_at_its_parenthesis(items: list[tuple[str, str, str]], behind: str) -> None:
    predicate = "a in (" + ",".join(map("".join, items)) + ")"
    data = bytes_of((predicate + behind).encode())
    assert end_of_predicate(data, 0, 1, len(data)) == len(predicate)


@given(st.lists(st.tuples(blanks, values, blanks), min_size=1, max_size=8))
def test_a_list_without_an_end_is_no_predicate(items: list[tuple[str, str, str]]) -> None:
    data = bytes_of(("a in (" + ",".join(map("".join, items))).encode())
    assert end_of_predicate(data, 0, 1, len(data)) == UNSURE
