"""Which fields events have, and values of which kinds: what conditions are checked against.

A schema comes from Arrow, from event files, or from a JSON file that says so:

    {"age": "integer", "name": "string", "seen": "timestamp",
     "user": {"tags": ["string"], "device.os": "string"},        a dotted name is a path, inside an object too
     "orders": [{"price": "decimal(10,2)"}],                     a list of objects
     "\\"a.b\\"": "boolean",                                       quoted: one key with a dot
     "labels": "map<string,string>"}                             any key may follow

JSON lines may be named .json too, so such a file is one of events when its first line is an object and
others follow it, or when it is a single line that holds a number, a Boolean or a null, and no type.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path as FilePath

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt

from tocsin.errors import InputError
from tocsin.events.cells import Path, path_text
from tocsin.events.csv_columns import ColumnType
from tocsin.events.kinds import Kind
from tocsin.events.slices import Slice, event_files, plan_slices
from tocsin.storage import files_at
from tocsin.tables import is_list, is_text, open_records, parse_lines, reading, record_lines

Kinds = frozenset[Kind]

ANY_KIND: Kinds = frozenset({Kind.NUMBER, Kind.STRING, Kind.BOOLEAN, Kind.TIMESTAMP})
_NUMBER, _STRING = frozenset({Kind.NUMBER}), frozenset({Kind.STRING})
_BOOLEAN, _TIMESTAMP = frozenset({Kind.BOOLEAN}), frozenset({Kind.TIMESTAMP})

KINDS_OF_NAME: dict[str, Kinds] = {
    **dict.fromkeys(
        ["number", "integer", "int", "long", "short", "byte", "bigint", "smallint", "tinyint"], _NUMBER
    ),
    **dict.fromkeys(["float", "double", "real", "numeric", "decimal"], _NUMBER),
    **dict.fromkeys(["string", "str", "text", "varchar", "char"], _STRING),
    **dict.fromkeys(["boolean", "bool"], _BOOLEAN),
    **dict.fromkeys(["timestamp", "datetime", "date"], _TIMESTAMP),
    "any": ANY_KIND,
}
_KINDS_OF_CSV = {
    ColumnType.BOOLEAN: _BOOLEAN,
    ColumnType.INTEGER: _NUMBER,
    ColumnType.LONG_INTEGER: _NUMBER,
    ColumnType.FLOAT: _NUMBER,
    ColumnType.STRING: _STRING,
    ColumnType.EMPTY: ANY_KIND,
}
_LINES_AT_ONCE = 256
_OBJECT_NAMES = frozenset({"object", "struct", "map"})
_TYPE_NAMES = _OBJECT_NAMES.union(KINDS_OF_NAME)
_LIST_NAME = re.compile(r"(?:list|array)\s*<(.*)>\Z", re.DOTALL)
_NAME_IN_PATH = re.compile(r'"((?:[^"]|"")*)"(?:\.|\Z)|([^."]+)(?:\.|\Z)')


@dataclass(frozen=True)
class Schema:
    """The known fields. An object is a field with no kind; `open` are objects whose keys may be any.

    A field of which only nulls are known may be of any kind.
    """

    kinds: Mapping[Path, Kinds]
    open: frozenset[Path] = frozenset()

    @staticmethod
    def of_arrow(schema: pa.Schema) -> Schema:
        """The schema of tables."""
        found = _Found()
        found.add_arrow(schema)
        return found.schema()

    @staticmethod
    def of_events(events: Iterable[Mapping[str, object]]) -> Schema:
        """Of events as Python has them."""
        found = _Found()
        for event in events:
            found.add_event(event)
        return found.schema()

    @staticmethod
    def of_slice(piece: Slice) -> Schema:
        """Of a part of event files; a table's head tells, JSON lines are read through."""
        found = _Found()
        found.add_slice(piece)
        return found.schema()

    @staticmethod
    def read(path: str | os.PathLike[str]) -> Schema:
        """From a .json file as shown above, or from the events in a file or folder."""
        first, *others = files_at(path)
        file = FilePath(first)
        if not others and file.suffix.lower() == ".json" and file.is_file() and not _holds_events(file):
            return _read_description(file)
        return _read_events(path)


class _Found:
    """A schema being put together."""

    def __init__(self) -> None:
        self.kinds: dict[Path, set[Kind]] = {}
        self.objects: set[Path] = set()
        self.open: set[Path] = set()

    def add(self, path: Path, kinds: Iterable[Kind]) -> None:
        """A field that may hold these kinds, none known as yet when there are none."""
        self.kinds.setdefault(path, set()).update(kinds)

    def add_object(self, path: Path, *, is_open: bool = False) -> None:
        """A field that holds objects."""
        self.add(path, ())
        self.objects.add(path)
        if is_open:
            self.open.add(path)

    def schema(self) -> Schema:
        """The schema: what has no kind and is no object was never seen but null."""
        kinds = {
            path: frozenset(found) if found or path in self.objects else ANY_KIND
            for path, found in self.kinds.items()
        }
        return Schema(kinds, frozenset(self.open))

    def add_arrow(self, schema: pa.Schema) -> None:
        """The fields of tables."""
        todo: list[tuple[Path, pa.DataType]] = [((field.name,), field.type) for field in schema]
        while todo:
            path, data_type = todo.pop()
            data_type = _unwrapped(data_type)
            if is_list(data_type):
                todo.append((path, data_type.value_type))
            elif pt.is_struct(data_type):
                self.add_object(path)
                todo.extend(((*path, member.name), member.type) for member in data_type)
            elif pt.is_map(data_type):
                self.add_object(path, is_open=True)
            else:
                self._add_arrow_leaf(path, data_type)

    def _add_arrow_leaf(self, path: Path, data_type: pa.DataType) -> None:
        if pt.is_null(data_type):
            self.add(path, ())
        elif pt.is_integer(data_type) or pt.is_floating(data_type) or pt.is_decimal(data_type):
            self.add(path, _NUMBER)
        elif is_text(data_type):
            self.add(path, _STRING)
        elif pt.is_boolean(data_type):
            self.add(path, _BOOLEAN)
        elif pt.is_timestamp(data_type) or pt.is_date(data_type):
            self.add(path, _TIMESTAMP)
        else:  # binary and the like: no more to compare than an object has
            self.add_object(path)

    def add_event(self, event: Mapping[str, object]) -> None:
        """The fields of one event."""
        todo: list[tuple[Path, object]] = [((name,), value) for name, value in event.items()]
        while todo:
            path, value = todo.pop()
            if isinstance(value, Mapping):
                self.add_object(path)
                todo.extend(((*path, name), member) for name, member in value.items())
            elif isinstance(value, list | tuple):
                self.add(path, ())
                todo.extend((path, element) for element in value)
            elif value is None:
                self.add(path, ())
            elif isinstance(value, bool):
                self.add(path, _BOOLEAN)
            else:
                self.add(path, _STRING if isinstance(value, str) else _NUMBER)

    def add_slice(self, piece: Slice) -> None:
        """The fields of events in a part of a file."""
        if piece.format == "csv":
            for name, column_type in piece.layout:
                self.add((name,), _KINDS_OF_CSV[column_type])
            return
        with reading(piece.file):
            if piece.format == "parquet":
                self.add_arrow(pq.read_schema(piece.file))
                return
            with open_records(piece.file) as stream:
                if piece.start:
                    stream.seek(piece.start)
                lines = record_lines(stream, piece.start, piece.stop)
                while some := list(islice(lines, _LINES_AT_ONCE)):
                    for event in parse_lines(some).objects:
                        self.add_event(event)


def _unwrapped(data_type: pa.DataType) -> pa.DataType:
    """The type of the values, however they are stored; see `arrow_types.plain`."""
    while True:
        if isinstance(data_type, pa.BaseExtensionType):
            is_truth = data_type.extension_name == "arrow.bool8"
            data_type = pa.bool_() if is_truth else data_type.storage_type
        elif pt.is_dictionary(data_type) or pt.is_run_end_encoded(data_type):
            data_type = data_type.value_type
        else:
            return data_type


def _read_events(path: str | os.PathLike[str]) -> Schema:
    found = _Found()
    files, file_format = event_files(path)
    if file_format == "csv":
        found.add_slice(plan_slices(path)[0])
    else:
        for file in files:
            found.add_slice(Slice(file, file_format, 0, None))
    return found.schema()


def _holds_events(file: FilePath) -> bool:
    """Whether a .json file holds events, a line each, and not one object that describes them."""
    with reading(file), open_records(str(file)) as stream:
        lines = list(islice(record_lines(stream), 2))
    first = parse_lines(lines[:1]).objects
    return bool(first) and (len(lines) > 1 or _is_event(first[0]))


def _is_event(said: Mapping[str, object]) -> bool:
    """Whether an object cannot be meant as a description: it has values that are no text, and no type."""
    todo: list[object] = [said]
    texts: list[str] = []
    others = 0
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            todo.extend(value.values())
        elif isinstance(value, list):
            todo.extend(value)
        elif isinstance(value, str):
            texts.append(value)
        else:
            others += 1
    return others > 0 and not any(_type_word(text) in _TYPE_NAMES for text in texts)


def _read_description(file: FilePath) -> Schema:
    try:
        described = json.loads(file.read_bytes().decode("utf-8-sig"))
    except RecursionError:
        raise InputError(f"{file}: nested too deep") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: cannot be read: {error}") from error
    if not isinstance(described, dict):
        raise InputError(f"{file}: an object from fields to types is expected")
    found = _Found()
    todo: list[tuple[Path, object]] = [((), described)]
    while todo:
        path, said = todo.pop()
        if isinstance(said, dict):
            if path:
                found.add_object(path, is_open=not said)
            for name, member in said.items():
                todo.append((path + _path_of(name, file), member))
                for end in range(len(path) + 1, len(todo[-1][0])):
                    found.add_object(todo[-1][0][:end])
        elif isinstance(said, list):
            found.add(path, ())
            todo.extend((path, element) for element in said)
        else:
            _add_named(found, path, said, file)
    return found.schema()


def _path_of(name: str, file: FilePath) -> Path:
    """A name with dots as a path; a part in double quotes may hold any text."""
    parts = []
    place = 0
    while place < len(name):
        part = _NAME_IN_PATH.match(name, place)
        if part is None:
            raise InputError(
                f'{file}: {name!r} is not a field: names with dots between, or "any text" in quotes'
            )
        parts.append(part[2] if part[1] is None else part[1].replace('""', '"'))
        place = part.end()
    if not parts or name.endswith("."):
        raise InputError(f"{file}: {name!r} is not a field: a name is missing")
    return tuple(parts)


def _type_word(text: str) -> str:
    """What a type's text calls the values: `string` for `list<string>`, `decimal` for `decimal(10,2)`."""
    name = text.strip().lower()
    while inner := _LIST_NAME.match(name):
        name = inner[1].strip()
    return re.split(r"[(<\[]", name, maxsplit=1)[0].strip()


def _add_named(found: _Found, path: Path, said: object, file: FilePath) -> None:
    """A field whose type is given by name."""
    word = _type_word(said) if isinstance(said, str) else ""
    if word in KINDS_OF_NAME:
        found.add(path, KINDS_OF_NAME[word])
    elif word in _OBJECT_NAMES:
        found.add_object(path, is_open=True)
    else:
        known = ", ".join([*KINDS_OF_NAME, "object", "map", "list<...>"])
        raise InputError(f"{file}: the field {path_text(path)} has the type {said!r}; known are {known}")
