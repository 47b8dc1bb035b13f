"""The end of a build: one index of all blocks, or one in parts.

One index is put together in the driver, from columns. An index in parts is shared out there, and each part is
built by a task, from its rules alone: so no process has to hold more than one part.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pyspark.sql import SparkSession

from tocsin.errors import UsageError
from tocsin.spark.failures import on_spark

if TYPE_CHECKING:
    from tocsin.conditions.blocks.build_folder import Work
    from tocsin.conditions.live.build_settings import Preparation


class Written(NamedTuple):
    """What has been written: see build.Built."""

    rules: int
    predicates: int
    nodes: int
    shards: int
    bytes: int


def check_shards(shards: object) -> None:
    """UsageError for what is no number of parts."""
    if shards is None or shards == "auto":
        return
    if isinstance(shards, bool) or not isinstance(shards, int) or shards < 1:
        raise UsageError(f"shards is a number from 1 on or 'auto', not {shards!r}")


def check_target(target: Path, shards: object) -> None:
    """UsageError or IndexFileError when the index cannot go there."""
    from tocsin.conditions.graph.shards import check_folder

    if shards is not None:
        check_folder(target)
    elif target.is_dir():
        raise UsageError(f"{target} is a folder: an index without shards is one file")


def write_index(work: Work, target: Path, preparation: Preparation) -> Written:
    """Put all blocks together here, column by column, and write the index."""
    from tocsin.conditions.blocks.assembly import compile_blocks
    from tocsin.conditions.graph.index_file import save_index

    index = compile_blocks(work, preparation.base, preparation.planner)
    save_index(index, target)
    size = target.stat().st_size
    return Written(index.rule_count, index.leaf_count, len(index.graph.is_and), 1, size)


def write_parts(
    session: SparkSession, work: Work, target: Path, shards: int | str, preparation: Preparation
) -> Written:
    """Share the rules out, build every part in a task, and make them the parts of the index."""
    from tocsin.arrays.array_file import save_arrays
    from tocsin.conditions.blocks.shard_assignment import parts_wanted, rule_weights, share_out
    from tocsin.conditions.graph.shards import Part
    from tocsin.conditions.graph.shards import write_parts as make_them_count
    from tocsin.storage.drafts import PRIVATE_FOLDER

    weights = rule_weights(work)
    count = parts_wanted(shards, weights)
    save_arrays(work.folder / _SHARED_OUT, {}, [("part", share_out(work, weights, count))])
    target.mkdir(PRIVATE_FOLDER, exist_ok=True)
    unique = uuid.uuid4().hex[:8]
    numbers = session.range(0, count, 1, numPartitions=count)
    task = _part_task(work, target, unique, preparation)
    try:
        answers = on_spark(
            lambda: numbers.mapInArrow(
                task, "number long, rules long, predicates long, nodes long"
            ).collect(),
            "write the parts of the index",
        )
        answers.sort()
        parts = [Part.of(target / _name(unique, answer.number), answer.rules) for answer in answers]
        make_them_count(target, parts)
    except BaseException:
        for file in target.glob(f"part-{unique}-*"):
            file.unlink(missing_ok=True)
        raise
    return Written(
        sum(answer.rules for answer in answers),
        sum(answer.predicates for answer in answers),
        sum(answer.nodes for answer in answers),
        count,
        sum(part.bytes for part in parts),
    )


_SHARED_OUT = "shared-out"


def _name(unique: str, number: int) -> str:
    return f"part-{unique}-{number:04}.tocsin"


def _part_task(work: Work, target: Path, unique: str, preparation: Preparation) -> Any:
    def build_part(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        from tocsin.arrays.array_file import open_arrays
        from tocsin.conditions.blocks.shard_assignment import rules_of_part
        from tocsin.conditions.graph.compiled_index import compile_rules
        from tocsin.conditions.graph.index_file import save_index
        from tocsin.storage.drafts import mode_within

        _, arrays = open_arrays(work.folder / _SHARED_OUT, verify=False)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                rules = rules_of_part(work, arrays["part"], number)
                index = compile_rules(rules, base=preparation.base, planner=preparation.planner)
                save_index(index, target / _name(unique, number), mode_within(target))
                counts = [number, index.rule_count, index.leaf_count, len(index.graph.is_and)]
                yield pa.record_batch(
                    [[each] for each in counts], names=["number", "rules", "predicates", "nodes"]
                )

    return build_part
