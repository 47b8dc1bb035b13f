"""From the slot to files of changes: each file is the changes of one batch, read from the log once.

    FOLDER/
      changes/START-END.arrow   changes of whole transactions: there before Spark hears of END, and until it
                                is done with them, so a batch that is done again finds what it had
      advanced.json             how far the server was told that all is done, though no batch ended there

The server may throw away its log up to what it is told is done. It is told so only of batches that Spark has
committed, and, while nothing happens to the chosen tables, of what others wrote into the log meanwhile: or
else an idle stream would hold back the log of a busy server for ever.
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tocsin.errors import InputError, ServerAway
from tocsin.spark.postgres.change_files import (
    ChangeWriter,
    changes_files,
    changes_name,
    lsn_number,
    lsn_text,
    remove_drafts,
)
from tocsin.spark.postgres.pgoutput import Begin, Commit, decoded
from tocsin.spark.postgres.postgres_address import Address
from tocsin.spark.postgres.replication import Replication, slot_is_gone, slot_is_lost
from tocsin.spark.postgres.server import away_is_said, connect, patiently, query
from tocsin.spark.postgres.slot import Slot, check_published
from tocsin.spark.postgres.transactions import Transactions
from tocsin.spark.stream.checkpoint import read_json, write_json

if TYPE_CHECKING:
    import psycopg

PATIENCE = 60
"""Seconds to try again for when the server is away."""

SECONDS_TO_ANSWER = 0.25
SECONDS_TO_WAIT = 10.0
"""Seconds without a word after which a batch is made of what has come: the server may be at work on a large
transaction, of which nothing is sent before it is read to its end."""
LONGEST_SILENCE = 300.0
"""The same when more must come: then the connection counts as dead."""

SECONDS_BETWEEN_LOOKS = 10.0
"""How often to look whether the tables are still published: of one that is not, nothing comes, not even an
error."""

BYTES_TO_ADVANCE = 1 << 20
"""What others must have written before the server is told that an idle stream needs none of it."""


_END_OF_LOG = """
    select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_flush_lsn() end
"""


class Feed:
    """Reads a slot. One process has one, for as long as the stream runs."""

    def __init__(self, address: Address, slot: Slot, folder: Path) -> None:
        self._address = address
        self._slot = slot
        self._folder = folder
        self._connection: psycopg.Connection[Any] | None = None
        self._replication: Replication | None = None
        self._transactions = self._no_transactions()
        self._looked = 0.0
        self._given: int | None = None
        self._done = 0

    def path(self, start: int, end: int) -> Path:
        """The file with the changes from one position up to another."""
        return self._folder / "changes" / changes_name(start, end)

    def now(self) -> int:
        """The end of the server's log."""
        return patiently(self._end_of_log, PATIENCE, self.close)

    def collect(self, start: int, most: int | None = None, until: int | None = None) -> int:
        """Write the changes from `start` on to a file; where they end, or `start` when there are none.

        About `most` changes are taken, of whole transactions, and none that was committed at `until` or
        later. ServerAway when the server stays away.
        """
        for first, _, path in changes_files(self._folder / "changes"):
            if first >= start:  # written down before a crash, but never told to Spark
                path.unlink(missing_ok=True)
        remove_drafts(self._folder / "changes")
        return patiently(lambda: self._collect(start, most, until), PATIENCE, self.close)

    def done(self, position: int, *, keep_files: bool) -> None:
        """Everything up to here is done for good."""
        self._done = max(self._done, position)
        if self._replication is not None:
            with contextlib.suppress(ServerAway):  # it is told again over the next connection
                self._replication.tell(self._done)
        if not keep_files:
            for _, end, path in changes_files(self._folder / "changes"):
                if end <= position:
                    path.unlink(missing_ok=True)

    def close(self) -> None:
        """End the connections."""
        if self._replication is not None:
            self._replication.close()
        if self._connection is not None:
            self._connection.close()
        self._replication = self._connection = self._given = None

    # ---- Reading

    def _collect(self, start: int, most: int | None, until: int | None) -> int:
        replication = self._opened(start)
        self._look_at_publication()
        target = self._end_of_log() if until is None else until
        writer: ChangeWriter | None = None
        end, silent = start, 0.0
        answered = _Answered(target)
        try:
            replication.tell(self._done, ask=True)
            while True:
                piece = replication.next(SECONDS_TO_ANSWER)
                if piece is None:
                    silent += SECONDS_TO_ANSWER
                    must_come = self._transactions.is_open or until is not None
                    if not must_come and silent >= SECONDS_TO_WAIT:
                        break
                    if silent >= LONGEST_SILENCE:
                        raise ServerAway(f"{self._address.shown} has fallen silent")
                    replication.tell(self._done, ask=True)
                    continue
                silent = 0.0
                if piece.data is None:
                    if not self._transactions.is_open and answered.is_all(piece.read):
                        if writer is None and self._done >= start:
                            self._advance(replication, piece.read)
                        break
                    continue
                answered = _Answered(target)
                message = decoded(piece.data)
                if message is None:
                    continue
                if isinstance(message, Begin) and until is not None and message.commit >= until:
                    self.close()  # it has begun to tell what is for a later batch
                    break
                for change in self._transactions.changes(message):
                    if writer is None:
                        writer = ChangeWriter(self._folder / "changes")
                    writer.add(change)
                if isinstance(message, Commit):
                    if writer is not None:
                        end = message.end
                        if most is not None and writer.rows >= most:
                            break
                    if message.end >= target:
                        break
        except BaseException:
            if writer is not None:
                writer.give_up()
            raise
        if writer is not None:
            writer.finish(changes_name(start, end))
        if self._replication is not None:
            self._given = end
        return end

    def _opened(self, start: int) -> Replication:
        """The open stream, when it stands at `start`, or a new one from there."""
        if self._replication is not None and self._given == start:
            return self._replication
        if self._replication is not None:
            self._replication.close()
            self._replication = None
        self._check_position(start)
        self._looked = 0.0
        self._transactions = self._no_transactions()
        self._replication = Replication(self._address, self._slot.name, self._slot.publication, start)
        return self._replication

    def _no_transactions(self) -> Transactions:
        return Transactions(self._slot.tables, are_all=self._slot.made_it)

    # ---- What the server says of itself

    def _plain(self) -> psycopg.Connection[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = connect(self._address)
        return self._connection

    def _end_of_log(self) -> int:
        with away_is_said(self._address):
            return lsn_number(query(self._plain(), _END_OF_LOG)[0][0])

    def _look_at_publication(self) -> None:
        """InputError when changes of a table are not sent any more."""
        now = time.monotonic()
        if now - self._looked >= SECONDS_BETWEEN_LOOKS or not self._looked:
            with away_is_said(self._address):
                check_published(self._plain(), self._slot)
            self._looked = now

    def _check_position(self, start: int) -> None:
        """InputError when changes from `start` on are not to be had any more."""
        statement = "select confirmed_flush_lsn, wal_status from pg_replication_slots where slot_name = %s"
        with away_is_said(self._address):
            found = query(self._plain(), statement, self._slot.name)
        if not found:
            raise slot_is_gone(self._slot.name)
        position, status = found[0]
        if status == "lost":
            raise slot_is_lost(self._slot.name, "it was invalidated")
        if lsn_number(position) > max(start, self._advanced()):
            raise InputError(
                f"the replication slot {self._slot.name} has moved to {position} without this stream, which"
                f" was at {lsn_text(start)}: somebody has read from it, or made it anew, and the changes in"
                " between are lost. Start the stream with a new checkpoint"
            )

    # ---- While nothing happens

    def _advance(self, replication: Replication, read: int) -> None:
        """Let the server throw away what has nothing for us: all is done, and nothing came up to `read`."""
        if read - self._done < BYTES_TO_ADVANCE:
            return
        write_json(self._folder / "advanced.json", {"lsn": lsn_text(read)})
        self._done = read
        replication.tell(read)

    def _advanced(self) -> int:
        known = read_json(self._folder / "advanced.json")
        return 0 if known is None else lsn_number(known["lsn"])


class _Answered:
    """What the server says of how far it has read, while it has nothing else to say.

    It has read all when it has come to the target, or when it says the same twice and time has passed in
    between: the end of the log can lie behind the header of a page that has no record yet.
    """

    def __init__(self, target: int) -> None:
        self._target = target
        self._read = -1
        self._since = 0.0

    def is_all(self, read: int) -> bool:
        now = time.monotonic()
        if read != self._read:
            self._read, self._since = read, now
        return read >= self._target or now - self._since > SECONDS_TO_ANSWER / 2
