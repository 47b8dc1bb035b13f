"""Many arrays handed to a kernel as one: where each lies, and how long it is.

Numba looks at every array of an argument anew in each call, which for an index of fifty arrays takes longer
than to match one event. So they are looked at once:

    block = pin(tables)                         Python: address and length of every array
                                                  of the tuple, and of tuples within it
    tables = pinned(block, Tables)              kernel: the tuple again, at the price of reading the block

The tuple says in its annotations of which types its arrays are; all have one dimension. Whoever holds the
block holds the arrays, too: a kernel that is given the block of arrays which are gone reads anything.
"""

from __future__ import annotations

from functools import cache
from typing import Any, get_args, get_type_hints

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.types.containers import BaseTuple
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array
from numba.np.numpy_support import from_dtype

from tocsin.arrays.dtypes import Longs


def pin(parts: tuple[Any, ...]) -> Longs:
    """Where the arrays of a named tuple are. They must be of the types that it declares."""
    if numba.config.DISABLE_JIT:
        return parts  # type: ignore[return-value]
    return np.array(_places(parts), np.int64)


def _places(parts: Any) -> list[int]:
    places: list[int] = []
    for (name, kind), part in zip(_kinds(parts.__class__).items(), parts, strict=True):
        if hasattr(kind, "_fields"):
            places += _places(part)
            continue
        if part.dtype != _dtype(kind) or part.ndim != 1 or not part.flags.c_contiguous:
            raise TypeError(f"{type(parts).__name__}.{name} is {part.dtype} of {part.ndim} dimensions")
        places += (part.__array_interface__["data"][0], len(part))
    return places


@cache
def _kinds(parts: Any) -> dict[str, Any]:
    return get_type_hints(parts)


@cache
def _dtype(kind: Any) -> np.dtype[Any]:
    dtype: np.dtype[Any] = np.dtype(get_args(get_args(kind)[1])[0])
    return dtype


def _type_of(kind: Any) -> Any:
    if not hasattr(kind, "_fields"):
        return types.Array(from_dtype(_dtype(kind)), 1, "C")
    return BaseTuple.from_types([_type_of(each) for each in _kinds(kind).values()], kind)


def _compiled(_typing: Any, _block: Any, kind: Any) -> tuple[Any, Any]:
    whole = _type_of(kind.instance_class)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        block = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = 0

        def following() -> Any:
            nonlocal place
            place += 1
            return builder.load(builder.gep(block, [ir.IntType(64)(place - 1)]))

        def made(typ: Any) -> Any:
            if isinstance(typ, BaseTuple):
                return context.make_tuple(builder, typ, [made(each) for each in typ.types])
            array = context.make_array(typ)(context, builder)
            data = builder.inttoptr(following(), array.data.type)
            item = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(typ.dtype)))
            populate_array(
                array,
                data=data,
                shape=cgutils.pack_array(builder, [following()]),
                strides=cgutils.pack_array(builder, [item]),
                itemsize=item,
                meminfo=None,
            )
            return array._getvalue()

        return made(whole)

    return whole(_block, kind), generate


def _interpreted(block: Any, _kind: Any) -> Any:
    return block


pinned: Any = _interpreted if numba.config.DISABLE_JIT else intrinsic(_compiled)
