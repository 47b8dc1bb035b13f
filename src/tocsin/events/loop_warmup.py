"""The loops that read events, compiled before they are needed: each reads two records."""

from __future__ import annotations

import io
from collections import deque

from tocsin.events.csv_chunks import Wanted
from tocsin.events.csv_columns import ColumnType
from tocsin.events.kernels.json_scan import count_lines
from tocsin.events.scanned_lines import scanned_lines
from tocsin.events.scanned_records import scanned_records
from tocsin.events.text_window import TextWindow

_LINES = b'{"a": 1.5, "b": [true, "x", {"c": null}], "\\u0063": "\\u00e9"}\n' * 2
_RECORDS = b'a,b,c\n1.5,true,"x ""y"""\n2,false,\xc3\xa9\n'
_TYPES = {"a": ColumnType.FLOAT, "b": ColumnType.BOOLEAN, "c": ColumnType.STRING}


def compile_loops() -> None:
    """Read some lines of JSON and records of CSV, and count lines."""
    lines = _window(_LINES)
    count_lines(lines.buffer, 0, lines.size)
    deque(scanned_lines(lines, 0, [("a",), ("b", "c")], ["a"], 8, many=0), 0)
    wanted = Wanted(_TYPES, ["a"], dict.fromkeys(_TYPES, 0))
    deque(scanned_records("", _window(_RECORDS), list(_TYPES), wanted, 0, 8, many=0), 0)


def _window(text: bytes) -> TextWindow:
    window = TextWindow(io.BytesIO(text))
    window.fill(len(text) + 1)
    return window
