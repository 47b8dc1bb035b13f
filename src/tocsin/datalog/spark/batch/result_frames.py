"""A relation as the file that is written without Spark too: sorted by Spark, written in parts by the workers.

    relation  ->  sorted, in partitions  ->  each task writes a part  ->  the driver puts the parts together

Parts are text already, in a folder that every worker must be able to write to, and the driver copies their
bytes: no tuple passes through it as an object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from pyspark.sql import functions as F  # noqa: N812

from tocsin.datalog.engine.directives import Transfer
from tocsin.datalog.engine.result_files import (
    header_line,
    print_portions,
    result_path,
    warn_of_unreadable,
    write_whole,
)
from tocsin.datalog.language.syntax import Relation
from tocsin.datalog.spark.batch.stored_frames import Frame
from tocsin.datalog.spark.batch.value_columns import ordered

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
    written = frame.data.orderBy(*columns).mapInArrow(_task(writing), _ANSWER)
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


def _task(writing: Writing) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def write_in_worker(batches: Iterable[Any]) -> Iterator[Any]:
        from tocsin.datalog.spark.batch.result_parts import write_part

        return write_part(writing, batches)

    return write_in_worker
