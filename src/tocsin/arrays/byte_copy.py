"""Eight bytes moved at once, wherever they stand.

A loop over the bytes of short texts costs several times what moving them as a word does, and Numba has no
way to say "these eight bytes" of an array of bytes. So this says it in LLVM's terms: one load and one
store that need no alignment.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

WORD = 8


def _interpreted(target: NDArray[np.uint8], to: int, source: NDArray[np.uint8], place: int) -> None:
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
