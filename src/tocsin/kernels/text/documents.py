"""The documents of a batch, before they are cut into words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Documents(NamedTuple):
    """The different documents of one field in a batch: each a text, or the elements of a list.

    start      int64[E+1]   bytes of element e: data[start[e] : start[e+1]]
    data       uint8[...]   ASCII as it came, upper case included; everything else normalised UTF-8
    elements   int64[D+1]   elements of document d: elements[d] ... elements[d+1]; no phrase crosses
                            from one to the next
    """

    start: NDArray[np.int64]
    data: NDArray[np.uint8]
    elements: NDArray[np.int64]
