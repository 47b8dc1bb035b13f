"""The replication protocol: the server sends its log as it grows, and is told how far we have come.

    server ──> w  messages of the output plugin      k  how far it has read its log
    client ──> r  how far everything is done for good: what lies before may be thrown away

libpq carries these in its COPY mode; psycopg has the calls for it, but no wrapper around them.
"""

from __future__ import annotations

import select
import struct
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from tocsin.errors import InputError, ServerAway
from tocsin.spark.postgres.change_files import lsn_text
from tocsin.spark.postgres.pgoutput import MICROSECONDS_TO_2000
from tocsin.spark.postgres.postgres_address import Address, quoted
from tocsin.spark.postgres.server import away_is_said, connect_for_replication, is_too_late

if TYPE_CHECKING:
    from psycopg import pq

SECONDS_FOR_SLOT = 30
"""How long to wait for a slot that somebody uses: after a crash it may be our own former self."""

SECONDS_BETWEEN_SIGNS = 10
"""How often the server is given a sign of life while it sends: after a minute without any it hangs up."""

_UNDEFINED, _IN_USE, _NOT_READY = "42704", "55006", "55000"
_HEADER = struct.Struct(">QQq")
_KEEPALIVE = struct.Struct(">QqB")
_STATUS = struct.Struct(">cQQQqB")


class Piece(NamedTuple):
    """A part of what the server sends: a message of the plugin, or None, and how far the log was read."""

    data: bytes | None
    read: int


class Replication:
    """An open stream of a slot's messages."""

    def __init__(self, address: Address, slot: str, publication: str, start: int) -> None:
        self._address = address
        self._done = 0
        self._told = time.monotonic()
        self._connection = self._started(slot, publication, start)
        self._server = self._connection.pgconn
        self._server.nonblocking = 1

    def next(self, seconds: float) -> Piece | None:
        """What comes next; None when nothing comes for so long. ServerAway when the connection ends."""
        now = time.monotonic()
        deadline = now + seconds
        if now - self._told > SECONDS_BETWEEN_SIGNS:
            self.tell(self._done)
        with away_is_said(self._address):
            while True:
                length, data = self._server.get_copy_data(1)
                if length > 0:
                    piece = _piece(bytes(data))
                    if piece is not None:
                        return piece
                elif length < 0:
                    raise self._why_it_ended()
                else:
                    left = deadline - time.monotonic()
                    if left <= 0:
                        return None
                    select.select([self._server.socket], [], [], left)
                    self._server.consume_input()

    def tell(self, done: int, *, ask: bool = False) -> None:
        """Tell the server that all up to this position is done for good; `ask` it how far it has read."""
        self._done = max(self._done, done)
        self._told = time.monotonic()
        now = time.time_ns() // 1_000 - MICROSECONDS_TO_2000
        with away_is_said(self._address):
            status = _STATUS.pack(b"r", self._done, self._done, self._done, now, ask)
            self._server.put_copy_data(status)
            while self._server.flush():
                select.select([], [self._server.socket], [], 1)

    def close(self) -> None:
        """End the connection; the slot stays."""
        self._connection.close()

    def _started(self, slot: str, publication: str, start: int) -> Any:
        """A connection on which the log is being sent."""
        from psycopg import pq

        deadline = time.monotonic() + SECONDS_FOR_SLOT
        names = quoted(publication).replace("'", "''")
        command = (
            f"START_REPLICATION SLOT {quoted(slot)} LOGICAL {lsn_text(start)}"
            f" (proto_version '1', publication_names '{names}')"
        )
        while True:
            connection = connect_for_replication(self._address)
            result = connection.pgconn.exec_(command.encode())
            if result.status == pq.ExecStatus.COPY_BOTH:
                return connection
            connection.close()
            code = _code(result)
            if code != _IN_USE or is_too_late(deadline):
                raise _refusal(slot, code, _message(result))

    def _why_it_ended(self) -> Exception:
        result = self._server.get_result()
        why = "" if result is None else _message(result)
        if result is not None and _code(result) == _UNDEFINED:
            return InputError(
                f"changes cannot be read any more, as somebody has dropped what they are published by: {why}."
                " Start the stream with a new checkpoint"
            )
        return ServerAway(f"{self._address.shown} has ended the connection{': ' + why if why else ''}")


def _piece(data: bytes) -> Piece | None:
    kind, rest = data[:1], data[1:]
    if kind == b"w":
        return Piece(rest[_HEADER.size :], 0)
    if kind == b"k":
        return Piece(None, _KEEPALIVE.unpack_from(rest)[0])
    return None


def _refusal(slot: str, code: str, message: str) -> Exception:
    if code == _UNDEFINED and "publication" not in message:
        return slot_is_gone(slot)
    if code == _IN_USE:
        return InputError(
            f"the replication slot {slot} is in use by another stream or program: {message}."
            " Every stream needs a slot of its own"
        )
    if code == _NOT_READY:
        return slot_is_lost(slot, message)
    return ServerAway(f"the replication slot {slot} cannot be read: {message}")


def slot_is_gone(slot: str) -> InputError:
    """The error of a checkpoint whose slot somebody has dropped."""
    return InputError(
        f"the replication slot {slot} is gone: somebody has dropped it, and nobody knows which changes were"
        " missed since. Start the stream with a new checkpoint"
    )


def slot_is_lost(slot: str, why: str) -> InputError:
    """The error of a slot that has fallen too far behind."""
    return InputError(
        f"the replication slot {slot} has lost changes that were not read yet ({why}): the server threw away"
        " its log. Start the stream with a new checkpoint, and raise max_slot_wal_keep_size so that it does"
        " not happen again"
    )


def _code(result: pq.abc.PGresult) -> str:
    from psycopg import pq

    return (result.error_field(pq.DiagnosticField.SQLSTATE) or b"").decode()


def _message(result: pq.abc.PGresult) -> str:
    from psycopg import pq

    text = result.error_field(pq.DiagnosticField.MESSAGE_PRIMARY) or result.error_message
    return text.decode(errors="replace").strip()
