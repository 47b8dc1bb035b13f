"""The compiled index: everything that matching needs, as arrays, and nothing else.

rules ── reading ── steps, predicates
                      │        └─ families ── literals, bounds, leaves
                      └─ graph, organised ── planes, links
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.arrays.byte_copy import gather_spans
from tocsin.arrays.dtypes import Bytes, Ints
from tocsin.arrays.lookup import Bounds, Literals
from tocsin.arrays.packed import Texts, arrow_texts, packed_bytes, text_arrays
from tocsin.conditions.graph.condition_reader import Reading, read_rules
from tocsin.conditions.graph.leaf_families import put_in_order, sort_into_families
from tocsin.conditions.graph.organisation import UNIQUE, Organisation, organised
from tocsin.conditions.graph.pattern_arrays import compile_patterns
from tocsin.conditions.graph.predicate_table import predicate_of
from tocsin.conditions.graph.shared_graph import lay_out, links_of, negated_leaves, share_beside
from tocsin.conditions.graph.text_stage import read_free_text
from tocsin.conditions.kernels.leaves import Leaves, Ranges
from tocsin.conditions.kernels.pattern_search import Patterns
from tocsin.conditions.kernels.plane_links import Links
from tocsin.conditions.kernels.planes import PlaneGraph
from tocsin.conditions.kernels.shared_nodes import SharedNodes, no_nodes
from tocsin.conditions.language.parser import parse_condition
from tocsin.conditions.language.printer import print_condition
from tocsin.conditions.language.tree import Path
from tocsin.conditions.planner.planner import Planner
from tocsin.errors import raise_all
from tocsin.rules import Rules
from tocsin.text import CompiledTexts, TextBase


class CompiledIndex(NamedTuple):
    """Arrays for matching, and the texts that ids, patterns and explanations need.

    group_kind     uint8[G]
    pattern_leaf   int32[...]    leaves that are asked of each distinct text, ascending
    rule_id        the rules' ids, in the rules' order
    rule_text      their conditions as written, without table aliases
    leaf_text      every leaf's predicate as it was first written, perhaps negated
    metadata       uint8[...]    the rules' other columns, as an Arrow stream; empty when there are none
    group_path     the field of each group
    texts          free text: see text/compiled_texts.py
    planner        how rules are compiled; None: nothing is deferred, and nodes are unique and no more
    organisation   how the nodes were put together
    facts          seconds of the build by phase, for stats()
    """

    graph: PlaneGraph
    leaves: Leaves
    ranges: Ranges
    links: Links
    literals: Literals
    bounds: Bounds
    group_kind: Bytes
    pattern_leaf: Ints
    patterns: Patterns
    rule_id: Texts
    rule_text: Texts
    leaf_text: Texts
    metadata: Bytes
    group_path: list[Path]
    texts: CompiledTexts
    planner: Planner | None
    organisation: Organisation
    facts: dict[str, float]

    @property
    def rule_count(self) -> int:
        """Rules in the index."""
        return len(self.graph.root)

    @property
    def leaf_count(self) -> int:
        """Distinct predicates in the index."""
        return len(self.links.group_of)

    @property
    def plane_count(self) -> int:
        """Leaves true and false and inner planes, without the two constants."""
        return self.leaf_count + len(self.graph.false_leaf) + len(self.graph.is_and)


class WrittenRules(NamedTuple):
    """What is kept of rules as they were written: see CompiledIndex."""

    rule_id: Texts
    rule_text: Texts
    metadata: Bytes


def compile_rules(
    rules: Rules, base: TextBase | None = None, planner: Planner | None = None
) -> CompiledIndex:
    """Build the index of the rules; RuleError or RuleErrors when some cannot be taken.

    `base` has the settings and dictionaries of free text. With a planner, text conjuncts that are not the
    best way into their rules are left out of the graph, and matches have to be asked for them.
    """
    started = time.perf_counter()
    texts = Texts(*text_arrays(rules.whens))
    reading = read_rules(rules)
    raise_all(rules.index_errors(reading.errors))
    written = WrittenRules(
        Texts(*text_arrays(rules.ids)), without_aliases(texts, rules.aliases), metadata_stream(rules.metadata)
    )
    facts = {"read": time.perf_counter() - started}
    return compile_reading(written, reading, base, planner, facts)


def compile_reading(
    rules: WrittenRules,
    reading: Reading,
    base: TextBase | None,
    planner: Planner | None,
    facts: Mapping[str, float] | None = None,
    shared: tuple[SharedNodes, Ints] | None = None,
) -> CompiledIndex:
    """Build the index of rules that have been read.

    Who has `shared` conditions without free text gives their graph and its roots; the others are the
    reading's. `facts` are the seconds of what was done before.
    """
    clock = [time.perf_counter()]
    count = len(rules.rule_id.start) - 1
    table = reading.table
    families, order = put_in_order(sort_into_families(table))
    leaf_text = Texts(*gather_spans(table.leaf_text, table.leaf_start[order], table.leaf_start[order + 1]))
    pattern_leaves = families.pattern_leaf.tolist()
    patterns = compile_patterns(
        pattern_leaves,
        families.group_of[families.pattern_leaf].tolist(),
        [predicate_of(leaf_text, leaf) for leaf in pattern_leaves],
        len(families.group_path),
    )
    stage = read_free_text(reading, families, order, leaf_text, base or TextBase(), planner)
    in_texts = stage.compiled(reading.parts, count)
    clock.append(time.perf_counter())
    leaf_count = len(families.group_of)
    groups = len(families.group_path)
    nodes, root = shared or (no_nodes(leaf_count), np.full(count, -1, np.int32))
    nodes = share_beside(nodes, root, stage.parts)
    clock.append(time.perf_counter())
    asked = UNIQUE if planner is None else planner.organise
    nodes, root, organisation = organised(nodes, root, leaf_count, asked)
    clock.append(time.perf_counter())
    leaf_number = np.empty(leaf_count, np.int32)
    leaf_number[order] = np.arange(leaf_count, dtype=np.int32)
    graph = lay_out(nodes, leaf_number, root, stage.likelihood)
    leaves = Leaves(
        families.null_leaf,
        families.posting_start,
        families.posting_leaf,
        *negated_leaves(graph, families.group_of, groups),
    )
    links = links_of(graph, families.group_of, groups)
    clock.append(time.perf_counter())
    seconds = dict(zip(("families", "share", "organise", "lay_out"), np.diff(clock).tolist(), strict=True))
    return CompiledIndex(
        graph,
        leaves,
        families.ranges,
        links,
        families.literals,
        families.bounds,
        families.group_kind,
        families.pattern_leaf,
        patterns,
        rules.rule_id,
        rules.rule_text,
        leaf_text,
        rules.metadata,
        families.group_path,
        in_texts,
        planner,
        organisation,
        {**(facts or {}), **seconds},
    )


def compile_like(index: CompiledIndex, rules: Rules) -> CompiledIndex:
    """Build an index of other rules with the same settings, dictionaries and estimates."""
    return compile_rules(rules, base=index.texts.base, planner=index.planner)


def compile_beside(index: CompiledIndex, rules: Rules) -> CompiledIndex:
    """The same, put together as that index is: `auto` does not choose again."""
    planner = index.planner and replace(index.planner, organise=index.organisation.chosen)
    return compile_rules(rules, base=index.texts.base, planner=planner)


def rule_ids(index: CompiledIndex) -> pa.LargeStringArray:
    """The rules' ids as an Arrow array that shares the index's memory."""
    return arrow_texts(*index.rule_id)


def without_aliases(texts: Texts, aliases: Mapping[int, str]) -> Texts:
    """The conditions as written, without the table aliases of triggers."""
    if not aliases:
        return texts
    printed = [texts.text(number) for number in range(len(texts.start) - 1)]
    for number, alias in aliases.items():
        printed[number] = print_condition(parse_condition(printed[number], alias))
    return Texts(*packed_bytes([text.encode() for text in printed]))


def rule_metadata(index: CompiledIndex) -> pa.Table:
    """The rules' other columns, a row for each rule; perhaps no column at all."""
    if not len(index.metadata):
        return pa.table({"": pa.nulls(index.rule_count)}).select([])
    return pa.ipc.open_stream(pa.py_buffer(index.metadata)).read_all()


def metadata_stream(table: pa.Table | None) -> Bytes:
    """The rules' other columns as an Arrow stream; nothing when there are none."""
    if table is None:
        return np.empty(0, np.uint8)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return np.frombuffer(bytearray(sink.getvalue()), np.uint8)
