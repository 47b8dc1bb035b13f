"""The skeleton kernel and the grammar's parser read one language."""

from __future__ import annotations

import random
from itertools import product

import pyarrow as pa
import pytest
from tests.conditions.graph.condition_readers import assert_one_language, fast_steps, slow_steps
from tests.conditions.graph.odd_texts import SNIPPETS, broken, dressed, soup

from tocsin.conditions.graph import read_conditions
from tocsin.conditions.language import print_predicate


def test_valid_conditions_in_odd_dress() -> None:
    rng = random.Random(11)
    texts = [dressed(rng) for _ in range(1_500)]
    assert assert_one_language(texts) == (1_500, 1_500)


def test_broken_conditions() -> None:
    rng = random.Random(12)
    texts = [broken(rng) for _ in range(3_000)]
    fast, valid = assert_one_language(texts)
    assert 0.9 * valid < fast <= valid < 3_000


def test_soup() -> None:
    rng = random.Random(13)
    fast, valid = assert_one_language([soup(rng) for _ in range(10_000)])
    assert 0 < 0.9 * valid < fast <= valid


def test_every_pair_of_snippets() -> None:
    texts = [f"{a}{between}{b}" for a, b in product(SNIPPETS, SNIPPETS) for between in ("", " ")]
    fast, valid = assert_one_language([*texts, *(f"x and {text} or y = 1" for text in texts[::3])])
    assert 0 < 0.9 * valid < fast <= valid


@pytest.mark.parametrize(
    "text",
    [
        "a between 1 and 2 and b",
        "a not between 1 and 2 and not b between 'x' and 'y'",
        "a.between and b.and or c.or.not",
        'a."and" = 1 and "or" or "a""and"',
        "a = 'x and y' and b = 'it''s or' -- and c\nand d",
        "a<--5\n5 and b",
        "a=-5and b",
        "not not(not(a))and(b)",
        "a xor b xnor c xor (d xnor e) and f or g",
        "true and false or not true xor false",
        "a in (1, 2) and cidr(b, '10.0.0.0/8') and timestamp > timestamp '2026-01-31T12:00:00Z'",
        "a = 1 or -- one\n-- two\n b = 2 --",
        "A AND b Or C xOR d XNOR NOT e",
    ],
)
def test_the_fast_path_takes(text: str) -> None:
    judged = slow_steps(text)
    assert fast_steps([text]) == [judged]


def test_a_slice_of_a_column_reads_as_the_whole() -> None:
    texts = ["a = 1", "b in ('x', 'é') and a = 1", "not c", "xor d", "a = 1 or c"]
    column = pa.array(["unread", *texts, "unread"], pa.large_string())[1:-1]
    found = read_conditions(column, {})
    assert [number for number, _ in found.errors] == [3]
    assert [print_predicate(predicate) for predicate in found.predicates] == [
        "a = 1",
        "b in ('x', 'é')",
        "c = true",
    ]


@pytest.mark.parametrize("text", ["true", "not false", "(y.n", "y.n = 1 y.m = 2", "'"])
def test_conditions_without_a_predicate_after_one_with_a_threshold(text: str) -> None:
    texts = pa.array(["contains(x.a, 'b', 0.5)", text], pa.large_string())
    found = read_conditions(texts, {0: "x", 1: "y"})
    assert found.errors == [] or [number for number, _ in found.errors] == [1]
    assert [print_predicate(predicate) for predicate in found.predicates] == ["contains(a, 'b', 0.5)"]
