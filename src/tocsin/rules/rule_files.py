"""Rules from files and folders: .sql, .csv, .jsonl (each also .gz) and .parquet."""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tocsin.errors import InputError, RuleError, UsageError, telling, window_around
from tocsin.events.parquet_sizes import row_groups, unpacked_size
from tocsin.rules.rule_columns import columns_of_pairs
from tocsin.rules.rule_csv import read_csv
from tocsin.rules.rule_metadata import metadata_of_rows
from tocsin.rules.rule_set import Rules
from tocsin.rules.triggers import parse_triggers
from tocsin.storage.packed_files import check_unpacked, most_unpacked, open_input

SUFFIXES = (".sql", ".csv", ".jsonl", ".parquet", ".sql.gz", ".csv.gz", ".jsonl.gz")


@telling("reading rules")
def read_rules(*paths: str | os.PathLike[str], skip_bad: bool = False) -> Rules:
    """Read every rule of the files, and of the folders' files by path, hidden ones left out.

    Raises InputError for a path that is missing, of another kind or without rule files, and RuleError
    or RuleErrors with every rule that cannot be one: all errors of trigger files, and for tables the
    rows without an id or a condition; ids that occur twice. With skip_bad these rules are left out
    and their errors are in `rejected`.
    """
    if not paths:
        raise UsageError("read_rules needs at least one file or folder")
    files = [file for path in paths for file in rule_files(path)]
    return Rules.concat([read_file(file) for file in files], skip_bad=skip_bad)


def rule_files(path: str | os.PathLike[str]) -> list[Path]:
    """The files that read_rules reads for a path, in its order: the file itself, or those of the folder.

    Raises InputError for a path that is missing, of another kind or without rule files.
    """
    path = Path(path)
    if path.is_dir():
        found = sorted(file for file in path.rglob("*") if _is_rule_file(file, path))
        if not found:
            raise InputError(f"{path}: no rule files in this folder: expected {', '.join(SUFFIXES[:4])}")
        return found
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder")
    if not path.name.lower().endswith(SUFFIXES):
        raise InputError(f"{path}: not a rule file: expected {', '.join(SUFFIXES)}")
    return [path]


def _is_rule_file(file: Path, folder: Path) -> bool:
    if not file.name.lower().endswith(SUFFIXES) or not file.is_file():
        return False
    return not any(part.startswith(".") for part in file.relative_to(folder).parts)


def read_file(path: Path) -> Rules:
    """The rules of one file; ids may still repeat, and what cannot be a rule is in `rejected`."""
    name = path.name.lower()
    if name.endswith(".parquet"):
        return _read_parquet(path)
    data = _read_bytes(path)
    stem = name.removesuffix(".gz")
    if stem.endswith(".csv"):
        return read_csv(data, str(path))
    if stem.endswith(".jsonl"):
        return _read_jsonl(data, str(path))
    return _read_sql(data, str(path))


def _read_bytes(path: Path) -> bytes:
    try:
        with open_input(path) as stream:
            return stream.read()
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path}: cannot be read: {reason}") from None


def _read_parquet(path: Path) -> Rules:
    try:
        opened = pq.ParquetFile(path)
        most = most_unpacked(path.stat().st_size)
        check_unpacked(path, unpacked_size(row_groups(path, opened.metadata), most), most)
        table = opened.read()
    except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
        raise InputError(f"{path}: not a Parquet file: {error}") from None
    return Rules.of_table(table, file=str(path))


def _read_sql(data: bytes, file: str) -> Rules:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{file}:{line}: the file is not UTF-8 text") from None
    return rules_of_triggers(text, file)


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


def _read_jsonl(data: bytes, file: str) -> Rules:
    pairs: list[tuple[Any, Any]] = []
    lines: list[int] = []
    others: list[dict[str, Any]] = []
    errors: list[RuleError] = []
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not raw or raw.isspace():
            continue
        found = _json_object(raw, file, number)
        if isinstance(found, RuleError):
            errors.append(found)
            continue
        pairs.append((found.pop("id", None), found.pop("when", None)))
        lines.append(number)
        others.append(found)
    at = np.array(lines, np.int64)
    rules = Rules.of_columns(
        columns_of_pairs(pairs, at, file), metadata_of_rows(others, file), file=file, lines=at
    )
    rules.rejected = sorted([*errors, *rules.rejected], key=lambda error: error.line or 0)
    return rules


def _json_object(raw: bytes, file: str, line: int) -> dict[str, Any] | RuleError:
    """The object of one line, or why there is none."""
    try:
        text = raw.decode()
        found = _JSON.decode(text)
    except UnicodeDecodeError:
        return RuleError("the line is not UTF-8 text", file=file, line=line)
    except json.JSONDecodeError as error:
        excerpt, caret = window_around(text.rstrip(), error.colno)
        return RuleError(
            f"not JSON: {error.msg}", file=file, line=line, column=error.colno, excerpt=excerpt, caret=caret
        )
    except ValueError as error:
        return RuleError(f"not JSON: {error}", file=file, line=line)
    except RecursionError:
        return RuleError("the line is nested too deeply", file=file, line=line)
    if not isinstance(found, dict):
        return RuleError("expected an object with id and when", file=file, line=line)
    if b"\\u" in raw and not _is_unicode(found):
        return RuleError(
            "the line holds half of a surrogate pair, which is not a character", file=file, line=line
        )
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")


_JSON = json.JSONDecoder(parse_constant=_refuse_constant)


def _is_unicode(found: dict[str, Any]) -> bool:
    """False when a string is not text: a JSON escape can spell half of a surrogate pair."""
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
