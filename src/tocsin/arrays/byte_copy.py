"""Bytes moved eight at once wherever they stand, and pieces of a text put side by side.

A loop over the bytes of short texts costs several times what moving them as a word does, and Numba has no
way to say "these eight bytes" of an array of bytes. So `move_word` says it in LLVM's terms: one load and one
store that need no alignment.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from tocsin.arrays.dtypes import Bytes, Longs
from tocsin.arrays.jit import inner_kernel, kernel

WORD = 8


def _interpreted(target: Bytes, to: int, source: Bytes, place: int) -> None:
    target[to : to + WORD] = source[place : place + WORD]


def _compiled(_typing: Any, target: Any, _to: Any, source: Any, _place: Any) -> tuple[Any, Any]:
    signature = types.void(target, types.int64, source, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words = []
        for array, place in ((0, 1), (2, 3)):
            data = context.make_array(signature.args[array])(context, builder, arguments[array]).data
            byte = builder.gep(data, [arguments[place]])
            words.append(builder.bitcast(byte, ir.IntType(64).as_pointer()))
        builder.store(builder.load(words[1], align=1), words[0], align=1)
        return context.get_dummy_value()

    return signature, generate


move_word: Any = _interpreted if numba.config.DISABLE_JIT else intrinsic(_compiled)
"""move_word(target, to, source, place): target[to : to + 8] = source[place : place + 8], which are there."""


@inner_kernel
def copy_span(data: Bytes, begin: int, size: int, out: Bytes, place: int) -> None:
    """Copy data[begin : begin + size]; of `out`, up to eight bytes behind it may be written over."""
    if begin + size + WORD <= data.size:
        for moved in range(0, size, WORD):
            move_word(out, place + moved, data, begin + moved)
    else:
        for moved in range(size):
            out[place + moved] = data[begin + moved]


@kernel
def gather_spans(data: Bytes, start: Longs, end: Longs) -> tuple[Longs, Bytes]:
    """Starts and bytes of the pieces data[start[i] : end[i]], one after the other."""
    place = np.zeros(start.size + 1, np.int64)
    for i in range(start.size):
        place[i + 1] = place[i] + end[i] - start[i]
    gathered = np.empty(place[start.size], np.uint8)
    for i in range(start.size):
        for j in range(end[i] - start[i]):
            gathered[place[i] + j] = data[start[i] + j]
    return place, gathered
