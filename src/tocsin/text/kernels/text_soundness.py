"""The same for free text: terms, queries and the trie filter. See conditions/kernels/soundness.py."""

from __future__ import annotations

import numpy as np

from tocsin.arrays.array_checks import SOUND
from tocsin.arrays.bits import HALF, LOWER_HALF
from tocsin.arrays.dtypes import Ints
from tocsin.arrays.jit import kernel
from tocsin.text.kernels.query_code import QueryCode, Terms, arity_of
from tocsin.text.kernels.terms import eights_of
from tocsin.text.kernels.trie import (
    HUNG,
    NO_TERM,
    PAIR,
    PARENT,
    QUERY,
    ROW,
    TERM,
    TO_TABLE,
    Trie,
    children_of,
    find_in_table,
    predicates_of,
)

_HEADER = 2


@kernel
def unsound_term(terms: Terms) -> int:
    """Every term has one record, that says of it what the other arrays say, and slots lead to records.

    The prefixes that cover a word are prefixes of its group, ever longer ones and none longer than the word:
    so no more than it has bytes, and none twice.
    """
    record, covering = terms.record, terms.covering
    count = terms.group.size
    begins = np.zeros(record.size + 1, np.uint8)
    seen = np.zeros(count, np.uint8)
    place = 0
    for _ in range(count):
        if place + _HEADER + 2 > record.size:
            return count
        size = np.int64(record[place] & LOWER_HALF)
        term = np.int64(record[place] >> HALF)
        owner = np.int64(record[place + 1] & LOWER_HALF)
        cover = np.int64(record[place + 1] >> HALF)
        if term >= count or seen[term] or size < 1 or place + _HEADER + eights_of(size) > record.size:
            return min(term, count)
        seen[term] = 1
        group, is_prefix = np.int64(terms.group[term]), np.int64(terms.is_prefix[term])
        if owner != 2 * group + is_prefix or terms.start[term + 1] - terms.start[term] != size:
            return term
        if cover >= covering.size or covering[cover] < 0 or cover + covering[cover] >= covering.size:
            return term
        longest = np.int64(0)
        for i in range(cover + 1, cover + 1 + covering[cover]):
            prefix = np.int64(covering[i])
            if prefix < 0 or prefix >= count or not terms.is_prefix[prefix] or terms.group[prefix] != group:
                return term
            length = terms.start[prefix + 1] - terms.start[prefix]
            if length <= longest or length > size or is_prefix:
                return term
            longest = length
        begins[place] = 1
        place += _HEADER + eights_of(size)
    if place != record.size:
        return count
    free = 0
    for i in range(terms.slot.size):
        if terms.slot[i] == 0:
            free += 1
        else:
            at = np.int64(terms.slot[i] & LOWER_HALF) - 1
            if at < 0 or at >= record.size or begins[at] == 0:
                return count
    return SOUND if free > 0 else count


@kernel
def unsound_query(code: QueryCode, terms: int) -> int:
    """The steps of every query leave one operand, and never wait for more than the query has leaves.

    Every leaf has a term.
    """
    for query in range(code.group.size):
        first_leaf = code.leaf_start[query]
        leaves = code.leaf_start[query + 1] - first_leaf
        waiting = np.int64(0)
        for i in range(code.step_start[query], code.step_start[query + 1]):
            step = np.int64(code.step[i])
            if step >= leaves:
                return query
            if step < 0:
                arity = np.int64(arity_of(step))
                if arity < 1 or arity > waiting:
                    return query
                waiting -= arity
            waiting += 1
            if waiting > leaves:
                return query
        if waiting != 1:
            return query
        for leaf in range(first_leaf, first_leaf + leaves):
            if code.term_start[leaf] >= code.term_start[leaf + 1] or code.negated[leaf] > 2:
                return query
            for i in range(code.term_start[leaf], code.term_start[leaf + 1]):
                if code.term[i] < 0 or code.term[i] >= terms:
                    return query
    return SOUND


@kernel
def unsound_branch(trie: Trie, groups: int, term_group: Ints, query_group: Ints, pairs: int) -> int:
    """Every node but the roots is the child of one node before it, and every predicate node hangs below one:
    as trie_builder.py lays them out, in order and without a gap.
    """
    branch, predicate = trie.branch, trie.predicate
    nodes = branch.size // ROW - 1
    group_of = np.empty(nodes, np.int32)
    made = np.int64(groups)
    hung = np.int64(0)
    for node in range(nodes):
        term = np.int64(branch[ROW * node + TERM])
        if node < groups:
            group_of[node] = node
            if term != NO_TERM:
                return node
        elif node >= made or term < 0 or term >= term_group.size or term_group[term] != group_of[node]:
            return node
        first, last = children_of(branch, node)
        if first != made or last < first or last > nodes:
            return node
        for child in range(first, last):
            group_of[child] = group_of[node]
            if branch[ROW * child + PARENT] != node:
                return child
        made = last
        first, last = predicates_of(branch, node)
        if first != hung or last < first or HUNG * last > predicate.size:
            return node
        for each in range(first, last):
            query = np.int64(predicate[HUNG * each + QUERY]) >> 1
            pair = predicate[HUNG * each + PAIR]
            if query < 0 or query >= query_group.size or query_group[query] != group_of[node]:
                return node
            if pair < 0 or pair >= pairs:
                return node
        hung = last
    if made != nodes or HUNG * hung != predicate.size:
        return nodes
    for term in range(term_group.size):
        child = np.int64(trie.root_child[term])
        if child < 0 or child >= nodes:
            return nodes
        if child != 0 and (branch[ROW * child + TERM] != term or branch[ROW * child + PARENT] >= groups):
            return child
    free = 0
    for i in range(trie.table.size):
        if trie.table[i] < 0 or trie.table[i] >= max(nodes, 1):
            return nodes
        free += trie.table[i] == 0
    if free == 0:
        return nodes
    for node in range(groups, nodes):
        first, last = children_of(branch, node)
        if last - first > TO_TABLE:
            for child in range(first, last):
                if find_in_table(trie.table, branch, node, np.int64(branch[ROW * child + TERM])) != child:
                    return child
    return SOUND
