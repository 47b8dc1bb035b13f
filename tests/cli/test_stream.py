"""`tocsin stream` while it waits: interrupts, and what it says. (What it does is tested in tests/spark.)"""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import Command

from tocsin.cli import parser, stream
from tocsin.errors import InputError, TocsinError


class Running:
    """A stream that ends when its batch does, or when it is stopped at once."""

    checkpoint = Path("kept")

    def __init__(self) -> None:
        self.batch_done = threading.Event()
        self.stopped: list[bool] = []
        self.error: TocsinError | None = None

    def wait(self, seconds: float) -> bool:
        if self.error is not None:
            raise self.error
        return self.batch_done.wait(seconds)

    def stop(self, *, at_once: bool = False) -> None:
        self.stopped.append(at_once)
        if at_once:
            self.batch_done.set()
        self.batch_done.wait()


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def wait(running: Any) -> None:
    with stream._interrupts() as interrupts:
        stream._wait(running, interrupts)


def test_it_ends_by_itself(capsys: pytest.CaptureFixture[str]) -> None:
    running = Running()
    running.batch_done.set()
    wait(running)
    assert running.stopped == []
    assert capsys.readouterr().err == ""


def test_the_first_interrupt_waits_for_the_batch(capsys: pytest.CaptureFixture[str]) -> None:
    running = Running()
    threading.Timer(0.1, interrupt).start()
    threading.Timer(0.5, running.batch_done.set).start()
    before = signal.getsignal(signal.SIGINT)
    wait(running)
    assert running.stopped in ([False], [])  # the batch may be done before it is asked for
    assert signal.getsignal(signal.SIGINT) is before
    assert "goes on from kept when it is started again" in capsys.readouterr().err


def test_a_start_that_takes_too_long_ends_with_the_second_interrupt() -> None:
    with stream._interrupts():
        interrupt()
        with pytest.raises(KeyboardInterrupt):
            interrupt()


def test_the_second_interrupt_does_not() -> None:
    running = Running()
    threading.Timer(0.1, interrupt).start()
    threading.Timer(0.6, interrupt).start()
    wait(running)
    assert running.stopped == [False, True]


def test_a_failure_is_told() -> None:
    running = Running()
    running.error = InputError("no more")
    with pytest.raises(InputError, match="no more"):
        wait(running)


def test_what_is_said_of_batches_and_refusals(capsys: pytest.CaptureFixture[str]) -> None:
    from tocsin.spark.stream.micro_batch import BatchReport

    said = stream._Messages()
    said.batch(BatchReport(7, 3, 1_234, 56, 0, 0.25, False))
    said.batch(BatchReport(8, 3, 1, 0, 2, 1.0, True))
    said.refused([InputError("one"), InputError("two")])
    said.warn("odd")
    assert capsys.readouterr().err.splitlines() == [
        "batch 7: 1,234 events, 56 matches, rules version 3, 0.2 s",
        "batch 8 (again): 1 event, 0 matches, 2 rejects, rules version 3, 1.0 s",
        "warning: the rules have changed and are refused; those before go on",
        "one",
        "two",
        "warning: odd",
    ]


def test_once_and_every_do_not_go_together() -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(["stream", "r", "--source", "s", "--sink", "x", "--once", "--every", "1 second"])


def test_what_is_wrong_with_the_options_is_said_before_spark_is_started(
    tocsin: Command, tmp_path: Path
) -> None:
    given = ["stream", "r.sql", "--source", "s", "--sink", "console:"]
    ran = tocsin(*given, "--every", "soon")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "tocsin: every: expected a length of time such as '5 seconds', found 'soon'\n"
    (tmp_path / "empty").mkdir()
    for wrong in ("none.jar", str(tmp_path / "empty")):
        ran = tocsin(*given, "--jars", wrong)
        assert ran.code == 1
        assert ran.err == f"tocsin: {wrong}: there is no such file, or no .jar in it\n"


def test_settings_of_free_text_are_those_of_a_saved_index(tocsin: Command, tmp_path: Path) -> None:
    saved = tmp_path / "rules.tocsin"
    ran = tocsin("stream", str(saved), "--source", "s", "--sink", "console:", "--text-threshold", "2")
    assert (ran.code, ran.out) == (2, "")
    assert "has the settings of free text that it was built with" in ran.err


def test_jars_are_files_or_folders_of_them(tmp_path: Path) -> None:
    for name in ("b.jar", "a.jar", "a.txt", "one.jar"):
        (tmp_path / name).write_text("")
    (tmp_path / "c").mkdir()
    (tmp_path / "b.jar").rename(tmp_path / "c" / "b.jar")
    (tmp_path / "a.jar").rename(tmp_path / "c" / "a.jar")
    found = stream._jars([str(tmp_path / "one.jar"), str(tmp_path / "c")])
    assert [Path(each).relative_to(tmp_path).as_posix() for each in found] == [
        "one.jar",
        "c/a.jar",
        "c/b.jar",
    ]
