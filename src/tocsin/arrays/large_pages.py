"""Arrays that are read all over, where the system has to look up few addresses.

NumPy asks the system to keep large arrays in large pages, and kernels do not. What a kernel has made is
copied once, and then every event is matched the sooner: the more, the larger the arrays are.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

T = TypeVar("T", bound=tuple[Any, ...])


def in_large_pages(arrays: T) -> T:
    """The same named tuple with a copy of every array; what is no array stays."""
    return type(arrays)(*(each.copy() if isinstance(each, np.ndarray) else each for each in arrays))
