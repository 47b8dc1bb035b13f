"""Which rules go into which shard of an index in shards: about equally heavy ones, sharing kept together.

    rules ── clusters of rules that share parts ── one after the other ── cut at equal weights

A rule weighs as many bytes as its id and its condition have, and some more for its place in the graph.
Clusters are made of smaller ones, so that a cut that goes through one goes between two of these.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tocsin.arrays.byte_copy import gather_spans
from tocsin.arrays.dtypes import Bytes, Ints, Longs
from tocsin.arrays.packed import Texts, arrow_texts
from tocsin.conditions.blocks.assembly import assemble
from tocsin.conditions.blocks.build_folder import Work
from tocsin.conditions.graph.shared_graph import share_beside
from tocsin.conditions.kernels.rule_clusters import cluster_nodes
from tocsin.conditions.kernels.shared_nodes import NODES
from tocsin.rules import Rules

BYTES_IN_PART = 512 << 20
"""How large a shard of an index is to be, at most, when nobody says how many there are to be."""

_BYTES_OF_RULE = 100
"""What a rule takes besides its texts, about: measured on rules of twenty predicates."""

_CLUSTERS_IN_SHARD = (1, 8, 64)
"""A shard has room for so many of the heaviest clusters, of the small ones and of the smallest."""


def rule_weights(work: Work) -> Longs:
    """About how many bytes each rule takes in an index."""
    weights = [np.empty(0, np.int64)]
    for number in range(work.count):
        block = work.block(number)
        weights.append(np.diff(block.rule_id.start) + np.diff(block.rule_text.start) + _BYTES_OF_RULE)
    return np.concatenate(weights)


def shards_wanted(shards: int | str, weights: Longs) -> int:
    """How many shards to make; never more than there are rules."""
    wanted = -(-int(weights.sum()) // BYTES_IN_PART) if isinstance(shards, str) else shards
    return max(1, min(wanted, len(weights)))


def share_out(work: Work, weights: Longs, shards: int) -> Ints:
    """The shard that each rule goes to."""
    whole = assemble(work)
    nodes, root = share_beside(whole.nodes, whole.root, whole.parts), whole.root
    on_nodes = np.bincount(root >> 1, weights, int(nodes.size[NODES])).astype(np.int64)
    of_shard = int(weights.sum()) // shards
    clusters = [cluster_nodes(nodes, on_nodes, of_shard // count)[root >> 1] for count in _CLUSTERS_IN_SHARD]
    return cut(clusters, weights, shards)


def cut(clusters: Sequence[Ints], weights: Longs, shards: int) -> Ints:
    """Lay the clusters side by side, in the order of their first rules, and cut at equal weights.

    `clusters` gives for each rule its cluster, then the small one, and so on.
    """
    count = len(weights)
    order = np.lexsort([_first_rule(cluster) for cluster in reversed(clusters)])
    middle = np.cumsum(weights[order]) - weights[order] / 2
    shard = np.empty(count, np.int32)
    shard[order] = np.minimum(middle * shards / max(1, int(weights.sum())), shards - 1).astype(np.int32)
    return shard


def _first_rule(cluster: Ints) -> Longs:
    """For each rule the first one of its cluster."""
    first = np.empty(int(cluster.max(initial=0)) + 1, np.int64)
    first[cluster[::-1]] = np.arange(len(cluster) - 1, -1, -1)
    return first[cluster]


def rules_of_shard(work: Work, shard: Ints, number: int) -> Rules:
    """The rules of one shard, in their order; shard[r] is that of rule r of all."""
    chosen = []
    before = 0
    for at in range(work.count):
        block = work.block(at)
        rows = np.flatnonzero(shard[before : before + block.rules] == number)
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


def _some(texts: Texts, rows: Longs) -> tuple[Longs, Bytes]:
    return gather_spans(texts.data, texts.start[rows], texts.start[rows + 1])
