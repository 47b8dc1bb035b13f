"""Random events in files of every format: the same matches as of the events themselves."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.cases import Event, make_conditions, make_json_event, make_rule_set
from tests.contract.doors import RuleSet, built, by_cells, by_few, by_file, expected
from tests.strategies import json_events, rule_sets
from tests.typed_tables import make_table

from tocsin.conditions.language import parse_condition
from tocsin.tables import parse_lines

pytestmark = pytest.mark.filterwarnings("ignore::tocsin.errors.TocsinWarning")


def json_line(event: Event, rng: random.Random) -> bytes:
    return json.dumps(event, ensure_ascii=rng.random() < 0.5, allow_nan=False).encode()


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(rules=rule_sets(), events=st.lists(json_events(), min_size=1, max_size=3))
def test_lines_of_json(rules: RuleSet, events: list[Event]) -> None:
    parsed = parse_lines([json.dumps(event).encode() for event in events])
    assert parsed.rejects == []
    assert by_cells(built(rules), parsed.objects) == expected(rules, events)


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz"])
def test_a_file_of_json_with_bad_and_blank_lines(seed: int, suffix: str, tmp_path: Path) -> None:
    rng = random.Random(seed)
    rules = make_rule_set(rng, 30)
    events: list[Event] = []
    lines: list[bytes] = []
    for _ in range(rng.randint(1, 40)):
        if rng.random() < 0.2:
            lines.append(rng.choice([b"", b"  \t\r"]))
        bad = rng.random() < 0.15
        event = {} if bad else make_json_event(rng)
        events.append(event)
        lines.append(rng.choice([b"{", b"[1]", b"nul", b'{"a": "\xff"}']) if bad else json_line(event, rng))
    rejected = {
        number for number, line in enumerate(each for each in lines if each.strip()) if not _is_event(line)
    }
    path = tmp_path / f"events{suffix}"
    whole = rng.choice([b"\n", b"\r\n"]).join(lines) + rng.choice([b"", b"\n"])
    path.write_bytes(gzip.compress(whole) if suffix.endswith(".gz") else whole)
    found = [(row, rule) for row, rule in expected(rules, events) if row not in rejected]
    index = built(rules)
    assert by_file(index, path, batch_rows=rng.choice([1, 7, 8_192])) == found
    assert by_file(index, path, slice_bytes=rng.choice([1, 50, 500])) == found
    assert by_few(rules, path) == found


def _is_event(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line.decode()), dict)
    except ValueError:
        return False


@pytest.mark.parametrize("seed", range(25))
def test_a_folder_of_parquet(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    rules = make_rule_set(rng, 30)
    table, events = make_table(rng, 30)
    table = _storable(table)
    events = [{name: event[name] for name in table.column_names if name in event} for event in events]
    cut = rng.randint(0, len(events))
    pq.write_table(table.slice(0, cut), tmp_path / "part-0.parquet", row_group_size=rng.choice([1, 5, 100]))
    pq.write_table(table.slice(cut), tmp_path / "part-1.parquet")
    assert by_file(built(rules), tmp_path, batch_rows=rng.choice([1, 7, 8_192])) == expected(rules, events)


def _storable(table: pa.Table) -> pa.Table:
    """Without the columns whose types Parquet cannot hold as they are."""
    kept = []
    for name in table.column_names:
        try:
            sink = pa.BufferOutputStream()
            pq.write_table(table.select([name]), sink)
            kept += [name] if pq.read_table(sink.getvalue()).equals(table.select([name])) else []
        except pa.ArrowException:
            continue
    dropped = [name for name in table.column_names if name not in kept]
    return table.drop_columns(dropped) if kept else table.select([]).append_column("unasked", _zeros(table))


def _zeros(table: pa.Table) -> pa.Array:
    return pa.array([0] * table.num_rows, pa.int64())


CSV_COLUMNS: dict[str, list[tuple[str, object]]] = {
    "n": [("1", 1), ("-1", -1), ("9007199254740993", 2**53 + 1), ("", None), ("+5", 5), (" 6", 6)],
    "m": [
        ("0.1", 0.1),
        ("5", 5.0),
        ("-2.5", -2.5),
        ("1e308", 1e308),
        ("", None),
        ("nan", None),
        ("inf", 1e999),
    ],
    "user.age": [("18446744073709551616", 2**64), ("5", 5), ("", None), ("-0", 0)],
    "s": [("a", "a"), ("a%c", "a%c"), ("5", "5"), ("é", "é"), ("a\nb", "a\nb"), ("", None), (" a", " a")],
    "t": [("true", "true"), ("no", "no"), ("ABC", "ABC"), ('a"b', 'a"b'), ("", None), ("a,c", "a,c")],
    "flag": [("true", True), ("FALSE", False), ("", None), (" True ", True)],
    "at": [("2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"), ("2024-02-29T00:00:00Z",) * 2, ("soon", "soon")],
    "ip": [("10.0.0.1", "10.0.0.1"), ("::ffff:10.0.0.1", "::ffff:10.0.0.1"), ("x", "x"), ("", None)],
}
"""What may stand in each column, and what it means in a column of that type."""


@pytest.mark.parametrize("seed", range(25))
def test_a_folder_of_csv(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    conditions = [parse_condition("n = 9007199254740993"), parse_condition("m < 0.2 or flag")]
    rules = [(f"r{number}", each) for number, each in enumerate([*conditions, *make_conditions(rng, 30)])]
    names = list(CSV_COLUMNS)
    records = [[rng.choice(values) for values in CSV_COLUMNS.values()] for _ in range(rng.randint(0, 30))]
    records += [[values[place % len(values)] for values in CSV_COLUMNS.values()] for place in range(7)]
    events = [{name: value for name, (_, value) in zip(names, each, strict=True)} for each in records]
    cut = rng.randint(0, len(records))
    for number, part in enumerate((records[:cut], records[cut:])):
        text = io.StringIO()
        csv.writer(text).writerows([names, *([written for written, _ in record] for record in part)])
        (tmp_path / f"part-{number}.csv").write_bytes(text.getvalue().encode())
    assert by_file(built(rules), tmp_path, batch_rows=rng.choice([1, 7, 8_192])) == expected(rules, events)
    assert by_few(rules, tmp_path) == expected(rules, events)
