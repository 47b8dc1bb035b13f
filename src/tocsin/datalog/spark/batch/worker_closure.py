"""In a worker: arcs as Arrow batches in, the pairs of its share of the sources out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from tocsin.datalog.language.syntax import Type
from tocsin.datalog.machine.closure_graph import ClosureGraph
from tocsin.datalog.machine.symbols import Symbols
from tocsin.datalog.machine.tuples import TupleCode
from tocsin.datalog.spark.batch.value_columns import FAILURE, word_type
from tocsin.datalog.spark.batch.worker_batches import ARROW, failure_of
from tocsin.errors import DerivationError

_PIECE = 1 << 16
"""Pairs of a batch that goes out, about."""

_ROOM = 1 << 25
"""The words of 64 bits that a worker may take to remember what reaches what: 256 MB."""


def pairs_of_shares(
    shares: int, kind: Type, limit: int, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The pairs of the shares whose arcs come here: all arcs, for each share."""
    symbols = Symbols()
    code = TupleCode("arc", (word_type(kind),) * 2, symbols)
    graphs: dict[int, ClosureGraph] = {}
    for batch in batches:
        for share in batch.column(0).unique().to_pylist():
            arcs = batch.filter(pa.compute.equal(batch.column(0), share)).select([1, 2])
            graphs.setdefault(share, ClosureGraph(_ROOM)).insert(code.rows_of_table(arcs))
    for share, graph in graphs.items():
        if graph.count() > limit:
            error = DerivationError(f"more than {limit:,} tuples are derived, which is the limit")
            yield _batch([pa.nulls(1, ARROW[kind])] * 2, failure_of(error))
            return
        for pairs in graph.pairs_of_share(share, shares, _PIECE):
            columns = [column.combine_chunks() for column in code.table(pairs).columns]
            yield _batch(columns, None)


def _batch(columns: list[pa.Array], failure: str | None) -> pa.RecordBatch:
    failures = pa.array([failure], pa.string()) if failure else pa.nulls(len(columns[0]), pa.string())
    return pa.RecordBatch.from_arrays([*columns, failures], names=["c0", "c1", FAILURE])
