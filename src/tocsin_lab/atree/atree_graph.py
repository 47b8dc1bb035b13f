"""The shared graph with every node put together from others: the A-Tree's way, as organised_index.py builds
it.

    share ── one node for one expression        a and b and c and d       AND(a b c d)
                                                a and b and c             AND(a b c)
    organise ── the same, and nodes             a and b and c and d       AND(AND(a b c) d)
                as children of others

The graph of conditions/kernels/shared_graph.py has one operator, an AND over signed references, and so has
the A-Tree that is grown from it: where an AND covers part of another, the OR that is its negation covers part
of the other's. A negated node is a NOT in that tree, and a sign again in the graph that comes out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tocsin.arrays.dtypes import Flags, Ints, Longs
from tocsin.arrays.packed import starts
from tocsin.conditions.graph.condition_reader import Steps
from tocsin.conditions.graph.shared_graph import share
from tocsin.conditions.kernels.node_references import FALSE_REF
from tocsin.conditions.kernels.shared_nodes import NODES, SharedNodes
from tocsin_lab.atree.atree import GrowingAtree
from tocsin_lab.kernels.atree_nodes import AND, LEAF, LEVEL, NOT, OPERANDS, OPERATOR
from tocsin_lab.kernels.atree_updates import Groups, Policy
from tocsin_lab.kernels.needed_nodes import needed_nodes


def organise(
    parts: Sequence[Steps], leaves: int, conditions: int, *, reorganise: bool, self_adjust: bool
) -> tuple[SharedNodes, Ints]:
    """One graph of all conditions as index.graph.share makes it, with nodes as children of others.

    Nothing can be added to it: its slots are empty.
    """
    nodes, root = share(parts, leaves, conditions)
    groups, group_of = _as_groups(nodes, leaves, needed_nodes(nodes, root))
    atree = GrowingAtree(Policy(sharing=True, nary=True, reorganise=reorganise, self_adjust=self_adjust))
    node_of = atree.add_groups(groups)
    count = int(nodes.size[NODES])
    organised, ref_of = _as_shared(atree, leaves)
    new_ref = np.arange(0, 2 * count, 2, dtype=np.int32)
    inner = np.flatnonzero(group_of >= 0)
    new_ref[inner] = ref_of[node_of[group_of[inner]]]
    mated = inner[nodes.mate[inner] >= 0]
    organised.mate[new_ref[mated] >> 1] = _mapped(nodes.mate[mated], new_ref) ^ (new_ref[mated] & 1)
    return organised, np.where(root > FALSE_REF, _mapped(root, new_ref), root)


def _mapped(ref: Ints, new_ref: Ints) -> Ints:
    """References to old nodes as references to new ones; new_ref[n] is the one for old node n."""
    return np.asarray(new_ref[ref >> 1] ^ (ref & 1))


def _as_groups(nodes: SharedNodes, leaves: int, needed: Flags) -> tuple[Groups, Longs]:
    """The needed nodes as groups, and the AND group of each node (-1: none).

    A node whose negation is an operand somewhere is followed by the group of that.
    """
    inner = np.flatnonzero(needed)
    inner = inner[inner > leaves]
    widths = (nodes.child_start[inner + 1] - nodes.child_start[inner]).astype(np.int64)
    places = np.repeat(nodes.child_start[inner] - starts(widths, np.int64)[:-1], widths)
    child = nodes.child[places + np.arange(len(places))]
    negated = np.zeros(len(needed), np.bool_)
    negated[child[(child & 1 == 1)] >> 1] = True
    negated[: leaves + 1] = False
    sizes = 1 + negated[inner].astype(np.int64)
    first = starts(sizes, np.int64)
    group_of = np.full(len(needed), -1, np.int64)
    group_of[inner] = first[:-1]
    is_and = np.zeros(int(first[-1]), np.bool_)
    is_and[first[:-1]] = True
    width_of = np.ones(len(is_and), np.int64)
    width_of[is_and] = widths
    code = np.where(child >> 1 <= leaves, child, -1 - (group_of[child >> 1] + (child & 1)))
    operand = np.empty(int(width_of.sum()), np.int32)
    of_and = np.repeat(is_and, width_of)
    operand[of_and] = code
    operand[~of_and] = -1 - (np.flatnonzero(~is_and) - 1)
    operator = np.where(is_and, AND, NOT).astype(np.uint8)
    return Groups(operator, starts(width_of, np.int64), operand, np.empty(0, np.int32)), group_of


def _as_shared(atree: GrowingAtree, leaves: int) -> tuple[SharedNodes, Ints]:
    """The tree as a graph of ANDs, children before parents, and the reference of each of its nodes."""
    live = atree.live_nodes()
    rows = atree.tree.node[live]
    ands = live[rows[:, OPERATOR] == AND]
    ands = ands[np.argsort(atree.tree.node[ands, LEVEL], kind="stable")]
    ref_of = np.full(len(atree.tree.node), -1, np.int32)
    is_leaf, is_not = rows[:, OPERATOR] == LEAF, rows[:, OPERATOR] == NOT
    ref_of[live[is_leaf]] = atree.tree.pool[rows[is_leaf, OPERANDS]]
    ref_of[ands] = 2 * (leaves + 1 + np.arange(len(ands)))
    ref_of[live[is_not]] = ref_of[atree.tree.pool[rows[is_not, OPERANDS]]] ^ 1
    child, parent = atree.live_edges()
    to_and = atree.tree.node[parent, OPERATOR] == AND
    ref, node = ref_of[child[to_and]], ref_of[parent[to_and]] >> 1
    order = np.lexsort((ref, node))
    count = leaves + 1 + len(ands)
    return (
        SharedNodes(
            np.array([count, len(ref)], np.int64),
            starts(np.bincount(node, minlength=count), np.int64),
            ref[order],
            np.full(count, -1, np.int32),
            np.zeros(2, np.uint64),
        ),
        ref_of,
    )
