from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.syntax import LONGEST_PATTERN, compile_regex


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("b", "abc", True),
        ("^b", "abc", False),
        ("", "", True),
        ("^$", "", True),
        ("^.$", "😀", True),
        ("^..$", "e\u0301", True),
        ("^.$", "\n", False),
        ("(?s)^.$", "\n", True),
        ("a$", "a\n", False),
        ("^b", "a\nb", False),
        ("(?m)^b", "a\nb", True),
        ("(?i)k", "\u212a", True),
        ("(?i)É", "é", True),
        ("^\\pL+$", "naïveß", True),
        ("\\pL", "123", False),
        ("a\x00b", "xa\x00bx", True),
        ("\\x00", "\x00", True),
        ("^[^a]$", "é", True),
        ("(a|b)*c", "ababc", True),
        ("(?P<name>x)y", "xy", True),
    ],
)
def test_search(pattern: str, text: str, found: bool) -> None:
    regex = compile_regex(pattern)
    assert regex.search(text) is found
    assert regex.search_utf8(text.encode()) is found


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", r"missing \)"),
        ("[é", r"missing \]: \[é"),
        ("*", "no argument for repetition"),
        ("(?=a)", "no look-around"),
        ("(?!a)", "no look-around"),
        ("(?<=a)b", "no look-around"),
        ("(?<!a)b", "no look-around"),
        ("(a)\\1", "no back-references"),
        ("a{1001}", "repetition size"),
        ("((a{1000}){1000}", "repetition size"),
        ("(\\pL{30}){30}", "too large"),
        ("\ud800", "surrogate"),
        ("a" * (LONGEST_PATTERN + 1), "longer than"),
    ],
)
def test_what_is_refused(pattern: str, reason: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match=reason):
        compile_regex(pattern)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "pattern", ["(x+x+)+y", "(a*)*b", "(x|x|x)*y", "^(([a-z])+.)+[A-Z]([a-z])+$", "(.*.*)*=1"]
)
def test_no_expression_explodes(pattern: str) -> None:
    assert compile_regex(pattern).search("x" * 200_000) is False


def test_deep_nesting() -> None:
    depth = 10_000
    assert compile_regex("(" * depth + "a" + ")" * depth).search("bab")


@given(st.text(max_size=8), st.text(max_size=8))
def test_a_quoted_text_is_found_where_it_is(needle: str, hay: str) -> None:
    regex = compile_regex("".join(f"\\x{{{ord(character):x}}}" for character in needle))
    assert regex.search(hay) == (needle in hay)
    assert regex.search(hay + needle + hay)
