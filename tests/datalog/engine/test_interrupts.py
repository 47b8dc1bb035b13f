"""Ctrl-C while an engine derives: the change is given up, and the engine is what it was before."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

import numpy as np
import pytest
from numpy.typing import NDArray

from tocsin import Engine, Program
from tocsin.datalog.kernels import fixpoint, layout
from tocsin.datalog.machine.store import Memory
from tocsin.errors import OutOfMemory

_PATHS = """
.decl arc(x: number, y: number)
.decl path(x: number, y: number)
.output path
path(x, y) :- arc(x, y).
path(x, z) :- path(x, y), arc(y, z), z > 0.
"""

# The child interrupts itself while the kernel is at work, so the change takes longer than the interrupt does.
_INTERRUPTED = f"""
import signal
import tocsin

engine = tocsin.Program.parse({_PATHS!r}).start()
engine.load("arc", [(1, 2), (2, 3)])
before = engine.query("path")
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    engine.load("arc", [(n, n + 1) for n in range(6_000)])
except KeyboardInterrupt:
    print("interrupted")
assert engine.query("path") == before
engine.insert("arc", (3, 4))
assert len(engine.query("path")) == 6
"""


def test_a_large_change_can_be_interrupted() -> None:
    child = subprocess.run([sys.executable, "-c", _INTERRUPTED], capture_output=True, text=True, timeout=300)
    assert (child.returncode, child.stdout) == (0, "interrupted\n"), child.stderr


def test_the_kernel_gives_way_while_it_derives(monkeypatch: pytest.MonkeyPatch) -> None:
    statuses = []
    run = fixpoint.run

    def noted(table: NDArray[np.int64]) -> int:
        statuses.append(run(table))
        return statuses[-1]

    monkeypatch.setattr(fixpoint, "run", noted)
    engine = Program.parse(_PATHS).start()
    engine.load("arc", [(n, n + 1) for n in range(1_440)])
    assert engine.size("path") == 1_440 * 1_441 // 2
    assert layout.GIVES_WAY in statuses


@pytest.mark.parametrize("kept", [False, True])
def test_an_interrupt_in_the_middle_of_one_tuple(monkeypatch: pytest.MonkeyPatch, kept: bool) -> None:
    engine = Program.parse(_PATHS).start()
    engine.load("arc", [(1, 2), (2, 3)])
    machine = engine._machine

    def change(values: object, insert: bool) -> int:
        if not kept:  # as the kernel would leave it that gave way in the middle
            machine._control[layout.COMPONENT] = 0
        raise KeyboardInterrupt

    monkeypatch.setitem(engine._doors, "arc", engine._doors["arc"]._replace(change=change))
    with pytest.raises(KeyboardInterrupt):
        engine.insert("arc", (1, 2) if kept else (3, 4))
    assert (engine._machine is machine) == kept
    assert engine.query("path") == [(1, 2), (1, 3), (2, 3)]


def test_an_interrupt_while_the_change_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Program.parse(_PATHS).start()
    engine.insert("arc", (1, 2))

    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    calls: list[Callable[[], object]] = [
        lambda: engine.apply([("+", "arc", (2, 3))]),
        lambda: engine.insert("arc", (2, 3)),
        lambda: engine.apply([("+", "arc", (2, 3)), ("-", "arc", (1, 2))], ttl=5),
        lambda: engine.query("path"),
        lambda: engine.holds("path", (1, 2)),
        lambda: engine.add_rule("path(x, x) :- arc(x, _)."),
        lambda: "arc" in engine,
        lambda: engine.stats(),
    ]
    with monkeypatch.context() as patch:
        patch.setattr(fixpoint, "run", interrupted)
        for call in calls:
            with pytest.raises(KeyboardInterrupt):
                call()
    assert engine.query("path") == [(1, 2)]
    engine.advance(9)
    assert engine.insert("arc", (2, 3)).added == {"path": {(2, 3), (1, 3)}}


def test_an_interrupt_while_another_program_is_taken_up(monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program.parse(_PATHS)
    engine = program.start()
    engine.load("arc", [(1, 2), (2, 3)])

    def interrupted(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("tocsin.datalog.engine.changes.NoChanges", interrupted)
        with pytest.raises(KeyboardInterrupt):
            engine.add_rule(".decl back(x: number, y: number)\n.output back\nback(y, x) :- path(x, y).")
    assert engine.program is program
    assert [*engine] == ["arc", "path"]
    assert dict(engine.insert("arc", (3, 4)).added) == {"path": {(1, 4), (2, 4), (3, 4)}}


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interrupt_while_room_is_made(monkeypatch: pytest.MonkeyPatch, error: type[BaseException]) -> None:
    lengthen, waits = Memory.lengthen, 0

    def interrupted(memory: Memory, slot: int, length: int) -> None:
        nonlocal waits
        waits -= 1
        if waits == 0:
            raise error
        lengthen(memory, slot, length)

    monkeypatch.setattr(Memory, "lengthen", interrupted)
    engine = Program.parse(_PATHS).start()
    engine.load("arc", [(1, 2), (2, 3)])
    before = engine.query("path")
    times = 0
    while waits <= 0:
        times += 1
        waits = times
        try:
            engine.load("arc", [(n, n + 1) for n in range(100)])
        except (KeyboardInterrupt, OutOfMemory):
            assert engine.query("path") == before
    assert times > 10
    assert engine.size("path") == 100 * 101 // 2


_TIMED = """
.decl e(a: number, b: symbol)
.decl d(a: number)
d(a) :- e(a, _).
"""


def _changes(engine: Engine) -> list[Callable[[], object]]:
    """Changes that have to do with the time: giving, renewing, taking back, many, expiry, a rule."""
    several = [("+", "e", (number, "y")) for number in range(2, 6)]
    return [
        lambda: engine.insert("e", (2, "y"), ttl=5),
        lambda: engine.insert("e", (1, "x"), ttl=9),
        lambda: engine.insert("e", (1, "x")),
        lambda: engine.delete("e", (1, "x")),
        lambda: engine.apply([*several, ("-", "e", (1, "x"))], ttl=5),
        lambda: engine.load("e", [(number, "y") for number in range(2, 6)], ttl=5),
        lambda: engine.advance(3),
        lambda: engine.add_rule('d(a + 10) :- e(a, _). e(1, "x").'),
    ]


def _timed_engine() -> Engine:
    engine = Program.parse(_TIMED).start()
    engine.insert("e", (0, "x"))
    engine.insert("e", (1, "x"), ttl=3)
    return engine


def _future(engine: Engine) -> list[object]:
    """What is there at each moment from now on."""
    found: list[object] = []
    for moment in range(3, 20):
        engine.advance(moment)
        found.append((engine.query("e"), engine.query("d")))
    return found


def _interrupted_at(place: int, change: Callable[[], object]) -> bool:
    """Make a change, interrupted at a place of the engine where Python looks at signals; False behind them.

    It looks when a function of Python's begins, and when one of C's has returned.
    """
    left = place

    def profile(frame: FrameType, event: str, _: object) -> None:
        nonlocal left
        is_there = frame.f_code.co_filename.endswith(("/engine.py", "/expiry.py", "/machine.py"))
        if is_there and event in ("call", "c_return"):
            left -= 1
            if left < 0:
                sys.setprofile(None)
                raise KeyboardInterrupt

    sys.setprofile(profile)
    try:
        change()
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(None)
    return False


@pytest.mark.parametrize("number", range(8))
def test_an_interrupt_anywhere_leaves_no_fact_without_its_end(number: int) -> None:
    """The facts are those of before or of after, and each of them expires when it should."""
    before, after = _timed_engine(), _timed_engine()
    _changes(after)[number]()
    expected = [_future(before), _future(after)]
    place = 0
    while True:
        engine = _timed_engine()
        if not _interrupted_at(place, _changes(engine)[number]):
            break
        assert _future(engine) in expected, place
        place += 1
    assert place > 5
