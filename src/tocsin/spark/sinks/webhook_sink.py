"""Alerts to a webhook: POSTs of JSON arrays, at least once.

    POST /path
    Content-Type: application/json
    Idempotency-Key: 9f2c...            the same when the same alerts are sent again
    Tocsin-Stream: 5f0c...   Tocsin-Batch: 12   Tocsin-Alerts: 2

    [{"alert": "9f2c...", "rule": "r1", ...}, {"alert": ...}]

The driver sends them, one request after the other, and not the workers at the same time: a receiver that
asks for patience is asked again by one caller, the address (which often is a secret) does not leave
the driver, and only the driver need reach it. A request counts as received when the answer is 2xx. Where
trying again may help (no connection, no answer, 408, 425, 429, 5xx) it is sent again after a while, and not
before the receiver wants it (Retry-After). Otherwise, or when that does not help, the stream stops with
the batch not done, and sends all its alerts again when it is started again.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import re
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_to_datetime
from functools import partial
from hashlib import blake2b, md5
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit, urlunsplit

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from tocsin.errors import TocsinError, UsageError
from tocsin.spark.sinks.deliveries import driver_rows, waits
from tocsin.spark.sinks.sink import Sink
from tocsin.spark.stream.match_columns import json_lines

MOST_ALERTS = 100
MOST_BYTES = 1 << 20
SECONDS_TO_ANSWER = 30.0
"""For the whole of an answer: one that is drip-fed byte by byte is no answer."""
MOST_OF_AN_ANSWER = 1 << 20
"""Bytes of an answer that are read, headers included: what it says does not matter, and it may never end."""
LONGEST_PATIENCE = 300.0
"""Seconds that a receiver may ask for; what asks for more is taken for this."""

_UNWRITABLE = re.compile(r"[^!-~]")
PASSING = frozenset({408, 425, 429, *range(500, 600)})
"""Answers after which trying again may help."""


class WebhookSink(Sink):
    """An address that takes POSTs."""

    exactly_once = False

    def __init__(
        self, url: SplitResult, most_alerts: int = MOST_ALERTS, seconds: float = SECONDS_TO_ANSWER
    ) -> None:
        self._url = url
        self._most_alerts = most_alerts
        self._seconds = seconds
        self._stream = ""

    @staticmethod
    def of(uri: str) -> WebhookSink:
        """`https://user:password@host/path?query#alerts=1&seconds=60`.

        Behind the # is how many alerts a request has, and how long the answer may take.
        """
        parts = urlsplit(uri)
        options = dict(parse_qsl(parts.fragment, keep_blank_values=True))
        most = options.pop("alerts", str(MOST_ALERTS))
        seconds = options.pop("seconds", f"{SECONDS_TO_ANSWER:.0f}")
        shown = _shown(parts)
        if not parts.hostname or _UNWRITABLE.search(uri) or not _has_port(parts):
            raise UsageError(
                f"{shown} is not an address: expected {parts.scheme}://HOST/PATH, with %20 for a blank"
            )
        if options or (parts.fragment and "=" not in parts.fragment):
            raise UsageError(
                f"{shown}: behind the # there can be alerts=NUMBER and seconds=NUMBER, and nothing else"
            )
        for name, given, limit in (("alerts", most, 10_000), ("seconds", seconds, 3_600)):
            if not given.isdecimal() or not 1 <= int(given) <= limit:
                raise UsageError(f"{shown}: {name}={given}: expected a number from 1 to {limit:,}")
        return WebhookSink(parts._replace(fragment=""), int(most), float(seconds))

    @property
    def name(self) -> str:
        """Only the host: the rest of the address may be what makes it secret."""
        return _shown(self._url)

    def identity(self) -> dict[str, Any]:
        """The host, and a digest of the path; keys in the query may change."""
        path = blake2b(self._url.path.encode(), digest_size=8).hexdigest()
        return {"kind": "webhook", "host": self._url.netloc.rpartition("@")[2], "path": path}

    def open(self, session: SparkSession, stream: str, schema: StructType) -> None:  # noqa: ARG002
        """Nothing is sent: there may be nothing to tell for long."""
        self._stream = stream

    def write(self, alerts: DataFrame, batch: int) -> None:
        """Send the alerts of a batch; TocsinError when the receiver does not take them."""
        task = partial(request_blocks, most_alerts=self._most_alerts, most_bytes=MOST_BYTES)
        blocks = json_lines(alerts, "alert").mapInArrow(task, "block binary, id string, alerts int")
        with driver_rows(blocks) as rows:
            for row in rows():
                self._send(row.block, row.id, row.alerts, batch)

    def _send(self, body: bytes, identity: str, alerts: int, batch: int) -> None:
        """One request, until it is received."""
        request = urllib.request.Request(
            _without_user(self._url),
            data=bytes(body),
            method="POST",
            headers={
                "Content-Type": "application/json",
                "User-Agent": "tocsin",
                "Idempotency-Key": identity,
                "Tocsin-Stream": self._stream,
                "Tocsin-Batch": str(batch),
                "Tocsin-Alerts": str(alerts),
                **_authorization(self._url),
            },
        )
        for wait in (*waits(), None):
            problem, patience = self._tried(request)
            if problem is None:
                return
            if wait is None or patience is None:
                again = "" if patience is None else ", again and again"
                raise TocsinError(
                    f"the webhook {self.name} does not take alerts of batch {batch}{again}: {problem}"
                )
            time.sleep(max(wait, patience))

    def _tried(self, request: urllib.request.Request) -> tuple[str | None, float | None]:
        """What went wrong, and the seconds that the receiver asks for, None when trying again is useless."""
        with _Deadline(self._seconds) as deadline:
            try:
                with deadline.opener().open(request, timeout=self._seconds) as answer:
                    _beginning(answer, MOST_OF_AN_ANSWER)  # it is received, whatever the answer says
                    return None, None
            except urllib.error.HTTPError as error:
                said = _beginning(error, 200)
                text = said.decode("utf-8", "replace").strip().replace("\n", " ")
                problem = f"{error.code} {error.reason:.200}" + (f": {text}" if text else "")
                return problem, _patience(error.headers) if error.code in PASSING else None
            except (OSError, http.client.HTTPException) as error:
                reason = error.reason if isinstance(error, urllib.error.URLError) else error
                if deadline.is_over:
                    reason = f"nothing whole within {self._seconds:.0f} seconds"
                return f"no answer ({reason or type(error).__name__!s:.200})", 0.0


class _Deadline:
    """Ends the connections of a request when its time is over.

    A timeout of a socket counts from the last byte that came, so that an answer of one byte now and then,
    or of `100 Continue` for ever, would never end.
    """

    def __init__(self, seconds: float) -> None:
        self._connections: list[_Watched] = []
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True
        self.is_over = False

    def __enter__(self) -> _Deadline:
        self._timer.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._timer.cancel()

    def opener(self) -> urllib.request.OpenerDirector:
        """What opens a request whose connections this ends."""
        return urllib.request.build_opener(_NoRedirects, _Handler(self))

    def connection(self, kind: type[_Watched], host: str, **options: Any) -> _Watched:
        """A connection as urllib makes it."""
        made = kind(host, **options)
        made.deadline = self
        self._connections.append(made)
        return made

    def check(self) -> None:
        """For a connection that is just made: TimeoutError when it was not there to be ended."""
        if self.is_over:
            raise TimeoutError("the time is over")

    def _end(self) -> None:
        self.is_over = True
        for connection in self._connections:
            own = connection.own or connection.sock
            if own is not None:
                with contextlib.suppress(OSError):  # not TLS's own, which the reader may be using
                    socket.socket.shutdown(own, socket.SHUT_RDWR)


class _Watched(http.client.HTTPConnection):
    """Knows its socket also when urllib has handed that over to the answer."""

    own: Any = None
    deadline: _Deadline

    def connect(self) -> None:
        super().connect()
        self.own = self.sock
        self.deadline.check()


class _Secure(_Watched, http.client.HTTPSConnection):
    """The same with TLS."""


class _Handler(urllib.request.HTTPHandler, urllib.request.HTTPSHandler):
    """The handler of http:// and https:// whose connections have a deadline."""

    def __init__(self, deadline: _Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(self._deadline.connection, _Watched), request)

    def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(self._deadline.connection, _Secure), request)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """An alert that was sent elsewhere by a redirect would not be seen to be lost."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def request_blocks(batches: Iterable[Any], most_alerts: int, most_bytes: int) -> Iterator[Any]:
    """In a task: lines of JSON and alert ids to bodies of requests, with an id and a count for each.

    A body has no more than so many alerts, nor bytes, but for a single alert that is larger.
    """
    import pyarrow as pa

    for batch in batches:
        bodies, identities, counts = [], [], []
        lines = [line.encode() for line in batch.column(0).to_pylist()]
        alerts = batch.column(1).to_pylist()
        for first, last in _portions([len(line) for line in lines], most_alerts, most_bytes):
            bodies.append(b"[" + b",".join(lines[first:last]) + b"]")
            identities.append(request_id(alerts[first:last]))
            counts.append(last - first)
        columns = {"block": pa.array(bodies, pa.binary()), "id": pa.array(identities, pa.string())}
        yield pa.record_batch({**columns, "alerts": pa.array(counts, pa.int32())})


def request_id(alerts: list[str]) -> str:
    """The id of a request: that of its alert when it has one alone."""
    if len(alerts) == 1:
        return alerts[0]
    return md5("\n".join(alerts).encode(), usedforsecurity=False).hexdigest()


def _has_port(url: SplitResult) -> bool:
    """Whether the port, if there is one, can be one."""
    try:
        return url.port is None or url.port > 0
    except ValueError:
        return False


def _portions(sizes: list[int], most: int, most_bytes: int) -> Iterator[tuple[int, int]]:
    first, total = 0, 0
    for place, size in enumerate(sizes):
        if place > first and (place - first == most or total + size > most_bytes):
            yield first, place
            first, total = place, 0
        total += size + 1
    if first < len(sizes):
        yield first, len(sizes)


def _beginning(answer: Any, most: int) -> bytes:
    """So many bytes of an answer at most, and what came of it where it breaks off.

    `read1` takes what one read of the socket gives: `read` believes a chunk that says it has -1 bytes, and
    reads for ever.
    """
    said = b""
    with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
        while len(said) < most and (piece := answer.read1(most - len(said))):
            said += piece
    return said[:most]


def _patience(headers: Message) -> float:
    """The seconds that Retry-After asks for: a number of them, or a date."""
    asked = (headers.get("Retry-After") or "").strip()
    if asked.isdecimal():
        return min(LONGEST_PATIENCE, float(asked[:9]))
    try:
        until = parsedate_to_datetime(asked)
    except (ValueError, OverflowError):
        return 0.0
    left = (until.replace(tzinfo=until.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return min(LONGEST_PATIENCE, max(0.0, left))


def _shown(url: SplitResult) -> str:
    return f"{url.scheme}://{url.netloc.rpartition('@')[2]}/..."


def _without_user(url: SplitResult) -> str:
    return urlunsplit(url._replace(netloc=url.netloc.rpartition("@")[2], path=url.path or "/"))


def _authorization(url: SplitResult) -> dict[str, str]:
    if url.username is None:
        return {}
    secret = f"{unquote(url.username)}:{unquote(url.password or '')}".encode()
    return {"Authorization": f"Basic {base64.b64encode(secret).decode()}"}
