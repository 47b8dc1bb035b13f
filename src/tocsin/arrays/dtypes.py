"""The arrays that loops take, by what their elements are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Words = NDArray[np.uint64]
Doubles = NDArray[np.float64]
Flags = NDArray[np.bool_]
