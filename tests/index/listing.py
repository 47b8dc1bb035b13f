"""Lists of numbers as kernels hand them on, and as Python has them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tocsin.index.packing import starts
from tocsin.kernels.lists import Lists


def lists_of(some: Iterable[Iterable[int]]) -> Lists:
    """Lists in two arrays."""
    each = [list(numbers) for numbers in some]
    flat = np.array([number for numbers in each for number in numbers], np.int32)
    return Lists(starts([len(numbers) for numbers in each], np.int64), flat)


def plain_lists(lists: Lists) -> list[list[int]]:
    """Lists as Python has them."""
    return [
        lists.item[begin:end].tolist() for begin, end in zip(lists.start[:-1], lists.start[1:], strict=True)
    ]
