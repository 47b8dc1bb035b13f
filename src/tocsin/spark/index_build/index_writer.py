"""The end of a build: one index of all blocks, or one in shards; and rows that are no rules.

One index is put together in the driver, from columns. Of one in shards the rules are shared out there, and
each shard is built by a task, from its rules alone: so no process has to hold more than one shard.

Rejects are a folder of Parquet files, or the error that names the first few. Tasks write them beside their
blocks (see conditions.blocks.rule_rows.REJECTS for the columns); when the index is there they are moved to
where the user wants them.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from tocsin.arrays.array_file import open_arrays, save_arrays
from tocsin.conditions.blocks import (
    Refused,
    Work,
    compile_blocks,
    rejects_table,
    rule_weights,
    rules_of_shard,
    shards_wanted,
    share_out,
)
from tocsin.conditions.graph import Shard, check_folder, compile_rules, save_index, write_shard_list
from tocsin.conditions.live import Preparation
from tocsin.errors import InputError, RuleErrors, UsageError
from tocsin.spark.failures import on_spark
from tocsin.spark.index_build.build import Built
from tocsin.spark.index_build.jobs import BlockReport
from tocsin.spark.numbered_tasks import each_number, numbers
from tocsin.storage import PRIVATE_FOLDER, mode_within

_SHARED_OUT = "shared-out"
_REJECT_FILES = "rejects-*.parquet"


def check_shards(shards: object) -> None:
    """UsageError for what is no number of shards."""
    if shards is None or shards == "auto":
        return
    if isinstance(shards, bool) or not isinstance(shards, int) or shards < 1:
        raise UsageError(f"shards is a number from 1 on or 'auto', not {shards!r}")


def check_target(target: Path, shards: object) -> None:
    """UsageError or IndexFileError when the index cannot go there."""
    if shards is not None:
        check_folder(target)
    elif target.is_dir():
        raise UsageError(f"{target} is a folder: an index without shards is one file")


def write_index(work: Work, target: Path, preparation: Preparation) -> Built:
    """Put all blocks together here, column by column, and write the index."""
    index = compile_blocks(work, preparation.base, preparation.planner)
    save_index(index, target)
    size = target.stat().st_size
    return Built(str(target), index.rule_count, index.leaf_count, len(index.graph.is_and), 1, size)


def write_shards(
    session: SparkSession, work: Work, target: Path, shards: int | str, preparation: Preparation
) -> Built:
    """Share the rules out, build every shard in a task, and make them the shards of the index."""
    weights = rule_weights(work)
    count = shards_wanted(shards, weights)
    save_arrays(work.folder / _SHARED_OUT, {}, [("shard", share_out(work, weights, count))])
    target.mkdir(PRIVATE_FOLDER, exist_ok=True)
    unique = uuid.uuid4().hex[:8]
    task = _shard_task(work, target, unique, preparation)
    written = numbers(session, count).mapInArrow(task, "number long, rules long, predicates long, nodes long")
    try:
        answers = sorted(on_spark(written.collect, "write the shards of the index"))
        made = [Shard.of(target / _name(unique, answer.number), answer.rules) for answer in answers]
        write_shard_list(target, made)
    except BaseException:
        for file in target.glob(f"shard-{unique}-*"):
            file.unlink(missing_ok=True)
        raise
    return Built(
        str(target),
        sum(answer.rules for answer in answers),
        sum(answer.predicates for answer in answers),
        sum(answer.nodes for answer in answers),
        count,
        sum(shard.bytes for shard in made),
    )


def _name(unique: str, number: int) -> str:
    return f"shard-{unique}-{number:04}.tocsin"


def _shard_task(work: Work, target: Path, unique: str, preparation: Preparation) -> Any:
    def build_shard(batches: Iterable[Any]) -> Iterator[Any]:
        _, arrays = open_arrays(work.folder / _SHARED_OUT, verify=False)
        for number in each_number(batches):
            rules = rules_of_shard(work, arrays["shard"], number)
            index = compile_rules(rules, base=preparation.base, planner=preparation.planner)
            save_index(index, target / _name(unique, number), mode_within(target))
            counts = [number, index.rule_count, index.leaf_count, len(index.graph.is_and)]
            columns = ["number", "rules", "predicates", "nodes"]
            yield pa.record_batch([[each] for each in counts], names=columns)

    return build_shard


# ---- Rejects


def check_rejects(folder: Path, target: Path) -> None:
    """InputError when rejects cannot go there: a file, or a folder that holds, or will, something else.

    The folder is replaced whole, so the index must not be in it.
    """
    if target.is_relative_to(folder.resolve()):
        raise InputError(f"{folder}: the index goes there: name a folder for the rejects alone")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: rejects go to a folder, and this is a file")
    if folder.is_dir() and set(folder.iterdir()) - set(folder.glob(_REJECT_FILES)):
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
            pq.write_table(rejects_table([]), draft / "rejects-00000.parquet")
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
    refused = refused_rows([work / report.rejects_file for report in reports if report.rejects])
    shown = [row.error() for row in islice(refused, RuleErrors.SHOWN)]
    raise shown[0] if count == 1 else RuleErrors(shown, count)


def refused_rows(files: Sequence[Path]) -> Iterator[Refused]:
    """The rejects in files, batch by batch."""
    for file in files:
        for batch in pq.ParquetFile(file).iter_batches():
            columns = [column.to_pylist() for column in batch.columns]
            yield from map(Refused, *columns)
