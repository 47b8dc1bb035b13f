"""How often a text query holds, and how much of it there is to look for: a guess from its words.

A word that was counted holds as often as it did in the dictionary's documents. The words of a query are
taken for independent of each other, and a threshold for passed: it needs a score, and so a search.
"""

from __future__ import annotations

import math

import numpy as np

from tocsin.arrays.dtypes import Doubles, Flags, Longs
from tocsin.arrays.jit import kernel
from tocsin.text.kernels.query_code import AND, PLAIN, QueryCode, Terms, arity_of, operation_of

UNCOUNTED = 0.005
"""How often a word holds of which nothing is known."""

OF_PREFIX = 0.02
"""How often a prefix holds."""


@kernel
def likelihood_of_queries(code: QueryCode, terms: Terms, is_counted: Flags) -> Doubles:
    """For each query how often its Boolean reading holds; is_counted says which groups have a dictionary."""
    queries = code.step_start.size - 1
    longest = 1
    for query in range(queries):
        longest = max(longest, code.step_start[query + 1] - code.step_start[query])
    waiting = np.empty(longest)
    is_negated = np.empty(longest, np.bool_)
    found = np.empty(queries)
    for query in range(queries):
        depth = 0
        for at in range(code.step_start[query], code.step_start[query + 1]):
            step = code.step[at]
            if step >= 0:
                leaf = code.leaf_start[query] + step
                share = 1.0
                for i in range(code.term_start[leaf], code.term_start[leaf + 1]):
                    term = code.term[i]
                    if terms.is_prefix[term]:
                        share *= OF_PREFIX
                    elif is_counted[terms.group[term]]:
                        share *= math.exp(-terms.idf[term])
                    else:
                        share *= UNCOUNTED
                is_negated[depth] = code.negated[leaf] != PLAIN
                waiting[depth] = 1.0 - share if is_negated[depth] else share
                depth += 1
                continue
            arity = arity_of(step)
            is_and = operation_of(step) == AND
            every = 1.0
            none = 1.0
            for i in range(depth - arity, depth):
                if is_and or is_negated[i]:
                    every *= waiting[i]
                else:
                    none *= 1.0 - waiting[i]
            depth -= arity
            waiting[depth] = every if is_and else every * (1.0 - none)
            is_negated[depth] = False
            depth += 1
        found[query] = waiting[0]
    return found


@kernel
def letters_of_queries(code: QueryCode, terms: Terms) -> Longs:
    """For each query how many bytes its words have together, each counted as often as it stands there."""
    queries = code.step_start.size - 1
    letters = np.zeros(queries, np.int64)
    for query in range(queries):
        for leaf in range(code.leaf_start[query], code.leaf_start[query + 1]):
            for i in range(code.term_start[leaf], code.term_start[leaf + 1]):
                letters[query] += terms.start[code.term[i] + 1] - terms.start[code.term[i]]
    return letters
