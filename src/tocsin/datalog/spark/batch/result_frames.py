"""A relation as the file that is written without Spark too: sorted by Spark, written in parts by the workers.

    relation  ->  sorted, in partitions  ->  each task writes a part  ->  the driver puts the parts together

Parts are text already, in a folder that every worker must be able to write to, and the driver copies their
bytes: no tuple passes through it as an object.
"""

from __future__ import annotations

import codecs
import uuid
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812

from tocsin.datalog.engine import result_files
from tocsin.datalog.language.directives import Transfer
from tocsin.datalog.language.syntax import Relation
from tocsin.datalog.spark.batch.stored_frames import Frame
from tocsin.datalog.spark.batch.value_columns import ordered
from tocsin.datalog.spark.batch.worker_batches import values_of
from tocsin.spark.numbered_tasks import partition_number

_BLOCK = 1 << 20
_ANSWER = "part int, file string, unreadable long"


def write_relation(
    target: Transfer, results: Path, relation: Relation, frame: Frame, folder: Path, stream: IO[str]
) -> None:
    """Write a relation to its file, whole or not at all, or to `stream`; its parts go to `folder`."""
    parts = _written_parts(target, relation, frame, folder.absolute())
    header = result_files.header_line(target, relation.columns)
    if target.stream:
        texts = codecs.iterdecode(_blocks(parts), "utf-8")
        result_files.print_portions(target, stream, chain([header] if header else [], texts))
    else:
        result_files.write_whole(
            result_files.result_path(target, results), chain([header.encode()], _blocks(parts))
        )
    for part in parts:
        part.unlink()


def _written_parts(target: Transfer, relation: Relation, frame: Frame, folder: Path) -> list[Path]:
    """The files with the relation's lines, in their order."""
    if not relation.types:
        part = folder / "tuple"
        part.write_text("()\n" if frame.rows else "")
        return [part]
    columns = [ordered(F.col(f"c{place}"), kind) for place, kind in enumerate(relation.types)]
    task = partial(write_part, relation, target.between, target.rfc4180, str(folder))
    answers = sorted(frame.data.orderBy(*columns).mapInArrow(task, _ANSWER).collect())
    result_files.warn_of_unreadable(relation.name, sum(answer["unreadable"] for answer in answers))
    return [Path(answer["file"]) for answer in answers]


def _blocks(parts: Iterable[Path]) -> Iterator[bytes]:
    for part in parts:
        with part.open("rb") as stream:
            yield from iter(partial(stream.read, _BLOCK), b"")


def write_part(
    relation: Relation, delimiter: str, quoted: bool, folder: str, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Write the lines of all tuples to one file; its name, and how many symbols cannot be read back."""
    number = partition_number()
    path = Path(folder, f"{relation.name}-{number}-{uuid.uuid4().hex}")
    kinds = relation.types
    unreadable = 0
    with path.open("xb") as stream:
        for batch in batches:
            if batch.num_rows:
                columns = [values_of(batch.column(place), kind) for place, kind in enumerate(kinds)]
                lines = result_files.lines_of_columns(columns, kinds, delimiter, quoted)
                unreadable += lines.unreadable
                stream.write(lines.text.encode())
    answer = {"part": number, "file": str(path), "unreadable": unreadable}
    schema = pa.schema([("part", pa.int32()), ("file", pa.string()), ("unreadable", pa.int64())])
    yield pa.RecordBatch.from_pylist([answer], schema=schema)
