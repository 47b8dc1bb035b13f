"""Whether a compiled index that comes from a file is what kernels take it for.

A checksum says that a file is as somebody wrote it, not that it is an index. Kernels follow offsets and
references without a look at where they lead. So each of them is looked at here, once, when a file is opened:

    types and lengths    as the tuples of arrays declare and draw them
    offsets              ascend from 0 to the length of what they cut into pieces
    references           lead to something that is there, of the right group where kernels count on that
    ends                 tables of open addressing have a free place; graphs, tries and automata no cycle
    texts                are UTF-8

What is sound may still be nonsense: such a file gives odd answers, never a crash, an endless loop or memory
without bounds. The slower proofs are kernels (kernels/soundness.py, text/kernels/text_soundness.py); they are
compiled only for those whose files have such things. All of it takes less time than the checksum.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tocsin.arrays.array_checks import Array, Check
from tocsin.arrays.lookup import Bounds, Literals
from tocsin.conditions.graph.compiled_index import CompiledIndex, rule_metadata
from tocsin.conditions.kernels.automaton import BLOCK
from tocsin.conditions.kernels.pattern_search import PLACES
from tocsin.conditions.kernels.plane_links import first_rule
from tocsin.conditions.kernels.predicate_parser import NULLS, TEXTS
from tocsin.conditions.kernels.soundness import unsound_listing, unsound_plane, unsound_slot
from tocsin.errors import IndexFileError
from tocsin.events import Kind

_KINDS = {*map(int, Kind), NULLS, TEXTS}


def check_index(file: str, index: CompiledIndex) -> None:
    """IndexFileError when the index, whose arrays have their types, is not sound."""
    check = Check(file)
    groups, leaves = len(index.group_path), len(index.links.group_of)
    check.length("group_kind", index.group_kind, groups)
    check.that("group_kind", bool(np.isin(index.group_kind, list(_KINDS)).all()), "has a kind that is none")
    about = list(zip(index.group_path, index.group_kind.tolist(), strict=True))
    check.that("group_kind", len(set(about)) == groups, "has a field and kind twice")
    check.references("links.group_of", index.links.group_of, groups)
    _check_graph(check, index)
    _check_leaves(check, index)
    _check_literals(check, index.literals, groups)
    _check_bounds(check, index.bounds, groups)
    _check_patterns(check, index)
    rules = index.rule_count
    for name, texts, count in (
        ("rule_id", index.rule_id, rules),
        ("rule_text", index.rule_text, rules),
        ("leaf_text", index.leaf_text, leaves),
    ):
        check.texts(name, texts, count)
    _check_metadata(check, index)
    _check_free_text(check, index)


def _check_graph(check: Check, index: CompiledIndex) -> None:
    graph, links = index.graph, index.links
    inner, leaves = len(graph.is_and), index.leaf_count
    planes = index.plane_count
    first_inner = planes - inner
    check.references("graph.false_leaf", graph.false_leaf, leaves)
    check.that("graph.is_and", int(graph.is_and.view(np.uint8).max(initial=0)) <= 1, "is neither yes nor no")
    check.offsets("graph.level_start", graph.level_start, len(graph.level_start) - 1, inner)
    check.offsets("graph.child_start", graph.child_start, inner, len(graph.child))
    check.sound("graph.child", unsound_plane(graph.level_start, graph.child_start, graph.child, first_inner))
    check.references("graph.root", graph.root, planes + 2)
    rules = int(first_rule(planes)) + len(graph.root)
    check.that("links.link", len(links.link) > 0, "is empty")
    check.offsets("links.link_start", links.link_start, planes + 2, len(links.link) - 1)
    check.references("links.link", links.link, rules)
    _check_falsehoods(check, "links.pushed", index, links.pushed_start, links.pushed_leaf, links.pushed_plane)
    leaf = index.leaves
    _check_falsehoods(
        check, "leaves.negated", index, leaf.negated_start, leaf.negated_leaf, leaf.negated_plane
    )


def _check_falsehoods(
    check: Check, name: str, index: CompiledIndex, start: Array, leaf: Array, plane: Array
) -> None:
    """Leaves by group, and the planes of their falsehood."""
    leaves, false_leaf = index.leaf_count, index.graph.false_leaf
    check.offsets(f"{name}_start", start, len(index.group_path), len(leaf))
    check.length(f"{name}_plane", plane, len(leaf))
    check.references(f"{name}_plane", plane, leaves + len(false_leaf), least=leaves)
    check.that(f"{name}_leaf", np.array_equal(false_leaf[plane - leaves], leaf), "has not the planes' leaves")
    _check_groups(check, f"{name}_leaf", index, start, leaf)


def _check_groups(check: Check, name: str, index: CompiledIndex, start: Array, leaf: Array) -> None:
    """Leaves by group, each of that group."""
    check.references(name, leaf, index.leaf_count)
    group = np.repeat(np.arange(len(start) - 1, dtype=np.int32), np.diff(start))
    check.that(name, np.array_equal(index.links.group_of[leaf], group), "has a leaf of another group")


def _check_leaves(check: Check, index: CompiledIndex) -> None:
    leaves, ranges, literals = index.leaves, index.ranges, index.literals
    groups, group_of = len(index.group_path), index.links.group_of
    check.length("leaves.null_leaf", leaves.null_leaf, groups)
    check.references("leaves.null_leaf", leaves.null_leaf, index.leaf_count, least=-1)
    null = np.flatnonzero(leaves.null_leaf >= 0)
    check.that(
        "leaves.null_leaf",
        np.array_equal(group_of[leaves.null_leaf[null]], null),
        "has a leaf of another group",
    )
    owner = literals.groups()
    check.offsets("leaves.posting_start", leaves.posting_start, len(owner), len(leaves.posting_leaf))
    check.references("leaves.posting_leaf", leaves.posting_leaf, index.leaf_count)
    check.that(
        "leaves.posting_leaf",
        np.array_equal(group_of[leaves.posting_leaf], np.repeat(owner, np.diff(leaves.posting_start))),
        "has a leaf of another group",
    )
    for family, limits in (("prefix", ("to",)), ("suffix", ("from",)), ("middle", ("from", "to"))):
        start, leaf = getattr(ranges, f"{family}_start"), getattr(ranges, f"{family}_leaf")
        check.offsets(f"ranges.{family}_start", start, groups, len(leaf))
        _check_groups(check, f"ranges.{family}_leaf", index, start, leaf)
        for limit in limits:
            name = f"{family}_{limit}"
            check.length(f"ranges.{name}", getattr(ranges, name), len(leaf))
    # Room for a block of events counts each leaf once among these two (conditions/matching/matcher.py).
    once = len(ranges.prefix_leaf) + len(ranges.suffix_leaf) <= index.leaf_count
    check.that("ranges.prefix_leaf", once, "has leaves more than once")


def _check_literals(check: Check, literals: Literals, groups: int) -> None:
    scalars, texts = len(literals.scalar) // 3, len(literals.text_group)
    check.length("literals.scalar", literals.scalar, 3 * scalars)
    check.references("literals.scalar", literals.scalar[2::3], groups)
    check.table("literals.scalar_table", literals.scalar_table, scalars)
    check.references("literals.text_group", literals.text_group, groups)
    check.offsets("literals.text_start", literals.text_start, texts, len(literals.text_bytes))
    check.table("literals.text_table", literals.text_table, texts)


def _check_bounds(check: Check, bounds: Bounds, groups: int) -> None:
    check.offsets("bounds.scalar_start", bounds.scalar_start, groups, len(bounds.scalar_high))
    check.length("bounds.scalar_low", bounds.scalar_low, len(bounds.scalar_high))
    texts = max(0, len(bounds.text_offset) - 1)
    check.offsets("bounds.text_start", bounds.text_start, groups, texts)
    check.offsets("bounds.text_offset", bounds.text_offset, texts, len(bounds.text_bytes))


def _check_patterns(check: Check, index: CompiledIndex) -> None:
    patterns, groups, group_of = index.patterns, len(index.group_path), index.links.group_of
    automata, literals, questions = 2 * groups, len(patterns.shorter), len(patterns.question_leaf)
    leaf = index.pattern_leaf
    check.references("pattern_leaf", leaf, index.leaf_count)
    check.that("pattern_leaf", bool((leaf[1:] > leaf[:-1]).all()), "does not ascend")
    check.length("patterns.root", patterns.root, automata)
    slots = len(patterns.word)
    check.that("patterns.word", slots % BLOCK == 0, "is not made of whole blocks")
    check.references("patterns.root", patterns.root, slots, least=-1)
    check.length("patterns.ending", patterns.ending, slots)
    check.references("patterns.ending", patterns.ending, literals, least=-1)
    check.offsets("patterns.literal_start", patterns.literal_start, automata, literals)
    check.offsets("patterns.listed_start", patterns.listed_start, PLACES * literals, len(patterns.listed))
    check.offsets("patterns.question_start", patterns.question_start, 2 * automata, questions)
    check.offsets("patterns.code_start", patterns.code_start, questions, len(patterns.code))
    if literals or questions or int(patterns.root.max(initial=-1)) >= 0:
        check.sound("patterns.word", unsound_slot(patterns))
        leaves_of = np.bincount(group_of[leaf], minlength=groups)
        check.sound("patterns.listed", unsound_listing(patterns, group_of, leaves_of))


def _check_metadata(check: Check, index: CompiledIndex) -> None:
    try:
        table = rule_metadata(index)
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        raise IndexFileError(
            f"{check._file} is damaged: the array metadata is not an Arrow stream"
        ) from error
    check.that("metadata", table.num_rows == index.rule_count, "has not a row for each rule")


def _check_free_text(check: Check, index: CompiledIndex) -> None:
    texts = index.texts
    texts.check(check, index.leaf_count, index.rule_count)
    field_of = {path: group for group, path in enumerate(texts.base.fields)}
    of_group = np.array(
        [
            field_of.get(path, -1) if kind == TEXTS else -1
            for path, kind in zip(index.group_path, index.group_kind.tolist(), strict=True)
        ],
        np.int64,
    )
    same = np.array_equal(of_group[index.links.group_of[texts.leaf]], texts.queries.group)
    check.that("texts.leaf", same, "has a leaf that is not of its query's field")
    known = {
        path for path, kind in zip(index.group_path, index.group_kind.tolist(), strict=True) if kind == TEXTS
    }
    check.that("group_kind", known <= set(field_of), "has free text in a field that is not a field of texts")
