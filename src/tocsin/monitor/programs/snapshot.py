"""An engine in one file: the text of its program, the facts given, and when they expire.

What follows from the facts is worked out again when the file is opened. Of the symbols only those
that facts hold are written, so that an engine which has met many others forgets them this way.

    symbols.start, symbols.data     the texts: text i is data[start[i] : start[i + 1]], in UTF-8
    facts.R                         the rows of the facts given to relation R, one after the other
    times.R                         the rows of those among them that expire; the header has the times
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.errors import IndexFileError
from tocsin.grammar.datalog.syntax import Type, Value
from tocsin.index.activation.symbols import TEXT_LIMIT, Symbols
from tocsin.index.activation.tuples import Rows, TupleCode
from tocsin.index.array_file import PROGRAM, save_arrays
from tocsin.index.leaf_texts import Texts
from tocsin.monitor.programs.engine import Engine, Given
from tocsin.monitor.programs.expiry import Expiry, Fact, Time
from tocsin.monitor.programs.program import Program


class Snapshot(NamedTuple):
    """All that an engine is made of."""

    program: Program
    local: Value | None
    limit: int
    symbols: Symbols
    given: Given
    expiry: Expiry


def save_snapshot(snapshot: Snapshot, codes: Mapping[str, TupleCode], path: str | os.PathLike[str]) -> None:
    """Write a snapshot, whole or not at all."""
    expiring = _expiring(snapshot.expiry, codes)
    used = _used_symbols(snapshot.given, codes)
    texts = [snapshot.symbols.texts[number].encode() for number in used]
    arrays: list[tuple[str, NDArray[Any]]] = [
        ("symbols.start", np.cumsum([0, *map(len, texts)], dtype=np.int64)),
        ("symbols.data", np.frombuffer(b"".join(texts), np.uint8)),
    ]
    for name, code in codes.items():
        for what, rows in (("facts", snapshot.given[name]), ("times", expiring[name][0])):
            arrays.append((f"{what}.{name}", _renumbered(rows, code, used).reshape(-1)))
    said = {
        "kind": PROGRAM,
        "text": snapshot.program.checked.text,
        "file": snapshot.program.file,
        "local": snapshot.local,
        "limit": snapshot.limit,
        "text_limit": snapshot.symbols.limit,
        "now": snapshot.expiry.now,
        "counts": {name: len(rows) for name, rows in snapshot.given.items()},
        "times": {name: times for name, (_, times) in expiring.items()},
    }
    save_arrays(path, said, arrays)


def engine_of_arrays(name: str, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Engine:
    """The engine that a mapped file holds."""
    try:
        program = Program.parse(header["text"], file=header["file"])
        texts = Texts(arrays["symbols.start"], arrays["symbols.data"])
        known = (texts.text(number) for number in range(len(texts.start) - 1))
        symbols = Symbols(known, limit=header.get("text_limit", TEXT_LIMIT))
        given: Given = {}
        moments: dict[Fact, Time] = {}
        for relation, declared in program.relations.items():
            shape = (header["counts"][relation], len(declared.types))
            given[relation] = arrays[f"facts.{relation}"].reshape(shape).copy()
            times = header["times"][relation]
            rows = arrays[f"times.{relation}"].reshape(len(times), len(declared.types))
            moments |= {(relation, tuple(row)): time for row, time in zip(rows.tolist(), times, strict=True)}
    except KeyError as error:
        raise IndexFileError(f"{name} lacks {error}") from error
    return Engine(
        program,
        header["local"],
        header["limit"],
        symbols=symbols,
        restored=given,
        expiry=Expiry(header["now"], moments),
    )


def _expiring(expiry: Expiry, codes: Mapping[str, TupleCode]) -> dict[str, tuple[Rows, list[int | float]]]:
    """By relation: the rows that expire, and when."""
    rows: dict[str, list[tuple[int, ...]]] = {name: [] for name in codes}
    times: dict[str, list[int | float]] = {name: [] for name in codes}
    for (name, row), moment in expiry.moments.items():
        rows[name].append(row)
        times[name].append(moment)
    return {
        name: (np.array(rows[name], np.int64).reshape(-1, len(code.types)), times[name])
        if code.types
        else (np.empty((len(rows[name]), 0), np.int64), times[name])
        for name, code in codes.items()
    }


def _used_symbols(given: Given, codes: Mapping[str, TupleCode]) -> NDArray[np.int64]:
    columns = [
        given[name][:, place]
        for name, code in codes.items()
        for place, kind in enumerate(code.types)
        if kind is Type.SYMBOL
    ]
    return np.unique(np.concatenate([np.empty(0, np.int64), *columns]))


def _renumbered(rows: Rows, code: TupleCode, used: NDArray[np.int64]) -> Rows:
    """Rows whose symbols are numbered by their places among those used."""
    renumbered = rows.copy()
    for place, kind in enumerate(code.types):
        if kind is Type.SYMBOL:
            renumbered[:, place] = np.searchsorted(used, rows[:, place])
    return renumbered
