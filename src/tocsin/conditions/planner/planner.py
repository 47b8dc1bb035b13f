"""The plan of a rule set: for each rule with free text among its conjuncts, the way in and the rest.

    conditions ── conjuncts, with estimates ── the way in: stays in the graph, as its access child
                                           ├── structured conjuncts: stay in the graph, asked from there
                                           └── other text conjuncts: deferred, asked of matches at the end

A deferred query is in no trie. Rules without free text are left to the graph, which orders their conjuncts
by the same estimates of how often they hold, and puts nodes together as is asked for here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from tocsin.arrays.dtypes import Doubles, Flags, Ints, Longs
from tocsin.arrays.packed import starts
from tocsin.conditions.graph.condition_reader import Steps
from tocsin.conditions.graph.likelihood import Likelihood
from tocsin.conditions.graph.organisation import AUTO as AUTO_ORGANISE
from tocsin.conditions.graph.organisation import ORGANISE
from tocsin.conditions.kernels.access_choice import (
    AUTO,
    DEFERRED,
    STRUCTURED,
    TEXT,
    LeafEstimates,
    conjuncts_of,
    without_deferred,
)
from tocsin.conditions.language.tree import Path, Predicate
from tocsin.conditions.planner.costs import Costs, known_costs
from tocsin.errors import UsageError
from tocsin.text import QueryCode, Terms, letters_of_queries, likelihood_of_queries

ACCESS = {"auto": AUTO, "structured": STRUCTURED, "text": TEXT}
"""How the way in is chosen: by rank, or always a conjunct of one kind when there is one."""


class Selectivity(Protocol):
    """What is known of past events."""

    def __call__(self, predicate: Predicate, /) -> float:
        """The share of events for which a predicate is true."""

    def of_queries(self, code: QueryCode, terms: Terms, query: Ints, fields: Sequence[Path], /) -> Doubles:
        """The same of text queries by their numbers, all at once; `fields` is by text group."""

    def known(self, predicate: Predicate, /) -> float:
        """The share of events for which a predicate is true or false: elsewhere its field says nothing."""

    def known_texts(self, fields: Sequence[Path], /) -> Doubles:
        """The same of the text queries of each of these fields."""


@dataclass(frozen=True, slots=True)
class Planner:
    """How rules are compiled: what changes no match, but how soon it is found.

    access        "auto" by rank; "structured" or "text" to prefer such a conjunct always
    selectivity   estimates from history; without it they come from the rules and the dictionary
    organise      how nodes are put together: see graph/organisation.py
    """

    access: str = "auto"
    selectivity: Selectivity | None = None
    costs: Costs = field(default_factory=known_costs)
    organise: str = AUTO_ORGANISE

    def __post_init__(self) -> None:
        if self.access not in ACCESS:
            raise UsageError(f"there is no access '{self.access}': choose one of {', '.join(ACCESS)}")
        if self.organise not in ORGANISE:
            raise UsageError(
                f"nodes cannot be organised as '{self.organise}': choose one of {', '.join(ORGANISE)}"
            )

    def estimates(
        self,
        likelihood: Likelihood,
        query: Ints,
        code: QueryCode,
        terms: Terms,
        fields: Sequence[Path],
        is_counted: Flags,
        predicate_of: Callable[[int], Predicate],
        leaves: Ints,
        uses: Longs,
    ) -> LeafEstimates:
        """What finding and asking every leaf costs, and how often it holds.

        `likelihood` is by leaf, and guessed from the rules; `query` gives the text query of a leaf, or -1;
        `fields` is by text group; `uses` says in how many places of the rules a query stands: it is found
        once for all of them. History is asked about the given leaves only: each takes a moment.
        """
        costs = self.costs
        true, false = likelihood.true.copy(), likelihood.false.copy()
        texts = np.flatnonzero(query >= 0)
        true[texts] = likelihood_of_queries(code, terms, is_counted)[query[texts]]
        false[texts] = 1.0 - true[texts]
        if self.selectivity is not None:
            is_text = query[leaves] >= 0
            asked_texts = leaves[is_text]
            true[asked_texts] = self.selectivity.of_queries(code, terms, query[asked_texts], fields)
            false[asked_texts] = self.selectivity.known_texts(fields)[code.group[query[asked_texts]]]
            for leaf in leaves[~is_text].tolist():
                predicate = predicate_of(leaf)
                true[leaf] = self.selectivity(predicate)
                false[leaf] = self.selectivity.known(predicate)
            false[leaves] = np.maximum(false[leaves] - true[leaves], 0.0)
        found = np.full(len(query), costs.structured_found)
        asked = np.full(len(query), costs.structured_asked)
        letters = letters_of_queries(code, terms).astype(np.float64)
        searched = costs.text_found * _letters_of_filter(code, terms)[query[texts]]
        found[texts] = (searched + costs.text_hit * true[texts]) / np.maximum(uses[query[texts]], 1)
        asked[texts] = costs.text_read + costs.text_asked * letters[query[texts]]
        return LeafEstimates(true, false, found, asked, query)


def _letters_of_filter(code: QueryCode, terms: Terms) -> Doubles:
    """For each query the bytes of all terms of its field, shared out among the field's queries."""
    groups = int(code.group.max(initial=-1)) + 1
    letters = np.bincount(terms.group, np.diff(terms.start), groups)
    queries = np.bincount(code.group, minlength=groups)
    return (letters[:groups] / np.maximum(queries, 1))[code.group]


class Deferred(NamedTuple):
    """Conjuncts that are asked at the end, by rule and then in the order of asking.

    rule    int64[n]
    asked   int32[n]   2 * query, one more when the query must be known to fail
    """

    rule: Longs
    asked: Ints


NOTHING_DEFERRED = Deferred(np.empty(0, np.int64), np.empty(0, np.int32))


def in_order_read(estimates: LeafEstimates, order: Longs) -> LeafEstimates:
    """Estimates by leaf as reading numbers them: leaf l was number order[l] there."""
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    return LeafEstimates._make(column[number] for column in estimates)


def leaves_beside_text(parts: Sequence[Steps], query: Ints, order: Longs) -> Ints:
    """The leaves of conditions that hold free text and something else: only they are estimated with care.

    `query` is by leaf as reading numbers them; leaf l was number order[l] there.
    """
    wanted = np.zeros(len(order), np.bool_)
    for part in parts:
        chosen = _some(part, _with_text(part, query) & (np.diff(part.start) > 1))
        wanted[(part.ref[chosen.step[chosen.step >= 0]] >> 1) - 1] = True
    return np.flatnonzero(wanted[order]).astype(np.int32)


def plan_conditions(
    parts: Sequence[Steps], estimates: LeafEstimates, access: str
) -> tuple[list[Steps], Deferred]:
    """The conditions without what is deferred, and what that is; estimates are by leaf as read."""
    left: list[Steps] = []
    rules, asked, places = [np.empty(0, np.int64)], [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for part in parts:
        with_text = _with_text(part, estimates.query)
        if not with_text.any():
            left.append(part)
            continue
        left.append(_some(part, ~with_text))
        texts = _some(part, with_text)
        conjuncts = conjuncts_of(texts.start, texts.step, part.ref, estimates, ACCESS[access])
        start, step = without_deferred(texts.start, texts.step, conjuncts)
        left.append(Steps(texts.number, start, step, part.ref))
        deferred = np.flatnonzero(conjuncts.role == DEFERRED)
        rules.append(texts.number[np.searchsorted(conjuncts.start, deferred, side="right") - 1])
        asked.append(conjuncts.query[deferred])
        places.append(conjuncts.place[deferred])
    rule = np.concatenate(rules)
    order = np.lexsort((np.concatenate(places), rule))
    return left, Deferred(rule[order], np.concatenate(asked)[order])


def _with_text(part: Steps, query: Ints) -> Flags:
    """Which conditions of a part hold a text predicate."""
    if not (query >= 0).any():
        return np.zeros(len(part.number), np.bool_)
    text = np.zeros(len(part.step), np.int64)
    at = np.flatnonzero(part.step >= 0)
    text[at] = query[(part.ref[part.step[at]] >> 1) - 1] >= 0
    before = starts(text, np.int64)
    return np.asarray(before[part.start[1:]] > before[part.start[:-1]])


def _some(part: Steps, which: Flags) -> Steps:
    sizes = np.diff(part.start)
    step = part.step[np.repeat(which, sizes)]
    return Steps(part.number[which], starts(sizes[which], np.int64), step, part.ref)
