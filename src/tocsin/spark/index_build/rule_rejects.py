"""Rows that are no rules: a folder of Parquet files, or the error that names the first few.

Tasks write them beside their blocks (see index.blocks.rows.REJECTS for the columns); when the index is
there they are moved to where the user wants them.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tocsin.errors import InputError, RuleError, RuleErrors
from tocsin.spark.index_build.jobs import BlockReport

if TYPE_CHECKING:
    from tocsin.conditions.blocks.rule_rows import Refused

_FILES = "rejects-*.parquet"


def check_rejects(folder: Path, target: Path) -> None:
    """InputError when rejects cannot go there: a file, or a folder that holds, or will, something else.

    The folder is replaced whole, so the index must not be in it.
    """
    if target.is_relative_to(folder.resolve()):
        raise InputError(f"{folder}: the index goes there: name a folder for the rejects alone")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: rejects go to a folder, and this is a file")
    if folder.is_dir() and set(folder.iterdir()) - set(folder.glob(_FILES)):
        raise InputError(f"{folder}: this folder holds something else: name an empty one, or a new one")


def move_rejects(work: Path, reports: Sequence[BlockReport], folder: Path, target: Path) -> None:
    """Make a folder of all rejects, in place of the one that is there; an empty table when there are none."""
    check_rejects(folder, target)  # a build takes long: somebody may have put something there meanwhile
    chosen = [report for report in reports if report.rejects] or list(reports[:1])
    draft = folder.resolve().with_name(f".{folder.name}.{uuid.uuid4().hex}")
    try:
        draft.mkdir(parents=True)
        for number, report in enumerate(chosen):
            shutil.move(work / report.rejects_file, draft / f"rejects-{number:05}.parquet")
        if not chosen:
            _write_none(draft / "rejects-00000.parquet")
        if folder.exists():
            shutil.rmtree(folder)
        draft.replace(folder.resolve())
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def raise_rejects(work: Path, reports: Sequence[BlockReport]) -> None:
    """RuleError or RuleErrors when there are rejects: the first few, and how many there are."""
    count = sum(report.rejects for report in reports)
    if not count:
        return
    shown: list[RuleError] = []
    for refused in refused_rows([work / report.rejects_file for report in reports if report.rejects]):
        shown.append(refused.error())
        if len(shown) == RuleErrors.SHOWN:
            break
    raise shown[0] if count == 1 else RuleErrors(shown, count)


def refused_rows(files: Sequence[Path]) -> Iterator[Refused]:
    """The rejects in files, batch by batch."""
    import pyarrow.parquet as pq

    from tocsin.conditions.blocks.rule_rows import Refused

    for file in files:
        for batch in pq.ParquetFile(file).iter_batches():
            columns = [column.to_pylist() for column in batch.columns]
            yield from map(Refused, *columns)


def _write_none(file: Path) -> None:
    import pyarrow.parquet as pq

    from tocsin.conditions.blocks.rule_rows import rejects_table

    pq.write_table(rejects_table([]), file)
