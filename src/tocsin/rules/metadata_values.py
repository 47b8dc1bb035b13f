"""What a column of metadata says to which rules; and `enabled`, which keeps a rule from matching.

A rule with `enabled = false` is read and checked, kept, listed and saved as any other, and matches nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Longs

ENABLED = "enabled"


def given_values(metadata: pa.Table | None, name: str) -> list[tuple[Longs, Any]]:
    """The rows of each different value of a column, nulls and blank texts left out.

    Blank texts are nothing, as tables write what is not given.
    """
    if metadata is None or name not in metadata.column_names:
        return []
    column = metadata[name].combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    if pa.types.is_nested(column.type):
        rows = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
        return [(rows[at : at + 1], column[int(row)].as_py()) for at, row in enumerate(rows)]
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(len(encoded.dictionary) + 1))
    return [
        (order[starts[code] : starts[code + 1]], value)
        for code, value in enumerate(encoded.dictionary.to_pylist())
        if not _is_blank(value)
    ]


def parse_enabled(value: object) -> bool:
    """Whether a value of `enabled` lets a rule match; ValueError unless it is true or false, or its text."""
    known = {"true": True, "false": False}
    found = known.get(value.strip().lower()) if isinstance(value, str) else value
    if not isinstance(found, bool | np.bool_):
        raise ValueError(f"expected true or false, found {value!r:.100}")
    return bool(found)


def is_disabled(metadata: Mapping[str, Any] | None) -> bool:
    """Whether the metadata of one rule, found to be right, keep it from matching."""
    value = None if metadata is None else metadata.get(ENABLED)
    return not _is_blank(value) and not parse_enabled(value)


def read_enabled(metadata: pa.Table | None) -> tuple[Longs, dict[int, str]]:
    """The rows of the rules that never match, ascending; by row, why some cannot be read."""
    disabled = [np.zeros(0, np.int64)]
    wrong: dict[int, str] = {}
    for rows, value in given_values(metadata, ENABLED):
        try:
            if not parse_enabled(value):
                disabled.append(rows)
        except ValueError as error:
            wrong.update(dict.fromkeys(rows.tolist(), f"{ENABLED}: {error}"))
    return np.sort(np.concatenate(disabled)), wrong


def _is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())
