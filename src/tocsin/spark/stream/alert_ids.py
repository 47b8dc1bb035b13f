"""In a worker: the ids of alerts.

    id = digest(key) xor digest(rule) xor digest of each carried column     128 bits, 32 hexadecimal digits

A digest depends on the name of the column as well as on the value. So an id depends on what the alert is
about and on nothing else, neither on the batch nor on the version of the rules: whoever is told twice can see
that it is the same. A value is digested once in a batch of rows, however many matches it has.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_BYTES = 16
_HEX = np.array([f"{byte:02x}".encode() for byte in range(256)], "S2").view(np.uint16)
"""The two digits of each byte, as they lie in memory."""


def alert_ids(columns: Mapping[str, pa.Array]) -> pa.StringArray:
    """The ids of alerts by the columns that make them what they are; a null adds nothing."""
    length = len(next(iter(columns.values())))
    total = np.zeros((length, _BYTES), np.uint8)
    for name, column in columns.items():
        coded = column.dictionary_encode()
        digests = _digests(name, coded.dictionary)
        total ^= digests[coded.indices.fill_null(len(digests) - 1).to_numpy()]
    offsets = np.arange(length + 1, dtype=np.int32) * (2 * _BYTES)
    return pa.StringArray.from_buffers(length, pa.py_buffer(offsets), pa.py_buffer(_HEX[total]))


def _digests(name: str, texts: pa.StringArray) -> NDArray[np.uint8]:
    """The digests of texts, and behind them zeros, for null."""
    made = [
        blake2b(text.encode(), digest_size=_BYTES, key=name.encode()).digest() for text in texts.to_pylist()
    ]
    return np.frombuffer(b"".join([*made, bytes(_BYTES)]), np.uint8).reshape(-1, _BYTES)
