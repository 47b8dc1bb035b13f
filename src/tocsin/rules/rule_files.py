"""Rules from files and folders: .sql, .csv, .tsv, .jsonl, .json (each also packed) and .parquet.

What a file is its name tells; where that does not say, and of standard input, what is in it.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tocsin.arrays.array_file import MAGIC
from tocsin.arrays.dtypes import Longs
from tocsin.errors import InputError, RuleError, UsageError, telling, window_around
from tocsin.printable import described
from tocsin.rules.rule_columns import check_names, columns_of_pairs
from tocsin.rules.rule_metadata import metadata_of_rows
from tocsin.rules.rule_set import Rules
from tocsin.rules.triggers import parse_triggers
from tocsin.storage import files_at
from tocsin.tables import (
    BYTE_ORDER_MARK,
    PARQUET_MAGIC,
    Frame,
    HalfAPair,
    NotAnObject,
    beginning,
    elements,
    header_names,
    is_array,
    is_frame,
    is_parquet,
    lines_at,
    object_of,
    parquet_files,
    read_bytes,
    read_table,
    record_starts,
    table_of,
    told_delimiter,
    told_format,
)


@telling("reading rules")
def read_rules(*paths: str | os.PathLike[str] | Frame, skip_bad: bool = False) -> Rules:
    """Read every rule of the files, and of the folders' files by path, hidden ones left out.

    A path may be a pattern ('rules/*.sql'), or - for standard input; in the place of a path may be a table of
    any kind (Arrow, pandas, polars, DuckDB).

    Raises InputError for a path that is missing, of another kind or without rule files, and RuleError
    or RuleErrors with every rule that cannot be one: all errors of trigger files, and for tables the
    rows without an id or a condition; ids that occur twice. With skip_bad these rules are left out
    and their errors are in `rejected`.
    """
    if not paths:
        raise UsageError("read_rules needs at least one file or folder")
    parts: list[Rules] = []
    for path in paths:
        if isinstance(path, str | os.PathLike):
            parts += map(read_file, rule_files(path))
        elif is_frame(path):
            parts.append(Rules.of_table(table_of(path)))
        else:
            raise UsageError(f"read_rules takes paths and tables, not {described(path)}: build takes rules")
    return Rules.concat(parts, skip_bad=skip_bad)


def rule_files(path: str | os.PathLike[str]) -> list[Path]:
    """The files that read_rules reads for a path, in its order: the file itself, or those of the folder.

    Raises InputError for a path that is missing, of another kind or without rule files.
    """
    return [file for each in files_at(path) for file in _files_at(Path(each))]


def _files_at(path: Path) -> list[Path]:
    if path.is_dir():
        found = sorted(file for file in path.rglob("*") if _is_rule_file(file, path))
        if not found:
            raise InputError(
                f"{path}: no rule files in this folder: expected {', '.join([*READERS, PARQUET])}"
            )
        return found
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder")
    _ending(path)
    return [path]


def _ending(path: Path) -> str:
    """The ending of names of files of this kind: its own, or the one for what is in it."""
    if is_parquet(path):
        return PARQUET
    name = path.name.lower()
    named = Path(name.removesuffix(".gz")).suffix
    if named in READERS or name.endswith(PARQUET):
        return named
    data = beginning(path)
    told = _told_ending(data)
    if told is None:
        if data.startswith(MAGIC):
            raise InputError(f"{path}: this is a saved index, and rule files are expected")
        reason = "not a rule file" if data else "the file is empty"
        raise InputError(f"{path}: {reason}: expected {', '.join([*READERS, PARQUET])}")
    return told


def _told_ending(data: bytes) -> str | None:
    if b"\0" in data or data.startswith(PARQUET_MAGIC):
        return None
    if told_format(data) == "jsonl":
        return ".jsonl"
    text = data.lstrip()
    if text[:2] in (b"--", b"/*") or text[:6].lower() == b"create":
        return ".sql"
    head = data.partition(b"\n")[0].decode("utf-8", "replace")
    delimiter = told_delimiter(data)
    names = {name.strip(' "\r') for name in head.split(delimiter)}
    if {"id", "when"} <= names:
        return ".tsv" if delimiter == "\t" else ".csv"
    return None


def _is_rule_file(file: Path, folder: Path) -> bool:
    if not file.name.lower().endswith(SUFFIXES) or not file.is_file():
        return False
    return not any(part.startswith(".") for part in file.relative_to(folder).parts)


def read_file(path: Path) -> Rules:
    """The rules of one file; ids may still repeat, and what cannot be a rule is in `rejected`."""
    ending = _ending(path)
    if ending == PARQUET:
        return _read_parquet(path)
    return READERS[ending](read_bytes(path), str(path))


def _read_parquet(path: Path) -> Rules:
    try:
        table = parquet_files.read_table(path)
    except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
        raise InputError(f"{path}: not a Parquet file: {error}") from None
    return Rules.of_table(table, file=str(path))


def _read_sql(data: bytes, file: str) -> Rules:
    return rules_of_triggers(_text(data, file).removeprefix("\ufeff"), file)


def rules_of_triggers(text: str, file: str | None = None) -> Rules:
    """The rules of a trigger file's text; ids may still repeat, and bad statements are in `rejected`."""
    triggers, errors = parse_triggers(text, file)
    return Rules(
        pa.array([trigger.name for trigger in triggers], pa.large_string()),
        pa.array([trigger.when for trigger in triggers], pa.large_string()),
        lines=np.array([trigger.line for trigger in triggers], np.int64),
        columns=np.array([trigger.column for trigger in triggers], np.int32),
        files=(file,),
        aliases={row: trigger.alias for row, trigger in enumerate(triggers) if trigger.alias is not None},
        triggers=dict(enumerate(triggers)),
        metadata=metadata_of_rows([trigger.metadata() for trigger in triggers], file),
        rejected=errors,
    )


def _text(data: bytes, file: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{file}:{line}: the file is not UTF-8 text") from None


def read_csv(data: bytes, file: str, delimiter: str = ",") -> Rules:
    """The rules of a CSV file's bytes. Rows with too few or too many fields are in `rejected`.

    Every column is text as written, so the id 007 stays 007. An empty field is null, a quoted empty one
    an empty string.
    """
    starts = record_starts(data, file, delimiter)
    if not len(starts):
        raise InputError(f"{file}: the file is empty: expected a header with id and when")
    names = header_names(data[starts[0] : starts[1] if len(starts) > 1 else len(data)], file, delimiter)
    check_names(names, file)
    lines = lines_at(data, starts)
    if len(starts) == 1:
        empty = pa.table({name: pa.array([], pa.large_string()) for name in names})
        return Rules.of_table(empty, file=file)
    if not data.isascii():
        _text(data, file)  # what it cannot decode Arrow complains of on standard error
    table, misfits = read_table(data, names, file, delimiter)
    errors = [_misfit(row, names, file, lines, delimiter) for row in misfits]
    rows = np.delete(lines, [0, *(row.number - 1 for row in misfits)])
    if len(rows) != table.num_rows:
        rows = np.arange(2, table.num_rows + 2, dtype=np.int64)
    return _and_rejected(Rules.of_table(table, file=file, lines=rows), errors)


def _misfit(row: Any, names: list[str], file: str, lines: Longs, delimiter: str) -> RuleError:
    line = int(lines[row.number - 1]) if row.number <= len(lines) else None
    mark = "tab" if delimiter == "\t" else "comma"
    hint = f": a condition with a {mark} stands in double quotes" if row.actual_columns > len(names) else ""
    return RuleError(
        f"expected {row.expected_columns} fields, found {row.actual_columns}{hint}",
        file=file,
        line=line,
        rule=row.text.split(delimiter)[0].strip('"') or None if names[0] == "id" else None,
    )


def _read_jsonl(data: bytes, file: str) -> Rules:
    pairs: list[tuple[Any, Any]] = []
    lines: list[int] = []
    others: list[dict[str, Any]] = []
    errors: list[RuleError] = []
    has_when = False
    for number, raw in _json_records(data, file):
        found = _json_object(raw, file, number)
        if isinstance(found, RuleError):
            errors.append(found)
            continue
        has_when = has_when or "when" in found
        pairs.append((found.pop("id", None), found.pop("when", None)))
        lines.append(number)
        others.append(found)
    if pairs and not has_when:
        raise InputError(f"{file}: no object has a member when: a rule has id and when (are these events?)")
    at = np.array(lines, np.int64)
    columns, metadata = columns_of_pairs(pairs, at, file), metadata_of_rows(others, file)
    return _and_rejected(Rules.of_columns(columns, metadata, file=file, lines=at), errors)


def _json_records(data: bytes, file: str) -> Iterator[tuple[int, bytes]]:
    """Lines that are not blank, or the elements of an array, each with the line that it begins in."""
    if not is_array(data):
        for number, raw in enumerate(data.removeprefix(BYTE_ORDER_MARK).split(b"\n"), 1):
            if raw and not raw.isspace():
                yield number, raw
        return
    try:
        yield from elements(io.BytesIO(data))
    except EOFError as error:
        raise InputError(f"{file}: cannot be read: {error}") from None


def _and_rejected(rules: Rules, errors: list[RuleError]) -> Rules:
    rules.rejected = sorted([*errors, *rules.rejected], key=lambda error: error.line or 0)
    return rules


def _json_object(raw: bytes, file: str, line: int) -> dict[str, Any] | RuleError:
    """The object of one line, or why there is none."""
    try:
        return object_of(raw, _JSON.decode)
    except UnicodeDecodeError:
        reason = "the line is not UTF-8 text"
    except json.JSONDecodeError as error:
        text = error.doc.split("\n")[error.lineno - 1].rstrip()
        excerpt, caret = window_around(text, error.colno)
        return RuleError(
            f"not JSON: {error.msg}",
            file=file,
            line=line + error.lineno - 1,
            column=error.colno,
            excerpt=excerpt,
            caret=caret,
        )
    except NotAnObject:
        reason = "expected an object with id and when"
    except HalfAPair:
        reason = "the line holds half of a surrogate pair, which is not a character"
    except ValueError as error:
        reason = f"not JSON: {error}"
    except RecursionError:
        reason = "the line is nested too deeply"
    return RuleError(reason, file=file, line=line)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")


_JSON = json.JSONDecoder(parse_constant=_refuse_constant)


PARQUET = ".parquet"
READERS: dict[str, Callable[[bytes, str], Rules]] = {
    ".sql": _read_sql,
    ".csv": read_csv,
    ".tsv": partial(read_csv, delimiter="\t"),
    ".jsonl": _read_jsonl,
    ".json": _read_jsonl,
}
"""What makes rules of the bytes of a file, which errors name, by the ending of its name; .gz may follow."""

SUFFIXES = (*READERS, PARQUET, *(f"{ending}.gz" for ending in READERS))
"""How the names of rule files end."""
