"""Histories for tests, counted in this process as a task of Spark's counts them."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tocsin import History
from tocsin.events import FieldPlan, Path
from tocsin.history.statistics import FACTS, merge_facts
from tocsin.history.statistics.statistics_folder import WORD_FILES, Contents, write_contents, write_facts
from tocsin.history.statistics.task_facts import Partials


def history_of(
    events: Sequence[Mapping[str, object]],
    fields: Sequence[Path],
    text: Sequence[Path] = (),
    *,
    sketch: int = 64,
    folder: FilePath | None = None,
) -> History:
    """The history of these events."""
    folder = FilePath(tempfile.mkdtemp()) if folder is None else folder
    numbers = [list(fields).index(field) for field in text]
    partials = Partials(fields, numbers, sketch, 1, 0)
    noted = [*partials.add(FieldPlan(list(fields)).batch(list(events))), *partials.rest()]
    table = pa.Table.from_batches(noted)
    is_word = pc.equal(table.column("fact"), "word")
    words = table.filter(is_word).select(["field", "text", "number", "sketch"])
    write_facts(
        folder / "fields-1.parquet", merge_facts([table.filter(pc.invert(is_word)).select(FACTS.names)])
    )
    (folder / "words-1").mkdir()
    pq.write_table(words.rename_columns(WORD_FILES.names), folder / "words-1" / "0.parquet")
    contents = Contents(
        1, len(events), 0, tuple(fields), tuple(numbers), len(words), sketch, "fields-1.parquet", "words-1"
    )
    write_contents(folder, contents)
    return History.open(folder)
