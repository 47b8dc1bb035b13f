"""Patterns found in one pass, against the grammar's answer for each pattern and each text."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import examples
from tests.pools import EXPRESSIONS, FOLDED_PATTERNS, LIKE_PATTERNS, STRINGS, UNICODE_STRINGS

import tocsin.conditions.graph.pattern_arrays
import tocsin.conditions.matching.pattern_finder
from tocsin.arrays.packed import packed_bytes, text_arrays
from tocsin.conditions.graph.pattern_arrays import compile_patterns
from tocsin.conditions.language import Literal, Predicate, Test
from tocsin.conditions.language.like_patterns import compile_like, like_problem
from tocsin.conditions.matching.pattern_finder import PatternFinder
from tocsin.conditions.operators import canonical_predicate
from tocsin.errors import UnsupportedError
from tocsin.events import Kind
from tocsin.syntax import compile_regex

Asked = tuple[Test, str]

LETTERS = "aAbBsSkKß\u1e9eſ\u212aİiıÉé\u0301Ⱥⱥ😀日\n\x00%_\\"


def predicate_of(asked: Asked) -> Predicate:
    """Canonical where it must be: `ilike` folded. (A canonical `like` without wildcards is an `=`.)"""
    test, operand = asked
    predicate = Predicate(("s",), test, (Literal(Kind.STRING, operand),))
    return canonical_predicate(predicate) if test is Test.ILIKE else predicate


Group = tuple[PatternFinder, int]
"""One of the groups of a finder."""


def groups_of(*asked: Sequence[Asked]) -> list[Group]:
    """Groups with these predicates; leaves count through all of them."""
    group = [number for number, each in enumerate(asked) for _ in each]
    predicates = [predicate_of(one) for each in asked for one in each]
    patterns = compile_patterns(range(len(predicates)), group, predicates, len(asked))

    def expression(leaf: int) -> str:
        return str(predicates[leaf].operands[0].value)

    finder = PatternFinder(patterns, np.array(group, np.int32), expression)
    return [(finder, number) for number in range(len(asked))]


def found(group: Group, texts: Sequence[str]) -> list[list[int]]:
    finder, number = group
    start, leaf = finder.find(
        np.full(len(texts), number, np.int32), *packed_bytes([text.encode() for text in texts])
    )
    assert start[-1] == len(leaf)
    return [sorted(leaf[start[number] : start[number + 1]].tolist()) for number in range(len(texts))]


def judged(asked: Sequence[Asked], texts: Sequence[str], first: int = 0) -> list[list[int]]:
    def holds(one: Asked, text: str) -> bool:
        test, operand = one
        if test is Test.MATCHES:
            return compile_regex(operand).search(text)
        return compile_like(operand, folded=test is Test.ILIKE).matches(text)

    return [[first + number for number, one in enumerate(asked) if holds(one, text)] for text in texts]


def likes(alphabet: str) -> st.SearchStrategy[Asked]:
    patterns = st.text(alphabet, max_size=8).filter(lambda text: not like_problem(text))
    around = st.sampled_from(["{}", "{}%", "%{}", "%{}%", "%{}_", "_{}%"])
    shaped = st.builds(lambda shape, text: shape.format(text), around, patterns)
    return st.tuples(st.sampled_from([Test.LIKE, Test.ILIKE]), shaped | patterns)


QUOTED = st.text(LETTERS, min_size=1, max_size=4).map(
    lambda text: "".join(f"\\x{{{ord(character):x}}}" for character in text)
)
EXPRESSION = st.builds(
    lambda flags, one, joint, other: flags + one + joint + other,
    st.sampled_from(["", "(?i)", "(?s)", "(?-i)"]),
    QUOTED,
    st.sampled_from(["|", ".*", "", "+", "?", "[ab]", "(?i)", "$|^"]),
    QUOTED,
)
ASKED = likes(LETTERS) | likes("ab%_") | st.tuples(st.just(Test.MATCHES), EXPRESSION)
TEXT = st.text(LETTERS, max_size=20) | st.text("ab", max_size=20)


@settings(max_examples=examples(150), deadline=None)
@given(
    st.lists(ASKED, max_size=12, unique=True),
    st.lists(TEXT, max_size=5),
    st.sampled_from([1, 20, 60, 1 << 27]),
)
def test_random_patterns_and_texts(asked: list[Asked], texts: list[str], at_once: int) -> None:
    (group,) = groups_of(asked)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tocsin.conditions.matching.pattern_finder, "_WORK_AT_ONCE", at_once)
        assert found(group, texts) == judged(asked, texts)
        assert [found(group, [text])[0] for text in texts] == judged(asked, texts)


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(st.lists(ASKED, max_size=4, unique=True), min_size=2, max_size=4), st.lists(TEXT, max_size=3))
def test_groups_do_not_see_each_other(asked: list[list[Asked]], texts: list[str]) -> None:
    first = 0
    for group, its in zip(groups_of(*asked), asked, strict=True):
        assert found(group, texts) == judged(its, texts, first)
        first += len(its)


@settings(max_examples=examples(100), deadline=None)
@given(
    st.lists(st.lists(ASKED, max_size=4, unique=True), min_size=2, max_size=4),
    st.lists(st.tuples(st.integers(-1, 1), TEXT), max_size=6),
    st.sampled_from([1, 20, 60, 1 << 27]),
)
def test_texts_of_several_groups_at_once(
    asked: list[list[Asked]], texts: list[tuple[int, str]], at_once: int
) -> None:
    finder, _ = groups_of(*asked)[0]
    first = [0, len(asked[0])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tocsin.conditions.matching.pattern_finder, "_WORK_AT_ONCE", at_once)
        start, leaf = finder.find(
            np.array([group for group, _ in texts], np.int32),
            *packed_bytes([text.encode() for _, text in texts]),
        )
    for number, (group, text) in enumerate(texts):
        right = [] if group < 0 else judged(asked[group], [text], first[group])[0]
        assert sorted(leaf[start[number] : start[number + 1]].tolist()) == right


@pytest.mark.parametrize("at_once", [1, 100, 3_000, 1 << 28])
def test_the_pools(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tocsin.conditions.matching.pattern_finder, "_WORK_AT_ONCE", at_once)
    asked = [
        *((Test.LIKE, pattern) for pattern in LIKE_PATTERNS),
        *((Test.ILIKE, pattern) for pattern in FOLDED_PATTERNS),
        *((Test.MATCHES, expression) for expression in EXPRESSIONS),
    ]
    (group,) = groups_of(asked)
    texts = [*STRINGS, *UNICODE_STRINGS]
    assert found(group, texts) == judged(asked, texts)


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("%shell%", ["powerSHELL.exe", "shell", "ſhell"], ["she\u0301ll", ""]),
        ("shell%", ["shell", "Shell.exe"], ["powershell", " shell"]),
        ("%shell", ["shell", "powersheLl"], ["shell ", "shells"]),
        ("shell", ["SHELL", "\u017fhell"], ["shells", "ashell", "shellshell"]),
        ("%aa", ["aa", "aaa", "baa"], ["aab", "a"]),
        ("aa%", ["aa", "aaa", "aab"], ["baa", "a"]),
        ("%k%", ["\u212a", "K"], ["c"]),
        ("%ß%", ["ß", "straße"], ["ẞ", "ss"]),
        ("%i%", ["I", "i"], ["İ", "ı"]),
        ("%Ⱥ%", ["ⱥ", "xȺ"], ["a"]),
        ("a%aba%a", ["aabaa", "aabaxa"], ["aba", "ababa"]),
        ("%ab_ab%", ["ab😀ab", "ababcab"], ["abab", "abxxab"]),
        ("", [""], ["a"]),
        ("%", ["", "a"], []),
        ("_", ["a", "😀", "\n"], ["", "ab"]),
        ("%\\%%", ["100%"], ["100"]),
        ("\\\\%", ["\\", "\\a"], ["a"]),
    ],
)
def test_where_a_literal_must_stand(pattern: str, yes: list[str], no: list[str]) -> None:
    asked = [(Test.ILIKE, pattern)]
    (group,) = groups_of(asked)
    assert found(group, [*yes, *no]) == judged(asked, [*yes, *no]) == [[0]] * len(yes) + [[]] * len(no)


def test_each_leaf_is_found_once_however_often_it_stands_there() -> None:
    asked = [
        *((Test.LIKE, f"%{'a' * size}%") for size in range(1, 30)),
        (Test.LIKE, "%a%a%"),
        (Test.MATCHES, "aa|a"),
        (Test.MATCHES, "a|b"),
        (Test.ILIKE, "%A%"),
    ]
    (group,) = groups_of(asked)
    texts = ["a" * 200, "ab" * 200, "b"]
    assert found(group, texts) == judged(asked, texts)


def test_long_repetitive_texts_are_read_once() -> None:
    """Some thousand nested literals in a text of a million bytes: 10**12 steps if each were followed."""
    sizes = range(1, 6_001, 3)
    asked = [(Test.LIKE, f"%{'a' * size}%") for size in sizes] + [(Test.LIKE, f"%{'a' * 5_000}b%")]
    (group,) = groups_of(asked)
    assert found(group, ["a" * 1_000_000]) == [list(range(len(sizes)))]
    assert found(group, ["a" * 100 + "b"]) == [[number for number, size in enumerate(sizes) if size <= 100]]


def test_an_expression_is_asked_only_of_texts_with_its_literal(monkeypatch: pytest.MonkeyPatch) -> None:
    """And compiled only when there is one."""
    compiled: list[str] = []

    def noted(expression: str) -> object:
        compiled.append(expression)
        return compile_regex(expression)

    monkeypatch.setattr("tocsin.conditions.matching.pattern_finder.compile_regex", noted)
    (group,) = groups_of([(Test.MATCHES, "(?i)needle[0-9]"), (Test.MATCHES, "^thread.*$")])
    assert found(group, ["hay", "neeDle", "NEEDLE1"]) == [[], [], [0]]
    assert compiled == ["(?i)needle[0-9]"]


def test_without_texts_and_without_patterns() -> None:
    (group, empty) = groups_of([(Test.ILIKE, "%a%"), (Test.MATCHES, "a")], [])
    assert found(group, []) == []
    assert found(empty, ["a", ""]) == [[], []]


def test_a_slice_of_a_column() -> None:
    (group,) = groups_of([(Test.ILIKE, "%b"), (Test.MATCHES, "^b")])
    texts = text_arrays(pa.array(["b", "ab", "bc", "b"], pa.large_string()).slice(1, 2))
    start, leaf = group[0].find(np.zeros(2, np.int32), *texts)
    assert start.tolist() == [0, 1, 2]
    assert leaf.tolist() == [0, 1]


def test_threads_share_a_group() -> None:
    rng = np.random.default_rng(5)
    asked = [(Test.ILIKE, f"%{'ab'[number % 2]}{number}%") for number in range(300)]
    (group,) = groups_of(asked)
    portions = [
        ["".join(f"{'AB'[number % 2]}{number}" for number in rng.integers(0, 400, 40).tolist())]
        for _ in range(200)
    ]
    expected = [judged(asked, texts) for texts in portions]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda texts: found(group, texts), portions * 3)) == expected * 3


def test_more_text_than_an_index_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OverflowError

    monkeypatch.setattr(tocsin.conditions.graph.pattern_arrays, "build_automata", full)
    with pytest.raises(UnsupportedError, match="more text"):
        groups_of([(Test.LIKE, "a%")])
