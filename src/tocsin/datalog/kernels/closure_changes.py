"""Which pairs a closure does not have, and which ones two closures do not have in common."""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.jit import bare_kernel, kernel
from tocsin.datalog.kernels.reach_bits import Closure, targets_of


@bare_kernel
def _component_of(vertex: int, component: Ints) -> int:
    """The component of a vertex, or -1 when the graph is from before it came."""
    return np.int64(component[vertex]) if vertex < component.size else -1


@bare_kernel
def _write(pairs: Longs, start: int, words: Longs, source: int, targets: Ints) -> None:
    """Write the words of a source and of each of its targets."""
    for place in range(targets.size):
        pairs[0, start + place] = words[source]
        pairs[1, start + place] = words[targets[place]]


@kernel
def compare_closures(
    sources: Ints, before: Closure, after: Closure, words: Longs, added: Longs, removed: Longs
) -> tuple[int, int]:
    """What each source reaches after and not before, and the other way round; how many pairs both are.

    Sources with the same components before and after stand together: they are compared once.

    added, removed   int64[2, pairs]   the words of sources and targets; when empty, pairs are only counted
    """
    writing = added.shape[1] + removed.shape[1] > 0
    before_seen = np.full(before.graph.cyclic.size, -1, np.int32)
    after_seen = np.full(after.graph.cyclic.size, -1, np.int32)
    waiting = np.empty(max(before_seen.size, after_seen.size), np.int32)
    lost = np.empty(words.size, np.int32)
    gained = np.empty(words.size, np.int32)
    reached = np.full(words.size, -1, np.int32)  # the last source that reached it before
    losses = gains = all_lost = all_gained = 0
    old = new = -2
    for i in range(sources.size):
        source = sources[i]
        was, now = old, new
        old = _component_of(source, before.graph.component)
        new = _component_of(source, after.graph.component)
        if old != was or new != now:
            reaching = kept = losses = gains = 0
            if old >= 0:
                reaching = targets_of(old, before, before_seen, i, waiting, lost)
            for place in range(reaching):
                reached[lost[place]] = 2 * i
            if new >= 0:
                kept = targets_of(new, after, after_seen, i, waiting, gained)
            for place in range(kept):
                target = gained[place]
                if reached[target] == 2 * i:
                    reached[target] = 2 * i + 1
                else:
                    gained[gains] = target
                    gains += 1
            for place in range(reaching):
                if reached[lost[place]] == 2 * i:
                    lost[losses] = lost[place]
                    losses += 1
        if writing:
            _write(added, all_gained, words, source, gained[:gains])
            _write(removed, all_lost, words, source, lost[:losses])
        all_gained += gains
        all_lost += losses
    return all_gained, all_lost


@kernel
def missing_pairs(sources: Ints, targets: Ints, closure: Closure, words: Longs, pairs: Longs) -> int:
    """The targets that each source does not reach; how many pairs these are.

    Sources of the same component stand together.

    pairs   int64[2, n]   the words of sources and targets; when empty, pairs are only counted
    """
    writing = pairs.shape[1] > 0
    seen = np.full(closure.graph.cyclic.size, -1, np.int32)
    waiting = np.empty(seen.size, np.int32)
    found = np.empty(words.size, np.int32)
    missing = np.empty(targets.size, np.int32)
    reached = np.full(words.size, -1, np.int32)  # the last source, if it stands first, that reached it
    absent = total = 0
    last = -2
    for i in range(sources.size):
        one = _component_of(sources[i], closure.graph.component)
        if one != last:
            last = one
            absent = 0
            count = 0
            if one >= 0:
                count = targets_of(one, closure, seen, i, waiting, found)
            for place in range(count):
                reached[found[place]] = i
            for target in targets:
                if reached[target] != i:
                    missing[absent] = target
                    absent += 1
        if writing:
            _write(pairs, total, words, sources[i], missing[:absent])
        total += absent
    return total
