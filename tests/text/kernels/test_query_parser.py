"""The kernel that reads text queries, held to the language of the grammar's parser."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import examples
from tests.text.kernels.readable_words import term_texts
from tests.text_cases import hostile_texts, query_texts, text_queries

from tocsin import Dictionary
from tocsin.arrays.packed import packed_bytes
from tocsin.text import (
    Group,
    Leaf,
    Operation,
    QueryCode,
    QueryProblems,
    Terms,
    TextQuery,
    WrittenQueries,
    parse_query,
    query_code,
    read_queries,
    words_for_kernels,
)
from tocsin.text.kernels.query_code import (
    ACCRUE,
    AND,
    NEGATED_IN_ACCRUE,
    NEGATED_IN_AND,
    OR,
    PLAIN,
    arity_of,
    operation_of,
)
from tocsin.text.kernels.query_parser import QueriesRead
from tocsin.text.kernels.query_parser import read_queries as read_bytes
from tocsin.text.language.query import Word


def read_each(texts: list[str], any_gap: bool = False) -> QueriesRead:
    start, data = packed_bytes([text.encode() for text in texts])
    group = np.zeros(len(texts), np.int32)
    gaps = np.full(len(texts), any_gap)
    return read_bytes(data, start, group, gaps, np.zeros(len(texts), np.bool_))


def parsed(text: str, any_gap: bool) -> TextQuery | None:
    try:
        return parse_query(text, any_gap=any_gap)
    except QueryProblems:
        return None


def assert_same(code: QueryCode, terms: Terms, queries: list[TextQuery]) -> None:
    """That arrays say what the queries do, step by step."""
    named = term_texts(terms)
    steps: list[list[Leaf | Group]] = []
    for query in range(len(code.group)):
        steps.append([])
        for step in code.step[code.step_start[query] : code.step_start[query + 1]].tolist():
            if step < 0:
                steps[-1].append(Group(OPERATIONS[operation_of(step)], arity_of(step)))
                continue
            leaf = int(code.leaf_start[query]) + step
            words = code.term[code.term_start[leaf] : code.term_start[leaf + 1]].tolist()
            negated = bool(code.negated[leaf] != PLAIN)
            steps[-1].append(
                Leaf(tuple(Word(*named[term][1:]) for term in words), int(code.gap[leaf]), negated)
            )
    assert steps == [list(query.steps) for query in queries]
    assert code.negated.tolist() == [standing for query in queries for standing in standings(query)]
    words = [word for query in queries for leaf in query.leaves() for word in leaf.words]
    assert named == list(dict.fromkeys((0, word.text, word.is_prefix) for word in words))


OPERATIONS = {AND: Operation.AND, OR: Operation.OR, ACCRUE: Operation.ACCRUE}


def standings(query: TextQuery) -> list[int]:
    """How each leaf stands in its group: as it is, or negated."""
    standing = [PLAIN] * len(query.steps)
    for step, operands in zip(query.steps, query.operands(), strict=True):
        for place in operands:
            operand = query.steps[place]
            if isinstance(step, Group) and isinstance(operand, Leaf) and operand.negated:
                in_and = step.operation is Operation.AND
                standing[place] = NEGATED_IN_AND if in_and else NEGATED_IN_ACCRUE
    return [standing[place] for place, step in enumerate(query.steps) if isinstance(step, Leaf)]


def check(texts: list[str], any_gap: bool) -> None:
    """That the kernel takes every query in ASCII, refuses everything else, and all become the same."""
    queries = [parsed(text, any_gap) for text in texts]
    refused = read_each(texts, any_gap).refused.astype(bool).tolist()
    assert refused == [
        query is None or not text.isascii() for text, query in zip(texts, queries, strict=True)
    ]
    good = [(text, query) for text, query in zip(texts, queries, strict=True) if query is not None]
    start, data = packed_bytes([text.encode() for text, _ in good])
    written = WrittenQueries(
        np.zeros(len(good), np.int32),
        start,
        data,
        np.full(len(good), any_gap),
        np.full(len(good), np.nan),
    )
    code, terms = read_queries(written, words_for_kernels([Dictionary()]))
    assert_same(code, terms, [query for _, query in good])


PIECES = st.sampled_from(
    [
        *'ab*&|!,()" ~12-_\0\n\x1f',
        "AND",
        "OR",
        "NOT",
        " AND ",
        " OR ",
        " NOT ",
        "ANDa",
        "~*",
        '"a b"',
        "a ",
        "!b",
    ]
)


@settings(max_examples=examples(400))
@given(st.lists(st.lists(PIECES, max_size=12).map("".join), max_size=8), st.booleans())
def test_pieces_of_queries_in_any_order(texts: list[str], any_gap: bool) -> None:
    check(texts, any_gap)


@given(st.lists(hostile_texts(), max_size=6), st.booleans())
def test_hostile_texts(texts: list[str], any_gap: bool) -> None:
    check(texts, any_gap)


@given(st.lists(query_texts(), min_size=1, max_size=5))
def test_queries_however_they_are_written(queries: list[tuple[str, TextQuery]]) -> None:
    check([text for text, _ in queries], any_gap=False)


@given(st.lists(text_queries(), min_size=1, max_size=5))
def test_queries_that_the_grammar_has_read(queries: list[TextQuery]) -> None:
    code, terms = query_code(
        queries, [0] * len(queries), [1.5] * len(queries), words_for_kernels([Dictionary()])
    )
    assert_same(code, terms, queries)
    assert code.threshold.tolist() == [1.5] * len(queries)


@pytest.mark.parametrize(
    "text",
    [
        "golf",
        "golf, trophy & !sea",
        '("commonly referred" | reaction)',
        '((a | b) & (c | "d e f"))',
        "a & (b & c) & ((d)) | (e | f) g",
        "(!a & !b) & c",
        '!a (b | c), !"d e"',
        '"David Lee"~3 | e-mail* | "a* b*"~*',
        'x AND y OR NOT_A AND "AND" NOT z',
        '"a"~5',
        '"a b"~0001000000000',
    ],
)
def test_ordinary_queries_are_taken(text: str) -> None:
    assert parse_query(text)
    check([text], any_gap=False)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "a |",
        "& a",
        "a,,b",
        "*",
        "a**",
        "a*b",
        "(a",
        "a)",
        "()",
        '"a',
        '""',
        "!a",
        "!(a)",
        "!!a",
        "a | !b",
        "(!a & !b) | c",
        "!a & !b",
        "!a, !b",
        '"a b"~',
        '"a b"~x',
        '"a b"~1000000001',
        "-",
        '"a b"~2c',
    ],
)
def test_mistakes_are_refused_and_leave_nothing_behind(text: str) -> None:
    assert parsed(text, False) is None
    alone, between = read_each(["a & b", "c d"]), read_each(["a & b", text, "c d"])
    assert between.refused.tolist() == [0, 1, 0]
    assert between.step_start.tolist() == [0, 3, 3, 6]
    steps, leaves, words, size = alone.writing.used.tolist()
    assert between.writing.used.tolist() == [steps, leaves, words, size]
    sizes = {"step": steps, "negated": leaves, "gap": leaves, "word_start": leaves + 1}
    sizes |= {"is_prefix": words, "byte_start": words + 1, "data": size}
    for name, count in sizes.items():
        assert np.array_equal(getattr(between.writing, name)[:count], getattr(alone.writing, name)[:count])


def test_groups_and_their_terms_are_kept_apart() -> None:
    start, data = packed_bytes([b"a b", b"b a*", "é a".encode()])
    written = WrittenQueries(
        np.array([0, 1, 1], np.int32), start, data, np.zeros(3, np.bool_), np.array([np.nan, 0.5, 1.0])
    )
    dictionary = words_for_kernels([Dictionary(), Dictionary.count(["a", "é", "é"])])
    code, terms = read_queries(written, dictionary)
    assert term_texts(terms) == [
        (0, "a", False),
        (0, "b", False),
        (1, "b", False),
        (1, "a", True),
        (1, "é", False),
        (1, "a", False),
    ]
    assert code.term.tolist() == [0, 1, 2, 3, 4, 5]
    assert terms.idf.tolist() == [1.0, 1.0, np.log(4), 0.0, np.log(1.5), np.log(3)]


def test_depth_costs_memory_alone() -> None:
    deep = "(" * 100_000 + "a" + "".join((" & b)", " | c)")[n % 2] for n in range(100_000))
    check([deep, "(" * 100_000 + "a" + ")" * 100_000, "a " * 10_000], any_gap=False)
    check(["(" * 100_000, ")" * 10, "!" * 100_000, '"' * 99_999], any_gap=False)
