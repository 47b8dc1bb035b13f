"""Many arrays behind one: how a kernel reaches all of the activation index with a single argument.

    table   [ address, length | address, length | ... ]      two words for each slot

A call of a kernel costs Python some 0.2 microseconds for each array it hands over, which for the dozens of
arrays of an activation index would be more than the work itself. So the arrays stay where they are, in the
hands of `tocsin.datalog.machine.store.Memory`, and kernels are given the table of their addresses.
A view is good until an array of its slot takes the place of the one it looks at, which no kernel does.

All kernels that read the table do so by this module, and name slots and fields as the module layout does. It
is by the import below that their machine code is made anew when the layout changes.
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

from tocsin.arrays.dtypes import Longs
from tocsin.datalog.kernels.layout import INDEX, INDEXES, LINK, LINKS, RELATION, RELATIONS


def _compiled_view(item: Any, size: int, slot: int = 0, width: int = 0) -> Any:
    """The intrinsic `view(table, slot)`: the array of a slot, with nobody counting who holds it.

    Of records of some width: `view(table, number)`, what is in their slot from one of them on.
    """
    array_type = types.Array(item, 1, "C")

    def view(_context: Any, table: Any, _number: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            word = context.get_value_type(types.intp)
            place = word(2 * slot) if width else builder.mul(arguments[1], word(2))
            first = builder.mul(arguments[1], word(width))
            words = make_array(table)(context, builder, arguments[0]).data
            address = builder.load(builder.gep(words, [place]))
            length = builder.load(builder.gep(words, [builder.add(place, word(1))]))
            data = builder.inttoptr(address, context.get_data_type(item).as_pointer())
            made = make_array(array_type)(context, builder)
            populate_array(
                made,
                data=builder.gep(data, [first]),
                shape=[builder.sub(length, first)],
                strides=[word(size)],
                itemsize=word(size),
                meminfo=None,
            )
            return made._getvalue()

        return array_type(table, types.intp), generate

    return intrinsic(view)


def _plain_view(item: Any, size: int, slot: int = 0, width: int = 0) -> Any:
    """The same without compilation, for tests that look into kernels."""

    def view(table: Longs, number: int) -> NDArray[Any]:
        place = 2 * (slot if width else number)
        found: Any = (c_char * (int(table[place + 1]) * size)).from_address(int(table[place]))
        return np.frombuffer(found, dtype=str(item))[number * width :]

    return view


_view = _plain_view if numba.config.DISABLE_JIT else _compiled_view

words = _view(types.int64, 8)
numbers = _view(types.int32, 4)

relation_record = _view(types.int64, 8, RELATIONS, RELATION)
"""The fields of a relation, R_ARITY and so on; those of the next ones follow."""

index_record = _view(types.int64, 8, INDEXES, INDEX)
"""The fields of a data index, I_WIDTH and so on."""

link_record = _view(types.int64, 8, LINKS, LINK)
"""The fields of a link, L_RELATION and so on."""
