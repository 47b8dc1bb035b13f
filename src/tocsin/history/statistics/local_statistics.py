"""tocsin.statistics: a history counted in this process, for one whose words fit into memory.

Each part of the history is noted by the code that notes it in a task of Spark, with the same numbers for its
rows; so the folder holds what Spark would have written, sketches and samples included.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path as FilePath
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tocsin.errors import telling
from tocsin.events import (
    EventPortion,
    Events,
    Path,
    Schema,
    Slice,
    event_source,
    plan_slices,
    portions_of_slice,
)
from tocsin.history.statistics.field_facts import FACTS, merge_facts
from tocsin.history.statistics.history import FieldName, History
from tocsin.history.statistics.statistics_folder import WORD_FILES, read_words
from tocsin.history.statistics.statistics_job import Plan, StatisticsJob, fields_of_schemas
from tocsin.history.statistics.task_facts import WORD
from tocsin.tables import is_frame, table_of

_MERGED_TOGETHER = 1 << 21
"""Words that are kept before equal ones are put together."""

_WORDS_IN_A_GROUP = 1 << 20

Advance = Callable[[int], None]


class _Part(NamedTuple):
    """A part of a history that is noted by itself, as a task of Spark does it."""

    schema: Callable[[], Schema]
    portions: Callable[[Sequence[Path]], Iterable[EventPortion]]


@telling("counting a history")
def statistics(
    events: Events,
    path: str | os.PathLike[str],
    *,
    text: Sequence[FieldName] | None = None,
    sketch: int | None = None,
    merge: bool = False,
    fields: Sequence[FieldName] | None = None,
    part: str | None = None,
) -> History:
    """Count what past events hold and write it to a folder; the result is that, opened.

    events    a file or folder, a table of any kind, or dictionaries. tocsin.spark.statistics counts what is
              too large for this machine, with the same result
    text      the fields whose words are counted, by default all strings and lists of strings
    sketch    how many documents a word's sketch holds at most (64)
    fields    the fields that are looked at, by default all: `index.fields` are those that rules name
    merge     what the folder holds already is counted with it: the events are taken for new ones. Without it,
              that is replaced. Either way the folder holds the old version or the new one
    part      a name for these events, such as their day: one that is in the folder is not counted again

    Records that are no events are left out, and `rejects` of the result tells how many.
    """
    job = partial(StatisticsJob.plan, path, text=text, sketch=sketch, merge=merge, only=fields, part=part)
    if isinstance(events, str | os.PathLike):
        return statistics_of_slices(plan_slices(events), job)
    if is_frame(events):
        events = table_of(events)
    source = event_source(events)
    if isinstance(events, pa.Table):
        schema = Schema.of_arrow(events.schema)
    else:
        schema = Schema.of_events(row for _, row in source.rows())
    return _counted([_Part(lambda: schema, source.portions)], job)


def statistics_of_slices(slices: Sequence[Slice], plan: Plan, advance: Advance | None = None) -> History:
    """The same of parts of files; `advance` is called with how many of the slices are done."""
    return _counted(list(map(_slice_part, slices)), plan, advance)


def _slice_part(piece: Slice) -> _Part:
    return _Part(partial(Schema.of_slice, piece), partial(portions_of_slice, piece))


def _counted(parts: Sequence[_Part], plan: Plan, advance: Advance | None = None) -> History:
    job = plan(*fields_of_schemas(each.schema() for each in parts))

    def count(words_folder: FilePath, _draft: FilePath) -> tuple[int, pa.Table]:
        words = [] if job.before is None else [read_words(job.folder, job.before)]
        facts: list[pa.Table] = []
        for batch in _noted(job, parts, advance):
            is_word = pc.equal(batch.column("fact"), WORD)
            words.append(_words(batch.filter(is_word)))
            facts.append(batch.filter(pc.invert(is_word)).select(FACTS.names))
            if sum(map(len, words[1:])) > max(_MERGED_TOGETHER, len(words[0])):
                words = [merge_words(words, job.sketch)]
        whole = merge_words(words, job.sketch)
        words_folder.mkdir()
        pq.write_table(
            whole,
            words_folder / "part-0.parquet",
            compression="zstd",
            row_group_size=_WORDS_IN_A_GROUP,
            write_page_checksum=True,
        )
        return len(whole), merge_facts(facts)

    return job.run(count)


def _noted(job: StatisticsJob, parts: Sequence[_Part], advance: Advance | None) -> Iterator[pa.Table]:
    """What is noted of each part, in pieces."""
    for number, part in enumerate(parts):
        partials = job.partials(number)
        for portion in part.portions(job.looked_at):
            partials.rejects += portion.rejects
            yield from map(_table, partials.add(portion.events))
        yield from map(_table, partials.rest())
        if advance is not None:
            advance(number + 1)


def _table(batch: pa.RecordBatch) -> pa.Table:
    return pa.Table.from_batches([batch])


def _words(noted: pa.Table) -> pa.Table:
    columns = noted.select(["field", "text", "number", "sketch"])
    return columns.rename_columns(WORD_FILES.names).cast(WORD_FILES)


def merge_words(tables: Sequence[pa.Table], sketch: int) -> pa.Table:
    """Words of different documents put together, as WORD_FILES: of the hashes the least are kept."""
    every = pa.concat_tables([WORD_FILES.empty_table(), *tables]).combine_chunks()
    codes = pc.dictionary_encode(every.column("word")).combine_chunks()
    code = codes.indices.to_numpy().astype(np.int64)
    keys = every.column("field").to_numpy().astype(np.int64) * (len(codes.dictionary) + 1) + code
    once, first, owner = np.unique(keys, return_index=True, return_inverse=True)
    documents = np.zeros(len(once), np.int64)
    np.add.at(documents, owner, every.column("documents").to_numpy())
    lists = every.column("sketch").combine_chunks()
    owners = np.repeat(owner, pc.list_value_length(lists).to_numpy())
    hashes = lists.flatten().to_numpy()
    order = np.lexsort((hashes, owners))
    owners, hashes = owners[order], hashes[order]
    start = np.searchsorted(owners, np.arange(len(once)))
    kept = np.arange(len(owners)) - start[owners] < sketch
    offsets = np.zeros(len(once) + 1, np.int32)
    np.cumsum(np.bincount(owners[kept], minlength=len(once)), out=offsets[1:])
    taken = every.take(pa.array(first))
    sketches = pa.ListArray.from_arrays(pa.array(offsets), pa.array(hashes[kept]))
    columns = [taken.column("field"), taken.column("word"), pa.array(documents), sketches]
    return pa.table(columns, schema=WORD_FILES)
