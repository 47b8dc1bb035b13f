"""In a worker: records of Kafka, whose values are JSON objects, to found rows."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from tocsin.events.json_lines import BLANKS, member_text, parse_lines
from tocsin.events.kept_columns import JSON
from tocsin.events.python_events import FieldPlan
from tocsin.spark.stream.match_task import Events, Finder, Rejected


def rows_of_records(finder: Finder, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The found rows of a batch with the columns topic, partition, offset and value."""
    topic, partition, offset, value = (column.to_pylist() for column in batch.columns)
    spots = list(zip(topic, partition, offset, strict=True))
    places = ["/".join(map(str, spot)) for spot in spots]
    ordinals = [f"{name}/{part:010d}/{at:020d}" for name, part, at in spots]
    filled = [row for row, data in enumerate(value) if data is not None and data.strip(BLANKS)]
    read = parse_lines([value[row] for row in filled])
    yield from finder.rejected(
        Rejected(places[filled[row]], ordinals[filled[row]], reason, text)
        for row, reason, text in read.rejects
    )
    empty = sorted({*range(len(value))} - {*filled})
    yield from finder.rejected(
        Rejected(places[row], ordinals[row], "the record has no value") for row in empty
    )
    rows = [filled[row] for row in read.rows]
    columns = {}
    for name in finder.columns:
        texts = [member_text(event, line, name) for event, line in zip(read.events, read.lines, strict=True)]
        columns[name] = pa.ExtensionArray.from_storage(JSON, pa.array(texts, pa.large_string()))
    events = Events(
        FieldPlan(finder.fields).batch(read.events),
        pa.array([places[row] for row in rows], pa.string()),
        pa.array([ordinals[row] for row in rows], pa.string()),
        columns,
    )
    yield from finder.rows(events)
