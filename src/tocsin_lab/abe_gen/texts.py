"""Texts put together by the column, in Arrow: no Python string for each rule."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Flags, Longs


def side_by_side(*parts: pa.LargeStringArray | str) -> pa.LargeStringArray:
    """The parts of each row, one behind the other; a plain string stands in every row."""
    columns = [pa.scalar(part, pa.large_string()) if isinstance(part, str) else part for part in parts]
    return pc.binary_join_element_wise(*columns, pa.scalar("", pa.large_string()))


def joined(texts: pa.LargeStringArray, start: Longs, joint: pa.LargeStringArray | str) -> pa.LargeStringArray:
    """Row i is texts[start[i] : start[i+1]] with a joint between each two."""
    rows = pa.LargeListArray.from_arrays(pa.array(start), texts)
    return pc.binary_join(rows, pa.scalar(joint, pa.large_string()) if isinstance(joint, str) else joint)


def chosen(texts: Sequence[str], which: NDArray[np.integer] | Flags) -> pa.LargeStringArray:
    """texts[which[i]] for each row."""
    return pa.array(texts, pa.large_string()).take(pa.array(which.astype(np.int64)))


def decimals(numbers: Longs) -> pa.LargeStringArray:
    """Numbers as they are written."""
    return pa.array(numbers).cast(pa.large_string())
