from __future__ import annotations

import json
import random
import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from tests.spark.sinks.sample_alerts import (
    SCHEMA,
    SMALL,
    alerts_of_every_kind,
    rows_of_every_kind,
    small_alerts,
)

from tocsin.errors import TocsinError, UsageError
from tocsin.spark.sinks import deliveries, webhook_sink
from tocsin.spark.sinks.webhook_sink import WebhookSink, request_blocks
from tocsin.spark.stream.schemes import sink_of

SILENT, LOST = "no answer", "received, and the answer lost"


@dataclass
class Receiver:
    """A webhook on this machine; `fates` are the answers to come, 200 when there are no more."""

    url: str = ""
    fates: list[int | str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str], list[dict[str, Any]]]] = field(default_factory=list)
    received: list[dict[str, Any]] = field(default_factory=list)


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    monkeypatch.setattr(deliveries, "FIRST_WAIT", 0.001)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with running_receiver() as made:
        yield made


@contextmanager
def running_receiver() -> Iterator[Receiver]:
    made = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            made.requests.append((self.path, dict(self.headers), body))
            fate = made.fates.pop(0) if made.fates else 200
            if fate in (200, LOST):
                made.received += body
            if isinstance(fate, str):
                self.close_connection = True
                return
            self.send_response(fate)
            for name, value in made.headers.items():
                self.send_header(name, value)
            said = b"" if fate == 200 else b"please\nnot so"
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def opened(spark: SparkSession, uri: str) -> WebhookSink:
    sink = sink_of(uri)
    assert isinstance(sink, WebhookSink)
    sink.open(spark, "stream-1", SMALL)
    return sink


def test_alerts_of_every_kind(spark: SparkSession, receiver: Receiver) -> None:
    sink = opened(spark, f"{receiver.url}/hook?key=1")
    sink.write(alerts_of_every_kind(spark).coalesce(1), 4)
    ((path, headers, body),) = receiver.requests
    assert path == "/hook?key=1"
    assert headers["Content-Type"] == "application/json"
    assert (headers["Tocsin-Stream"], headers["Tocsin-Batch"]) == ("stream-1", "4")
    assert headers["Tocsin-Alerts"] == str(len(body))
    assert "Authorization" not in headers
    expected = rows_of_every_kind()
    for got, wanted in zip(body, expected, strict=True):
        assert list(got) == [*(name for name in SCHEMA.names if name != "json"), "json"]
        assert got["text"] == wanted["text"]
        assert got["json"] == (None if wanted["json"] is None else json.loads(wanted["json"]))
    assert body[0]["time"] == "2026-03-01T12:30:00.250000Z"


def test_a_receiver_that_fails_at_random(spark: SparkSession, receiver: Receiver) -> None:
    draw = random.Random(3)
    receiver.headers = {"Retry-After": "0"}
    sink = opened(spark, f"{receiver.url}/#alerts=20")
    for batch in range(3):
        receiver.fates = []
        for _ in range(20):
            failures: list[int | str] = [503, 429, 408, SILENT, LOST]
            receiver.fates += [*draw.choices(failures, k=draw.randrange(4)), 200]
        sink.write(small_alerts(spark, batch, 400, parts=5), batch)
        told = [alert["alert"] for alert in receiver.received if alert["batch"] == batch]
        assert len(set(told)) == 400
    assert len(receiver.received) > 1200  # some came twice
    assert all(len(body) <= 20 for _, _, body in receiver.requests)
    contents: dict[str, set[str]] = {}
    for _, headers, body in receiver.requests:
        contents.setdefault(headers["Idempotency-Key"], set()).add(json.dumps(body))
    assert all(len(bodies) == 1 for bodies in contents.values())


def test_a_receiver_that_will_not(spark: SparkSession, receiver: Receiver) -> None:
    sink = opened(spark, f"{receiver.url}/secret/path?token=hidden")
    receiver.fates = [404]
    with pytest.raises(TocsinError) as caught:
        sink.write(small_alerts(spark, 7, 3), 7)
    host = receiver.url.removeprefix("http://")
    assert str(caught.value) == (
        f"the webhook http://{host}/... does not take alerts of batch 7: 404 Not Found: please not so"
    )
    assert len(receiver.requests) == 1
    receiver.fates = [302]
    receiver.headers = {"Location": "/elsewhere"}
    with pytest.raises(TocsinError, match="302 Found"):
        sink.write(small_alerts(spark, 7, 3), 7)
    receiver.fates = [500] * 50
    with pytest.raises(TocsinError, match="of batch 7, again and again: 500 Internal Server Error"):
        sink.write(small_alerts(spark, 7, 3), 7)
    assert len(receiver.requests) == 2 + deliveries.TRIES
    assert receiver.received == []


def test_nobody_there(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliveries, "FIRST_WAIT", 0.001)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    sink = opened(spark, "http://me:secret@127.0.0.1:1/path")
    with pytest.raises(TocsinError, match=r"no answer \(.*Connection refused\)") as caught:
        sink.write(small_alerts(spark, 0, 1), 0)
    assert "secret" not in str(caught.value)
    sink.write(small_alerts(spark, 1, 0), 1)  # nothing to tell


def test_who_asks(spark: SparkSession, receiver: Receiver) -> None:
    opened(spark, receiver.url.replace("http://", "http://me:pass%20word@") + "#alerts=1").write(
        small_alerts(spark, 0, 2), 0
    )
    for _, headers, body in receiver.requests:
        assert headers["Authorization"] == "Basic bWU6cGFzcyB3b3Jk"
        assert [alert["alert"] for alert in body] == [headers["Idempotency-Key"]]


def test_patience() -> None:
    def asked(text: str | None) -> float:
        from email.message import Message

        headers = Message()
        if text is not None:
            headers["Retry-After"] = text
        return webhook_sink._patience(headers)

    assert [asked(text) for text in (None, "", "soon", "-1", "7", "86400", "9" * 400)] == [
        0,
        0,
        0,
        0,
        7,
        webhook_sink.LONGEST_PATIENCE,
        webhook_sink.LONGEST_PATIENCE,
    ]
    assert asked("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert asked("Wed, 21 Oct 2150 07:28:00 GMT") == webhook_sink.LONGEST_PATIENCE


def test_waits_grow_and_end() -> None:
    seconds = list(deliveries.waits(12))
    assert len(seconds) == 11
    for number, wait in enumerate(seconds):
        longest = min(deliveries.LONGEST_WAIT, deliveries.FIRST_WAIT * 2**number)
        assert longest / 2 <= wait <= longest


@given(
    st.lists(st.text(max_size=20).map(lambda text: json.dumps({"t": text})), max_size=30),
    st.integers(1, 7),
    st.integers(1, 100),
    st.integers(1, 10),
)
def test_requests_are_of_bounded_size(lines: list[str], most: int, most_bytes: int, portion: int) -> None:
    ids = [f"{number:032x}" for number in range(len(lines))]
    table = pa.table({"value": pa.array(lines, pa.string()), "alert": pa.array(ids, pa.string())})
    made = [
        row
        for batch in request_blocks(table.to_batches(max_chunksize=portion), most, most_bytes)
        for row in batch.to_pylist()
    ]
    assert [alert for row in made for alert in json.loads(row["block"])] == [json.loads(x) for x in lines]
    for row in made:
        assert row["alerts"] == len(json.loads(row["block"])) <= most
        assert row["alerts"] == 1 or len(row["block"]) <= most_bytes + 2


@pytest.mark.parametrize(
    "uri",
    [
        "https://",
        "https:///path",
        "https://host:port/path",
        "https://host/a secret",
        "https://host/é",
        "https://host/secret#alerts=0",
        "https://host/secret#alerts=x",
        "https://host/secret#most=2",
        "https://host/secret#2",
    ],
)
def test_what_is_no_address(uri: str) -> None:
    with pytest.raises(UsageError) as caught:
        sink_of(uri)
    assert "secret" not in str(caught.value)


def test_addresses() -> None:
    one = sink_of("https://me:word@host:8443/secret?token=1")
    assert (one.name, one.exactly_once) == ("https://host:8443/...", False)
    assert one.identity()["host"] == "host:8443"
    assert "secret" not in json.dumps(one.identity())
    assert one.identity() == sink_of("https://you@host:8443/secret?token=2").identity()
    assert one.identity() != sink_of("https://host:8443/other").identity()


@contextmanager
def hostile_receiver(first: bytes, again: bytes, pause: float = 0.0) -> Iterator[str]:
    """A server that answers with `first`, and then with `again` until it is left."""
    listening = socket.create_server(("127.0.0.1", 0))
    left = threading.Event()

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                with connection, suppress(OSError):
                    connection.recv(1 << 16)
                    connection.sendall(first)
                    while again and not left.wait(pause):
                        connection.sendall(again)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/#seconds=1"
    finally:
        left.set()
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(10)


TAKEN = b"HTTP/1.1 200 OK\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("first", "again", "pause", "problem"),
    [
        (TAKEN, b"x" * 65536, 0.0, None),
        (TAKEN, b"x", 0.05, None),
        (CHUNKED, b"4\r\nabcd\r\n", 0.0, None),
        (CHUNKED, b"f" * 65536, 0.0, None),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", b"x", 0.05, None),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.01, "no answer (nothing whole within 1 seconds)"),
        (b"HTTP/1.1 200 OK\r\n", b"a: b\r\n", 0.02, None),
        (b"HTT", b"P", 0.05, "no answer (nothing whole within 1 seconds)"),
        (b"HTTP/1.1 200 OK\r\n", b"a: b\r\n", 0.0, "no answer (got more than 100 headers)"),
        (b"HTTP/1.1 200 ", b"x" * 65536, 0.0, "no answer (got more than 65536 bytes"),
        (
            b"HTTP/1.1 500 " + b"y" * 60000 + b"\r\n\r\n",
            b"x" * 65536,
            0.0,
            "500 " + "y" * 200 + ": " + "x" * 200,
        ),
        (b"HTTP/1.1 500 No\r\n\r\n", b"x", 0.05, "500 No"),
        (b"HTTP/1.1 503 No\r\nRetry-After: Fri, 99 Dec 99999999999 23:59:59 GMT\r\n\r\n", b"", 0.0, "503 No"),
        (b"HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", b"x" * 65536, 0.0, "500 No: xxx"),
    ],
)
def test_answers_without_end(
    monkeypatch: pytest.MonkeyPatch, first: bytes, again: bytes, pause: float, problem: str | None
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with hostile_receiver(first, again, pause) as uri:
        sink = WebhookSink.of(uri)
        said, _ = sink._tried(urllib.request.Request(uri.partition("#")[0], data=b"[]"))
    assert said is None if problem is None else (said or "").startswith(problem)


def test_a_chunk_of_less_than_nothing_is_not_read_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    taken = 0

    def counted(self: Any, data: Any) -> int:
        nonlocal taken
        count = read_into(self, data) or 0
        taken += count
        return count

    read_into = socket.SocketIO.readinto
    monkeypatch.setattr(socket.SocketIO, "readinto", counted)
    with hostile_receiver(CHUNKED + b"-1\r\n", b"x" * 65536, 0.0) as uri:
        said, _ = WebhookSink.of(uri)._tried(urllib.request.Request(uri.partition("#")[0], data=b"[]"))
    assert said is None
    assert taken < 4 * webhook_sink.MOST_OF_AN_ANSWER


def test_a_connection_that_is_made_too_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with hostile_receiver(TAKEN, b"", 0.0) as uri:
        sink = WebhookSink.of(uri)
        monkeypatch.setattr(webhook_sink._Deadline, "__enter__", lambda self: (self._end(), self)[1])
        said, patience = sink._tried(urllib.request.Request(uri.partition("#")[0], data=b"[]"))
    assert (said, patience) == ("no answer (nothing whole within 1 seconds)", 0.0)
