from __future__ import annotations

import pytest
from hypothesis import given
from tests.text_cases import query_texts, text_queries

from tocsin.text import Leaf, TextQuery, parse_query, print_query
from tocsin.text.language.query import ANY_GAP


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("Golf", "golf"),
        ("a AND NOT b", "a & !b"),
        ("a OR b c", "(a | b), c"),
        ("((a b) & (c))", "(a, b) & c"),
        ('"A  b"~02', '"a b"~2'),
        ('!"A*-b"~*, c', '!"a* b"~*, c'),
        ('"golf"~2', "golf"),
        ("e-mail", '"e mail"'),
        ("日本", '"日 本"'),
        ("and, or", "and, or"),
    ],
)
def test_prints(text: str, printed: str) -> None:
    assert print_query(parse_query(text)) == printed


@pytest.mark.parametrize(
    ("text", "printed"), [('"A b", c', '"a b", c'), ("e-mail* & x", "e-mail* & x"), ("a*-b", "a*-b")]
)
def test_prints_for_tm_contains(text: str, printed: str) -> None:
    assert print_query(parse_query(text, any_gap=True), any_gap=True) == printed


@given(text_queries())
def test_reading_what_was_printed_gives_the_query(query: TextQuery) -> None:
    assert parse_query(print_query(query)) == query


@given(query_texts())
def test_printing_is_settled_after_once(written: tuple[str, TextQuery]) -> None:
    text, _ = written
    printed = print_query(parse_query(text))
    assert print_query(parse_query(printed)) == printed


@given(text_queries())
def test_the_same_for_tm_contains(query: TextQuery) -> None:
    in_tm = TextQuery(
        tuple(
            Leaf(step.words, ANY_GAP if step.gap else 0, step.negated) if isinstance(step, Leaf) else step
            for step in query.steps
        )
    )
    assert parse_query(print_query(in_tm, any_gap=True), any_gap=True) == in_tm


def test_depth_is_no_limit() -> None:
    depth = 50_000
    query = parse_query("(" * depth + "a" + " & b) | c)" * (depth // 2))
    assert parse_query(print_query(query)) == query
