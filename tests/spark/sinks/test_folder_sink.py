"""Folders of alerts: their URIs, and the files that tasks write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from tocsin.errors import UsageError
from tocsin.spark.sinks import folder_parts
from tocsin.spark.sinks.folder_parts import hidden, write_part
from tocsin.spark.sinks.folder_sink import FolderSink
from tocsin.spark.stream.match_columns import json_lines
from tocsin.spark.stream.schemes import sink_of


@pytest.mark.parametrize(
    ("uri", "folder", "kind"),
    [
        ("/a/b", "/a/b", "parquet"),
        ("/a/b?format=jsonl", "/a/b", "jsonl"),
        ("jsonl:/a/b c", "/a/b c", "jsonl"),
        ("parquet:///a", "/a", "parquet"),
        ("file:///a/ü", "/a/ü", "parquet"),
        ("JSONL:/a", "/a", "jsonl"),
    ],
)
def test_uris(uri: str, folder: str, kind: str) -> None:
    sink = sink_of(uri)
    assert isinstance(sink, FolderSink)
    assert (str(sink.folder), sink.format) == (folder, kind)
    assert sink.identity() == {"kind": "folder", "folder": folder, "format": kind}


@pytest.mark.parametrize("uri", ["jsonl:", "/a?format=csv", "/a?colour=red", "?format=jsonl"])
def test_what_is_no_folder(uri: str) -> None:
    with pytest.raises(UsageError):
        sink_of(uri)


def opened(folder: Path, stream: str) -> FolderSink:
    sink = FolderSink(folder)
    sink.open(cast("Any", None), stream, StructType())
    return sink


def test_a_folder_belongs_to_one_stream(tmp_path: Path) -> None:
    first = opened(tmp_path, "one")
    opened(tmp_path, "one")
    second = opened(tmp_path, "two")  # nothing is lost, as nothing is there
    with pytest.raises(UsageError, match="another stream has begun to write here"):
        first.write(cast("Any", None), 0)
    (tmp_path / "batch=0").mkdir()
    second.write(cast("Any", None), 0)
    opened(tmp_path, "two")
    with pytest.raises(UsageError, match="holds batches of another stream"):
        opened(tmp_path, "one")
    (tmp_path / "_stream.json").unlink()
    with pytest.raises(UsageError, match="holds batches of another stream"):
        opened(tmp_path, "two")


def test_times_without_a_zone_have_all_their_digits_in_json(spark: SparkSession) -> None:
    alerts = spark.sql(
        "select timestamp_ntz'2026-01-02 03:04:05.000007' as n, timestamp_ntz'2026-01-02' as m"
    )
    (line,) = json_lines(alerts).collect()
    assert line.value == '{"n":"2026-01-02T03:04:05.000007","m":"2026-01-02T00:00:00.000000"}'


def test_a_task_writes_one_file_and_tells_its_name(tmp_path: Path) -> None:
    batches = [pa.record_batch({"n": [1, 2]}), pa.record_batch({"n": pa.array([], pa.int64())})]
    (report,) = write_part(iter([batches[1], *batches, batches[0]]), str(tmp_path), "parquet", ["n.m"])
    written = tmp_path / hidden(report["name"][0].as_py())
    assert pq.read_table(written).to_pydict() == {"n.m": [1, 2, 1, 2]}
    assert pq.read_metadata(written).num_row_groups == 1
    assert list(write_part(iter([batches[1]]), str(tmp_path), "parquet", ["n"])) == []
    lines = [pa.record_batch({"value": ['{"a": "ü\\n"}', "{}"]}), pa.record_batch({"value": ["[]"]})]
    (told,) = write_part(iter(lines), str(tmp_path), "jsonl", ["value"])
    assert (tmp_path / hidden(told["name"][0].as_py())).read_text("utf-8") == '{"a": "ü\\n"}\n{}\n[]\n'
    assert len(list(tmp_path.iterdir())) == 2


def test_json_texts_are_plain_texts_in_a_table(tmp_path: Path) -> None:
    long = "x" * 21_000_000  # longer than Spark's own reader of JSON takes
    rows = pa.record_batch({"a": [json.dumps(long), '{"n": 1}', None], "b": ['"as it is"', "", None]})
    (report,) = write_part(iter([rows]), str(tmp_path), "parquet", ["kept", "b"], {"kept"})
    written = pq.read_table(tmp_path / hidden(report["name"][0].as_py())).to_pydict()
    assert written == {"kept": [long, '{"n": 1}', None], "b": ['"as it is"', "", None]}


def test_many_rows_are_written_in_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_parts, "ROWS_OF_GROUP", 5)
    batches = [pa.record_batch({"n": [number, -number]}) for number in range(7)]
    (report,) = write_part(iter(batches), str(tmp_path), "parquet", ["n"])
    written = tmp_path / hidden(report["name"][0].as_py())
    assert pq.read_table(written)["n"].to_pylist() == [sign * n for n in range(7) for sign in (1, -1)]
    assert pq.read_metadata(written).num_row_groups == 3
