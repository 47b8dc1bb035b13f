"""A result that is a folder: a file for each slice that has matches, so that no process sees all of it.

    matches/part-0000000.parquet      the rows of slice 0, by event and then by rule
    matches/part-0000003.parquet      in the order of the names they are the rows of one file

The parts of a job (slice_matches.py) are written anew in the result's format, each on its own, here or in
Spark's tasks: only when all slices are matched it is known which types suit the kept columns of all of them.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from tocsin.errors import UsageError
from tocsin.events.kept_columns import KeptColumn
from tocsin.matches.match_files import FORMATS, output_format, output_of
from tocsin.matches.slice_matches import PartReport, part_path, read_part

FOLDER_FORMAT = ".parquet"
"""The format of a folder whose name does not ask for one."""


@dataclass(frozen=True, slots=True)
class ResultPlace:
    """Where a result goes, and in which format: one file, or a folder of them."""

    path: Path
    suffix: str
    is_folder: bool
    safe_csv: bool = False

    @staticmethod
    def of(out: str, safe_csv: bool = False) -> ResultPlace:
        """What a user's word means: a folder when it is one, or ends as one; UsageError for no format."""
        path = Path(out)
        if not out.endswith(os.sep) and not path.is_dir():
            return ResultPlace(path, output_format(out), is_folder=False, safe_csv=safe_csv)
        suffix = path.suffix.lower()
        return ResultPlace(path, suffix if suffix in FORMATS else FOLDER_FORMAT, True, safe_csv)


@dataclass(frozen=True, slots=True)
class ResultFiles:
    """How parts become the files of a result. Made to be pickled.

    parts     the folder of the parts, and of files that are not finished
    folder    where files go, on the same file system
    columns   the kept columns, with types that suit all parts
    """

    parts: str
    folder: str
    suffix: str
    columns: tuple[KeptColumn, ...]
    safe_csv: bool = False

    def write(self, names: pa.StringArray, report: PartReport) -> None:
        """Write the file of one slice, whole or not at all, and take its part away; it may be asked twice."""
        file = self._file(report.slice)
        if file.exists():
            return
        draft = Path(self.parts) / f"{report.name}-{uuid.uuid4().hex}.file"
        with draft.open("wb") as stream:
            sink = output_of(self.suffix, self.safe_csv)(stream, names, self.columns)
            for batch in read_part(self.parts, report):
                sink.write(batch)
            sink.finish()
        draft.replace(file)
        part_path(self.parts, report).unlink(missing_ok=True)

    def write_nothing(self) -> None:
        """The file of a result that has no rows: it tells the columns."""
        with self._file(0).open("wb") as stream:
            output_of(self.suffix, self.safe_csv)(stream, pa.array([], pa.string()), self.columns).finish()

    def _file(self, number: int) -> Path:
        return Path(self.folder) / f"part-{number:07d}{self.suffix}"


def with_rows(reports: Sequence[PartReport]) -> list[PartReport]:
    """Those of the slices that have matches: each becomes a file."""
    return [report for report in reports if report.matches]


def check_whole(out: str | None) -> None:
    """UsageError for a folder where a result is always one file."""
    if out is not None and ResultPlace.of(out).is_folder:
        raise UsageError(
            f"cannot write {out}: alerts of triggers over tables go to one file, not to a folder"
        )
