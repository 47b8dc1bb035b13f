"""A relation as the file that is written without Spark too: sorted by Spark, written in parts by the workers.

    relation  ->  sorted, in partitions  ->  each task writes a part  ->  the driver puts the parts together

Parts are text already, in a folder that every worker must be able to write to, and the driver copies their
bytes: no tuple passes through it as an object.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import functions as F  # noqa: N812

from tocsin.datalog.engine.result_files import (
    header_line,
    lines_of_columns,
    print_portions,
    result_path,
    warn_of_unreadable,
    write_whole,
)
from tocsin.datalog.language.directives import Transfer
from tocsin.datalog.language.syntax import Relation
from tocsin.datalog.spark.batch.stored_frames import Frame
from tocsin.datalog.spark.batch.value_columns import ordered
from tocsin.datalog.spark.batch.worker_batches import values_of

_BLOCK = 1 << 20
_ANSWER = "part int, file string, unreadable long"


@dataclass(frozen=True, slots=True)
class Writing:
    """A relation that is written in parts, to a folder."""

    relation: Relation
    delimiter: str
    quoted: bool
    folder: str


def write_relation(
    target: Transfer, results: Path, relation: Relation, frame: Frame, folder: Path, stream: IO[str]
) -> None:
    """Write a relation to its file, whole or not at all, or to `stream`; its parts go to `folder`."""
    writing = Writing(relation, target.between, target.rfc4180, str(folder.absolute()))
    parts = _written_parts(writing, frame)
    header = header_line(target, relation.columns)
    if target.stream:
        texts = (block.decode() for block in _whole_characters(_blocks(parts)))
        print_portions(target, stream, _after(header, texts))
    else:
        write_whole(result_path(target, results), _after(header.encode(), _blocks(parts)))
    for part in parts:
        part.unlink()


def _written_parts(writing: Writing, frame: Frame) -> list[Path]:
    """The files with the relation's lines, in their order."""
    kinds = writing.relation.types
    if not kinds:
        part = Path(writing.folder, "tuple")
        part.write_text("()\n" if frame.rows else "")
        return [part]
    columns = [ordered(F.col(f"c{place}"), kind) for place, kind in enumerate(kinds)]
    written = frame.data.orderBy(*columns).mapInArrow(partial(write_part, writing), _ANSWER)
    answers = sorted(written.collect())
    warn_of_unreadable(writing.relation.name, sum(answer["unreadable"] for answer in answers))
    return [Path(answer["file"]) for answer in answers]


def _after(header: Any, portions: Iterable[Any]) -> Iterator[Any]:
    if header:
        yield header
    yield from portions


def _blocks(parts: Iterable[Path]) -> Iterator[bytes]:
    for part in parts:
        with part.open("rb") as stream:
            while block := stream.read(_BLOCK):
                yield block


def _whole_characters(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in blocks that end with a line."""
    rest = b""
    for block in blocks:
        lines, newline, after = (rest + block).rpartition(b"\n")
        rest = after
        if newline:
            yield lines + newline
    if rest:
        yield rest


def write_part(writing: Writing, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Write the lines of all tuples to one file; its name, and how many symbols cannot be read back."""
    context = TaskContext.get()
    number = 0 if context is None else context.partitionId()
    path = Path(writing.folder, f"{writing.relation.name}-{number}-{uuid.uuid4().hex}")
    kinds = writing.relation.types
    unreadable = 0
    with path.open("xb") as stream:
        for batch in batches:
            if batch.num_rows:
                columns = [values_of(batch.column(place), kind) for place, kind in enumerate(kinds)]
                lines = lines_of_columns(columns, kinds, writing.delimiter, writing.quoted)
                unreadable += lines.unreadable
                stream.write(lines.text.encode())
    answer = {"part": number, "file": str(path), "unreadable": unreadable}
    schema = pa.schema([("part", pa.int32()), ("file", pa.string()), ("unreadable", pa.int64())])
    yield pa.RecordBatch.from_pylist([answer], schema=schema)
