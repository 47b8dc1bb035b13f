"""How arrays that are filled one by one get longer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import kernel


@kernel
def enlarged(room: int, needed: int) -> int:
    """The room there is when it is enough, else at least twice as much: so copying costs little."""
    return room if needed <= room else max(needed, 2 * room)


@kernel
def with_room(numbers: NDArray[np.int32], used: int, more: int) -> NDArray[np.int32]:
    """The same array when there is room for `more` numbers behind the first `used`, else a longer copy."""
    if used + more <= numbers.size:
        return numbers
    longer = np.empty(enlarged(numbers.size, used + more), np.int32)
    for i in range(used):
        longer[i] = numbers[i]
    return longer
