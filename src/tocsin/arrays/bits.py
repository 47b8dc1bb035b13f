"""Machine instructions that Numba does not offer: counting and finding bits, loading words, prefetching.

The lowest bit of a word that has none is its 64th, and it has 64 leading zeros.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Bytes

ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
LOWER_HALF = np.uint64(0x0000_0000_FFFF_FFFF)
UPPER_HALF = np.uint64(0xFFFF_FFFF_0000_0000)
HALF = np.uint64(32)
"""Bits of half a word."""

EVERY_BYTE = np.uint64(0x0101_0101_0101_0101)
"""The lowest bit of every byte."""


@intrinsic  # type: ignore[untyped-decorator]
def _population(_context: Any, _word: Any) -> Any:
    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _trailing_zeros(_context: Any, _word: Any) -> Any:
    def generate(context: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], context.get_constant(types.boolean, 0))

    return types.uint64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _leading_zeros(_context: Any, _word: Any) -> Any:
    def generate(context: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], context.get_constant(types.boolean, 0))

    return types.uint64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _prefetch(_context: Any, array: Any, _place: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(8).as_pointer())
        flag = ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [address.type, flag, flag, flag])
        prefetch = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0i8")
        builder.call(prefetch, [address, flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _load_eight(_context: Any, array: Any, _place: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(64).as_pointer())
        return builder.load(address, align=1)

    return types.uint64(array, types.int64), generate


def _plain_count(word: np.uint64) -> int:
    return int(word).bit_count()


def _plain_lowest(word: np.uint64) -> int:
    return (int(word) & -int(word)).bit_length() - 1 if word else 64


def _plain_leading(word: np.uint64) -> int:
    return 64 - int(word).bit_length()


def _plain_eight_bytes(data: Bytes, at: int) -> np.uint64:
    return np.uint64(int.from_bytes(data[at : at + 8].tobytes(), "little"))


def _compiled_count(word: np.uint64) -> int:
    return np.int64(_population(np.uint64(word)))


def _compiled_lowest(word: np.uint64) -> int:
    return np.int64(_trailing_zeros(np.uint64(word)))


def _compiled_leading(word: np.uint64) -> int:
    return np.int64(_leading_zeros(np.uint64(word)))


def _plain_prefetch(array: NDArray[Any], place: int) -> None:
    pass


def _compiled_prefetch(array: NDArray[Any], place: int) -> None:
    _prefetch(array, np.int64(place))


def _compiled_eight_bytes(data: Bytes, at: int) -> np.uint64:
    return _load_eight(data, np.int64(at))


if numba.config.DISABLE_JIT:
    count_bits, lowest_bit, prefetch = _plain_count, _plain_lowest, _plain_prefetch
    eight_bytes, leading_zeros = _plain_eight_bytes, _plain_leading
else:
    count_bits = numba.njit(inline="always")(_compiled_count)
    lowest_bit = numba.njit(inline="always")(_compiled_lowest)
    leading_zeros = numba.njit(inline="always")(_compiled_leading)
    prefetch = numba.njit(inline="always")(_compiled_prefetch)
    eight_bytes = numba.njit(inline="always")(_compiled_eight_bytes)
