"""ts.activate: a stream of changes in, the derived changes out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

import pyspark.sql.functions as F  # noqa: N812  (as everybody writes it)
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T  # noqa: N812

from tocsin.datalog.spark.stream.processors import Stepping
from tocsin.errors import UsageError

if TYPE_CHECKING:
    from tocsin.datalog.engine.program import Program
    from tocsin.datalog.language.syntax import Value
    from tocsin.datalog.spark.stream.units import Plan, Unit

PACKED = "unit int, bucket int, rows binary"
RESULTS = "op string, relation string, tuple array<string>, seq bigint, reason string"
STORE = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(millisecond|second|minute|hour|day|week)s?\s*")
_MILLISECONDS = {
    "millisecond": 1,
    "second": 1000,
    "minute": 60_000,
    "hour": 3_600_000,
    "day": 86_400_000,
    "week": 604_800_000,
}


def activate(
    program: Program,
    changes: DataFrame,
    *,
    ttl: str | Mapping[str, str] | None = None,
    time: str | None = None,
    delay: str = "0 seconds",
    bad: str = "fail",
    local: Value | None = None,
    limit: int | None = None,
) -> DataFrame:
    """What follows from a stream of changes: a DataFrame of derived changes, as the changes come.

    `changes` has the columns `op` ('+' or '-'), `relation`, `tuple` (array<string>: the values of its
    columns as texts; an array of integers or doubles will do as well) and `seq` (an integer). The result has
    the same four. Rows of one seq in one micro-batch are one change, made at once; what goes, goes first. The
    seqs of a batch are made in their order, batches in theirs. For each seq the result has exactly what
    Engine.apply would have returned: the net change of the `.output` relations, or of all derived ones.

    With `ttl` ('10 minutes', or a mapping from relation to that) facts expire: one that is given at the event
    time in the column `time` is there until the watermark, which is `delay` behind the latest time seen,
    reaches that time plus ttl. What follows from that has no seq. Facts that come too late are passed over.

    A row that is no change of the program stops the query (bad='fail'), or comes out with the op '!' and the
    reason in a fifth column, `reason` (bad='report'). `local` and `limit` are those of Program.start.

    The state is in Spark's state store and outlives the process with the query's checkpoint. The query runs
    in append mode. explain_activation says how the program is spread over keys.
    """
    from tocsin.datalog.engine.program import DERIVED_LIMIT, Program, checked_limit
    from tocsin.datalog.engine.program_warmup import is_warm, warm_up
    from tocsin.datalog.spark.stream.change_reader import packed_changes
    from tocsin.datalog.spark.stream.initial_facts import Setting
    from tocsin.datalog.spark.stream.plan_steps import results, steps_of

    if not isinstance(program, Program):
        raise UsageError(f"activate takes a Program, not {type(program).__name__}")
    if not isinstance(changes, DataFrame):
        raise UsageError(f"activate takes a Spark DataFrame of changes, not {type(changes).__name__}")
    if bad not in ("fail", "report"):
        raise UsageError(f"bad is 'fail' or 'report', not {bad!r}")
    lives = _lives(program, ttl)
    if lives and time is None:
        raise UsageError("a time to live is counted in event time: name its column with time=")
    if lives and not changes.isStreaming:
        raise UsageError("a time to live needs a stream: this DataFrame has an end, and no watermark")
    _check_store(changes.sparkSession)
    if not is_warm():
        warm_up()  # once here, or else in every worker at the same time
    setting = Setting(str(program), local, DERIVED_LIMIT if limit is None else checked_limit(limit))
    program.start(local, limit=setting.limit)  # what is wrong with it is said here
    if time is not None and changes.isStreaming:
        changes = changes.withWatermark(time, delay)
    steps = steps_of(setting.plan, lives)
    first, *others = [*steps, None]
    reading = partial(packed_changes, setting, tuple(lives), bad == "fail", first)
    rows = _selected(changes, time).mapInArrow(reading, PACKED)
    for step, following in zip(steps, others, strict=True):
        stepping = Stepping(setting, step.work, following, lives)
        mode = "EventTime" if step.work == "lives" else "None"
        rows = rows.groupBy("unit", "bucket").transformWithState(stepping, PACKED, "Append", mode)
    found = rows.mapInArrow(partial(results, tuple(program.outputs)), RESULTS)
    return found if bad == "report" else found.drop("reason")


# ---- Refusing what cannot be done, before a query starts


def _lives(program: Program, ttl: str | Mapping[str, str] | None) -> dict[str, int]:
    """The time to live of each relation that has one, in milliseconds."""
    if ttl is None:
        return {}
    if isinstance(ttl, str):
        ttl = dict.fromkeys(program.relations, ttl)
    if not isinstance(ttl, Mapping):
        raise UsageError(f"ttl is a duration, or a mapping from relation to duration, not {ttl!r}")
    lives = {}
    for name, duration in ttl.items():
        if name not in program.relations:
            raise UsageError(f"there is no relation {name!r} to have a time to live")
        found = _DURATION.fullmatch(duration) if isinstance(duration, str) else None
        if found is None:
            raise UsageError(f"a time to live is a duration like '10 minutes', not {duration!r}")
        lives[name] = round(float(found[1]) * _MILLISECONDS[found[2]])
    return lives


def _check_store(session: SparkSession) -> None:
    if session.conf.get(STORE, "") != ROCKSDB:
        raise UsageError(
            f"activate keeps its state in RocksDB: set {STORE} to {ROCKSDB} (a session of ts.session has it)"
        )


def _selected(changes: DataFrame, time: str | None) -> DataFrame:
    """The columns of a change, by name and in order, each of a type that can be taken."""
    schema = changes.schema
    for name in ("op", "relation", "tuple", "seq", *([time] if time is not None else [])):
        if schema.names.count(name) != 1:
            count = schema.names.count(name) or "no"
            raise UsageError(f"changes have the columns op, relation, tuple, seq; there is {count} {name!r}")
        _check_type(name, schema[name].dataType)
    moment = F.lit(None) if time is None else F.col(f"`{time}`")
    texts = F.col("tuple").cast("array<string>")
    are_valid = F.forall(texts, lambda text: F.coalesce(F.is_valid_utf8(text), F.lit(True)))
    return changes.select(
        F.make_valid_utf8("op").alias("op"),
        F.make_valid_utf8("relation").alias("relation"),
        F.transform(texts, lambda text: F.make_valid_utf8(text)).alias("tuple"),
        F.col("seq").cast("bigint").alias("seq"),
        moment.cast("timestamp").alias("time"),
        F.coalesce(are_valid, F.lit(True)).alias("valid"),
    )


_TEXT, _LIST = ((T.StringType,), "a string"), (T.StringType, T.IntegralType, T.DoubleType)
_TAKEN = {
    "op": _TEXT,
    "relation": _TEXT,
    "tuple": (_LIST, "an array of strings, integers or doubles"),
    "seq": ((T.IntegralType,), "an integer"),
}
"""The types of each column, and how they are called; of a tuple, those of its values."""


def _check_type(name: str, kind: T.DataType) -> None:
    types, wanted = _TAKEN.get(name, ((T.TimestampType, T.TimestampNTZType), "a timestamp"))
    held = kind.elementType if types is _LIST and isinstance(kind, T.ArrayType) else kind
    if not isinstance(held, types) or (types is _LIST) != isinstance(kind, T.ArrayType):
        raise UsageError(f"the column {name!r} of changes cannot be {kind.simpleString()}: {wanted}")


# ---- A plan in words


def explain_activation(program: Program) -> str:
    """How ts.activate spreads a program over keys.

    Level by level: the rules that run together, and by which key. A rule `by` a variable or a column runs
    for each of its values wherever Spark likes. What runs `in one place` is the work of one task.
    """
    from tocsin.datalog.spark.stream.unit_planner import plan

    return "\n".join(_lines(plan(program)))


def _lines(planned: Plan) -> Iterator[str]:
    for level in range(planned.levels):
        yield f"level {level}"
        for unit in planned.units:
            if unit.level == level:
                yield f"  {_how(unit)}"
                yield from (f"    {rule}" for rule in unit.rules)
        names = [name for name, at in planned.counted.items() if at == level]
        if names:
            yield f"  then by tuple, counted across rules and keys: {', '.join(names)}"


def _how(unit: Unit) -> str:
    if unit.key is None:
        if unit.counted:
            return "by rule, in one place: no variable stands in all atoms"
        return "whole, in one place: no column goes through the recursion"
    return f"by variable {unit.key}" if unit.counted else f"by key, complete: {unit.key}"
