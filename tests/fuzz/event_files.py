"""Events of every door: matched as meaning.py says, the same however they are cut, or refused by row."""

from __future__ import annotations

import csv
import io
import json
import random
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
from tests.cases import make_json_event, make_rule_set
from tests.contract.doors import Found, RuleSet, built, by_event, by_file, by_table, expected
from tests.contract.test_random_files import CSV_COLUMNS
from tests.fuzz.condition_texts import check_message
from tests.typed_tables import make_table

from tocsin import Index
from tocsin.errors import EventError, TocsinError
from tocsin.tables import parse_lines

WORDS = (
    *(
        b'{"n": ',
        b"}",
        b"[",
        b"]",
        b"[[",
        b"null",
        b"true",
        b"1e999",
        b"-0",
        b"1" * 40,
        b"0.1",
        b"NaN",
        b"Infinity",
    ),
    *(
        b'"s": "',
        b'"',
        b'\\"',
        b"\\u0000",
        b"\\ud800",
        b"\\ud83d\\ude00",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\n",
        b"\r",
        b"\r\n",
    ),
    *(
        b",",
        b",,",
        b'""',
        b"\x00",
        b"\x1b[31m",
        b"2026-01-31T12:00:00Z",
        b"10.0.0.1",
        b"user.age",
        b" ",
        b"\t",
        b"n,n",
    ),
)


def json_files() -> list[bytes]:
    """A few events a file."""
    rng = random.Random(4)
    return [
        b"\n".join(json.dumps(make_json_event(rng)).encode() for _ in range(rng.randint(1, 3)))
        for _ in range(60)
    ]


def csv_files() -> list[bytes]:
    """Columns of every type."""
    rng = random.Random(5)
    made = []
    for _ in range(60):
        text = io.StringIO()
        names = rng.sample(list(CSV_COLUMNS), rng.randint(1, 4))
        rows = [[rng.choice(CSV_COLUMNS[name])[0] for name in names] for _ in range(rng.randint(0, 5))]
        csv.writer(text).writerows([names, *rows])
        made.append(text.getvalue().encode())
    return made


def parquet_files() -> list[bytes]:
    """Tables of many types."""
    made = []
    for table in _tables():
        sink = io.BytesIO()
        try:
            pq.write_table(table, sink, compression="none", row_group_size=3)
        except pa.ArrowException:
            continue
        made.append(sink.getvalue())
    return made


def arrow_streams() -> list[bytes]:
    """The same as Arrow streams."""
    made = []
    for table in _tables():
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table, max_chunksize=3)
        made.append(sink.getvalue())
    return made


def _tables() -> list[pa.Table]:
    rng = random.Random(6)
    tables = []
    for _ in range(60):
        table, _ = make_table(rng, 5)
        tables.append(table.select(rng.sample(table.column_names, min(3, table.num_columns))))
    return tables


def check_dict(data: bytes) -> None:
    """One object of JSON as a dictionary, alone."""
    event = _object(data.split(b"\n")[0])
    if event is None:
        return
    rules, index = _indexed()
    try:
        found = by_event(index, [event])
    except EventError as error:
        check_message(error)
        return
    assert found == expected(rules, [event])


def check_jsonl(data: bytes) -> None:
    """A file of JSON lines."""
    rules, _ = _indexed()
    found = _found_in_file(data, "events.jsonl")
    if found is not None:
        lines = [line for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
        parsed = parse_lines(lines)
        refused = {error.row for error in parsed.rejects}
        good = [row for row in range(len(lines)) if row not in refused]
        events = [_object(lines[row]) or {} for row in good]
        assert found == [(good[place], rule) for place, rule in expected(rules, events)]


def check_csv(data: bytes) -> None:
    """A CSV file."""
    _found_in_file(data, "events.csv")


def check_parquet(data: bytes) -> None:
    """A Parquet file."""
    _found_in_file(data, "events.parquet")


def check_arrow(data: bytes) -> None:
    """An Arrow stream whose table Arrow calls valid: block by block and event by event give the same."""
    try:
        table = pa.ipc.open_stream(data).read_all()
        table.validate(full=True)
        events = table.to_pylist()
    except (pa.ArrowException, OSError, ValueError, OverflowError):
        return
    rules, index = _indexed()
    try:
        found = by_table(index, table)
    except TocsinError as error:
        check_message(error)
        return
    if len(set(table.column_names)) == len(table.column_names):
        assert found == expected(rules, events)


def _found_in_file(data: bytes, name: str) -> Found | None:
    """What a file's events match, which does not hang on how it is cut; None when the file is refused."""
    _, index = _indexed()
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        try:
            whole = by_file(index, path)
        except TocsinError as error:
            check_message(error)
            return None
        assert by_file(index, path, batch_rows=1, slice_bytes=64) == whole
    return whole


def _object(line: bytes) -> dict[str, object] | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


@cache
def _indexed() -> tuple[RuleSet, Index]:
    rules = make_rule_set(random.Random(7), 40)
    return rules, built(rules)
