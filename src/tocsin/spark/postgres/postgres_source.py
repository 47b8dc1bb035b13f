"""Changes of PostgreSQL's tables as the source of a stream of alerts.

    tocsin stream triggers.sql --source 'postgresql://user@host/db?tables=orders,customers' --sink alerts

A trigger with `after update to` sees the new rows of updates, and the old ones as `old`, one with `after
delete to` the rows that are deleted, every other rule the rows that are inserted; see rules_by_table.py.
Alerts carry the table and the kind of change. An event is known by the position of its commit in the log and
its number in the transaction.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType, StructField

from tocsin.errors import TocsinWarning, UsageError
from tocsin.rules import Trigger, is_disabled
from tocsin.spark.postgres import server
from tocsin.spark.postgres.catalog import check_whole_rows, find_tables
from tocsin.spark.postgres.change_events import ChangeMatcher
from tocsin.spark.postgres.data_source import NAME, PostgresChanges
from tocsin.spark.postgres.feed import PATIENCE
from tocsin.spark.postgres.joined_events import Joiner
from tocsin.spark.postgres.postgres_address import Address, TableName
from tocsin.spark.postgres.rules_by_table import place_of, rule_tables
from tocsin.spark.postgres.slot import take_up
from tocsin.spark.stream.match_columns import Wanted, json_field
from tocsin.spark.stream.match_task import Finder
from tocsin.spark.stream.rule_version import RuleVersion, read_triggers
from tocsin.spark.stream.source import Search, Source

CARRIED = (StructField("table", StringType()), StructField("op", StringType()))
ROWS = json_field("rows")
"""The rows by alias that a trigger over several tables fired on; null for other rules."""
_NAMED = 5


@dataclass
class PostgresSource(Source):
    """Tables of a database; `folder` is where it keeps what it has read, once the stream has begun."""

    address: Address
    folder: Path | None = None

    @staticmethod
    def of(uri: str) -> PostgresSource:
        """`postgresql://user@host/db?tables=orders,sales.customers`, see postgres_address.py."""
        return PostgresSource(Address.of(uri))

    @property
    def name(self) -> str:
        """The server and the tables."""
        return f"{self.address.shown}, tables {', '.join(map(str, self.address.tables))}"

    @property
    def carried(self) -> Sequence[StructField]:
        """Table and kind of change; with contents, the joined rows."""
        return (*CARRIED, ROWS) if self.address.contents else CARRIED

    def joins(self, trigger: Trigger) -> bool:
        """Over several tables, if their contents are kept; of one table it knows the row before a change."""
        return self.address.contents or len(trigger.tables) < 2

    def identity(self) -> dict[str, Any]:
        """The tables; the server is known by its own number, whatever way leads to it."""
        tables = sorted(map(str, self.address.tables))
        return {"kind": "postgresql", "tables": tables, "contents": self.address.contents}

    def check(self, wanted: Wanted, rules: RuleVersion) -> Sequence[StructField]:
        """Tables may have any columns: what is kept of them are JSON texts.

        InputError when rules see updates or deletions of a table whose old rows the log does not carry.
        """
        own = [field.name for field in self.carried]
        for name in wanted.keep:
            if name.lower() in own:
                raise UsageError(f"cannot keep a field named {name!r}: alerts have their own {name.lower()}")
        seen = rule_tables(rules, self.address.tables)
        joined = [each.sources for each in read_triggers(rules.triggers) if not is_disabled(each.options)]
        places = {each.name: place_of(each.name, self.address.tables) for some in joined for each in some}
        unknown = [*seen.unknown, *(name for name, place in places.items() if place is None)]
        if unknown:
            listed = ", ".join(dict.fromkeys(unknown[:_NAMED]))
            warnings.warn(
                f"rules watch tables whose changes are not read: {listed}", TocsinWarning, stacklevel=2
            )
        # Rules that come while the server is away for a moment are not refused for that.
        asked = {self.address.tables[place] for place in places.values() if place is not None}
        whole = asked.union(seen.need_whole_rows(), self.address.tables if () in joined else ())
        server.patiently(lambda: self._check_tables(sorted(whole)), 0 if self.folder is None else PATIENCE)
        return super().check(wanted, rules)

    def _check_tables(self, whole: Sequence[TableName]) -> None:
        with server.away_is_said(self.address), server.connect(self.address) as connection:
            find_tables(connection, self.address.tables)
            if self.address.contents:
                check_whole_rows(connection, self.address.tables, "the contents of tables are to be kept")
            else:
                check_whole_rows(connection, whole, "rules see updates or deletions")

    def stream(self, session: SparkSession, checkpoint: Path) -> DataFrame:
        """The changes since the slot was made, which happens here at the first start."""
        folder = checkpoint / "source"
        self.folder = folder
        take_up(self.address, folder, copy=self.address.contents)
        session.dataSource.register(PostgresChanges)
        return (
            session.readStream.format(NAME)
            .option("url", self.address.uri)
            .option("folder", str(folder))
            .option("snapshot", "no")
            .load()
        )

    def found(self, batch: DataFrame, search: Search) -> DataFrame:
        """One pass over the changes, and one for triggers that no index takes: in one task if they join."""
        kept = [json_field(name) for name in search.wanted.keep]
        found = search.found(batch, self.carried, kept, partial(_matched, self.address.tables, search))
        folder = None
        if self.address.contents:
            folder, batch = str(self.folder), batch.coalesce(1).sortWithinPartitions("lsn", "row")
        elif search.rules.triggers is None:
            return found
        join = partial(_joined, self.address.tables, search, folder)
        return found.union(search.found(batch, self.carried, kept, join))


# ---- What runs in the workers


def _matched(
    tables: tuple[TableName, ...], search: Search, finder: Finder, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The found rows of rules that look at one row."""
    matcher = ChangeMatcher(finder, rule_tables(search.rules, tables), search.wanted.keep)
    for batch in batches:
        yield from matcher.found(batch)


def _joined(
    tables: tuple[TableName, ...],
    search: Search,
    folder: str | None,
    finder: Finder,
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Those of triggers that no index takes; over several tables, in one worker alone."""
    known = rule_tables(search.rules, tables)
    return Joiner(finder, known, search.wanted, folder, search.rules).found(batches)
