from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.conditions.language import Wildcard, fold, like_tokens
from tocsin.conditions.language.like_patterns import compile_like, like_problem

RUN, ONE = Wildcard.RUN, Wildcard.ONE


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("", "", True),
        ("", "a", False),
        ("%", "", True),
        ("%", "any\nthing", True),
        ("_", "", False),
        ("_", "\n", True),
        ("_", "😀", True),
        ("_", "e\u0301", False),
        ("__", "e\u0301", True),
        ("abc", "abc", True),
        ("abc", "abcd", False),
        ("abc", "ABC", False),
        ("a%", "a", True),
        ("%a", "ba", True),
        ("%a", "ab", False),
        ("a%a", "a", False),
        ("a%a", "aa", True),
        ("%b%", "abc", True),
        ("a_c", "abc", True),
        ("a_c", "ac", False),
        ("100\\%", "100%", True),
        ("100\\%", "1000", False),
        ("a\\_c", "a_c", True),
        ("a\\_c", "abc", False),
        ("\\\\", "\\", True),
        ("\\a", "a", True),
        ("%_b", "ab", True),
        ("%_b", "b", False),
        ("%a_c%d_f%", "xxabcxxdefx", True),
        ("%a_c%d_f%", "xxdefxxabcx", False),
        ("a%_%_%b", "a12b", True),
        ("a%_%_%b", "a1b", False),
        ("a\x00%", "a\x00b", True),
    ],
)
def test_like(pattern: str, text: str, matches: bool) -> None:
    assert compile_like(pattern, False).matches(text) is matches


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("ABC%", "abcd", True),
        ("straße", "STRAßE", True),
        ("straße", "STRASSE", False),
        ("ẞ", "ß", False),  # both fold to two code points, so both stay
        ("ſ", "S", True),
        ("K", "\u212a", True),
        ("\u212a%", "kilo", True),
        ("İ", "i", False),
        ("İ", "İ", True),
        ("É", "é", True),
        ("É", "e\u0301", False),  # no normalisation
        ("ΣΣΣ", "σςΣ", True),
        ("_", "ß", True),
        ("\\%A", "%a", True),
    ],
)
def test_ilike(pattern: str, text: str, matches: bool) -> None:
    assert compile_like(pattern, True).matches(text) is matches


@pytest.mark.parametrize(
    ("pattern", "tokens"),
    [
        ("", ()),
        ("abc", ("abc",)),
        ("a%%b", ("a", RUN, "b")),
        ("%_%", (RUN, ONE, RUN)),
        ("__", (ONE, ONE)),
        ("a\\%\\_\\\\b", ("a%_\\b",)),
        ("%\\%%", (RUN, "%", RUN)),
    ],
)
def test_tokens(pattern: str, tokens: tuple[str | Wildcard, ...]) -> None:
    assert like_tokens(pattern) == tokens


@pytest.mark.parametrize("pattern", ["\\", "a%\\", "\\\\\\"])
def test_lone_backslash_is_a_problem(pattern: str) -> None:
    problem = like_problem(pattern)
    assert problem is not None
    assert "backslash" in problem
    with pytest.raises(ValueError, match="backslash"):
        compile_like(pattern, False)


@pytest.mark.parametrize("pattern", ["", "a", "\\\\", "\\%", "a\\\\\\\\"])
def test_no_problem(pattern: str) -> None:
    assert like_problem(pattern) is None


def test_fold_is_per_code_point_over_all_of_unicode() -> None:
    for code in range(0x110000):
        character = chr(code)
        folded = character.casefold()
        expected = folded if len(folded) == 1 else character
        assert fold(character) == expected
        if code % 997 == 0:
            assert fold(f"ßA{character}") == f"ßa{expected}"


def test_folding_never_makes_a_wildcard() -> None:
    made = {fold(chr(code)) for code in range(0x110000) if chr(code) not in "%_\\"}
    assert not made & {"%", "_", "\\"}


def obviously_like(pattern: str, text: str) -> bool:
    """The set of places in the text where the pattern may stand, one token at a time."""
    places = {0}
    escaped = False
    for character in pattern:
        if character == "\\" and not escaped:
            escaped = True
            continue
        if character == "%" and not escaped:
            places = set(range(min(places), len(text) + 1)) if places else set()
        elif character == "_" and not escaped:
            places = {place + 1 for place in places if place < len(text)}
        else:
            places = {place + 1 for place in places if text[place : place + 1] == character}
        escaped = False
    return len(text) in places


PATTERNS = st.lists(st.sampled_from(["a", "b", "%", "_", "\\%", "\\a", "ab"]), max_size=12).map("".join)


@given(PATTERNS, st.text("ab%", max_size=20))
def test_like_is_what_it_says(pattern: str, text: str) -> None:
    assert compile_like(pattern, False).matches(text) == obviously_like(pattern, text)


@given(PATTERNS, st.text("ab%", max_size=20))
def test_ilike_is_like_after_folding(pattern: str, text: str) -> None:
    assert compile_like(pattern.upper(), True).matches(text.swapcase()) == obviously_like(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("%a" * 20_000 + "%b", False),
        ("%a_a" * 5_000 + "%", True),
        ("%" + "a_" * 2_000 + "b%", False),
        ("%" + "a" * 5_000 + "b%", False),
    ],
)
def test_no_pattern_explodes(pattern: str, matches: bool) -> None:
    assert compile_like(pattern, False).matches("a" * 100_000) is matches
