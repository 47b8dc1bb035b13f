"""Schemas from Arrow, from events and from a description."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tocsin.errors import InputError
from tocsin.events import ANY_KIND, Kind, Schema
from tocsin.events.schema import Kinds

NUMBER, STRING = frozenset({Kind.NUMBER}), frozenset({Kind.STRING})
BOOLEAN, TIMESTAMP = frozenset({Kind.BOOLEAN}), frozenset({Kind.TIMESTAMP})


NO_KIND: Kinds = frozenset()


def test_from_arrow() -> None:
    item = pa.struct([("price", pa.decimal128(10, 2)), ("when", pa.date32())])
    schema = pa.schema(
        [
            ("n", pa.uint8()),
            ("a.b", pa.dictionary(pa.int8(), pa.string())),
            ("items", pa.list_(pa.large_list(item))),
            ("labels", pa.map_(pa.string(), pa.string())),
            ("ok", pa.run_end_encoded(pa.int32(), pa.bool_())),
            ("raw", pa.binary()),
            ("nothing", pa.null()),
            ("flag", pa.bool8()),
        ]
    )
    found = Schema.of_arrow(schema)
    assert found.kinds == {
        ("n",): NUMBER,
        ("a.b",): STRING,
        ("items",): NO_KIND,
        ("items", "price"): NUMBER,
        ("items", "when"): TIMESTAMP,
        ("labels",): NO_KIND,
        ("ok",): BOOLEAN,
        ("raw",): NO_KIND,
        ("nothing",): ANY_KIND,
        ("flag",): BOOLEAN,
    }
    assert found.open == {("labels",)}


def described(folder: Path, text: object) -> Schema:
    file = folder / "schema.json"
    file.write_text(text if isinstance(text, str) else json.dumps(text), "utf-8-sig")
    return Schema.read(file)


def test_from_a_description(tmp_path: Path) -> None:
    said = {
        "age": "INT",
        "user": {"tags": ["string"], "device.os": "varchar(20)", "extra": {}},
        "user.name": "text",
        "orders": [{"price": "decimal(10, 2)"}],
        "lists": "array<list< timestamp >>",
        '"a.b".c': "bool",
        "labels": "map<string,string>",
        "mixed": ["string", "number"],
        "unknown": "any",
    }
    found = described(tmp_path, said)
    assert found.kinds == {
        ("age",): NUMBER,
        ("user",): NO_KIND,
        ("user", "tags"): STRING,
        ("user", "device"): NO_KIND,
        ("user", "device", "os"): STRING,
        ("user", "extra"): NO_KIND,
        ("user", "name"): STRING,
        ("orders",): NO_KIND,
        ("orders", "price"): NUMBER,
        ("lists",): TIMESTAMP,
        ("a.b",): NO_KIND,
        ("a.b", "c"): BOOLEAN,
        ("labels",): NO_KIND,
        ("mixed",): STRING | NUMBER,
        ("unknown",): ANY_KIND,
    }
    assert found.open == {("user", "extra"), ("labels",)}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ({"a": {"b": "strng"}}, r"the field a\.b has the type 'strng'; known are number, integer"),
        ({"a": 5, "b": "list<int>"}, "the field a has the type 5"),
        ({"a..b": "int"}, "'a..b' is not a field"),
        ({"": "int"}, "'' is not a field"),
        ({"a.": "int"}, r"'a\.' is not a field"),
        ({'"a': "int"}, "is not a field"),
        ([], "an object from fields to types is expected"),
        ('{"a": 5,\n"b": true}', "the field b has the type True"),
        ('{"a": "int"\n{"b": "int"}\n', "cannot be read: Expecting"),
        ("", "cannot be read: Expecting"),
        ("{", r"schema\.json: cannot be read: Expecting"),
        ('{"a":' * 100_000, "nested too deep"),
    ],
)
def test_descriptions_that_make_no_sense(tmp_path: Path, text: object, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        described(tmp_path, text)


def test_from_json_events(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    lines = ['{"a": 1, "n": null, "e": []}', "oops", '{"a": ["x", {"b": true}], "o": {"p.q": 1.5}}']
    file.write_text("\n".join(lines))
    assert Schema.read(file).kinds == {
        ("a",): NUMBER | STRING,
        ("a", "b"): BOOLEAN,
        ("n",): ANY_KIND,
        ("e",): ANY_KIND,
        ("o",): NO_KIND,
        ("o", "p.q"): NUMBER,
    }


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ('{"a": "int"}\n\n{"a": 1}\n', {("a",): STRING | NUMBER}),
        ('{"a": "x"}\noops\n', {("a",): STRING}),
        ('{"a": "x", "b": [{"c": 5}]}\n', {("a",): STRING, ("b",): NO_KIND, ("b", "c"): NUMBER}),
        ('{"a": null}', {("a",): ANY_KIND}),
        ('\n{"a": "int"}\n\n', {("a",): NUMBER}),
        ('{"a": "int",\n "b": "string"}', {("a",): NUMBER, ("b",): STRING}),
        ("{}", {}),
    ],
)
def test_a_json_file_describes_events_or_holds_them(tmp_path: Path, text: str, kinds: object) -> None:
    assert described(tmp_path, text).kinds == kinds


@pytest.mark.parametrize("name", ["e.jsonl.gz", "e.json.gz", "e.csv.gz"])
def test_packed_events_that_are_damaged(tmp_path: Path, name: str) -> None:
    packed = gzip.compress(b"a,b\n" + random.Random(1).randbytes(3_000).hex().encode())
    invalid = packed[:10] + b"\xff" * 100
    for data in (b"nonsense", packed[:-200], invalid):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(InputError, match=f"{name}: cannot be read"):
            Schema.read(tmp_path / name)


def test_from_csv_and_parquet(tmp_path: Path) -> None:
    csv_file = tmp_path / "x.csv"
    csv_file.write_text("b,i,f,s,e\ntrue,99999999999999999999,1.5,x,\n")
    assert Schema.read(csv_file).kinds == {
        ("b",): BOOLEAN,
        ("i",): NUMBER,
        ("f",): NUMBER,
        ("s",): STRING,
        ("e",): ANY_KIND,
    }
    folder = tmp_path / "parts"
    folder.mkdir()
    pq.write_table(pa.table({"x": [1]}), folder / "a.parquet")
    pq.write_table(pa.table({"x": ["1"], "y": [True]}), folder / "b.parquet")
    assert Schema.read(folder).kinds == {("x",): NUMBER | STRING, ("y",): BOOLEAN}


def test_a_schema_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        Schema.read(tmp_path / "absent.json")
    (tmp_path / "broken.parquet").write_text("x")
    with pytest.raises(InputError, match="cannot be read"):
        Schema.read(tmp_path / "broken.parquet")
