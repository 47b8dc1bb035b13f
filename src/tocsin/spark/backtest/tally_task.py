"""What runs in a worker: events in, what was counted of them out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
from pyspark import TaskContext

from tocsin.errors import TocsinError
from tocsin.events.event_json import texts_of_columns
from tocsin.events.event_sources import portions_of_slice
from tocsin.events.slices import Slice
from tocsin.history.overview.tally import Tally, TallySettings
from tocsin.history.overview.task_tally import FAILURE, fact_rows
from tocsin.spark.event_columns import Layout
from tocsin.spark.index_shipment import ShippedRules
from tocsin.spark.match_worker import cells_of_batch

ROWS_OF_A_PARTITION = 1 << 40
"""A row's place in a history without numbers: partition by partition, more apart than any is long."""


def tally_batches(
    shipped: ShippedRules, settings: TallySettings, layout: Layout, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Count the events of one partition of a DataFrame."""
    tally = Tally(shipped.open().version, settings)
    context = TaskContext.get()
    first = 0 if context is None else context.partitionId() * ROWS_OF_A_PARTITION
    for batch in batches:
        places = np.arange(first, first + batch.num_rows, dtype=np.int64)
        texts = texts_of_columns({name: batch.column(column) for column, name in layout.kept})
        yield from tally.add(cells_of_batch(tally.fields, layout, batch), places, texts)
        first += batch.num_rows
    yield from tally.rest()


def tally_slices(
    shipped: ShippedRules,
    settings: TallySettings,
    slices: Sequence[Slice],
    show: Sequence[str] | None,
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Count the events of the slices whose numbers come; a slice that cannot be read says why."""
    tally = Tally(shipped.open().version, settings)
    for batch in batches:
        for number in batch.column(0).to_pylist():
            try:
                for portion in portions_of_slice(slices[number], tally.fields, show=show):
                    tally.rejects += portion.rejects
                    yield from tally.add(portion.events, portion.rows, portion.texts)
            except TocsinError as error:  # an error of the input is no reason to try again
                yield fact_rows(FAILURE, text=[str(error)])
    yield from tally.rest()
