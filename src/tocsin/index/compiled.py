"""The compiled index: everything that matching needs, as arrays, and nothing else.

rules ── reading ── steps, predicates
                      │        └─ families ── literals, bounds, leaves
                      └─ graph ── planes, links
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tocsin.errors import raise_all
from tocsin.grammar.canonical.predicates import canonical_predicate
from tocsin.grammar.conditions import parse_condition, parse_predicate
from tocsin.grammar.printing import print_condition
from tocsin.grammar.rules import Rules
from tocsin.grammar.tree import Path, Predicate
from tocsin.index.families import sort_into_families
from tocsin.index.graph import lay_out, links_of, negated_leaves, share
from tocsin.index.leaf_order import put_in_order
from tocsin.index.likelihood import guess
from tocsin.index.packing import arrow_texts, packed_bytes, text_arrays
from tocsin.index.pattern_arrays import compile_patterns
from tocsin.index.reading import Steps, read_texts
from tocsin.index.text.base import TextBase
from tocsin.index.text.compiled import CompiledTexts, compile_texts, rules_of_texts, text_leaves
from tocsin.kernels.leaves import Leaves, Ranges
from tocsin.kernels.links import Links
from tocsin.kernels.lookup import Bounds, Literals
from tocsin.kernels.pattern_search import Patterns
from tocsin.kernels.planes import PlaneGraph
from tocsin.kernels.shared_nodes import SharedNodes
from tocsin.kernels.spans import gather_spans


class Texts(NamedTuple):
    """Strings as bytes: string i is data[start[i] : start[i + 1]]."""

    start: NDArray[np.int64]
    data: NDArray[np.uint8]

    def text(self, number: int) -> str:
        """One of the strings."""
        return self.data[self.start[number] : self.start[number + 1]].tobytes().decode()


class CompiledIndex(NamedTuple):
    """Arrays for matching, and the texts that ids, patterns and explanations need.

    group_kind     uint8[G]
    pattern_leaf   int32[...]    leaves that are asked of each distinct text, ascending
    rule_id        the rules' ids, in the rules' order
    rule_text      their conditions as written, without table aliases
    leaf_text      every leaf's predicate as it was first written, perhaps negated
    metadata       uint8[...]    the rules' other columns, as an Arrow stream; empty when there are none
    group_path     the field of each group
    texts          free text: see text/compiled.py
    facts          seconds of the build by phase, for stats()
    """

    graph: PlaneGraph
    leaves: Leaves
    ranges: Ranges
    links: Links
    literals: Literals
    bounds: Bounds
    group_kind: NDArray[np.uint8]
    pattern_leaf: NDArray[np.int32]
    patterns: Patterns
    rule_id: Texts
    rule_text: Texts
    leaf_text: Texts
    metadata: NDArray[np.uint8]
    group_path: list[Path]
    texts: CompiledTexts
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


PutTogether = Callable[[Sequence[Steps], int, int], tuple[SharedNodes, NDArray[np.int32]]]
"""Makes one graph of conditions, given the number of leaves and of conditions: see graph.share."""


def compile_rules(
    rules: Rules, put_together: PutTogether = share, base: TextBase | None = None
) -> CompiledIndex:
    """Build the index of the rules; RuleError or RuleErrors when some cannot be taken.

    `base` has the settings and dictionaries of free text.
    """
    clock = [time.perf_counter()]
    texts = Texts(*text_arrays(rules.whens))
    reading = read_texts(*texts, rules.aliases)
    raise_all([rules.error(number, error) for number, error in reading.errors])
    clock.append(time.perf_counter())
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
    in_texts, base = text_leaves(families, table, order, base or TextBase())
    text_rules = rules_of_texts(reading.parts, in_texts, order, len(rules))
    texts = compile_texts(in_texts, base, text_rules, np.ones(len(in_texts.leaf), np.bool_))
    clock.append(time.perf_counter())
    leaf_count = len(families.group_of)
    groups = len(families.group_path)
    nodes, root = put_together(reading.parts, leaf_count, len(rules))
    clock.append(time.perf_counter())
    leaf_number = np.empty(leaf_count, np.int32)
    leaf_number[order] = np.arange(leaf_count, dtype=np.int32)
    graph = lay_out(nodes, leaf_number, root, guess(families))
    leaves = Leaves(
        families.null_leaf,
        families.posting_start,
        families.posting_leaf,
        *negated_leaves(graph, families.group_of, groups),
    )
    links = links_of(graph, families.group_of, groups)
    clock.append(time.perf_counter())
    read, sort, shared, laid_out = np.diff(clock).tolist()
    facts = {
        "read": read,
        "families": sort,
        "share": shared,
        "lay_out": laid_out,
    }
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
        Texts(*text_arrays(rules.ids)),
        _without_aliases(texts, rules.aliases),
        leaf_text,
        _stream_of(rules.metadata),
        families.group_path,
        texts,
        facts,
    )


def compile_like(index: CompiledIndex, rules: Rules) -> CompiledIndex:
    """Build an index of other rules with the same settings, dictionaries and estimates."""
    return compile_rules(rules, base=index.texts.base)


def predicate_of(leaf_text: Texts, leaf: int) -> Predicate:
    """A leaf's predicate, in canonical form, from its text."""
    predicate, _ = parse_predicate(leaf_text.text(leaf))
    if not isinstance(predicate, Predicate):
        raise TypeError(f"leaf {leaf} is a constant")
    return canonical_predicate(predicate)


def rule_ids(index: CompiledIndex) -> pa.LargeStringArray:
    """The rules' ids as an Arrow array that shares the index's memory."""
    return arrow_texts(*index.rule_id)


def _without_aliases(texts: Texts, aliases: Mapping[int, str]) -> Texts:
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


def _stream_of(table: pa.Table | None) -> NDArray[np.uint8]:
    if table is None:
        return np.empty(0, np.uint8)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return np.frombuffer(bytearray(sink.getvalue()), np.uint8)
