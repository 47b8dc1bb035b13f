"""In which order decision diagrams ask literals.

What stands near the roots of expressions is asked first: then the diagram of a rule is often a few nodes
above the diagrams of its parts, which other rules share. Where that says nothing, literals that are used
together stand together: predicates under xor come as true and as false, and apart they would multiply.
"""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Doubles, Ints
from tocsin.arrays.jit import kernel
from tocsin.arrays.radix_sort import order_by
from tocsin.engines.kernels.expressions import Expressions
from tocsin.engines.kernels.rule_parts import postorder, with_inner_roots

_PARTS = 1 << 20
"""Mean levels are compared to so many parts of a level."""


@kernel
def _mean_levels(expressions: Expressions) -> Doubles:
    """How high above the leaves the nodes are that have a literal as a child, on average; 0 if none has."""
    literals, _, child_start, child, _ = expressions
    inner = child_start.size - 1
    level = np.zeros(inner, np.int32)
    total = np.zeros(literals, np.int64)
    uses = np.ones(literals, np.int64)
    for i in range(inner):
        highest = 0
        for j in range(child_start[i], child_start[i + 1]):
            if child[j] >= literals:
                highest = max(highest, level[child[j] - literals])
        level[i] = highest + 1
        for j in range(child_start[i], child_start[i + 1]):
            if child[j] < literals:
                uses[child[j]] += total[child[j]] > 0
                total[child[j]] += level[i]
    return total / uses


@kernel
def _met(expressions: Expressions) -> Ints:
    """The literals in the order in which rules first need them."""
    literals, _, child_start, child, _ = expressions
    seen = np.zeros(literals, np.bool_)
    order = np.empty(literals, np.int32)
    met = 0
    for node in postorder(expressions):
        for j in range(child_start[node], child_start[node + 1]):
            if child[j] < literals and not seen[child[j]]:
                seen[child[j]] = True
                order[met] = child[j]
                met += 1
    for literal in range(literals):
        if not seen[literal]:
            order[met] = literal
            met += 1
    return order


def order_of_literals(expressions: Expressions) -> Ints:
    """The place of each literal in the order in which diagrams ask them."""
    return _order(with_inner_roots(expressions))


@kernel
def _order(expressions: Expressions) -> Ints:
    level = _mean_levels(expressions)
    met = _met(expressions)
    count = met.size
    key = np.empty(count, np.uint64)
    top = 0.0
    for literal in range(count):
        top = max(top, level[literal])
    for i in range(count):
        key[i] = np.uint64((top - level[met[count - 1 - i]]) * _PARTS)
    order = order_by(key)
    place = np.empty(count, np.int32)
    for i in range(count):
        place[met[count - 1 - order[i]]] = i
    return place
