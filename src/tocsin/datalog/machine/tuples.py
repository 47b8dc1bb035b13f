"""Tuples of one relation as rows of words, and back: from Python, and from Arrow.

    ("ada", 7)  <->  rows int64[n, columns], one row of words (symbols.py) for each tuple

Nothing is taken that does not fit the declaration: the error names relation, column and value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.arrays.dtypes import Longs
from tocsin.datalog.language.syntax import Type, Value
from tocsin.datalog.machine.symbols import LARGEST, SMALLEST, Symbols, Unfit, typed_words
from tocsin.errors import InputError
from tocsin.printable import number_of
from tocsin.tables import without_views

Rows = Longs

ARROW_TYPES = {
    Type.NUMBER: pa.int64(),
    Type.UNSIGNED: pa.uint64(),
    Type.FLOAT: pa.float64(),
    Type.SYMBOL: pa.string(),
}


class TupleCode:
    """How tuples of one relation are written as words. `encode` takes a tuple and gives its words."""

    def __init__(
        self, relation: str, types: Sequence[Type], symbols: Symbols, columns: Sequence[str] | None = None
    ) -> None:
        self.relation = relation
        self.types = tuple(types)
        self.columns = tuple(columns or (f"column {place + 1}" for place in range(len(self.types))))
        self._symbols = symbols
        self._writers = [symbols.writer(kind) for kind in self.types]
        self._readers = [symbols.reader(kind) for kind in self.types]
        self._all_numbers = all(kind is Type.NUMBER for kind in self.types)
        self.encode: Callable[[object], tuple[int, ...]] = (
            self._encode_numbers if self._all_numbers else self._encode_any
        )

    def _encode_numbers(self, values: object) -> tuple[int, ...]:
        """The common case, as fast as Python can check it."""
        if type(values) is tuple and len(values) == len(self.types):
            for value in values:
                if type(value) is not int or not SMALLEST <= value <= LARGEST:
                    break
            else:
                return values
        return self._encode_any(values)

    def _encode_any(self, values: object) -> tuple[int, ...]:
        if not isinstance(values, tuple | list):
            raise InputError(f"{self.relation}: expected a tuple, not {_short(values)}")
        if len(values) != len(self.types):
            raise InputError(
                f"{self.relation} has {number_of(len(self.types), 'column')}, and {_short(values)} has "
                f"{number_of(len(values), 'value')}"
            )
        try:
            return tuple([write(value) for write, value in zip(self._writers, values, strict=True)])
        except Unfit:
            return tuple([self.word(place, value) for place, value in enumerate(values)])

    def word(self, place: int, value: object) -> int:
        """The word of a value of one column; the error names the column."""
        try:
            return self._writers[place](value)
        except Unfit as wanted:
            raise InputError(f"{self._column(place)} takes {wanted}, not {_short(value)}") from None

    def rows(self, tuples: Iterable[object]) -> Rows:
        """Rows of many tuples; an error names the first one that does not fit, from 0."""
        words: list[tuple[int, ...]] = []
        encode = self.encode
        try:
            for values in tuples:
                words.append(encode(values))
        except InputError as error:
            raise InputError(f"tuple {len(words)}: {error}") from None
        return np.array(words, np.int64).reshape(len(words), len(self.types))

    def decode(self, row: Sequence[int]) -> tuple[Value, ...]:
        """The tuple of one row."""
        return tuple([read(int(word)) for read, word in zip(self._readers, row, strict=True)])

    def decode_rows(self, rows: Rows) -> list[tuple[Value, ...]]:
        """The tuples of rows, in their order."""
        if self._all_numbers:
            return list(map(tuple, rows.tolist()))
        columns = [self._symbols.values(rows[:, place], kind) for place, kind in enumerate(self.types)]
        return list(zip(*columns, strict=True))

    def in_order(self, rows: Rows) -> Rows:
        """The rows sorted by what their columns hold, the first column first; symbols by character."""
        if len(rows) < 2 or not self.types:
            return rows
        keys = [self._symbols.order(rows[:, place], kind) for place, kind in enumerate(self.types)]
        return rows[np.lexsort(keys[::-1])]

    def table(self, rows: Rows) -> pa.Table:
        """Rows as an Arrow table with the columns of the declaration."""
        if not self.types:
            return pa.table({"": pa.nulls(len(rows))}).select([])
        arrays = [self._arrow_column(rows[:, place], kind) for place, kind in enumerate(self.types)]
        return pa.Table.from_arrays(arrays, names=list(self.columns))

    def _arrow_column(self, words: Rows, kind: Type) -> pa.Array:
        if kind is not Type.SYMBOL:
            return pa.array(typed_words(words, kind), ARROW_TYPES[kind])
        numbers, places = np.unique(words, return_inverse=True)
        texts = pa.array(self._symbols.values(numbers, kind), pa.large_string())
        column = texts.take(pa.array(places))
        return column.cast(pa.string()) if column.nbytes < 2**31 else column

    def rows_of_table(self, table: pa.Table | pa.RecordBatch) -> Rows:
        """Rows of an Arrow table: columns by name if the names are those declared, else by position.

        Integers of any width are taken that are in range, floats (and integers) for float, strings of
        any kind for symbol. A missing value is an error, as is any other type.
        """
        if table.num_columns != len(self.types):
            raise InputError(
                f"{self.relation} has {number_of(len(self.types), 'column')}, and the table "
                f"{number_of(table.num_columns, 'column')}"
            )
        by_name = sorted(table.column_names) == sorted(self.columns)
        rows = np.empty((table.num_rows, len(self.types)), np.int64)
        for place, name in enumerate(self.columns):
            column = table.column(name if by_name and self.columns.count(name) == 1 else place)
            start = 0
            for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
                rows[start : start + len(chunk), place] = self._words_of_column(chunk, place, start)
                start += len(chunk)
        return rows

    def _words_of_column(self, values: pa.Array, place: int, start: int) -> Rows:
        """Words of one piece of a column, whose first value is in row `start`."""
        values = without_views(values)
        kind, given = self.types[place], values.type
        if pa.types.is_dictionary(given):
            if kind is not Type.SYMBOL or values.dictionary.null_count:
                values = values.cast(given.value_type)
            given = given.value_type
        if values.null_count:
            row = start + pc.index(values.is_null(), True).as_py()
            raise InputError(f"{self._column(place)}: row {row} has no value")
        if kind is Type.SYMBOL and given in (pa.string(), pa.large_string(), pa.string_view()):
            return self._numbers_of_texts(values)
        if kind is Type.FLOAT and (pa.types.is_floating(given) or pa.types.is_integer(given)):
            return self._words_of_floats(values, place, start)
        if kind in (Type.NUMBER, Type.UNSIGNED) and pa.types.is_integer(given):
            return self._words_of_integers(values, place, start)
        if pa.types.is_null(given) and not len(values):
            return np.empty(0, np.int64)
        raise InputError(f"{self._column(place)} is {kind.value}, and the table's column {given}")

    def _numbers_of_texts(self, values: pa.Array) -> Rows:
        coded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
        number = self._symbols.number
        numbers = np.array([number(text) for text in coded.dictionary.to_pylist()], np.int64)
        places: Rows = np.asarray(coded.indices)
        return numbers[places]

    def _words_of_floats(self, values: pa.Array, place: int, start: int) -> Rows:
        floats = np.asarray(values).astype(np.float64) + 0.0
        wrong = np.flatnonzero(np.isnan(floats))
        if len(wrong):
            row = f"{self._column(place)}: row {start + wrong[0]}"
            raise InputError(f"{row} is NaN, which no float here can be")
        return floats.view(np.int64)

    def _words_of_integers(self, values: pa.Array, place: int, start: int) -> Rows:
        kind = self.types[place]
        numbers = np.asarray(values)
        if kind is Type.NUMBER and numbers.dtype == np.uint64:
            wrong = np.flatnonzero(numbers > np.uint64(LARGEST))
        elif kind is Type.UNSIGNED and numbers.dtype.kind == "i":
            wrong = np.flatnonzero(numbers < 0)
        else:
            wrong = np.empty(0, np.int64)
        if len(wrong):
            row = f"{self._column(place)}: row {start + wrong[0]}"
            raise InputError(f"{row} holds {numbers[wrong[0]]}: out of range")
        return numbers.astype(np.uint64 if kind is Type.UNSIGNED else np.int64).view(np.int64)

    def _column(self, place: int) -> str:
        return f"{self.relation}.{self.columns[place]}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:80] + "..."
