"""Designs of an A-Tree on one workload: grown, frozen and held to one answer.

All are timed on expression matching alone, as the ideas of the paper are about that: which predicates
are true of each event is found beforehand, by tocsin itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.conditions.language import print_predicate
from tocsin.engines.build import build
from tocsin.errors import TocsinError
from tocsin_lab import abe_gen
from tocsin_lab.atree.atree_groups import Grouping
from tocsin_lab.atree.frozen_atree import AtreeMatcher
from tocsin_lab.atree.numbered_predicates import NumberedPredicates
from tocsin_lab.atree.paper_atree import Design, PaperAtree, read_groups
from tocsin_lab.experiments.clocks import timed
from tocsin_lab.kernels.atree_updates import Groups
from tocsin_lab.kernels.plain_scan import scan

HISTORY = 1_000


@dataclass(frozen=True)
class Workload:
    """Rules (id, when), events, and earlier events that selectivities are learnt from."""

    rules: pa.Table
    events: pa.Table
    history: pa.Table

    def few(self) -> Workload:
        """A little of it, to compile with."""
        return Workload(self.rules.slice(0, 50), self.events.slice(0, 5), self.history.slice(0, 5))


def workload_of(setting: abe_gen.Workload, events: int) -> Workload:
    """The rules of a setting with so many events, and others before them."""
    made = abe_gen.table_of(abe_gen.events(setting, HISTORY + events))
    return Workload(abe_gen.rules(setting), made.slice(HISTORY), made.slice(0, HISTORY))


class Prepared:
    """A workload with what no design is to be timed on: groups of rules, and true predicates of events."""

    def __init__(self, workload: Workload) -> None:
        self.texts = workload.rules["when"].combine_chunks().cast(pa.large_string())
        self.predicates = NumberedPredicates()
        self._groups: dict[Grouping, Groups] = {}
        self.groups(Grouping())
        self.start, self.true_ref = true_references(self.predicates, workload.events)
        start, true_ref = true_references(self.predicates, workload.history)
        self.history = np.split(true_ref, start[1:-1])
        index: Any = build(workload.rules)
        self.matches: list[int] = index.match_table(workload.events, count=True).per_event.to_pylist()

    @property
    def share(self) -> float:
        """The part of the rules that match an event, on average."""
        return sum(self.matches) / len(self.matches) / len(self.texts)

    def groups(self, grouping: Grouping) -> Groups:
        """The groups of all rules; those that are read together are counted together, so order is free."""
        if grouping not in self._groups:
            self._groups[grouping] = self.read(self.texts, grouping)
        return self._groups[grouping]

    def read(self, texts: pa.LargeStringArray, grouping: Grouping) -> Groups:
        """The groups of some rules."""
        parts = read_groups(texts, self.predicates, grouping)
        return joined([groups for _, groups in parts])

    def hold(self, matches: list[int], name: str) -> None:
        """TocsinError when these are not the numbers of matches that tocsin.build gave."""
        if matches != self.matches:
            raise TocsinError(f"{name}: the numbers of matches are not those of tocsin.build")


def joined(parts: Sequence[Groups]) -> Groups:
    """Several lots of groups as one."""
    whole = parts[0]
    for part in parts[1:]:
        before = len(whole.operator)
        operand = np.where(part.operand < 0, part.operand - before, part.operand)
        root = np.where(part.root < 0, part.root - before, part.root)
        whole = Groups(
            np.concatenate([whole.operator, part.operator]),
            np.concatenate([whole.operand_start, part.operand_start[1:] + whole.operand_start[-1]]),
            np.concatenate([whole.operand, operand]),
            np.concatenate([whole.root, root]),
        )
    return whole


def true_references(predicates: NumberedPredicates, events: pa.Table) -> tuple[Longs, Ints]:
    """For each event the references to predicates and negations that are true of it.

    Found by an index in which every predicate is a rule, and every negation.
    """
    texts = [print_predicate(each) for each in predicates.distinct]
    index: Any = build(
        pa.table(
            {
                "id": [str(ref) for ref in range(2, 2 * len(texts) + 2)],
                "when": [f"{sign}({text})" for text in texts for sign in ("", "not ")],
            }
        )
    )
    found: pa.Table = index.match_table(events)
    event = found["event"].to_numpy()
    ref = found["rule"].cast(pa.string()).cast(pa.int32()).to_numpy()
    start = np.searchsorted(event, np.arange(events.num_rows + 1))
    return start.astype(np.int64), ref


@dataclass(frozen=True)
class GrownDesign:
    """The tree of one design, ready for matching; nodes visited are of an event, on average."""

    matcher: AtreeMatcher
    nodes: int
    edges: int
    nodes_visited: float
    bytes_growing: int
    bytes_frozen: int
    build: float


def grown(prepared: Prepared, design: Design, groups: Groups) -> tuple[PaperAtree, float]:
    """The tree of some groups, and the seconds of processor time that it took."""
    atree = PaperAtree(design=design)
    atree.predicates = prepared.predicates
    rules = [str(number) for number in range(len(groups.root))]
    _, seconds = timed(lambda: atree.insert_groups(rules, groups))
    return atree, seconds


def grow(prepared: Prepared, design: Design) -> GrownDesign:
    """The tree of all rules; TocsinError when it gives wrong numbers of matches."""
    atree, seconds = grown(prepared, design, prepared.groups(design.grouping))
    atree.observe(prepared.history)
    matcher = atree.matcher()
    always = int((atree.roots == -1).sum())
    matches, visited = matcher.count(prepared.start, prepared.true_ref)
    prepared.hold((matches + always).tolist(), str(design))
    return GrownDesign(
        matcher,
        len(atree.atree),
        atree.atree.edges,
        float(visited.mean()),
        sum(atree.atree.bytes_used.values()),
        matcher.bytes_of_matching,
        seconds,
    )


class Scan:
    """Every rule evaluated by itself, nothing shared."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared
        self._groups = prepared.groups(Grouping(zero_suppression=False, sharing=False))
        self._matches = np.zeros(len(prepared.matches), np.int64)
        self._truth = np.zeros(2 * (len(prepared.predicates.distinct) + 1), np.int8)
        self()
        prepared.hold(self._matches.tolist(), "scan")

    def __call__(self) -> None:
        """Count the matches of all events."""
        scan(self._groups, self._prepared.start, self._prepared.true_ref, self._truth, self._matches)
