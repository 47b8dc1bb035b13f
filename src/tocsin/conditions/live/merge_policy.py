"""When layers of younger rules are compiled together, and when everything is.

Few layers make matching quick; compiling seldom makes changes quick. A layer is compiled together with
everything above it when that has grown to a quarter of it. So layers at least quintuple downward, there
are never more than a handful, and a rule is compiled a number of times that grows with the logarithm of
how many came after it.

A reader that needs fresh rules compiled does it itself while that is little work; the rest is for a
thread in the background (compaction.py).
"""

from __future__ import annotations

from collections.abc import Sequence

RATIO = 4
"""A layer that is more than so many times as large as all above it is left alone."""

ALWAYS_MERGED = 64
"""Rules that are compiled together whatever the ratio: a layer has a cost of its own."""

READERS_SHARE = 256
"""Rules that a reader compiles together with fresh ones, at most."""

FRESH_AT_MOST = 4096
"""With so many fresh rules, the background does not wait for a reader to compile them."""

YOUNGER_AT_LEAST = 50_000
MAIN_OVER_YOUNGER = 10
"""Everything is compiled when the younger and the dead rules are more than a tenth of the main index, and
more than YOUNGER_AT_LEAST."""


def absorbed_with(fresh: int, sizes: Sequence[int]) -> int:
    """How many of the youngest layers a reader compiles together with `fresh` rules; sizes are from below."""
    total = fresh
    taken = 0
    for size in reversed(sizes):
        if total + size > READERS_SHARE or (size > RATIO * total and total + size > ALWAYS_MERGED):
            break
        total += size
        taken += 1
    return taken


def merged_above(sizes: Sequence[int], dead: int = 0) -> int:
    """From which layer on to compile all layers together; len(sizes) when they are best left alone.

    `dead` rules, at least, lie in the layers; when they are most of them, all is compiled, to be rid of them.
    """
    total = sum(sizes)
    if total <= READERS_SHARE:
        return len(sizes)
    if 2 * dead > total:
        return 0
    first = len(sizes)
    above = 0
    for place in range(len(sizes) - 1, -1, -1):
        if above > 0 and sizes[place] <= RATIO * above:
            first = place
        above += sizes[place]
    return first


def fresh_are_due(fresh: int) -> bool:
    """Whether to compile so many fresh rules before a reader asks for them."""
    return fresh >= FRESH_AT_MOST


def compaction_is_due(main: int, younger: int, dead: int) -> bool:
    """Whether to compile everything: younger and dead rules beside so many in the main index."""
    return younger + dead > max(YOUNGER_AT_LEAST, main // MAIN_OVER_YOUNGER)
