"""The data source `tocsin_postgres`: changes of PostgreSQL's tables as a streaming DataFrame.

    spark.dataSource.register(ts.PostgresChanges)
    changes = (
        spark.readStream.format("tocsin_postgres")
        .option("url", "postgresql://user@host/database")
        .option("tables", "public.orders,customers")
        .option("folder", "checkpoints/orders/source")      # beside Spark's own checkpoint, and as long-lived
        .load()
    )

Its columns are those of change_files.py. First come the rows that the tables had (op `snapshot`; not with the
option snapshot = no), then every transaction that was committed since, in that order and whole: a batch never
holds a part of one. The driver's own Python process reads the log, into files of the folder; tasks read the
files, so the folder must be on a file system that all of them see, and none of them has to reach the server.

Importing this module loads neither NumPy nor a client of PostgreSQL.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from tocsin.errors import UsageError

if TYPE_CHECKING:
    from tocsin.spark.postgres.feed import Feed
    from tocsin.spark.postgres.slot import Slot

NAME = "tocsin_postgres"


class PostgresChanges(DataSource):
    """Changes of tables of PostgreSQL."""

    @classmethod
    def name(cls) -> str:
        """What `format` takes."""
        return NAME

    def schema(self) -> str:
        """The columns, see change_files.py."""
        from tocsin.spark.postgres.change_files import DDL

        return DDL

    def streamReader(self, schema: StructType) -> ChangeReader:  # noqa: ARG002, N802  (Spark's names)
        """What Spark asks for offsets and partitions."""
        return ChangeReader(self.options)


@dataclass
class ChangesPart(InputPartition):
    """Some batches of a file, for one task."""

    path: str
    first: int
    last: int


class ChangeReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Offsets are {"part": files of the snapshot that are read, "lsn": position in the log}."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        from tocsin.spark.postgres.postgres_address import Address

        self._address = Address.of_options(options)
        if "folder" not in options:
            raise UsageError(
                "the option 'folder' is missing: where changes are kept until Spark is done with them"
            )
        self._folder = Path(options["folder"])
        self._with_snapshot = options.get("snapshot", "yes") != "no"
        self._until: int | None = None
        self._slot: Slot | None = None
        self._feed: Feed | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802  (Spark's names, here and below)
        """Where a new stream starts."""
        from tocsin.spark.postgres.change_files import lsn_text

        slot = self._taken_up()
        return {"part": 0 if self._with_snapshot else slot.parts, "lsn": lsn_text(slot.start)}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """About so many rows in a batch."""
        return ReadMaxRows(self._address.most_rows)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """From here on, nothing that is committed later."""
        self._until = self._opened().now()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """Where the next batch ends. Its changes are in a file by then."""
        from tocsin.spark.postgres.change_files import lsn_number, lsn_text

        everything = isinstance(limit, ReadAllAvailable)
        slot = self._taken_up()
        if start["part"] < slot.parts:
            return {"part": slot.parts if everything else start["part"] + 1, "lsn": start["lsn"]}
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        position = lsn_number(start["lsn"])
        # Spark asks for another batch only when the one before is committed. It tells so itself as well, by
        # `commit`, but only when there is another batch.
        self._done(position)
        end = self._opened().collect(position, most, self._until)
        return {"part": start["part"], "lsn": lsn_text(end)}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[ChangesPart]:
        """The tasks of a batch."""
        from tocsin.spark.postgres.change_files import count_batches, lsn_number
        from tocsin.spark.postgres.slot import part_name

        paths = [self._folder / "snapshot" / part_name(part) for part in range(start["part"], end["part"])]
        first, last = lsn_number(start["lsn"]), lsn_number(end["lsn"])
        if first < last:
            feed = self._opened()
            if not feed.path(first, last).exists():
                feed.collect(first, until=last)
            paths.append(feed.path(first, last))
        return [
            ChangesPart(str(path), place, place + 1) for path in paths for place in range(count_batches(path))
        ]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """The rows of a task, in batches."""
        from tocsin.spark.postgres.change_files import read_batches

        if isinstance(partition, ChangesPart):
            yield from read_batches(Path(partition.path), partition.first, partition.last)

    def commit(self, end: dict[str, Any]) -> None:
        """Spark is done with all up to here."""
        from tocsin.spark.postgres.change_files import lsn_number

        self._done(lsn_number(end["lsn"]))

    def stop(self) -> None:
        """The stream ends; the slot stays for the next start."""
        if self._feed is not None:
            self._feed.close()
        if isinstance(sys.exc_info()[1], EOFError):
            # Spark ends this process by hanging up, and the process would tell of it by a traceback.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())

    def _done(self, position: int) -> None:
        from tocsin.spark.postgres.change_files import forget

        contents = self._address.contents
        self._opened().done(position, keep_files=contents)
        if contents:
            forget(self._folder, position)

    def _taken_up(self) -> Slot:
        from tocsin.spark.postgres.slot import take_up

        if self._slot is None:
            copy = self._with_snapshot or self._address.contents
            self._slot = take_up(self._address, self._folder, copy=copy)
        return self._slot

    def _opened(self) -> Feed:
        from tocsin.spark.postgres.feed import Feed

        if self._feed is None:
            self._feed = Feed(self._address, self._taken_up(), self._folder)
        return self._feed
