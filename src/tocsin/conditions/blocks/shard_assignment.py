"""Which rules go into which part of an index in parts: about equally heavy ones, sharing kept together.

    rules ── clusters of rules that share parts ── one after the other ── cut at equal weights

A rule weighs as many bytes as its id and its condition have, and some more for its place in the graph.
Clusters are made of smaller ones, so that a cut that goes through one goes between two of these.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tocsin.arrays.packed import Texts, arrow_texts
from tocsin.arrays.spans import gather_spans
from tocsin.conditions.blocks.assembly import Assembled, assemble
from tocsin.conditions.blocks.build_folder import Work
from tocsin.conditions.graph.shared_graph import share_beside
from tocsin.conditions.kernels.rule_clusters import cluster_nodes
from tocsin.conditions.kernels.shared_nodes import NODES, SharedNodes
from tocsin.rules.rule_set import Rules

BYTES_IN_PART = 512 << 20
"""How large a part of an index is to be, at most, when nobody says how many there are to be."""

_BYTES_OF_RULE = 100
"""What a rule takes besides its texts, about: measured on rules of twenty predicates."""

_CLUSTERS_IN_PART = (1, 8, 64)
"""A part has room for so many of the heaviest clusters, of the small ones and of the smallest."""

Longs = NDArray[np.int64]
Ints = NDArray[np.int32]


def rule_weights(work: Work) -> Longs:
    """About how many bytes each rule takes in an index."""
    weights = [np.empty(0, np.int64)]
    for number in range(work.count):
        block = work.block(number)
        weights.append(np.diff(block.rule_id.start) + np.diff(block.rule_text.start) + _BYTES_OF_RULE)
    return np.concatenate(weights)


def parts_wanted(shards: int | str, weights: Longs) -> int:
    """How many parts to make; never more than there are rules."""
    wanted = -(-int(weights.sum()) // BYTES_IN_PART) if isinstance(shards, str) else shards
    return max(1, min(wanted, len(weights)))


def share_out(work: Work, weights: Longs, parts: int) -> Ints:
    """The part that each rule goes to."""
    nodes, root = _whole_graph(assemble(work))
    on_nodes = _weight_of_nodes(nodes, root, weights)
    of_part = int(weights.sum()) // parts
    clusters = [cluster_nodes(nodes, on_nodes, of_part // count)[root >> 1] for count in _CLUSTERS_IN_PART]
    return cut(clusters, weights, parts)


def _whole_graph(whole: Assembled) -> tuple[SharedNodes, Ints]:
    """The graph with the conditions that hold free text, as they are written."""
    return share_beside(whole.nodes, whole.root, whole.parts), whole.root


def _weight_of_nodes(nodes: SharedNodes, root: Ints, weights: Longs) -> Longs:
    return np.bincount(root >> 1, weights, int(nodes.size[NODES])).astype(np.int64)


def cut(clusters: Sequence[Ints], weights: Longs, parts: int) -> Ints:
    """Lay the clusters side by side, in the order of their first rules, and cut at equal weights.

    `clusters` gives for each rule its cluster, then the small one, and so on.
    """
    count = len(weights)
    order = np.lexsort([_first_rule(cluster) for cluster in reversed(clusters)])
    middle = np.cumsum(weights[order]) - weights[order] / 2
    part = np.empty(count, np.int32)
    part[order] = np.minimum(middle * parts / max(1, int(weights.sum())), parts - 1).astype(np.int32)
    return part


def _first_rule(cluster: Ints) -> Longs:
    """For each rule the first one of its cluster."""
    first = np.empty(int(cluster.max(initial=0)) + 1, np.int64)
    first[cluster[::-1]] = np.arange(len(cluster) - 1, -1, -1)
    return first[cluster]


def rules_of_part(work: Work, part: Ints, number: int) -> Rules:
    """The rules of one part, in their order; part[r] is that of rule r of all."""
    chosen = []
    before = 0
    for at in range(work.count):
        block = work.block(at)
        rows = np.flatnonzero(part[before : before + block.rules] == number)
        metadata = None
        if len(block.metadata):
            metadata = pa.ipc.open_stream(pa.py_buffer(block.metadata)).read_all().take(pa.array(rows))
        chosen.append(
            Rules(
                arrow_texts(*_some(block.rule_id, rows)),
                arrow_texts(*_some(block.rule_text, rows)),
                lines=np.zeros(len(rows), np.int64),
                metadata=metadata,
            )
        )
        before += block.rules
    return Rules.concat(chosen)


def _some(texts: Texts, rows: Longs) -> tuple[Longs, NDArray[np.uint8]]:
    return gather_spans(texts.data, texts.start[rows], texts.start[rows + 1])
