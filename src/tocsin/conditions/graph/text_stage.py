"""The free text of a rule set while it is compiled: read, planned, and then laid out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tocsin.arrays.byte_copy import gather_spans
from tocsin.arrays.dtypes import Flags, Ints, Longs
from tocsin.arrays.packed import Texts, starts
from tocsin.conditions.graph.condition_reader import Reading, Steps
from tocsin.conditions.graph.leaf_families import Families
from tocsin.conditions.graph.likelihood import Likelihood, guess
from tocsin.conditions.graph.predicate_table import PredicateTable, predicate_of
from tocsin.conditions.kernels.access_choice import LeafEstimates
from tocsin.conditions.kernels.predicate_parser import BOOLEAN_READING, TM_CONTAINS
from tocsin.conditions.planner.planner import (
    NOTHING_DEFERRED,
    Deferred,
    Planner,
    in_order_read,
    leaves_beside_text,
    plan_conditions,
)
from tocsin.text import CompiledTexts, QueryCode, Terms, TextBase, TextRules, WrittenQueries, read_queries


class TextStage(NamedTuple):
    """Free text between reading and laying out.

    query_as_read   int32[L]   the text query of each leaf as reading numbers them, or -1
    parts           the conditions without what is deferred
    likelihood      by leaf, how often it holds
    """

    leaves: TextLeaves
    base: TextBase
    code: QueryCode
    terms: Terms
    query_as_read: Ints
    parts: Sequence[Steps]
    deferred: Deferred
    likelihood: Likelihood

    def compiled(self, written: Sequence[Steps], rules: int) -> CompiledTexts:
        """The arrays; `written` are the conditions with everything in them."""
        in_rules = text_rules(written, self.query_as_read, self.leaves.has_threshold, self.deferred, rules)
        indexed = np.zeros(len(self.leaves.leaf), np.bool_)
        indexed[queries_of_rules(self.parts, self.query_as_read)[1]] = True
        return CompiledTexts.of(self.leaves.leaf, self.base, self.code, self.terms, in_rules, indexed)


def read_free_text(
    reading: Reading,
    families: Families,
    order: Longs,
    leaf_text: Texts,
    base: TextBase,
    planner: Planner | None,
) -> TextStage:
    """Read the text queries among the leaves, and let the planner choose ways into the rules.

    Leaf l was number order[l] when it was read.
    """
    leaves, base = text_leaves(families, reading.table, order, base)
    code, terms = read_queries(leaves.written, base.words)
    query = np.full(len(order), -1, np.int32)
    query[leaves.leaf] = np.arange(len(leaves.leaf), dtype=np.int32)
    query_as_read = np.empty_like(query)
    query_as_read[order] = query
    stage = TextStage(
        leaves, base, code, terms, query_as_read, reading.parts, NOTHING_DEFERRED, guess(families)
    )
    if planner is None or not len(leaves.leaf):
        return stage
    beside = leaves_beside_text(reading.parts, query_as_read, order)
    estimates = estimate_leaves(stage, query, leaf_text, planner, beside)
    parts, deferred = plan_conditions(reading.parts, in_order_read(estimates, order), planner.access)
    return stage._replace(
        parts=parts, deferred=deferred, likelihood=Likelihood(estimates.true, estimates.false)
    )


def estimate_leaves(
    stage: TextStage, query: Ints, leaf_text: Texts, planner: Planner, asked: Ints
) -> LeafEstimates:
    """What finding and asking each leaf costs; the planner's history is asked about some of them."""
    return planner.estimates(
        stage.likelihood,
        query,
        stage.code,
        stage.terms,
        stage.base.fields,
        stage.base.is_counted(),
        lambda leaf: predicate_of(leaf_text, leaf),
        asked,
        np.bincount(queries_of_rules(stage.parts, stage.query_as_read)[1], minlength=len(stage.code.group)),
    )


class TextLeaves(NamedTuple):
    """The text predicates of a rule set as they were written. Q of them.

    leaf            int32[Q]   their leaves, ascending
    has_threshold   bool[Q]    whether the threshold is written in the rule
    """

    leaf: Ints
    has_threshold: Flags
    written: WrittenQueries


def text_leaves(
    families: Families, table: PredicateTable, order: Longs, base: TextBase
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


def text_rules(
    parts: Sequence[Steps], query_of: Ints, has_threshold: Flags, deferred: Deferred, rules: int
) -> TextRules:
    """The queries that each rule is scored by, the one with a threshold or else all; and what is deferred.

    Parts are the conditions as written. query_of is by leaf as reading numbers them, -1 for a leaf that is
    no free text.
    """
    rule, query = queries_of_rules(parts, query_of)
    if not len(rule):
        return TextRules(np.zeros(1, np.int32), query, np.zeros(1, np.int32), query)
    decided = np.zeros(rules, np.bool_)
    decided[rule[has_threshold[query]]] = True
    counts = ~decided[rule] | has_threshold[query]
    pairs = np.unique(np.stack((rule[counts], query[counts]), axis=1), axis=0)
    return TextRules(
        starts(np.bincount(pairs[:, 0], minlength=rules), np.int32),
        pairs[:, 1].astype(np.int32),
        starts(np.bincount(deferred.rule, minlength=rules), np.int32),
        deferred.asked,
    )


def queries_of_rules(parts: Sequence[Steps], query_of: Ints) -> tuple[Longs, Ints]:
    """Rule and query of every place where free text stands in a condition."""
    rules = [np.empty(0, np.int64)]
    queries = [np.empty(0, np.int32)]
    for part in parts:
        at = np.flatnonzero(part.step >= 0)
        query = query_of[(part.ref[part.step[at]] >> 1) - 1]
        at, query = at[query >= 0], query[query >= 0]
        rules.append(part.number[np.searchsorted(part.start, at, side="right") - 1])
        queries.append(query)
    return np.concatenate(rules), np.concatenate(queries)
