"""Rows of changes as they come: each is a change of the program, or is refused with a reason.

What comes has these columns:

    op          + or -
    relation    a relation of the program
    tuple       array<string>: the values of its columns as texts (step_rows.py)
    seq         bigint
    time        timestamp in microseconds, for relations whose facts have a time to live
    valid       whether the texts were valid UTF-8, which they are by now
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.datalog.engine.fact_files import read_value
from tocsin.datalog.language.syntax import Relation, Type
from tocsin.datalog.machine.symbols import Symbols, Unfit
from tocsin.datalog.spark.stream.initial_facts import Setting
from tocsin.datalog.spark.stream.plan_steps import Router, Step, pack_batches
from tocsin.datalog.spark.stream.step_rows import texts_of
from tocsin.errors import InputError
from tocsin.printable import number_of

ROWS = pa.schema(
    [
        ("kind", pa.string()),
        ("op", pa.string()),
        ("relation", pa.string()),
        ("tuple", pa.list_(pa.string())),
        ("seq", pa.int64()),
        ("time", pa.int64()),
        ("reason", pa.string()),
    ]
)

_PLAIN = r"\A(0|-?[1-9][0-9]{0,17})\z"
_PLAIN_UNSIGNED = r"\A(0|[1-9][0-9]{0,17})\z"


Wrong = dict[int, str]
"""What is wrong with rows, by their places; the first reason stands."""


def packed_changes(
    setting: Setting,
    mortal: Iterable[str],
    fails: bool,
    first: Step | None,
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """The changes in batches, packed for this step."""
    return pack_batches(Router(first), read_changes(setting, mortal, fails, batches))


def read_changes(
    setting: Setting, mortal: Iterable[str], fails: bool, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The changes in batches with those columns.

    A row that is no change is an InputError when that `fails`, else it is of the kind 'refused'.
    """
    relations = setting.plan.program.relations
    for batch in batches:
        rows, wrong = _read(relations, frozenset(mortal), batch)
        if wrong and fails:
            place = min(wrong)
            shown = {name: batch.column(name)[place].as_py() for name in ("op", "relation", "tuple", "seq")}
            raise InputError(f"this row is not a change of the program: {wrong[place]}: {shown}")
        yield rows


def _read(
    relations: Mapping[str, Relation], mortal: frozenset[str], batch: pa.RecordBatch
) -> tuple[pa.RecordBatch, Wrong]:
    wrong: Wrong = {}
    _note(wrong, _not(pc.is_in(batch.column("op"), pa.array(["+", "-"]))), "op is neither + nor -")
    names = batch.column("relation")
    known = pc.is_in(names, pa.array(list(relations)))
    _note(wrong, _not(known), lambda place: f"there is no relation {names[place].as_py()!r}")
    _note(wrong, batch.column("seq").is_null(), "seq has no value")
    tuples = batch.column("tuple")
    _note(wrong, tuples.is_null(), "tuple has no value")
    is_mortal = pc.is_in(names, pa.array(sorted(mortal), pa.string()))
    _note(wrong, pc.and_(is_mortal, batch.column("time").is_null()), "it has no time")
    _note(wrong, _not(batch.column("valid")), "tuple is not valid UTF-8")
    written = _tuples(relations, names, tuples, wrong)
    refused = np.zeros(batch.num_rows, bool)
    refused[list(wrong)] = True
    reasons = [wrong.get(place) for place in range(batch.num_rows)] if wrong else [None] * batch.num_rows
    kinds = pc.if_else(pa.array(refused), "refused", "given")
    time = pc.divide(batch.column("time").cast(pa.int64()), 1000)
    columns = [kinds, batch.column("op"), names, written, batch.column("seq"), time, reasons]
    arrays = [
        pa.array(column, field.type) if isinstance(column, list) else column.cast(field.type)
        for column, field in zip(columns, ROWS, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=ROWS), wrong


def _tuples(relations: Mapping[str, Relation], names: pa.Array, tuples: pa.Array, wrong: Wrong) -> pa.Array:
    """The tuples with the one text of each value, in the order of the rows; a refused one stays as it is."""
    lengths = pc.list_value_length(tuples)
    pieces: list[pa.Array] = []
    order: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
    done = np.zeros(len(names), bool)
    for name, relation in relations.items():
        arity = len(relation.types)
        of_it = pc.fill_null(pc.equal(names, name), False)
        fits = pc.fill_null(pc.and_(of_it, pc.equal(lengths, arity)), False)
        _note(wrong, pc.and_(of_it, pc.invert(fits)), f"tuple has not {number_of(arity, 'value')}")
        places = np.flatnonzero(np.asarray(fits))
        if not len(places):
            continue
        values = tuples.take(pa.array(places)).flatten()
        columns = []
        for at, (kind, column) in enumerate(zip(relation.types, relation.columns, strict=True)):
            here = values.take(pa.array(np.arange(at, len(values), arity)))
            texts, bad = one_text_each(here, kind, f"{name}.{column}")
            wrong.update({int(places[at]): why for at, why in bad.items() if int(places[at]) not in wrong})
            columns.append(texts)
        pieces.append(_lists(columns, len(places)))
        order.append(places)
        done[places] = True
    rest = np.flatnonzero(~done)
    pieces.append(tuples.take(pa.array(rest)))
    order.append(rest)
    back = np.argsort(np.concatenate(order), kind="stable")
    return pa.concat_arrays(pieces).take(pa.array(back))


def _lists(columns: list[pa.Array], count: int) -> pa.Array:
    """Columns as one column of lists."""
    arity = len(columns)
    offsets = pa.array(np.arange(count + 1, dtype=np.int32) * arity)
    if not columns:
        return pa.ListArray.from_arrays(offsets, pa.array([], pa.string()))
    places = np.arange(arity * count).reshape(arity, count).T.reshape(-1)
    return pa.ListArray.from_arrays(offsets, pa.concat_arrays(columns).take(pa.array(places)))


def _note(wrong: Wrong, mask: pa.Array, reason: str | Callable[[int], str]) -> None:
    for place in _places(mask):
        wrong.setdefault(place, reason if isinstance(reason, str) else reason(place))


def _not(mask: pa.Array) -> pa.Array:
    return pc.invert(pc.fill_null(mask, False))


def one_text_each(texts: pa.Array, kind: Type, column: str) -> tuple[pa.Array, dict[int, str]]:
    """The one text of each value of a column, and what is wrong with those that are no values, by place."""
    wrong = dict.fromkeys(_places(texts.is_null()), f"{column} has no value")
    if kind is Type.SYMBOL:
        return texts, wrong
    if kind is Type.FLOAT:
        others = texts.is_valid()
    else:
        plain = _PLAIN if kind is Type.NUMBER else _PLAIN_UNSIGNED
        others = pc.invert(pc.match_substring_regex(texts, plain))
    places = [place for place in _places(others) if place not in wrong]
    if not places:
        return texts, wrong
    write = Symbols().writer(kind)
    mended = texts.to_pylist()
    for place in places:
        try:
            value = read_value(mended[place], kind, column)
            write(value)
            mended[place] = texts_of([value + 0.0 if isinstance(value, float) else value])[0]
        except Unfit as wanted:
            wrong[place] = f"{column} takes {wanted}, not {mended[place]!r}"
        except InputError as error:
            wrong[place] = str(error)
    return pa.array(mended, pa.string()), wrong


def _places(mask: pa.Array) -> list[int]:
    return np.flatnonzero(np.asarray(mask.fill_null(True))).tolist()
