"""The free text of an index, as arrays.

leaves of contains ── queries, terms ── trie filter
                                    └── rules: whose scores a match carries, what is asked at the end
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.spans import gather_spans
from tocsin.conditions.graph.leaf_families import Families
from tocsin.conditions.graph.predicate_table import PredicateTable
from tocsin.conditions.kernels.predicate_parser import BOOLEAN_READING, TM_CONTAINS
from tocsin.text.kernels.query_code import QueryCode, Terms
from tocsin.text.kernels.rule_queries import TextRules
from tocsin.text.kernels.trie import Trie
from tocsin.text.query_arrays import WrittenQueries
from tocsin.text.text_base import TextBase
from tocsin.text.trie_filter import TextFilter

Bools = NDArray[np.bool_]


class CompiledTexts(NamedTuple):
    """Free text in arrays. Q text queries, each a leaf of the index.

    leaf    int32[Q]   the leaf of each query, ascending
    """

    leaf: NDArray[np.int32]
    rules: TextRules
    queries: QueryCode
    terms: Terms
    trie: Trie
    base: TextBase


class TextLeaves(NamedTuple):
    """The text predicates of a rule set as they were written. Q of them.

    leaf            int32[Q]   their leaves, ascending
    has_threshold   bool[Q]    whether the threshold is written in the rule
    """

    leaf: NDArray[np.int32]
    has_threshold: Bools
    written: WrittenQueries


def text_leaves(
    families: Families, table: PredicateTable, order: NDArray[np.int64], base: TextBase
) -> tuple[TextLeaves, TextBase]:
    """The text predicates among the leaves, of which leaf l was number order[l] in the table."""
    leaf = families.text_leaf
    paths = [families.group_path[group] for group in families.group_of[leaf].tolist()]
    base = base.with_fields(paths)
    group_of = {path: group for group, path in enumerate(base.fields)}
    row = order[leaf]
    first = table.operand_start[row]
    start, data = gather_spans(
        table.text, table.text_start[row], table.text_start[row] + table.operand_low[first]
    )
    written = table.operand_start[row + 1] > first + 1
    second = np.where(written, first + 1, first)
    boolean = written & (table.operand_low[second] == BOOLEAN_READING)
    threshold = np.where(written, table.operand_high[second].view(np.float64), base.threshold)
    threshold[boolean] = np.nan
    queries = WrittenQueries(
        np.array([group_of[path] for path in paths], np.int32),
        start,
        data,
        table.test[row] == TM_CONTAINS,
        threshold,
    )
    return TextLeaves(leaf, written & ~boolean, queries), base


def compile_texts(
    leaves: TextLeaves,
    base: TextBase,
    queries: QueryCode,
    terms: Terms,
    rules: TextRules,
    indexed: Bools,
    *,
    selective: bool = True,
) -> CompiledTexts:
    """The arrays of text predicates; those that are not `indexed` are only asked, never found."""
    found = TextFilter.of(queries, terms, base.words, indexed, selective=selective)
    return CompiledTexts(leaves.leaf, rules, queries, terms, found.trie, base)
