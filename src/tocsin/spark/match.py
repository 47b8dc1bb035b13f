"""Match a DataFrame of events, batch or streaming, against an index."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql.types import DoubleType, StringType, StructType

from tocsin.errors import UsageError
from tocsin.spark.index_shipment import ShippedRules, ship_rules
from tocsin.spark.match_plan import TOGETHER, plan_match

if TYPE_CHECKING:
    from tocsin.conditions.language import Path
    from tocsin.conditions.live import Index

TAKEN = ("event", "rule", "score")
"""Names that results have for themselves, on Spark and elsewhere."""


def match(
    events: DataFrame,
    index_or_path: Index | str | os.PathLike[str],
    keep: Sequence[str] = (),
    *,
    way: str = "auto",
) -> DataFrame:
    """A row for each match: the columns named in `keep`, then `rule` (string) and `score` (double).

    The answer is Index.match_table's on the same rows, in any order. It works on batch and on
    streaming DataFrames, in any session whose workers can import tocsin.

    Fields and columns have the same name when they are spelt the same, upper and lower case apart.
    An index in shards, which ts.build writes, is matched shard by shard in every task, or with tasks of its
    own for each shard, as memory allows: ts.explain_match says which, and `way`
    ("together" or "apart") decides it.

    One warning names the fields that rules name and the events do not have. What cannot be matched
    is refused here, before a job starts: InputError for a column that rules name and cannot test,
    UsageError for one that cannot be kept, IndexFileError for a file that is no good index.

    Texts are UTF-8, which Spark does not see to: a STRING cast from bytes may hold anything. Where a
    text that rules look at is not valid UTF-8, the task fails with an EventError that names the field,
    and so the job fails or the stream stops, also when it is started again: a row is never left out
    without a word. Columns that are only kept pass as they are. Where such texts can come, mend them
    or set their rows aside before matching (is_valid_utf8 of a null is null, so say what becomes of it):

        mended = events.withColumn("s", F.make_valid_utf8("s"))      # what is wrong becomes U+FFFD
        good = events.where("s is null or is_valid_utf8(s)")
        rejects = events.where("not is_valid_utf8(s)")

    Texts in a list are mended by F.transform("s", F.make_valid_utf8).
    """
    import pyarrow as pa

    from tocsin.conditions.matching import warn_of_missing_fields

    if not isinstance(events, DataFrame):
        raise UsageError(f"match takes a Spark DataFrame, not {type(events).__name__}")
    _check_names(events, keep)
    session = events.sparkSession
    shipped = ship_rules(session, index_or_path)
    indexes = shipped.shards()
    fields = sorted({field for index in indexes for field in index.fields})
    way = plan_match(session, indexes, way=way, streaming=events.isStreaming).way
    warn_of_missing_fields(fields, pa.schema([(name, pa.null()) for name in events.columns]), stacklevel=3)
    if way == TOGETHER:
        return _matched(events, shipped, fields, keep, alone=False)
    shards = zip(shipped.names, indexes, strict=True)
    found = [_matched(events, ShippedRules((name,)), each.fields, keep, alone=True) for name, each in shards]
    return reduce(DataFrame.unionAll, found)


def _matched(
    events: DataFrame,
    shipped: ShippedRules,
    fields: Sequence[Path],
    keep: Sequence[str],
    alone: bool,
) -> DataFrame:
    """The matches of events with indexes whose rules name these fields."""
    from tocsin.spark.event_columns import ship_columns

    needed, shipment = ship_columns(events, fields, keep)
    schema = StructType(shipment.kept).add("rule", StringType()).add("score", DoubleType())
    layout = shipment.layout

    def match_in_worker(batches: Iterable[Any]) -> Iterator[Any]:
        from tocsin.spark.match_worker import match_batches

        return match_batches(shipped.shards(alone=alone), layout, batches)

    return needed.mapInArrow(match_in_worker, schema)


def _check_names(events: DataFrame, keep: Sequence[str]) -> None:
    """Refuse names that would stand for two columns of the result."""
    is_list = isinstance(keep, Sequence) and not isinstance(keep, str)
    if not is_list or not all(isinstance(name, str) for name in keep):
        raise UsageError("keep takes a list of column names")
    by_case = events.sparkSession.conf.get("spark.sql.caseSensitive") == "true"
    for name in keep:
        if name in TAKEN or (not by_case and name.lower() in TAKEN[1:]):
            raise UsageError(f"cannot keep a column named '{name}': {', '.join(TAKEN)} are the result's own")
    if len(set(keep)) < len(keep):
        raise UsageError("keep names a column twice")
