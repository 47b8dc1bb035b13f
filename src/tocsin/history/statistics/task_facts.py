"""What one task notes of the rows it sees, put out in pieces of bounded size.

Words are put out whenever enough documents have been noted, so a task needs no more memory for a long
history than for a short one; facts are bounded anyway and come at the end. Both are rows of one table:

    field ... number    as in field_facts.py; of a word: fact "word", text its letters, number its documents
    sketch              of a word
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from tocsin.events import EventBatch, FieldPlan, Path
from tocsin.history.statistics.field_facts import (
    ALL_FIELDS,
    FACTS,
    NO_KIND,
    fact_rows,
    facts_of,
    merge_facts,
    number_fact,
)
from tocsin.history.statistics.sketch_hashes import row_hashes
from tocsin.history.statistics.word_counts import WordCounter

PARTIALS = FACTS.append(pa.field("sketch", pa.list_(pa.int64())))
WORD = "word"

_MERGED_TOGETHER = 200_000
"""Rows of facts that are kept before they are merged."""


class Partials:
    """Takes the batches of one partition in their order.

    fields    every field that is counted; its place here is its number
    text      the numbers of those whose words are counted
    run       tells this run over a history from others, whose rows are other rows
    rejects   records that are no events, for the caller to count
    """

    def __init__(
        self, fields: Sequence[Path], text: Sequence[int], sketch: int, run: int, partition: int
    ) -> None:
        self.rows = 0
        self.rejects = 0
        self._number = {field: number for number, field in enumerate(fields)}
        self._words = {number: WordCounter(sketch) for number in text}
        self._run = run
        self._partition = partition
        self._facts: list[pa.Table] = []
        self._fact_rows = 0

    def add(self, batch: EventBatch) -> Iterator[pa.RecordBatch]:
        """Note a batch; what has become too large to keep is given back."""
        row_hash = row_hashes(self._run, self._partition, self.rows, batch.length)
        self.rows += batch.length
        for field, column in batch.columns.items():
            number = self._number[field]
            self._facts += (facts := facts_of(number, column, row_hash))
            self._fact_rows += sum(map(len, facts))
            counter = self._words.get(number)
            if counter is not None:
                counter.add(column, row_hash)
                if counter.is_full:
                    yield from _word_rows(number, counter.count())
        if self._fact_rows > _MERGED_TOGETHER:
            self._facts = [merge_facts(self._facts)]
            self._fact_rows = len(self._facts[0])

    def rest(self) -> Iterator[pa.RecordBatch]:
        """What is left at the end of the partition."""
        for number, counter in self._words.items():
            yield from _word_rows(number, counter.count())
            self._facts.append(number_fact(number, "documents", counter.documents))
        self._facts.append(number_fact(ALL_FIELDS, "present", self.rows))
        self._facts.append(number_fact(ALL_FIELDS, "rejects", self.rejects))
        facts = merge_facts(self._facts)
        none = pa.nulls(len(facts), pa.list_(pa.int64()))
        yield from facts.append_column(PARTIALS.field("sketch"), none).to_batches()


def warm_up() -> None:
    """Compile what tasks run, or load it, so that several of them do not compile it at the same time."""
    batch = FieldPlan([("text",)]).batch([{"text": "a word"}, {"text": ["日本", "7"]}])
    partials = Partials([("text",)], [0], 1, 0, 0)
    for _ in (*partials.add(batch), *partials.rest()):
        pass


def _word_rows(field: int, words: pa.Table) -> Iterator[pa.RecordBatch]:
    word, documents, sketch = (column.combine_chunks() for column in words.columns)
    facts = fact_rows(field, NO_KIND, WORD, text=word, number=documents)
    yield from facts.append_column(PARTIALS.field("sketch"), sketch).to_batches(max_chunksize=1 << 16)
