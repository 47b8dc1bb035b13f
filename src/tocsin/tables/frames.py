"""Frames of any kind as Arrow: the one place where what people have becomes a table or a stream of batches.

Whatever speaks Arrow's C interface is taken as it is. pandas does, but its way is not ours (an index, names
that are no strings, columns of objects), and lazy frames, datasets and DuckDB's results have to be run. None
of these packages is imported here: an object of one brings it along.

    in memory   Arrow tables and batches, DataFrames of pandas and polars, anything else  -> Table
    streams     RecordBatchReader, Dataset, Scanner, LazyFrame, queries of DuckDB         -> RecordBatchReader
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from decimal import Decimal
from typing import Any, Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from tocsin.errors import InputError, UsageError
from tocsin.printable import described

_REFUSED = (pa.ArrowException, ValueError, TypeError, OverflowError)
_PLAIN_KINDS = frozenset(
    {"string", "empty", "boolean", "integer", "floating", "mixed-integer-float", "decimal"}
)
"""Columns of objects, as pandas infers them, that hold one kind of value."""


class ArrowStream(Protocol):
    """Gives a stream of Arrow batches: Arrow tables, DataFrames of pandas and polars, DuckDB's relations."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> object: ...


class ArrowArray(Protocol):
    """Gives one Arrow batch, as an array of structs."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...


class _Scanned(Protocol):
    """A Dataset or a Scanner of Arrow."""

    def count_rows(self) -> Any: ...

    def to_batches(self) -> Any: ...


class _LazyFrame(Protocol):
    """A LazyFrame of polars."""

    def collect_schema(self) -> Any: ...


class _DuckResult(Protocol):
    """A connection of DuckDB with a result."""

    def to_arrow_reader(self) -> Any: ...


Frame: TypeAlias = ArrowStream | ArrowArray | _Scanned | _LazyFrame | _DuckResult
"""What every door that takes a table takes."""

Batches: TypeAlias = pa.Table | pa.RecordBatch | pa.RecordBatchReader


def is_frame(source: object) -> bool:
    """Whether it is a table of some kind, or a stream of one."""
    return _reader_of(source) is not None or any(
        hasattr(source, name) for name in ("__arrow_c_stream__", "__arrow_c_array__")
    )


def batches_of(source: object, wanted: Collection[str] | None = None) -> Batches:
    """The table, or the stream, that a frame is; UsageError when it is none.

    Of the columns only those `wanted` are needed, if that is given: others may be left out, where reading
    them would cost something.
    """
    if isinstance(source, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
        return source
    if _is_pandas(source):
        return _of_pandas(source, wanted)
    read = _reader_of(source)
    if read is None and not is_frame(source):
        raise UsageError(f"a table is expected, not {described(source)}")
    try:
        return pa.table(source) if read is None else read(wanted)
    except MemoryError:
        raise
    except Exception as error:  # polars and DuckDB have exceptions of their own
        if "non-struct type" in str(error):
            raise UsageError(f"a table is expected, not one column: {described(source)}") from None
        raise InputError(f"{described(source)} cannot be read as a table: {error}") from error


def table_of(source: object) -> pa.Table:
    """The whole table that a frame is; UsageError when it is none, InputError when it cannot be read."""
    found = batches_of(source)
    if isinstance(found, pa.RecordBatchReader):
        return found.read_all()
    return pa.Table.from_batches([found]) if isinstance(found, pa.RecordBatch) else found


# ---- What is run first


def _reader_of(source: object) -> Callable[[Collection[str] | None], Any] | None:
    """What runs a frame that is no table yet, given the columns that are needed; None for anything else."""
    library = type(source).__module__.partition(".")[0]
    frame: Any = source
    if (
        library == "polars"
        and hasattr(source, "collect_schema")
        and not hasattr(source, "__arrow_c_stream__")
    ):
        return lambda wanted: _of_lazy_frame(frame, wanted)
    if library in ("duckdb", "_duckdb"):
        for run in ("to_arrow_reader", "fetch_record_batch"):
            if hasattr(source, run):
                return lambda _: getattr(frame, run)()
    if library == "pyarrow" and hasattr(source, "count_rows"):
        if hasattr(source, "scanner"):
            return lambda wanted: frame.scanner(columns=_columns(frame.schema.names, wanted)).to_reader()
        return lambda _: frame.to_reader()
    return None


def _columns(names: Sequence[str], wanted: Collection[str] | None) -> list[str] | None:
    """Those of the columns that are needed; None for all, as when there would be none to count rows by."""
    return [name for name in names if name in wanted] or None if wanted is not None else None


def _of_lazy_frame(frame: Any, wanted: Collection[str] | None) -> pa.RecordBatchReader:
    columns = _columns(frame.collect_schema().names(), wanted)
    chosen = frame if columns is None else frame.select(columns)
    if not hasattr(chosen, "collect_batches"):
        return pa.table(chosen.collect()).to_reader()
    schema = pa.table(chosen.collect_schema().to_frame()).schema
    pieces: Iterator[Any] = (pa.table(each) for each in chosen.collect_batches(maintain_order=True))
    return pa.RecordBatchReader.from_batches(
        schema, (batch for each in pieces for batch in each.to_batches())
    )


# ---- pandas


def _is_pandas(source: object) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(source, pandas.DataFrame)


def _of_pandas(frame: Any, wanted: Collection[str] | None) -> pa.Table:
    """The columns of a DataFrame, its index left out; NaN, NaT, NA and None are nulls."""
    names = list(frame.columns)
    for name in names:
        if not isinstance(name, str):
            raise InputError(
                f"the DataFrame has a column named {name!r}, {described(name)}: expected strings as names;"
                " df.columns = df.columns.map(str) makes them so"
            )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"the DataFrame has {names.count(twice)} columns named {twice!r}")
    columns = {name: _column(name, frame[name]) for name in names if wanted is None or name in wanted}
    return pa.table(columns) if columns else pa.table({"": pa.nulls(len(frame))}).select([])


def _column(name: str, series: Any) -> pa.Array | pa.ChunkedArray:
    from pandas.api.types import infer_dtype

    if series.dtype == object and infer_dtype(series, skipna=True) not in _PLAIN_KINDS:
        kinds = {type(value) for value in series.dropna()}
        if len(kinds) > 1:
            return _union(name, series)
    try:
        return pa.array(series, from_pandas=True)
    except _REFUSED as error:
        if series.dtype == object:
            return _union(name, series)
        raise InputError(f"column {name!r} of the DataFrame, of type {series.dtype}: {error}") from error


def _union(name: str, series: Any) -> pa.Array:
    """Values of several kinds, each as it is: a child for each kind."""
    values = series.where(series.notna(), None).tolist()
    kinds: dict[type, int] = {}
    held: defaultdict[int, list[Any]] = defaultdict(list)
    code, offset = np.zeros(len(values), np.int8), np.zeros(len(values), np.int32)
    for row, value in enumerate(values):
        kind = kinds.setdefault(type(value), len(kinds))
        code[row], offset[row] = kind, len(held[kind])
        held[kind].append(value)
    try:
        children = [_child(kind, held[number]) for kind, number in kinds.items()]
        return pa.UnionArray.from_dense(pa.array(code), pa.array(offset), children)
    except _REFUSED as error:
        raise InputError(f"column {name!r} of the DataFrame holds what Arrow cannot: {error}") from error


def _child(kind: type, values: list[Any]) -> pa.Array:
    """Integers beyond 64 bits are decimals."""
    try:
        return pa.array(values)
    except (OverflowError, pa.ArrowInvalid):
        if not issubclass(kind, int):
            raise
        return pa.array([Decimal(value) for value in values])
