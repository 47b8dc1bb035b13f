"""Changes of PostgreSQL's tables as the source of a stream of alerts.

    tocsin stream triggers.sql --source 'postgresql://user@host/db?tables=orders,customers' --sink alerts

A trigger with `after update to` sees the new rows of updates, one with `after delete to` the rows that are
deleted, every other rule the rows that are inserted; see rule_tables.py. Alerts carry the table and the kind
of change. An event is known by the position of its commit in the log and its number in the transaction.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType, StructField

from tocsin.errors import TocsinWarning, UsageError
from tocsin.spark.postgres.address import Address, TableName
from tocsin.spark.postgres.reader import NAME, PostgresChanges
from tocsin.spark.streaming.found_rows import Wanted, found_schema, json_field
from tocsin.spark.streaming.rule_versions import RuleVersion
from tocsin.spark.streaming.tally import TallyAccumulator

CARRIED = (StructField("table", StringType()), StructField("op", StringType()))
_NAMED = 5


@dataclass(frozen=True, slots=True)
class PostgresSource:
    """Tables of a database."""

    address: Address
    carried: Sequence[StructField] = CARRIED

    @staticmethod
    def of(uri: str) -> PostgresSource:
        """`postgresql://user@host/db?tables=orders,sales.customers`, see address.py."""
        return PostgresSource(Address.of(uri))

    @property
    def name(self) -> str:
        """The server and the tables."""
        return f"{self.address.shown}, tables {', '.join(map(str, self.address.tables))}"

    def identity(self) -> dict[str, Any]:
        """The tables; the server is known by its own number, whatever way leads to it."""
        return {"kind": "postgresql", "tables": sorted(map(str, self.address.tables))}

    def check(self, wanted: Wanted, rules: RuleVersion) -> Sequence[StructField]:
        """Tables may have any columns: what is kept of them are JSON texts.

        InputError when rules see updates or deletions of a table whose old rows the log does not carry.
        """
        from tocsin.spark.postgres.catalog import check_whole_rows, find_tables
        from tocsin.spark.postgres.rule_tables import rule_tables
        from tocsin.spark.postgres.server import connect

        own = [field.name for field in self.carried]
        for name in wanted.keep:
            if name.lower() in own:
                raise UsageError(f"cannot keep a field named {name!r}: alerts have their own {name.lower()}")
        seen = rule_tables(rules, self.address.tables)
        if seen.unknown:
            listed = ", ".join(seen.unknown[:_NAMED])
            warnings.warn(
                f"rules watch tables whose changes are not read: {listed}", TocsinWarning, stacklevel=2
            )
        with connect(self.address) as connection:
            find_tables(connection, self.address.tables)
            check_whole_rows(connection, seen.need_whole_rows(), "rules see updates or deletions")
        return [json_field(name) for name in wanted.keep]

    def stream(self, session: SparkSession, checkpoint: Path) -> DataFrame:
        """The changes since the slot was made, which happens here at the first start."""
        from tocsin.spark.postgres.slot import take_up

        folder = checkpoint / "source"
        take_up(self.address, folder)
        session.dataSource.register(PostgresChanges)
        return (
            session.readStream.format(NAME)
            .option("url", self.address.uri)
            .option("folder", str(folder))
            .option("snapshot", "no")
            .load()
        )

    def found(
        self, batch: DataFrame, rules: RuleVersion, wanted: Wanted, tally: TallyAccumulator
    ) -> DataFrame:
        """One pass over the changes."""
        kept = [json_field(name) for name in wanted.keep]
        task = _task(self.address.tables, rules, wanted, tally)
        return batch.mapInArrow(task, found_schema(self.carried, kept))

    def committed(self, batch: int) -> None:
        """The reader is told by Spark."""


def _task(tables: tuple[TableName, ...], rules: RuleVersion, wanted: Wanted, tally: TallyAccumulator) -> Any:
    def find(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        from tocsin.spark.postgres.change_events import ChangeMatcher
        from tocsin.spark.postgres.rule_tables import rule_tables
        from tocsin.spark.streaming.finding import Finder

        others = pa.schema([(name, pa.string()) for name in (*(f.name for f in CARRIED), *wanted.keep)])
        finder = Finder(rules, wanted, others)
        matcher = ChangeMatcher(finder, rule_tables(rules, tables), wanted.keep)
        for batch in batches:
            yield from matcher.found(batch)
        tally.add(finder.tally)

    return find
