"""The values of one `in`: each once, ascending."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.jit import kernel


@kernel
def _precedes(
    a_high: int, a_low: int, b_high: int, b_low: int, is_text: bool, text: NDArray[np.uint8]
) -> bool:
    """Whether operand a comes before operand b: by key, or strings byte by byte."""
    if not is_text:
        return a_high < b_high or (a_high == b_high and a_low < b_low)
    for i in range(min(a_low, b_low)):
        if text[a_high + i] != text[b_high + i]:
            return text[a_high + i] < text[b_high + i]
    return a_low < b_low


@kernel
def order_values(
    high: NDArray[np.int64],
    low: NDArray[np.int64],
    start: int,
    end: int,
    is_text: bool,
    text: NDArray[np.uint8],
) -> int:
    """Sort operands start ... end by Shell's method and leave each once; the new end."""
    gap = 1
    while gap < (end - start) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(start + gap, end):
            value_high = high[i]
            value_low = low[i]
            j = i
            while j >= start + gap and _precedes(
                value_high, value_low, high[j - gap], low[j - gap], is_text, text
            ):
                high[j] = high[j - gap]
                low[j] = low[j - gap]
                j -= gap
            high[j] = value_high
            low[j] = value_low
        gap //= 3
    kept = start + 1
    for i in range(start + 1, end):
        if _precedes(high[kept - 1], low[kept - 1], high[i], low[i], is_text, text):
            high[kept] = high[i]
            low[kept] = low[i]
            kept += 1
    return kept


@kernel
def pack_strings(
    high: NDArray[np.int64],
    low: NDArray[np.int64],
    start: int,
    end: int,
    text: NDArray[np.uint8],
    first: int,
    spare: NDArray[np.uint8],
) -> int:
    """Bring the strings of operands start ... end into order from text[first] on; their new end.

    `high` is left 0. spare has room for all of them.
    """
    used = 0
    for i in range(start, end):
        for j in range(low[i]):
            spare[used + j] = text[high[i] + j]
        used += low[i]
        high[i] = 0
    for j in range(used):
        text[first + j] = spare[j]
    return first + used
