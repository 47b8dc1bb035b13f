"""The columns of what a batch finds, and of what becomes of it.

    found    reject raw alert key ordinal rule score time dedup throttle text   carried... kept...
                │
                ├── reject is not null ──> rejects    batch place reason text
                └── reject is null     ──> alerts     alert rule version batch key time score text
                                                      dictionary carried... kept...

A found row is a match, or a record that is no event. `carried` are columns of the source's own, such
as the table and the kind of change of a row from PostgreSQL; `kept` are the fields that the user asked for;
`dictionary` is there when the stream learns.

Values of events that have no type of their own, those of JSON lines and CSV, are kept as JSON texts, so that
nothing is lost; their columns are marked (`is_json`), and a sink writes them as it can.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyspark.sql.functions as F  # noqa: N812  (as everybody writes it)
from pyspark.sql import Column, DataFrame
from pyspark.sql import types as T  # noqa: N812

_TYPES: Mapping[str, T.DataType] = {
    **dict.fromkeys(("version", "batch", "throttle"), T.LongType()),
    "score": T.DoubleType(),
    "time": T.TimestampType(),
}
"""Of the columns that are no texts."""


def _columns(names: str) -> T.StructType:
    return T.StructType([T.StructField(name, _TYPES.get(name, T.StringType())) for name in names.split()])


FOUND = _columns("reject raw alert key ordinal rule score time dedup throttle text")
"""A match:

reject     null; of a record that is no event: the reason
raw        null; of a record that is no event: what it said, as far as there is a text
alert      its id (match_task.alert_ids)
key        the value of the key's field as text; without one, the event's place in the source
ordinal    sorts as the events stand in the source; the same whenever the batch is done again
time       the value of the time's field; without one, the batch's time
dedup      the value of the rule's dedup field as JSON text; null without
throttle   microseconds; null without
text       the text of `do alert`, filled in; null without
"""

ALERTS = _columns("alert rule version batch key time score text")
"""An alert, as sinks write it. `alert` is its id: 32 hexadecimal digits that depend on the key, the rule and
the carried columns alone (match_task.alert_ids)."""

DICTIONARY = T.StructField("dictionary", T.LongType())
"""The version of the dictionaries that an alert's score was found with, of a stream that learns."""

REJECTS = _columns("batch place reason text")

KEPT = "kept "
"""What the names of kept columns begin with in found rows, where they could be those of other columns."""

_JSON_MARK = "tocsin.json"
_JSON_OPTIONS = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
    "timeZone": "UTC",
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the user wants of every event. Small, and made to be pickled.

    key          the path of the field that names an event; None: its place in the source does
    time         the path of the field with its time; None: the batch's time
    keep         top-level fields to carry along
    batch_time   the recorded time of the batch, in microseconds since 1970 UTC
    """

    key: tuple[str, ...] | None = None
    time: tuple[str, ...] | None = None
    keep: tuple[str, ...] = ()
    batch_time: int = 0


def json_field(name: str) -> T.StructField:
    """A column of JSON texts."""
    return T.StructField(name, T.StringType(), metadata={_JSON_MARK: True})


def is_json(field: T.StructField) -> bool:
    """Whether a column holds JSON texts."""
    return bool(field.metadata.get(_JSON_MARK))


def found_schema(carried: Sequence[T.StructField], kept: Sequence[T.StructField]) -> T.StructType:
    """The columns of found rows."""
    renamed = [T.StructField(KEPT + field.name, field.dataType, True, field.metadata) for field in kept]
    return T.StructType([*FOUND, *carried, *renamed])


def alert_schema(
    carried: Sequence[T.StructField], kept: Sequence[T.StructField], *, learns: bool = False
) -> T.StructType:
    """The columns of alerts."""
    return T.StructType([*ALERTS, *([DICTIONARY] if learns else []), *carried, *kept])


def alerts_of(found: DataFrame, version: int, batch: int, dictionary: int | None = None) -> DataFrame:
    """The matches among found rows as alerts; `found` may lack rows that are not to be sent."""
    others = found.columns[len(FOUND) :]
    known = {"version": f"{version}L as version", "batch": f"{batch}L as batch"}
    learnt = [] if dictionary is None else [f"{dictionary}L as {DICTIONARY.name}"]
    return found.where("reject is null").selectExpr(
        *(known.get(name, name) for name in ALERTS.names),
        *learnt,
        *(f"{_quoted(name)} as {_quoted(name.removeprefix(KEPT))}" for name in others),
    )


def rejects_of(found: DataFrame, batch: int) -> DataFrame:
    """The records among found rows that are no events."""
    return found.where("reject is not null").selectExpr(
        f"{batch}L as batch", "key as place", "reject as reason", "raw as text"
    )


def json_lines(alerts: DataFrame, *beside: str) -> DataFrame:
    """Alerts as one column `value` of JSON objects, JSON texts standing in them as they are.

    Behind it stand the columns that are wanted beside it.
    """
    typed = [field for field in alerts.schema if not is_json(field)]
    texts = [field for field in alerts.schema if is_json(field)]
    line = F.to_json(F.struct(*(column_named(field.name) for field in typed)), _JSON_OPTIONS)
    if texts:
        pieces: list[Column] = [F.regexp_replace(line, "[}]$", "")]
        for field in texts:
            name = json.dumps(field.name, ensure_ascii=False)
            pieces += [F.lit(f",{name}:"), F.coalesce(column_named(field.name), F.lit("null"))]
        line = F.concat(*pieces, F.lit("}"))
    return alerts.select(line.alias("value"), *map(column_named, beside))


def plain_text(text: Column) -> Column:
    """A JSON text as plain text: a string as it is, everything else as JSON writes it."""
    is_string = text.startswith('"')
    return F.when(is_string, F.get_json_object(F.concat(F.lit('{"v":'), text, F.lit("}")), "$.v")).otherwise(
        text
    )


def column_named(name: str) -> Column:
    """A column by its name, whatever is in it."""
    return F.col(_quoted(name))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
