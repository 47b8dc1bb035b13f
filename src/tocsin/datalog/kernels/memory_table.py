"""Many arrays behind one: how a kernel reaches all of the activation index with a single argument.

    table   [ address, length | address, length | ... ]      two words for each slot

A call of a kernel costs Python some 0.2 microseconds for each array it hands over, which for the dozens of
arrays of an activation index would be more than the work itself. So the arrays stay where they are, in the
hands of `tocsin.datalog.machine.memory.Memory`, and kernels are given the table of their addresses.
A view is good until an array of its slot takes the place of the one it looks at, which no kernel does.
"""

from __future__ import annotations

from ctypes import c_char
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array
from numpy.typing import NDArray


def _compiled_view(item: Any, size: int) -> Any:
    """The intrinsic `view(table, slot)`: the array of a slot, with nobody counting who holds it."""
    array_type = types.Array(item, 1, "C")

    def view(_context: Any, table: Any, _slot: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            word = context.get_value_type(types.intp)
            first = builder.mul(arguments[1], word(2))
            words = make_array(table)(context, builder, arguments[0]).data
            address = builder.load(builder.gep(words, [first]))
            length = builder.load(builder.gep(words, [builder.add(first, word(1))]))
            made = make_array(array_type)(context, builder)
            populate_array(
                made,
                data=builder.inttoptr(address, context.get_data_type(item).as_pointer()),
                shape=[length],
                strides=[word(size)],
                itemsize=word(size),
                meminfo=None,
            )
            return made._getvalue()

        return array_type(table, types.intp), generate

    return intrinsic(view)


def _plain_view(item: type[np.generic], size: int) -> Any:
    """The same without compilation, for tests that look into kernels."""

    def view(table: NDArray[np.int64], slot: int) -> NDArray[Any]:
        address, length = int(table[2 * slot]), int(table[2 * slot + 1])
        found: Any = (c_char * (length * size)).from_address(address)
        return np.frombuffer(found, dtype=item)

    return view


if numba.config.DISABLE_JIT:
    words = _plain_view(np.int64, 8)
    numbers = _plain_view(np.int32, 4)
else:
    words = _compiled_view(types.int64, 8)
    numbers = _compiled_view(types.int32, 4)
