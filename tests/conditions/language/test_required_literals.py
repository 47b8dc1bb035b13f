"""Required literals never lose a match, and are found where there are some."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.pools import EXPRESSIONS, STRINGS, UNICODE_STRINGS

from tocsin.conditions.language import fold
from tocsin.conditions.language.required_literals import (
    LONGEST_RUN,
    MOST_LITERALS,
    Required,
    required_literals,
)
from tocsin.syntax import compile_regex


def may_match(expression: str, text: str) -> bool:
    """What the required literals say of a text."""
    required = required_literals(expression)
    if required is None:
        return True
    assert "" not in required.literals
    if required.folded:
        text = fold(text)
    return any(literal in text for literal in required.literals)


@pytest.mark.parametrize(
    ("expression", "literals"),
    [
        ("abc", {"abc"}),
        ("^abc$", {"abc"}),
        ("abc|def", {"abc", "def"}),
        ("abc|abcd", {"abc"}),
        ("ab(c|d)e", {"abce", "abde"}),
        ("ab[cd]e", {"abce", "abde"}),
        ("ab[]c]", {"ab]", "abc"}),
        ("[a-c-]x", {"ax", "bx", "cx", "-x"}),
        ("ab?cd", {"abcd", "acd"}),
        ("ab*cd", {"cd"}),
        ("(ab)+cde", {"cde"}),
        ("(abcd)+e", {"abcd"}),
        ("(abcd){2,}e", {"abcdabcd"}),
        ("(abcd){0,}e", {"e"}),
        ("(abcd){0,1}ef", {"ef"}),
        ("ab{1}c", {"abc"}),
        ("ab{2}c", {"abbc"}),
        ("x{,5}", None),
        ("x{01}y", None),
        ("x{y}", {"x{y}"}),
        ("one.*three", {"three"}),
        ("\\Qa.b*\\E+c", {"a.b"}),
        ("\\Qa.b", {"a.b"}),
        ("\\.exe\\z", {".exe"}),
        ("\\x41\\x{42}\\103\\n", {"ABC\n"}),
        ("\\bword\\b", {"word"}),
        ("[[:alpha:]]foo[^a]", {"foo"}),
        ("[[:alpha:]-z]foo", {"foo"}),
        ("[A-[:digit:]]]foo", {"]]foo"}),
        ("[\\d-[:alpha:]]foo", {"foo"}),
        ("\\d+foo\\pL\\p{Greek}\\P{^Greek}ba", {"foo"}),
        ("(?P<name>foo)(?<other>bar)", {"foobar"}),
        ("é|日本", {"é", "日本"}),
        ("\\C\\Cfoo", {"foo"}),
        ("a|", None),
        ("a*", None),
        ("", None),
        (".", None),
        ("[0-9]+", None),
        ("\\x{d800}a", None),
    ],
)
def test_stated(expression: str, literals: set[str] | None) -> None:
    compile_regex(expression)
    expected = None if literals is None else Required(frozenset(literals), folded=False)
    assert required_literals(expression) == expected


@pytest.mark.parametrize(
    ("expression", "literals"),
    [
        ("(?i)PowerShell", {"powershell"}),
        ("Power(?i)Shell", {"powershell"}),
        ("(?i:power)SHELL", {"powershell"}),
        ("Ⱥ(?i)b", {"ⱥb"}),
        ("(?i)straße", {"stra"}),
        ("(?i)ſ", None),
        ("(?i-s)a(?-i)B", {"ab"}),
        ("(a(?i)b)C", {"abc"}),
        ("(?i)[ab]c", {"ac", "bc"}),
        ("(?i)\\QAb\\E", {"ab"}),
    ],
)
def test_stated_case_insensitive(expression: str, literals: set[str] | None) -> None:
    compile_regex(expression)
    expected = None if literals is None else Required(frozenset(literals), folded=True)
    assert required_literals(expression) == expected


def test_flags_end_with_their_group() -> None:
    assert required_literals("((?i))AB") == Required(frozenset({"AB"}), folded=False)
    assert required_literals("(?i:)AB|CD") == Required(frozenset({"AB", "CD"}), folded=False)


def test_literals_are_neither_many_nor_long() -> None:
    long = required_literals("ab" * 10_000)
    assert long is not None
    assert max(map(len, long.literals)) <= LONGEST_RUN
    words = [f"word{number:03}" for number in range(200)]
    assert required_literals("|".join(words)) is None
    some = required_literals("|".join(words[:MOST_LITERALS]))
    assert some == Required(frozenset(words[:MOST_LITERALS]), folded=False)


def test_deep_nesting() -> None:
    depth = 10_000
    assert required_literals("(" * depth + "a" + ")" * depth) == Required(frozenset("a"), folded=False)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_the_pools(expression: str) -> None:
    regex = compile_regex(expression)
    for text in [*STRINGS, *UNICODE_STRINGS]:
        assert may_match(expression, text) or not regex.search(text)


# ---- Random expressions, each with a text that it may well match

Made = tuple[str, str]

LETTERS = "abkKsS019 -]^{}.\\ßẞſ\u212aéİ日"
PLAIN: st.SearchStrategy[Made] = st.sampled_from(LETTERS).map(
    lambda letter: (f"\\{letter}" if letter in "]^{}.\\" else letter, letter)
)
SPECIAL: st.SearchStrategy[Made] = st.sampled_from(
    [
        ("\\Qa.b\\E", "a.b"),
        ("\\Q\\\\E", "\\"),
        ("\\x{212a}", "\u212a"),
        ("\\x61", "a"),
        ("\\141", "a"),
        ("\\n", "\n"),
        ("[abk]", "k"),
        ("[a-c]", "b"),
        ("[]a]", "]"),
        ("[^]a]", "b"),
        ("[a-]", "-"),
        ("[--a]", "0"),
        ("[\\d-k]", "-"),
        ("[[:digit:]-k]", "k"),
        ("[\\]a]", "]"),
        ("[A-[:k]", ":"),
        ("[kſ]", "s"),
        ("[[:^alpha:]]", "0"),
        ("[[:alpha:]]", "k"),
        ("[\\x61\\142]", "b"),
        ("[\\pL]", "é"),
        ("\\d", "0"),
        ("\\W", " "),
        ("\\pL", "ß"),
        ("\\p{Latin}", "é"),
        ("\\P{Greek}", "a"),
        (".", "a"),
        ("\\C", "a"),
        ("^", ""),
        ("$", ""),
        ("\\b", ""),
        ("\\B", ""),
        ("\\A", ""),
        ("\\z", ""),
        ("{", "{"),
        ("{a}", "{a}"),
        ("{,2}", "{,2}"),
        ("{01}", "{01}"),
        ("(?i)", ""),
        ("(?-i)", ""),
        ("(?s)", ""),
        ("(?m)", ""),
        ("(?U)", ""),
        ("(?i-sm)", ""),
    ]
)
REPETITION = st.sampled_from(
    [
        *(("*", times) for times in (0, 2)),
        *(("+", times) for times in (1, 3)),
        *(("?", times) for times in (0, 1)),
        *(("{0}", 0), ("{1}", 1), ("{2}", 2), ("{5}", 5), ("{0,}", 0), ("{1,}", 2), ("{0,1}", 1)),
        *(("{1,2}", 1), ("{4,6}", 5), ("*?", 1), ("+?", 1), ("??", 0), ("{1,3}?", 2)),
    ]
)
OPENING = st.sampled_from(["(", "(?:", "(?i:", "(?-i:", "(?s:", "(?P<a>", "(?<b>", "(?im-s:"])


def grown(parts: st.SearchStrategy[Made]) -> st.SearchStrategy[Made]:
    several = st.lists(parts, min_size=1, max_size=5)
    sequence = several.map(
        lambda made: ("".join(each for each, _ in made), "".join(text for _, text in made))
    )
    either = st.tuples(several, st.integers(0, 4)).map(
        lambda made: ("|".join(each for each, _ in made[0]), made[0][made[1] % len(made[0])][1])
    )
    group = st.tuples(OPENING, sequence | either).map(lambda made: (made[0] + made[1][0] + ")", made[1][1]))
    repeated = st.tuples(group | parts, REPETITION).map(
        lambda made: (made[0][0] + made[1][0], made[0][1] * made[1][1])
    )
    return sequence | group | repeated | either


MADE = st.recursive(PLAIN | SPECIAL, grown, max_leaves=12)
AROUND = st.text(LETTERS + "\n", max_size=4)


@settings(max_examples=600, deadline=None)
@given(MADE, AROUND, AROUND, st.sampled_from([str, str.lower, str.upper, str.swapcase, fold]))
def test_no_match_is_lost(made: Made, before: str, after: str, change: object) -> None:
    expression, text = made
    try:
        regex = compile_regex(expression)
    except ValueError:
        assume(False)
    for candidate in (text, change(text), before + text + after, before + change(text) + after, before):  # type: ignore[operator]
        if regex.search(candidate):
            assert may_match(expression, candidate)
