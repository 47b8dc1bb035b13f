"""Numbers made to look random, the same ones on every machine: the order in which sketches choose.

All are from 0 to 2^63 - 1, so that Spark, which has no unsigned numbers, sorts them alike.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Longs, Words
from tocsin.arrays.packed import text_arrays
from tocsin.arrays.text_table import hash_texts_evenly

_STEP = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(1)


def row_hashes(run: int, partition: int, first: int, count: int) -> Longs:
    """The hashes of rows first, first + 1 ... of one partition in one run over a history."""
    salt = _mixed(np.array([run], np.uint64) * _STEP + np.uint64(partition))
    rows = np.arange(first, first + count, dtype=np.uint64)
    return (_mixed(_mixed(rows + salt) + _STEP) >> _ONE).astype(np.int64)


def pair_hashes(high: Longs, low: Longs) -> Longs:
    """The hashes of values that are pairs of integers (see conditions/graph/value_keys.py)."""
    inner = _mixed(high.astype(np.uint64) + _STEP) + low.astype(np.uint64)
    return (_mixed(inner) >> _ONE).astype(np.int64)


def text_hashes(texts: pa.LargeStringArray) -> Longs:
    """The hashes of texts."""
    return (hash_texts_evenly(*text_arrays(texts)) >> _ONE).astype(np.int64)


def _mixed(value: Words) -> Words:
    """Steele, Lea and Flood's SplitMix: every bit of the result depends on every bit of the value."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))
