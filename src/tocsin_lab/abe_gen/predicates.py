"""The distinct predicates of a workload, as arrays and as texts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Longs
from tocsin_lab.abe_gen.draws import zipf
from tocsin_lab.abe_gen.settings import Dimensions
from tocsin_lab.abe_gen.texts import chosen, decimals, joined, side_by_side

EQ, LT, LE, GT, GE, ONE_OF, NONE_OF, YES, NO = range(9)

MIDDLE = (" = ", " < ", " <= ", " > ", " >= ", " in (", " not in (", "", "")
MOST_VALUES = 5
ROUNDS = 30

STRING_DIGITS = (6, 7)
BOOLEAN_DIGIT = 8
LIST_DIGIT = 9


class Predicates(NamedTuple):
    """Predicate p asks test[p] of field[p]; all are different.

    field    int64[P]      the number of a dimension
    test     int64[P]      EQ ... NO
    value    int64[P, 5]   ascending and different, size[p] of them; the others are the cardinality
    size     int64[P]      none for YES and NO
    """

    field: Longs
    test: Longs
    value: Longs
    size: Longs


def draw_predicates(rng: np.random.Generator, dimensions: Dimensions, count: int) -> Predicates:
    """`count` different predicates, or as many as some rounds of drawing find."""
    found = np.empty((0, 2 + MOST_VALUES), np.int64)
    for _ in range(ROUNDS):
        missing = count - len(found)
        if missing <= 0:
            break
        drawn = np.concatenate([found, _drawn(rng, dimensions, missing + missing // 8 + 8)])
        _, first = np.unique(_codes(drawn, dimensions.cardinality), return_index=True)
        found = drawn[np.sort(first)]
    found = found[rng.permutation(len(found))[:count]]
    value = found[:, 2:]
    return Predicates(found[:, 0], found[:, 1], value, (value < dimensions.cardinality).sum(axis=1))


def predicate_texts(predicates: Predicates) -> pa.LargeStringArray:
    """Every predicate as it is written in a rule."""
    field, test, value, size = predicates
    text = np.repeat(np.isin(field % 10, STRING_DIGITS), size)
    used = np.arange(MOST_VALUES) < size[:, None]
    each = side_by_side(chosen(("", "'v"), text), decimals(value[used]), chosen(("", "'"), text))
    return side_by_side(
        chosen(("d", "not d"), test == NO),
        decimals(field),
        chosen(MIDDLE, test),
        joined(each, np.concatenate([[0], size.cumsum()]), ", "),
        chosen(("", ")"), (test == ONE_OF) | (test == NONE_OF)),
    )


def _drawn(rng: np.random.Generator, dimensions: Dimensions, count: int) -> Longs:
    """Rows of field, test and values, perhaps repeated."""
    mix, most = dimensions.mix, dimensions.cardinality
    field = zipf(rng, dimensions.count, dimensions.zipf, count)
    shares = [mix.equal, *[mix.ranges / 4] * 4, mix.one_of, mix.none_of]
    test = rng.choice(7, count, p=shares)
    digit = field % 10
    test = np.where(np.isin(digit, STRING_DIGITS) & (test < ONE_OF), EQ, test)
    test = np.where((digit == LIST_DIGIT) & (test < ONE_OF), ONE_OF, test)
    test = np.where(digit == BOOLEAN_DIGIT, rng.integers(YES, NO + 1, count), test)
    size = np.where(test >= YES, 0, np.where(test >= ONE_OF, rng.integers(2, MOST_VALUES + 1, count), 1))
    value = zipf(rng, most, dimensions.zipf, MOST_VALUES * count).reshape(count, MOST_VALUES)
    value = np.sort(np.where(np.arange(MOST_VALUES) < size[:, None], value, most), axis=1)
    value[:, 1:][value[:, 1:] == value[:, :-1]] = most
    return np.column_stack([field, test, np.sort(value, axis=1)])


def _codes(rows: Longs, cardinality: int) -> NDArray[np.void]:
    """Something for each row that is equal exactly when the rows are."""
    narrow = np.ascontiguousarray(rows, np.int32 if cardinality > 1 << 15 else np.int16)
    return narrow.view(np.dtype((np.void, narrow.dtype.itemsize * narrow.shape[1]))).ravel()
