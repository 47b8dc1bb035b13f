"""An engine in one file: the text of its program, the facts given, and when they expire.

What follows from the facts is worked out again when the file is opened. Of the symbols only those
that facts hold are written, so that an engine which has met many others forgets them this way.

    symbols.start, symbols.data     the texts: text i is data[start[i] : start[i + 1]], in UTF-8
    facts.R                         the rows of the facts given to relation R, one after the other
    times.R                         the rows of those among them that expire; the header has the times
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.array_checks import Check, typed, typed_array
from tocsin.arrays.array_file import PROGRAM, save_arrays
from tocsin.arrays.dtypes import Longs
from tocsin.arrays.packed import Texts
from tocsin.datalog.engine.base_facts import EngineState, Given
from tocsin.datalog.engine.engine import Engine
from tocsin.datalog.engine.expiry import Expiry, Fact, Time
from tocsin.datalog.engine.program import Program
from tocsin.datalog.engine.requests import is_moment, is_time, rows_of_words
from tocsin.datalog.language.syntax import TEXT_LIMIT, Type
from tocsin.datalog.machine.symbols import Symbols, are_floats
from tocsin.datalog.machine.tuples import Rows, TupleCode
from tocsin.errors import IndexFileError, RuleError


def save_engine(state: EngineState, codes: Mapping[str, TupleCode], path: str | os.PathLike[str]) -> None:
    """Write an engine, whole or not at all."""
    expiring = state.expiry.by_relation()
    used = _used_symbols(state.given, codes)
    texts = [state.symbols.texts[number].encode() for number in used]
    arrays: list[tuple[str, NDArray[Any]]] = [
        ("symbols.start", np.cumsum([0, *map(len, texts)], dtype=np.int64)),
        ("symbols.data", np.frombuffer(b"".join(texts), np.uint8)),
    ]
    for name, code in codes.items():
        times = rows_of_words([*expiring.get(name, ())], code)
        for what, rows in (("facts", state.given[name]), ("times", times)):
            arrays.append((f"{what}.{name}", _renumbered(rows, code, used).reshape(-1)))
    said = {
        "kind": PROGRAM,
        "text": state.program.checked.text,
        "file": state.program.file,
        "local": state.local,
        "limit": state.limit,
        "text_limit": state.symbols.limit,
        "now": state.expiry.now,
        "counts": {name: len(rows) for name, rows in state.given.items()},
        "times": {name: [*expiring.get(name, {}).values()] for name in codes},
    }
    save_arrays(path, said, arrays)


def engine_of_arrays(name: str, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Engine:
    """The engine that a mapped file holds; IndexFileError when its facts cannot be those of its program."""
    said: list[Any] = [header.get(key) for key in ("text", "file", "local", "limit")]
    text, file, local, limit = said
    text_limit = header.get("text_limit", TEXT_LIMIT)
    good = isinstance(text, str) and isinstance(file, str | None)
    good &= type(local) in (type(None), int, float, str)
    if not good or not all(type(most) is int and most > 0 for most in (limit, text_limit)):
        raise IndexFileError(f"{name} is damaged: its header describes no program")
    try:
        program = Program.parse(text, file=file)
    except RuleError as error:
        raise IndexFileError(f"{name} is damaged: its program has errors: {error}") from error
    texts = typed(name, "symbols", Texts, arrays)
    Check(name).texts("symbols", texts, len(texts.start) - 1)
    symbols = Symbols((texts.text(number) for number in range(len(texts.start) - 1)), limit=text_limit)
    if len(symbols) != len(texts.start) - 1:
        raise IndexFileError(f"{name} is damaged: the array symbols.data has a text twice")
    now = cast(Time, header.get("now"))
    if not is_time(now):
        raise IndexFileError(f"{name} is damaged: its header does not say what time it is")
    given: Given = {}
    moments: dict[Fact, Time] = {}
    for relation, declared in program.relations.items():
        times = _entry(name, header, "times", relation, list)
        count = _entry(name, header, "counts", relation, int)
        code = declared.types
        given[relation] = _rows(name, f"facts.{relation}", arrays, code, count, len(symbols)).copy()
        rows = _rows(name, f"times.{relation}", arrays, code, len(times), len(symbols))
        if len(times):
            known = set(map(tuple, given[relation].tolist()))
            if not known.issuperset(map(tuple, rows.tolist())):
                raise IndexFileError(
                    f"{name} is damaged: the array times.{relation} holds what is not a fact"
                )
        if not all(map(is_moment, times)):
            raise IndexFileError(f"{name} is damaged: its header has a time that is not a number")
        for row, time in zip(rows.tolist(), times, strict=True):
            moments[relation, tuple(row)] = time
    return Engine(EngineState(program, local, limit, symbols, given, Expiry(now, moments)))


def _entry(name: str, header: Mapping[str, Any], key: str, relation: str, kind: type) -> Any:
    said = header.get(key)
    found = said.get(relation) if isinstance(said, dict) else None
    if type(found) is not kind:
        raise IndexFileError(f"{name} is damaged: its header lacks the {key} of {relation}")
    return found


def _rows(
    name: str, array: str, arrays: dict[str, NDArray[Any]], types: Sequence[Type], count: int, symbols: int
) -> Rows:
    """The rows of a relation; their symbols are among those there are, their floats are values."""
    words = typed_array(name, array, np.dtype(np.int64), arrays)
    if count < 0 or count * len(types) != len(words) or (not types and count > 1):
        raise IndexFileError(f"{name} is damaged: the array {array} does not hold {count:,} rows")
    rows = words.reshape(count, len(types))
    for place, kind in enumerate(types):
        if kind is Type.SYMBOL:
            Check(name).references(array, rows[:, place], symbols)
        elif kind is Type.FLOAT:
            Check(name).that(array, are_floats(rows[:, place]), "has a float that is NaN or minus zero")
    return rows


def _used_symbols(given: Given, codes: Mapping[str, TupleCode]) -> Longs:
    symbols = [np.array([kind is Type.SYMBOL for kind in code.types], np.bool_) for code in codes.values()]
    columns = [given[name][:, chosen].ravel() for name, chosen in zip(codes, symbols, strict=True)]
    return np.unique(np.concatenate([np.empty(0, np.int64), *columns]))


def _renumbered(rows: Rows, code: TupleCode, used: Longs) -> Rows:
    """Rows whose symbols are numbered by their places among those used."""
    renumbered = rows.copy()
    for place, kind in enumerate(code.types):
        if kind is Type.SYMBOL:
            renumbered[:, place] = np.searchsorted(used, rows[:, place])
    return renumbered
