"""What is counted of the values of a field: facts, in a form that adds up.

A task of a Spark job notes facts of the rows it sees; facts of two sets of rows put together and merged
are the facts of all these rows. One table holds them all, in the tasks, between them and on disk:

    field   kind     fact       high  low  text    number
    3       -        present                       980       rows in which the field is not missing
    3       -        documents                     975       documents, when the field's words are counted
    -       -        rejects                       2         records that are no events, and were left out
    3       STRING   events                        980       rows with a value of the kind
    3       STRING   cells                         1203      values of the kind (a list has several)
    3       STRING   distinct   8812                         one of the DISTINCT least hashes of values
    3       STRING   frequent              "CA"    411       a value, and in how many rows at least
    3       STRING   lost                          17        how much these counts may be too small
    3       STRING   sample                "NY"    5120      one of the SAMPLE values in rows of least hash

Values are pairs of integers or texts as in conditions/graph/value_keys.py. Everything is bounded, however
long the history is. Distinct values are counted as Bar-Yossef and others do (the k least hashes), frequent
ones as Misra and Gries do: as long as no more than FREQUENT values were met, nothing is lost and the counts
are exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.conditions.graph import double_keys
from tocsin.events import Column, Kind, StringCells
from tocsin.history.statistics.sketch_hashes import pair_hashes, text_hashes

DISTINCT = 1024
FREQUENT = 512
SAMPLE = 1024
LONGEST = 256
"""Longer texts (in bytes) are sampled cut short, and never counted as frequent values."""

FACTS = pa.schema(
    [
        ("field", pa.int32()),
        ("kind", pa.int8()),
        ("fact", pa.string()),
        ("high", pa.int64()),
        ("low", pa.int64()),
        ("text", pa.string()),
        ("number", pa.int64()),
    ]
)
"""Columns that do not matter to a fact are null; `kind` is -1 for facts of no kind."""

NO_KIND = -1
ALL_FIELDS = -1
"""The field of facts about rows as a whole, which are all present."""

NUMBERS = ("present", "documents", "rejects", "events", "cells", "lost")
"""Facts that are a number each."""


def facts_of(field: int, column: Column, row_hash: Longs) -> list[pa.Table]:
    """The facts of a field in a batch whose rows have these hashes."""
    facts = [_numbers(field, NO_KIND, present=len(column.present))]
    numbers, decimals, strings = column.numbers, column.decimals, column.strings
    booleans, timestamps = column.booleans, column.timestamps
    if numbers is not None:
        facts += _scalars(field, Kind.NUMBER, numbers.row, double_keys(numbers.high), numbers.low, row_hash)
    if decimals is not None:
        nearest = np.array([float(value) for value in decimals.values], np.float64) + 0.0
        keys = double_keys(nearest)[decimals.code]
        facts += _scalars(field, Kind.NUMBER, decimals.row, keys, np.zeros_like(keys), row_hash)
    if booleans is not None:
        keys = booleans.value.astype(np.int64)
        facts += _scalars(field, Kind.BOOLEAN, booleans.row, keys, np.zeros_like(keys), row_hash)
    if timestamps is not None:
        keys, low = timestamps.second, timestamps.nano
        facts += _scalars(field, Kind.TIMESTAMP, timestamps.row, keys, low, row_hash)
    if strings is not None:
        facts += _texts(field, strings, row_hash)
    return facts


def number_fact(field: int, fact: str, number: int) -> pa.Table:
    """A fact of no kind that is a number."""
    return _numbers(field, NO_KIND, **{fact: number})


def _scalars(field: int, kind: Kind, row: Ints, high: Longs, low: Longs, row_hash: Longs) -> list[pa.Table]:
    first, second, count = _distinct_pairs(*_once_a_row(row, high, low))
    chosen = _least(row_hash[row], SAMPLE)
    return [
        _numbers(field, kind, events=_events(row), cells=len(row)),
        fact_rows(field, kind, "distinct", high=_least_values(pair_hashes(first, second), DISTINCT)),
        fact_rows(field, kind, "frequent", high=first, low=second, number=count),
        fact_rows(field, kind, "sample", high=high[chosen], low=low[chosen], number=row_hash[row[chosen]]),
    ]


def _once_a_row(row: Ints, *keys: NDArray[Any]) -> list[NDArray[Any]]:
    """The values without those that a list repeats."""
    if _events(row) == len(row):
        return list(keys)
    order = np.lexsort((*keys, row))
    columns = [column[order] for column in (row, *keys)]
    is_new = np.ones(len(row), np.bool_)
    is_new[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return [column[is_new] for column in columns[1:]]


def _distinct_pairs(high: Longs, low: Longs) -> tuple[Longs, Longs, Longs]:
    """The different pairs and how often each is there; most often the second numbers are all 0."""
    if not low.any():
        first, count = np.unique(high, return_counts=True)
        return first, np.zeros_like(first), count
    pairs, count = np.unique(np.stack((high, low), axis=1), axis=0, return_counts=True)
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1]), count


def _texts(field: int, cells: StringCells, row_hash: Longs) -> list[pa.Table]:
    texts, row = cells.texts, cells.row
    count = np.bincount(_once_a_row(row, cells.code)[0], minlength=len(texts))
    is_short = pc.less_equal(pc.binary_length(texts), LONGEST).to_numpy(zero_copy_only=False)
    short = np.flatnonzero(is_short)
    chosen = _least(row_hash[row], SAMPLE)
    sampled = _cut_short(texts.take(pa.array(cells.code[chosen])))
    return [
        _numbers(field, Kind.STRING, events=_events(row), cells=len(row)),
        fact_rows(field, Kind.STRING, "distinct", high=_least_values(text_hashes(texts), DISTINCT)),
        fact_rows(field, Kind.STRING, "frequent", text=texts.take(pa.array(short)), number=count[short]),
        _numbers(field, Kind.STRING, lost=int(count[~is_short].max(initial=0))),
        fact_rows(field, Kind.STRING, "sample", text=sampled, number=row_hash[row[chosen]]),
    ]


def _cut_short(texts: pa.LargeStringArray) -> pa.Array:
    """Each text's first bytes, at most LONGEST of them and whole characters."""
    if not len(texts) or pc.max(pc.binary_length(texts)).as_py() <= LONGEST:
        return texts
    return pa.array([text.encode()[:LONGEST].decode(errors="ignore") for text in texts.to_pylist()])


def _events(row: Ints) -> int:
    """How many different rows there are; they ascend."""
    return int(np.count_nonzero(np.diff(row))) + 1 if len(row) else 0


def _least(values: Longs, count: int) -> Longs:
    """The places of so many least values."""
    return np.argpartition(values, count)[:count] if len(values) > count else np.arange(len(values))


def _least_values(values: Longs, count: int) -> Longs:
    return values[_least(values, count)]


def _numbers(field: int, kind: int, **facts: int) -> pa.Table:
    """Facts that are a number each."""
    about = {"field": field, "kind": kind}
    rows = [{**about, "fact": fact, "number": number} for fact, number in facts.items()]
    return pa.Table.from_pylist(rows, schema=FACTS)


def fact_rows(field: int, kind: int, fact: str, **columns: Longs | pa.Array) -> pa.Table:
    """Facts of one name; columns that are not given are null."""
    count = len(next(iter(columns.values())))
    same = {"field": field, "kind": int(kind), "fact": fact}
    arrays = [
        pa.array(columns[each.name]).cast(each.type)
        if each.name in columns
        else pa.repeat(pa.scalar(same.get(each.name), each.type), count)
        for each in FACTS
    ]
    return pa.table(arrays, schema=FACTS)


# ---- Adding up


def merge_facts(tables: Iterable[pa.Table]) -> pa.Table:
    """The facts of all rows together, of any number of fields, in the order of their field and kind."""
    every = pa.concat_tables([FACTS.empty_table(), *tables]).combine_chunks()
    fact = every.column("fact")
    parts = [_summed(every.filter(pc.is_in(fact, pa.array(NUMBERS))))]
    parts.append(
        _least_of_each(_without_repetition(every.filter(pc.equal(fact, "distinct"))), "high", DISTINCT)
    )
    parts.append(_least_of_each(every.filter(pc.equal(fact, "sample")), "number", SAMPLE))
    frequent, lost = _most_frequent(every.filter(pc.equal(fact, "frequent")))
    parts[0] = _summed(pa.concat_tables([parts[0], lost]))
    merged = pa.concat_tables([*parts, frequent])
    return merged.sort_by([("field", "ascending"), ("kind", "ascending"), ("fact", "ascending")])


def _summed(table: pa.Table) -> pa.Table:
    keys = ["field", "kind", "fact"]
    summed = table.group_by(keys).aggregate([("number", "sum")])
    return _with_all_columns(summed.rename_columns([*keys, "number"]))


def _without_repetition(table: pa.Table) -> pa.Table:
    return _with_all_columns(table.group_by(["field", "kind", "fact", "high"]).aggregate([]))


def _least_of_each(table: pa.Table, column: str, count: int) -> pa.Table:
    """Of each field and kind the rows with so many least numbers, ascending."""
    ordered = table.sort_by([("field", "ascending"), ("kind", "ascending"), (column, "ascending")])
    return ordered.filter(pa.array(_place_in_group(ordered) < count))


def _place_in_group(ordered: pa.Table) -> Longs:
    """How many rows of the same field and kind stand before each row of a sorted table."""
    group = ordered.column("field").to_numpy().astype(np.int64) * 256 + ordered.column("kind").to_numpy()
    first = np.flatnonzero(np.diff(group, prepend=group[:1] - 1)) if len(group) else np.empty(0, np.int64)
    size = np.diff(first, append=len(group))
    return np.arange(len(group)) - np.repeat(first, size)


def _most_frequent(table: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Of each field and kind at most FREQUENT values, and what their counts lose by that.

    When there are more, as much is taken from every count as the first one too many has, and what comes
    to nothing is left out: so a value that is left out was counted no more often than what is lost.
    """
    keys = ["field", "kind", "fact", "high", "low", "text"]
    summed = table.group_by(keys).aggregate([("number", "sum")]).rename_columns([*keys, "number"])
    order = [("field", "ascending"), ("kind", "ascending"), ("number", "descending")]
    ordered = summed.select(FACTS.names).sort_by(order)
    place = _place_in_group(ordered)
    too_many = ordered.filter(pa.array(place == FREQUENT))
    number = ordered.column("number").to_numpy()
    taken = np.zeros(len(number), np.int64)
    group_of = np.cumsum(place == 0) - 1
    taken_of_group = np.zeros(int(group_of[-1]) + 1 if len(group_of) else 0, np.int64)
    taken_of_group[group_of[place == FREQUENT]] = number[place == FREQUENT]
    taken = taken_of_group[group_of] if len(group_of) else taken
    left = ordered.set_column(6, FACTS.field("number"), pa.array(number - taken))
    lost = _with_all_columns(
        too_many.select(["field", "kind", "number"]).append_column(
            "fact", pa.repeat(pa.scalar("lost", pa.string()), len(too_many))
        )
    )
    return left.filter(pa.array(number > taken)), lost


def _with_all_columns(table: pa.Table) -> pa.Table:
    """The table with every column of FACTS, those that it lacks being null."""
    columns = [
        table.column(name) if name in table.column_names else pa.nulls(len(table), FACTS.field(name).type)
        for name in FACTS.names
    ]
    return pa.table(columns, schema=FACTS)
