"""Folders of alerts: their URIs, and the files that tasks write."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tocsin.errors import UsageError
from tocsin.spark.streaming.sink import sink_of
from tocsin.spark.streaming.sinks.folder import FolderSink
from tocsin.spark.streaming.sinks.parts import write_part


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


def test_a_task_writes_one_file_and_tells_its_name(tmp_path: Path) -> None:
    batches = [pa.record_batch({"n": [1, 2]}), pa.record_batch({"n": pa.array([], pa.int64())})]
    (report,) = write_part(iter([batches[1], *batches, batches[0]]), str(tmp_path), "parquet")
    assert pq.read_table(tmp_path / report["name"][0].as_py()).to_pydict() == {"n": [1, 2, 1, 2]}
    assert list(write_part(iter([batches[1]]), str(tmp_path), "parquet")) == []
    lines = [pa.record_batch({"value": ['{"a": "ü\\n"}', "{}"]}), pa.record_batch({"value": ["[]"]})]
    (told,) = write_part(iter(lines), str(tmp_path), "jsonl")
    assert (tmp_path / told["name"][0].as_py()).read_text("utf-8") == '{"a": "ü\\n"}\n{}\n[]\n'
    assert len(list(tmp_path.iterdir())) == 2
