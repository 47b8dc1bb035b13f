"""Queries as arrays, made in the plainest way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tocsin.grammar.text.query import Group, Operation, TextQuery
from tocsin.grammar.text.settings import NoDictionary, WordWeights
from tocsin.index.packing import packed_bytes, starts
from tocsin.kernels.text.query_code import (
    ACCRUE,
    AND,
    NEGATED_IN_ACCRUE,
    NEGATED_IN_AND,
    OR,
    PLAIN,
    QueryCode,
    Terms,
    group_step,
)
from tocsin.kernels.text.terms import no_terms, number_terms

_CODE = {Operation.AND: AND, Operation.OR: OR, Operation.ACCRUE: ACCRUE}


def coded(
    queries: Sequence[TextQuery],
    thresholds: Sequence[float] | None = None,
    weights: WordWeights | None = None,
    groups: Sequence[int] | None = None,
) -> tuple[QueryCode, Terms]:
    """Queries, without thresholds unless given, of text group 0 unless given; terms as they come."""
    weights = weights or NoDictionary()
    groups = groups or [0] * len(queries)
    leaves = [list(query.leaves()) for query in queries]
    words = [
        (group, word)
        for group, some in zip(groups, leaves, strict=True)
        for leaf in some
        for word in leaf.words
    ]
    start, data = packed_bytes([word.text.encode() for _, word in words])
    term, terms = number_terms(
        no_terms(),
        np.array([group for group, _ in words], np.int32),
        np.array([word.is_prefix for _, word in words], np.uint8),
        start,
        data,
    )
    for place, (_, word) in zip(term.tolist(), words, strict=True):
        terms.idf[place] = weights.idf(word.text)
    steps = [_steps(query) for query in queries]
    code = QueryCode(
        np.array(groups, np.int32),
        np.array([np.nan] * len(queries) if thresholds is None else thresholds, np.float64),
        starts([len(some) for some in steps], np.int64),
        np.array([step for some in steps for step in some], np.int32),
        starts([len(some) for some in leaves], np.int64),
        np.array([negation for query in queries for negation in _negations(query)], np.uint8),
        np.array([leaf.gap for some in leaves for leaf in some], np.int32),
        starts([len(leaf.words) for some in leaves for leaf in some], np.int64),
        term,
    )
    return code, terms


def _steps(query: TextQuery) -> list[int]:
    steps: list[int] = []
    leaves = 0
    for step in query.steps:
        if isinstance(step, Group):
            steps.append(group_step(_CODE[step.operation], step.arity))
        else:
            steps.append(leaves)
            leaves += 1
    return steps


def _negations(query: TextQuery) -> list[int]:
    standing = [PLAIN] * len(query.steps)
    for step, operands in zip(query.steps, query.operands(), strict=True):
        if isinstance(step, Group):
            negated = NEGATED_IN_AND if step.operation is Operation.AND else NEGATED_IN_ACCRUE
            for place in operands:
                operand = query.steps[place]
                if not isinstance(operand, Group) and operand.negated:
                    standing[place] = negated
    return [standing[place] for place, step in enumerate(query.steps) if not isinstance(step, Group)]
