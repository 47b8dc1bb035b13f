"""What an overview found: its tables, and the little of them that a person is shown."""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tocsin.conditions.language import Path, print_field
from tocsin.display import SHOWN as GLANCED
from tocsin.display import Display, Displayed, Grid
from tocsin.errors import InputError, UsageError
from tocsin.history.overview.rule_tables import Facts, Tables, times_table
from tocsin.printable import number_of
from tocsin.storage import AS_USUAL, draft_of, sync_folder

SHOWN = 20
"""Rules that a page lists as the noisiest, and as those that never matched, unless told otherwise."""

MOST_SHOWN = 2_000
DECADES = ((0, 1), *((10**digits, 10 ** (digits + 1)) for digits in range(7)), (10**7, 2**63 - 1))
"""Hits from how many on, and below how many, by which rules are counted."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The numbers of the whole.

    rules, never, could_not, always   rules: all, those that no event satisfies, those of them that none
                                      could, those that every event satisfies
    by_hits         rules by how often they matched: never, from 1 on, from 10 on, and so on by tens
    time, width     the field that tells an event's time, and seconds in a stretch of it; None without
    missing         fields that rules name and no event has
    """

    events: int
    matched: int
    matches: int
    rejects: int
    rules: int
    never: int
    could_not: int
    always: int
    by_hits: tuple[int, ...]
    time: str | None
    width: int | None
    missing: tuple[str, ...]


class Digest(NamedTuple):
    """What is shown of an overview.

    times       TIMES
    noisiest    rows of RULES that matched most often, most often first
    never       rows of RULES that never matched: those first that could not
    over_time   rows of OVER_TIME of the rules in `noisiest`
    samples     rows of SAMPLES of the rules in `noisiest`
    """

    summary: Summary
    times: pa.Table
    noisiest: pa.Table
    never: pa.Table
    over_time: pa.Table
    samples: pa.Table


class Overview(Displayed, ABC):
    """Rules over a history: how often each holds, when, how well, on which events, and why it never does.

    `rules`, `over_time` and `samples` are Arrow tables, and DataFrames on Spark; their columns are those of
    RULES, OVER_TIME and SAMPLES in history/overview/rule_tables.py. `times` is an Arrow table of all events.

    rules       a row for each rule
    over_time   a row for each rule and stretch of time in which it matched
    samples     some events of each rule
    """

    summary: Summary
    times: pa.Table
    rules: Any
    over_time: Any
    samples: Any

    @abstractmethod
    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write the tables as Parquet: rules, over_time, samples, times; the folder is new or empty."""

    @abstractmethod
    def _most_hits(self, count: int) -> pa.Table: ...

    @abstractmethod
    def _never(self, count: int) -> pa.Table: ...

    @abstractmethod
    def _of_rules(self, table: Any, names: Sequence[str]) -> pa.Table: ...

    def digest(self, top: int = SHOWN) -> Digest:
        """What is shown of it: `top` rules that matched most often, and as many that never did."""
        check_top(top)
        noisiest = self._most_hits(top)
        names = noisiest.column("rule").to_pylist()
        return Digest(
            self.summary,
            self.times,
            noisiest,
            self._never(top),
            self._of_rules(self.over_time, names),
            self._of_rules(self.samples, names),
        )

    def html(self, path: str | os.PathLike[str], *, top: int = SHOWN) -> None:
        """Write one HTML page that needs nothing else: plots, tables, samples."""
        from tocsin.history.overview.page import page

        text = page(self.digest(top))
        with draft_of(FilePath(path), AS_USUAL) as draft:
            draft.write_text(text, encoding="utf-8")

    def __repr__(self) -> str:
        said = self.summary
        rules, events = number_of(said.rules, "rule"), number_of(said.events, "event")
        return f"<tocsin.Overview: {rules}, {events}, {number_of(said.matches, 'match', 'matches')}>"

    def __str__(self) -> str:
        return self._display().text()

    def _display(self) -> Display:
        said = self.summary
        rows = self._most_hits(GLANCED).select(["rule", "hits", "rate", "when"]).to_pylist()
        hits = [(row["rule"], row["hits"], f"{row['rate']:.2%}", row["when"]) for row in rows]
        never = [(row["rule"], row["why"], row["when"]) for row in self._never(GLANCED).to_pylist()]
        most = Grid.of(("rule", "hits", "of events", "condition"), hits, said.rules - said.never)
        rest = Grid.of(("rule", "why", "condition"), never, said.never)
        return Display(repr(self)[1:-1], [("matched most often", most), ("never matched", rest)])


class LocalOverview(Overview):
    """An overview whose tables are in memory."""

    def __init__(self, tables: Tables, time: str | None, fields: Sequence[Path]) -> None:
        self.rules, self.over_time, self.samples = tables.rules, tables.over_time, tables.samples
        counts = hit_counts(tables.rules, tables.facts.events)
        self.summary = summary_of(tables.facts, counts, time, fields)
        self.times = times_table(tables.facts)

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write the tables as Parquet: rules, over_time, samples, times; the folder is new or empty."""
        tables = {"rules": self.rules, "over_time": self.over_time, "samples": self.samples}
        with folder_of_tables(folder) as draft:
            for name, table in {**tables, "times": self.times}.items():
                (draft / name).mkdir()
                pq.write_table(table, draft / name / "part-0.parquet", compression="zstd")

    def _most_hits(self, count: int) -> pa.Table:
        matched = self.rules.filter(pc.greater(self.rules.column("hits"), 0))
        return matched.sort_by([("hits", "descending"), ("rule", "ascending")]).slice(0, count)

    def _never(self, count: int) -> pa.Table:
        never = self.rules.filter(pc.equal(self.rules.column("hits"), 0))
        return never.sort_by([("could_match", "ascending"), ("rule", "ascending")]).slice(0, count)

    def _of_rules(self, table: Any, names: Sequence[str]) -> pa.Table:
        return table.filter(pc.is_in(table.column("rule"), pa.array(names, pa.string())))


def check_top(top: int) -> None:
    """UsageError when so many rules cannot be shown."""
    if not 0 <= top <= MOST_SHOWN:
        raise UsageError(f"top is from 0 to {MOST_SHOWN:,} rules, not {top}")


def check_target(folder: str | os.PathLike[str]) -> FilePath:
    """The folder that tables can go to; InputError when it is a file or holds something."""
    target = FilePath(folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(f"{folder}: the overview goes to a new folder, or an empty one")
    return target


@contextlib.contextmanager
def folder_of_tables(folder: str | os.PathLike[str]) -> Iterator[FilePath]:
    """A folder to write tables to, which takes the place of this one when the block is done: so that is whole
    or not there. InputError when it cannot be."""
    target = check_target(folder).resolve()
    draft = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    try:
        with _said_of(folder):
            draft.mkdir(parents=True)
        yield draft
        with _said_of(folder):
            draft.replace(target)
            sync_folder(target.parent)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


@contextlib.contextmanager
def _said_of(folder: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"{os.fspath(folder)}: cannot be written: {error.strerror}") from error


class HitCounts(NamedTuple):
    """Rules, counted as Summary does."""

    rules: int
    could_not: int
    always: int
    by_hits: tuple[int, ...]


def hit_counts(rules: pa.Table, events: int) -> HitCounts:
    """Counts of a table of rules."""
    hits = rules.column("hits")
    asked = [
        pc.invert(rules.column("could_match")),
        pc.equal(hits, events),
        *(pc.and_(pc.greater_equal(hits, low), pc.less(hits, high)) for low, high in DECADES),
    ]
    could_not, always, *by_hits = (pc.sum(each).as_py() or 0 for each in asked)
    return HitCounts(len(rules), could_not, always, tuple(by_hits))


def summary_of(facts: Facts, counts: HitCounts, time: str | None, fields: Sequence[Path]) -> Summary:
    """The numbers of the whole."""
    return Summary(
        facts.events,
        facts.matched,
        facts.matches,
        facts.rejects,
        counts.rules,
        counts.by_hits[0],
        counts.could_not,
        counts.always if facts.events else 0,
        counts.by_hits,
        time,
        facts.width,
        tuple(sorted(print_field(path) for path in fields if path not in facts.seen)),
    )
