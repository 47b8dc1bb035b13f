"""Drawing from pools: by Zipf's law, and so that nothing of a pool is left over."""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Doubles, Longs

Numbers = Longs


def zipf(rng: np.random.Generator, ranks: int, alpha: float, size: int) -> Numbers:
    """`size` ranks from 0 on; rank r comes with a probability like 1 / (r + 1) ** alpha."""
    if alpha == 0:
        return rng.integers(ranks, size=size)
    return np.searchsorted(zipf_weights(ranks, alpha).cumsum(), rng.random(size), side="right").clip(
        max=ranks - 1
    )


def zipf_weights(ranks: int, alpha: float) -> Doubles:
    """The probabilities of the ranks."""
    weights = np.arange(1, ranks + 1, dtype=np.float64) ** -alpha
    return np.asarray(weights / weights.sum())


def covering(rng: np.random.Generator, ranks: int, alpha: float, size: int) -> Numbers:
    """Ranks by Zipf's law, each at least once (while `size` allows): a part that no expression uses
    is no part of a workload, and would blur how often parts are shared.
    """
    first = np.arange(min(ranks, size))
    drawn = np.concatenate([first, zipf(rng, ranks, alpha, size - len(first))])
    rng.shuffle(drawn)
    return drawn
