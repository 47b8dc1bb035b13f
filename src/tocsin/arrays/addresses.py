"""Memory that another library owns, read by its address: arrays of columns by the thousand, in one call.

Numba looks for a while at every array that a call hands over. Who has many hands over where they lie,
as a structure of C says, and the loop makes arrays of them as it goes. It has to know that they are
there, and how long.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array


def _interpreted(address: int, length: int, dtype: Any) -> Any:
    size = int(length) * np.dtype(dtype).itemsize
    if not size:
        return np.empty(0, dtype)
    return np.frombuffer((ctypes.c_char * size).from_address(int(address)), dtype)


def _compiled(_typing: Any, _address: Any, _length: Any, dtype: Any) -> tuple[Any, Any]:
    array_type = types.Array(dtype.dtype, 1, "C")

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        array = context.make_array(array_type)(context, builder)
        item = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(dtype.dtype)))
        populate_array(
            array,
            data=builder.inttoptr(arguments[0], array.data.type),
            shape=cgutils.pack_array(builder, [arguments[1]]),
            strides=cgutils.pack_array(builder, [item]),
            itemsize=ir.Constant(item.type, item.constant),
            meminfo=None,
        )
        return array._getvalue()

    return array_type(types.int64, types.int64, dtype), generate


array_at: Any = _interpreted if numba.config.DISABLE_JIT else intrinsic(_compiled)
"""array_at(address, length, dtype): so many elements that lie there; of none, the address may be any."""
