"""Changes of an engine as records, and the state that records add up to.

    a record    4 bytes     how long the head is
                head        JSON: a list, whose first element says what it is
                words       int64, little-endian: the rows that the head counts, one after the other

    ["start", {...}]                                        the program, and what else it was started with
    ["facts", ttl, [[relation, going, coming, texts], ...]] so many rows go and so many come, with that ttl
    ["moments", [[relation, rows, texts, moments], ...]]    when rows expire that are there
    ["now", time]                                           it is that time: what is due goes

A symbol's word is its place in the texts of its relation. A snapshot is a start, then the time, facts
and moments; each change adds one record. Records are added up first and worked out once, however many.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tocsin.arrays.dtypes import Longs
from tocsin.datalog.engine.base_facts import EngineState, Given
from tocsin.datalog.engine.expiry import Expiry, Time
from tocsin.datalog.engine.program import Program, checked_limit
from tocsin.datalog.engine.requests import check_ttl, is_moment, is_time, rows_of_words
from tocsin.datalog.language.syntax import Type, Value
from tocsin.datalog.machine.symbols import Symbols
from tocsin.datalog.machine.tuples import Rows, TupleCode
from tocsin.errors import JournalError, TocsinError
from tocsin.storage import Record

ROWS_AT_ONCE = 100_000
"""So many rows a record of a snapshot has at most."""

_LENGTH = struct.Struct("<L")
_BAD = (TocsinError, ValueError, TypeError, LookupError, ArithmeticError, struct.error, RecursionError)
"""What a record with a good checksum and nonsense in it can raise."""


def start_record(program: Program, origin: str, local: Value | None, limit: int, text_limit: int) -> bytes:
    """What an engine was started with; `origin` is the text of the program that it was first started with."""
    said = {"text": program.checked.text, "file": program.file, "origin": origin, "local": local}
    return _record(["start", said | {"limit": limit, "text_limit": text_limit}])


def fact_record(
    code: TupleCode, symbols: Symbols, row: Sequence[int], given: bool, ttl: Time | None
) -> bytes:
    """One fact comes or goes."""
    texts: list[str] = []
    if Type.SYMBOL in code.types:
        words = list(row)
        for place, kind in enumerate(code.types):
            if kind is Type.SYMBOL:
                words[place] = len(texts)
                texts.append(symbols.texts[row[place]])
        row = words
    head = ["facts", ttl, [[code.relation, 1 - given, int(given), texts]]]
    return _record(head, struct.pack(f"<{len(row)}q", *row))


def facts_record(
    codes: Mapping[str, TupleCode],
    symbols: Symbols,
    facts: Mapping[str, tuple[Rows, Rows]],
    ttl: Time | None = None,
) -> bytes:
    """Some facts of each relation go, and others come."""
    blocks, words = [], []
    for name, (going, coming) in facts.items():
        texts, some = _with_own_texts(np.concatenate([going, coming]), codes[name], symbols)
        blocks.append([name, len(going), len(coming), texts])
        words.append(some)
    return _record(["facts", ttl, blocks], b"".join(words))


def now_record(now: Time) -> bytes:
    """It is that time."""
    return _record(["now", now])


def snapshot_records(
    codes: Mapping[str, TupleCode], symbols: Symbols, given: Given, expiry: Expiry
) -> Iterator[bytes]:
    """What time it is, all facts, and when they expire.

    The time comes first: a fact that is due at this very moment goes only when it is advanced to again.
    """
    yield now_record(expiry.now)
    for name, rows in given.items():
        for first in range(0, len(rows), ROWS_AT_ONCE):
            some = rows[first : first + ROWS_AT_ONCE]
            yield facts_record(codes, symbols, {name: (some[:0], some)})
    for name, moments in expiry.by_relation().items():
        expiring = [*moments]
        for first in range(0, len(expiring), ROWS_AT_ONCE):
            part = expiring[first : first + ROWS_AT_ONCE]
            texts, words = _with_own_texts(rows_of_words(part, codes[name]), codes[name], symbols)
            times = [moments[row] for row in part]
            yield _record(["moments", [[name, len(part), texts, times]]], words)


class JournalState:
    """What the records of a journal add up to; JournalError for one that makes no sense.

    `symbols` are those to use, with a limit on texts; else the journal's own limit counts.
    """

    def __init__(self, file: str, records: Iterable[Record], symbols: Symbols | None = None) -> None:
        self._has_limit = symbols is not None
        self.symbols = Symbols() if symbols is None else symbols
        self.expiry = Expiry()
        self._codes: dict[str, TupleCode] = {}
        self._bulk: dict[str, list[Rows]] = {}
        self._single: dict[str, dict[tuple[int, ...], bool]] = {}
        for number, record in enumerate(records):
            try:
                self._take(number, record.payload)
            except _BAD as error:
                raise JournalError(
                    f"cannot be understood: {error}", file=file, offset=record.offset
                ) from error
        if not hasattr(self, "program"):
            raise JournalError("has no program in it", file=file)

    @property
    def given(self) -> Given:
        """The facts in the end, by relation."""
        found: Given = {}
        for name, code in self._codes.items():
            bulk = np.concatenate([rows_of_words([], code), *self._bulk[name]])
            single = self._single[name]
            if not all(single.values()):
                kept = [row for row in map(tuple, bulk.tolist()) if single.get(row, True)]
                bulk = rows_of_words(kept, code)
            coming = [row for row, is_given in single.items() if is_given]
            found[name] = np.concatenate([bulk, rows_of_words(coming, code)])
        return found

    def with_limit(self, limit: int) -> EngineState:
        """What an engine of the journal is made of."""
        return EngineState(self.program, self.local, limit, self.symbols, self.given, self.expiry)

    def _take(self, number: int, payload: bytes) -> None:
        (length,) = _LENGTH.unpack_from(payload)
        head = json.loads(payload[_LENGTH.size : _LENGTH.size + length].decode())
        words = np.frombuffer(payload, "<i8", offset=_LENGTH.size + length).astype(np.int64, copy=False)
        kind, *rest = head
        takers: dict[str, Callable[..., Longs]]
        takers = {"facts": self._facts, "moments": self._moments, "now": self._now}
        if number == 0 and kind == "start":
            self._start(*rest)
        elif number > 0 and kind in takers:
            left = takers[kind](words, *rest)
            if len(left):
                raise ValueError(f"{len(left)} words are left over")
        else:
            raise ValueError(f"record {number} says {str(kind)[:20]!r}")

    def _start(self, said: Mapping[str, Any]) -> None:
        file, local = said["file"], said["local"]
        if not isinstance(file, str | None) or type(local) not in (type(None), int, float, str):
            raise ValueError("it starts no program")
        self.program = Program.parse(said["text"], file=file)
        self.origin = str(said["origin"])
        self.local: Value | None = local
        self.limit = checked_limit(said["limit"])
        if not self._has_limit:
            self.symbols.limit = checked_limit(said["text_limit"])
        self._codes = self.program.codes(self.symbols)
        for name in self._codes:
            self._bulk[name], self._single[name] = [], {}

    def _facts(self, words: Longs, ttl: Time | None, blocks: Sequence[Any]) -> Longs:
        if ttl is not None:
            check_ttl(ttl)
        has_times = ttl is not None or bool(self.expiry.moments)
        for name, going, coming, texts in blocks:
            rows, words = self._rows(words, name, going + coming, texts)
            single = self._single[name]
            if not going and not single and coming > 1:
                self._bulk[name].append(rows)
            else:
                single.update((row, place >= going) for place, row in enumerate(map(tuple, rows.tolist())))
            for place, row in enumerate(map(tuple, rows.tolist() if has_times else ())):
                self.expiry.set((name, row), ttl if place >= going else None)
        return words

    def _moments(self, words: Longs, blocks: Sequence[Any]) -> Longs:
        moments = self.expiry.moments
        for name, count, texts, times in blocks:
            rows, words = self._rows(words, name, count, texts)
            if not all(map(is_moment, times)):
                raise ValueError("a moment is not a time")
            for row, moment in zip(map(tuple, rows.tolist()), times, strict=True):
                moments[name, row] = moment
        self.expiry = Expiry(self.expiry.now, moments)
        return words

    def _now(self, words: Longs, now: Time) -> Longs:
        if not is_time(now) or now < self.expiry.now:
            raise ValueError("time moves backward")
        due = self.expiry.due(now)
        for name, row in due:
            self._single[name][row] = False
        self.expiry.passed(now, due)
        return words

    def _rows(self, words: Longs, name: str, count: int, texts: Sequence[str]) -> tuple[Rows, Longs]:
        """The first rows among the words, of one relation, with this engine's numbers of texts; the rest."""
        code = self._codes[name]
        width = len(code.types)
        if not width:  # there is one tuple at most
            count = min(count, 1)
        if type(count) is not int or not 0 <= count * width <= len(words):
            raise ValueError(f"{name} has more rows than there are words")
        rows = words[: count * width].reshape(count, width).copy()
        numbers = np.array([self.symbols.word(text, Type.SYMBOL) for text in texts], np.int64)
        for place, kind in enumerate(code.types):
            column = rows[:, place]
            if kind is Type.SYMBOL:
                if count and not 0 <= column.min() <= column.max() < len(numbers):
                    raise ValueError(f"{name} has a symbol without text")
                rows[:, place] = numbers[column]
            elif kind is Type.FLOAT:
                floats = column.view(np.float64) + 0.0
                if np.isnan(floats).any():
                    raise ValueError(f"{name} has a float that is NaN")
                rows[:, place] = floats.view(np.int64)
        return rows, words[count * width :]


def _record(head: list[Any], words: bytes = b"") -> bytes:
    written = json.dumps(head, ensure_ascii=False).encode()
    return b"".join((_LENGTH.pack(len(written)), written, words))


def _with_own_texts(rows: Rows, code: TupleCode, symbols: Symbols) -> tuple[list[str], bytes]:
    """The texts of rows, and their words with the places of these texts."""
    columns = [place for place, kind in enumerate(code.types) if kind is Type.SYMBOL]
    texts: list[str] = []
    if columns:
        used, places = np.unique(rows[:, columns], return_inverse=True)
        texts = [symbols.texts[number] for number in used.tolist()]
        rows = rows.copy()
        rows[:, columns] = places.reshape(len(rows), len(columns))
    return texts, rows.astype("<i8", copy=False).tobytes()
