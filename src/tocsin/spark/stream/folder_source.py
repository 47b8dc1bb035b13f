"""A folder that files of events are put into: every file is read once.

Spark keeps track of the files by their paths. What it hands to the tasks are the paths alone: a task reads
its files itself, with the code that `tocsin match` reads them with, so that the answers are the same. A file
is read by one task. An event's place is the file, as seen from the folder, and its row: `2026/day.jsonl:41`.

A file must be whole when it appears under its name: write it under a name that starts with `.` or `_`,
or in another folder, and move it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField

from tocsin.errors import InputError, UsageError
from tocsin.spark.file_urls import to_read
from tocsin.spark.stream.batch_counts import TallyAccumulator
from tocsin.spark.stream.found_rows import Wanted, found_schema, json_field
from tocsin.spark.stream.rule_version import RuleVersion
from tocsin.spark.stream.skipped_names import is_seen_in
from tocsin.spark.stream.task_output import Onward

FILES_PER_BATCH = 1_000
_FILE = "path string, modificationTime timestamp, length bigint, content binary"
"""What Spark tells of a file. Nothing but the path is asked for, and so no content is read."""
_AS_LONG_AS_THERE_ARE_FILES = "36500000d"
"""Spark counts it back from the newest file, whose time may be far ahead by mistake."""


@dataclass(frozen=True, slots=True)
class FolderSource:
    """A folder of .jsonl, .csv and .parquet files, with the folders below it."""

    folder: Path
    files_per_batch: int = FILES_PER_BATCH
    carried: Sequence[StructField] = ()
    joins: bool = False

    @staticmethod
    def of(uri: str) -> FolderSource:
        """`visits`, `file:///visits` or `visits?files=10`, which takes at most so many files at once."""
        found = re.fullmatch(r"(?:file:(?://(?=/))?)?+([^?]+)(?:\?(.*))?", uri, re.I | re.S)
        if found is None:
            raise UsageError(f"{uri!r} names no folder")
        options = {name: values[-1] for name, values in parse_qs(found[2] or "").items()}
        files = options.pop("files", str(FILES_PER_BATCH))
        if options or not files.isdecimal() or int(files) < 1:
            raise UsageError(f"{uri!r}: after the folder there can be ?files=NUMBER, the most for one batch")
        folder = Path(found[1]).absolute()
        if not folder.is_dir():
            hint = ": to match a file once, use tocsin match" if folder.exists() else ""
            raise InputError(f"{found[1]}: there is no such folder{hint}")
        return FolderSource(folder, int(files))

    @property
    def name(self) -> str:
        """The folder."""
        return str(self.folder)

    def identity(self) -> dict[str, Any]:
        """The folder."""
        return {"kind": "folder", "folder": str(self.folder)}

    def reads(self, folder: Path) -> bool:
        """Whether files in another folder would be read, as those below this one are."""
        return is_seen_in(folder, self.folder)

    def check(self, wanted: Wanted, rules: RuleVersion) -> Sequence[StructField]:  # noqa: ARG002
        """Files may hold any fields: what is kept of them are JSON texts."""
        return [json_field(name) for name in wanted.keep]

    def stream(self, session: SparkSession, checkpoint: Path) -> DataFrame:  # noqa: ARG002
        """The paths of the files."""
        return (
            session.readStream.format("binaryFile")
            .schema(_FILE)
            .option("recursiveFileLookup", "true")
            .option("maxFilesPerTrigger", self.files_per_batch)
            .option("maxFileAge", _AS_LONG_AS_THERE_ARE_FILES)
            .load(to_read(self.folder))
            .select("path")
        )

    def found(
        self, batch: DataFrame, rules: RuleVersion, wanted: Wanted, tally: TallyAccumulator, onward: Onward
    ) -> DataFrame:
        """One pass, which reads the files."""
        schema = found_schema(self.carried, self.check(wanted, rules))
        return batch.mapInArrow(_task(str(self.folder), rules, wanted, tally, onward), onward.schema(schema))

    def committed(self, batch: int) -> None:
        """Spark keeps track of the files."""


def _task(folder: str, rules: RuleVersion, wanted: Wanted, tally: TallyAccumulator, onward: Onward) -> Any:
    def find(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        from tocsin.spark.stream.file_task import rows_of_file
        from tocsin.spark.stream.match_task import Finder

        finder = Finder(rules, wanted, pa.schema([(name, pa.string()) for name in wanted.keep]))
        for batch in batches:
            for path in batch.column(0).to_pylist():
                yield from rows_of_file(finder, folder, path)
        tally.add(finder.tally)

    return lambda batches: onward.rows(find(batches))
