"""Tuples as texts: how they come, how they are stored, and how they go out.

    number, unsigned    in decimal; read also in hex and binary, as in files of facts
    float               the shortest text that is read back as the same float
    symbol              as it is

Every value has one such text, so that equal values are equal texts: keys and state rely on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.datalog.engine.fact_files import read_value
from tocsin.datalog.language.syntax import Type, Value
from tocsin.datalog.machine.symbols import Symbols, Unfit
from tocsin.errors import InputError

Texts = tuple[str, ...]

_PLAIN = r"\A(0|-?[1-9][0-9]{0,17})\z"
_PLAIN_UNSIGNED = r"\A(0|[1-9][0-9]{0,17})\z"

_READERS: dict[Type, Callable[[str], Value]] = {
    Type.NUMBER: int,
    Type.UNSIGNED: int,
    Type.FLOAT: float,
    Type.SYMBOL: str,
}


def values_of(texts: Sequence[str], types: Sequence[Type]) -> tuple[Value, ...]:
    """The tuple that texts stand for, which are what `texts_of` gives."""
    return tuple([_READERS[kind](text) for text, kind in zip(texts, types, strict=True)])


def texts_of(values: Sequence[Value]) -> Texts:
    """The texts of a tuple."""
    return tuple([repr(value) if isinstance(value, float) else str(value) for value in values])


def one_text_each(texts: pa.Array, kind: Type, column: str) -> tuple[pa.Array, dict[int, str]]:
    """The one text of each value of a column, and what is wrong with those that are no values, by place."""
    wrong = dict.fromkeys(_places(texts.is_null()), f"{column} has no value")
    if kind is Type.SYMBOL:
        return texts, wrong
    if kind is Type.FLOAT:
        others = texts.is_valid()
    else:
        plain = _PLAIN if kind is Type.NUMBER else _PLAIN_UNSIGNED
        others = pc.invert(pc.match_substring_regex(texts, plain))
    places = [place for place in _places(others) if place not in wrong]
    if not places:
        return texts, wrong
    write = Symbols().writer(kind)
    mended = texts.to_pylist()
    for place in places:
        try:
            value = read_value(mended[place], kind, column)
            write(value)
            mended[place] = texts_of([value + 0.0 if isinstance(value, float) else value])[0]
        except Unfit as wanted:
            wrong[place] = f"{column} takes {wanted}, not {mended[place]!r}"
        except InputError as error:
            wrong[place] = str(error)
    return pa.array(mended, pa.string()), wrong


def _places(mask: pa.Array) -> list[int]:
    return np.flatnonzero(np.asarray(mask.fill_null(True))).tolist()
