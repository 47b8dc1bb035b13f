"""One rule's condition changed in its file, every other byte left as it is.

A trigger file has the condition at its line and column. A CSV file has it in a field of the row's
record, which stays quoted as it was; JSON lines in a member of the line's object.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

import numpy as np

from tocsin.errors import InputError, UsageError
from tocsin.rules.rule_set import Rules
from tocsin.tables import BYTE_ORDER_MARK, header_names, lines_at, member_span, record_starts

_FIELD = re.compile(rb'("[^"]*(?:""[^"]*)*"|[^,\r\n]*)(,|\r\n|\n|\r|\Z)')


class _Change(NamedTuple):
    """A condition at the line, and the column of a trigger file, where it was read; and what it becomes."""

    file: str
    line: int
    column: int
    condition: str
    changed: str


def check_rewritable(file: str | None) -> str:
    """The name of a rule's file, if a condition in it can be changed; UsageError if not."""
    if file is None:
        raise UsageError("the rule comes from no file: there is nowhere to write a threshold")
    if not file.lower().endswith((".sql", ".csv", ".jsonl")):
        raise UsageError(f"{file}: only .sql, .csv and .jsonl files are changed, not packed ones and tables")
    return file


def rewritten(data: bytes, rules: Rules, row: int, changed: str) -> bytes:
    """The bytes of the rule's file with another condition of this one rule.

    InputError when the condition does not stand where it was read: the file has changed since.
    """
    file = check_rewritable(rules.file(row))
    change = _Change(file, int(rules.lines[row]), int(rules.columns[row]), rules.whens[row].as_py(), changed)
    write = _WRITERS[file.lower().rsplit(".", 1)[1]]
    try:
        return write(data, change)
    except (ValueError, IndexError):  # not even text, or cut off
        raise _moved(change) from None


def _moved(change: _Change) -> InputError:
    return InputError(
        f"{change.file}:{change.line}: the rule is no longer what was read: read the file again"
    )


def _in_triggers(data: bytes, change: _Change) -> bytes:
    mark = BYTE_ORDER_MARK if data.startswith(BYTE_ORDER_MARK) else b""
    text = data[len(mark) :].decode()
    start = 0
    for _ in range(change.line - 1):
        start = text.find("\n", start) + 1
    start += change.column - 1
    end = start + len(change.condition)
    if text[start:end] != change.condition:
        raise _moved(change)
    return mark + (text[:start] + change.changed + text[end:]).encode()


def _in_csv(data: bytes, change: _Change) -> bytes:
    starts = record_starts(data, change.file)
    lines = lines_at(data, starts)
    at = int(np.searchsorted(lines, change.line))
    if at == len(starts) or lines[at] != change.line or at == 0:
        raise _moved(change)
    place = int(starts[at])
    for _ in range(header_names(data[starts[0] : starts[1]], change.file).index("when")):
        field = _FIELD.match(data, place)
        place = len(data) if field is None else field.end()
    field = _FIELD.match(data, place)
    if field is None or _csv_value(field[1]) != change.condition:
        raise _moved(change)
    written = b'"' + change.changed.encode().replace(b'"', b'""') + b'"'
    return data[: field.start(1)] + written + data[field.end(1) :]


def _csv_value(field: bytes) -> str:
    text = field.decode()
    return text[1:-1].replace('""', '"') if text.startswith('"') else text


def _in_json_lines(data: bytes, change: _Change) -> bytes:
    lines = data.split(b"\n")
    if change.line > len(lines):
        raise _moved(change)
    raw = lines[change.line - 1]
    mark = BYTE_ORDER_MARK if change.line == 1 and raw.startswith(BYTE_ORDER_MARK) else b""
    text = raw[len(mark) :].decode()
    start, end = member_span(text, "when")
    if json.loads(text[start:end]) != change.condition:
        raise _moved(change)
    written = json.dumps(change.changed, ensure_ascii=text[start:end].isascii())
    lines[change.line - 1] = mark + (text[:start] + written + text[end:]).encode()
    return b"\n".join(lines)


_WRITERS = {"sql": _in_triggers, "csv": _in_csv, "jsonl": _in_json_lines}
