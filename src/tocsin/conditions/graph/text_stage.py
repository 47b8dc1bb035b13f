"""The free text of a rule set while it is compiled: read, planned, and then laid out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.packed import Texts
from tocsin.conditions.graph.compiled_texts import CompiledTexts, TextLeaves, compile_texts, text_leaves
from tocsin.conditions.graph.condition_reader import Reading, Steps
from tocsin.conditions.graph.leaf_families import Families
from tocsin.conditions.graph.likelihood import Likelihood, guess
from tocsin.conditions.graph.predicate_table import predicate_of
from tocsin.conditions.graph.rule_queries import queries_of_rules, text_rules
from tocsin.conditions.kernels.access_choice import LeafEstimates
from tocsin.conditions.planner.planner import (
    NOTHING_DEFERRED,
    Deferred,
    Planner,
    in_order_read,
    leaves_beside_text,
    plan_conditions,
)
from tocsin.text.kernels.dictionary import is_counted
from tocsin.text.kernels.query_code import QueryCode, Terms
from tocsin.text.query_arrays import read_queries
from tocsin.text.text_base import TextBase


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
    query_as_read: NDArray[np.int32]
    parts: Sequence[Steps]
    deferred: Deferred
    likelihood: Likelihood

    def compiled(self, written: Sequence[Steps], rules: int) -> CompiledTexts:
        """The arrays; `written` are the conditions with everything in them."""
        in_rules = text_rules(written, self.query_as_read, self.leaves.has_threshold, self.deferred, rules)
        indexed = np.zeros(len(self.leaves.leaf), np.bool_)
        indexed[queries_of_rules(self.parts, self.query_as_read)[1]] = True
        return compile_texts(self.leaves, self.base, self.code, self.terms, in_rules, indexed)


def read_free_text(
    reading: Reading,
    families: Families,
    order: NDArray[np.int64],
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
    stage: TextStage,
    query: NDArray[np.int32],
    leaf_text: Texts,
    planner: Planner,
    asked: NDArray[np.int32],
) -> LeafEstimates:
    """What finding and asking each leaf costs; the planner's history is asked about some of them."""
    return planner.estimates(
        stage.likelihood,
        query,
        stage.code,
        stage.terms,
        stage.base.fields,
        is_counted(stage.base.words),
        lambda leaf: predicate_of(leaf_text, leaf),
        asked,
        np.bincount(queries_of_rules(stage.parts, stage.query_as_read)[1], minlength=len(stage.code.group)),
    )
