"""Changes of PostgreSQL's tables as the source of a stream of alerts.

    tocsin stream triggers.sql --source 'postgresql://user@host/db?tables=orders,customers' --sink alerts

A trigger with `after update to` sees the new rows of updates, one with `after delete to` the rows that are
deleted, every other rule the rows that are inserted; see rules_by_table.py. Alerts carry the table and the
kind of change. An event is known by the position of its commit in the log and its number in the transaction.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType, StructField

from tocsin.errors import TocsinWarning, UsageError
from tocsin.spark.postgres.data_source import NAME, PostgresChanges
from tocsin.spark.postgres.postgres_address import Address, TableName
from tocsin.spark.stream.batch_counts import TallyAccumulator
from tocsin.spark.stream.found_rows import Wanted, found_schema, json_field
from tocsin.spark.stream.rule_version import RuleVersion
from tocsin.spark.stream.task_output import Onward

if TYPE_CHECKING:
    from tocsin.spark.postgres.rules_by_table import RuleTables
    from tocsin.spark.stream.match_task import Finder

CARRIED = (StructField("table", StringType()), StructField("op", StringType()))
ROWS = json_field("rows")
"""The rows by alias that a trigger over several tables fired on; null for other rules."""
_NAMED = 5


@dataclass(slots=True)
class PostgresSource:
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
        return (*CARRIED, ROWS) if self.joins else CARRIED

    @property
    def joins(self) -> bool:
        """Whether there can be triggers over several tables."""
        return self.address.contents

    def identity(self) -> dict[str, Any]:
        """The tables; the server is known by its own number, whatever way leads to it."""
        tables = sorted(map(str, self.address.tables))
        return {"kind": "postgresql", "tables": tables, "contents": self.address.contents}

    def check(self, wanted: Wanted, rules: RuleVersion) -> Sequence[StructField]:
        """Tables may have any columns: what is kept of them are JSON texts.

        InputError when rules see updates or deletions of a table whose old rows the log does not carry.
        """
        from tocsin.spark.postgres.feed import PATIENCE
        from tocsin.spark.postgres.rules_by_table import place_of, rule_tables
        from tocsin.spark.postgres.server import patiently
        from tocsin.spark.stream.joined_triggers import read_triggers

        own = [field.name for field in self.carried]
        for name in wanted.keep:
            if name.lower() in own:
                raise UsageError(f"cannot keep a field named {name!r}: alerts have their own {name.lower()}")
        seen = rule_tables(rules, self.address.tables)
        joined = [table.name for trigger in read_triggers(rules.triggers) for table in trigger.tables]
        unknown = [*seen.unknown, *(name for name in joined if place_of(name, self.address.tables) is None)]
        if unknown:
            listed = ", ".join(dict.fromkeys(unknown[:_NAMED]))
            warnings.warn(
                f"rules watch tables whose changes are not read: {listed}", TocsinWarning, stacklevel=2
            )
        # Rules that come while the server is away for a moment are not refused for that.
        patiently(lambda: self._check_tables(seen), 0 if self.folder is None else PATIENCE)
        return [json_field(name) for name in wanted.keep]

    def _check_tables(self, seen: RuleTables) -> None:
        from tocsin.spark.postgres.catalog import check_whole_rows, find_tables
        from tocsin.spark.postgres.server import away_is_said, connect

        with away_is_said(self.address), connect(self.address) as connection:
            find_tables(connection, self.address.tables)
            if self.joins:
                check_whole_rows(connection, self.address.tables, "the contents of tables are to be kept")
            else:
                check_whole_rows(connection, seen.need_whole_rows(), "rules see updates or deletions")

    def stream(self, session: SparkSession, checkpoint: Path) -> DataFrame:
        """The changes since the slot was made, which happens here at the first start."""
        from tocsin.spark.postgres.slot import take_up

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

    def found(
        self, batch: DataFrame, rules: RuleVersion, wanted: Wanted, tally: TallyAccumulator, onward: Onward
    ) -> DataFrame:
        """One pass over the changes; with contents another, in one task, for triggers over several tables."""
        kept = [json_field(name) for name in wanted.keep]
        schema = onward.schema(found_schema(self.carried, kept))
        carried = tuple(field.name for field in self.carried)
        setting = _Setting(self.address.tables, rules, wanted, tally, onward, carried)
        found = batch.mapInArrow(setting.match, schema)
        if not self.joins:
            return found
        setting = replace(setting, folder=str(self.folder))
        in_order = batch.coalesce(1).sortWithinPartitions("lsn", "row")
        return found.union(in_order.mapInArrow(setting.join, schema))

    def committed(self, batch: int) -> None:
        """The reader is told by Spark."""


@dataclass(frozen=True, slots=True)
class _Setting:
    """What the tasks of a batch are given. Small, and made to be pickled."""

    tables: tuple[TableName, ...]
    rules: RuleVersion
    wanted: Wanted
    tally: TallyAccumulator
    onward: Onward
    carried: tuple[str, ...]
    folder: str = ""

    def match(self, batches: Iterator[Any]) -> Iterator[Any]:
        """In a worker: what becomes of the found rows of rules that look at one row."""
        return self.onward.rows(self._matched(batches))

    def join(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The same of triggers over several tables, in one worker alone."""
        return self.onward.rows(self._joined(batches))

    def _matched(self, batches: Iterable[Any]) -> Iterator[Any]:
        from tocsin.spark.postgres.change_events import ChangeMatcher
        from tocsin.spark.postgres.rules_by_table import rule_tables

        finder = self._finder()
        matcher = ChangeMatcher(finder, rule_tables(self.rules, self.tables), self.wanted.keep)
        for batch in batches:
            yield from matcher.found(batch)
        self.tally.add(finder.tally)

    def _joined(self, batches: Iterable[Any]) -> Iterator[Any]:
        from tocsin.spark.postgres.joined_events import Joiner
        from tocsin.spark.postgres.rules_by_table import rule_tables

        finder = self._finder()
        tables = rule_tables(self.rules, self.tables)
        yield from Joiner(finder, tables, self.wanted, self.folder, self.rules).found(batches)
        self.tally.add(finder.tally)

    def _finder(self) -> Finder:
        import pyarrow as pa

        from tocsin.spark.stream.match_task import Finder

        others = pa.schema([(name, pa.string()) for name in (*self.carried, *self.wanted.keep)])
        return Finder(self.rules, self.wanted, others)
