"""kill -9 at any moment: what a call returned is there again, and of the call in flight all or nothing.

A child, forked from this warmed-up process, makes random changes and acknowledges each through a pipe once
it has returned. It is killed at a random moment, and the journal is opened again: the state is that after the
last acknowledged change, or after the one that was in flight. Most leave syncing out: a kill does not need
it, and it takes most of the time.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tocsin
from tocsin.storage import record_log

PROGRAM = tocsin.Program.parse("""
.decl arc(x: number, y: number)
.decl name(s: symbol, n: number)
.decl both(s: symbol, y: number)
both(s, y) :- name(s, x), arc(x, y).
arc(1, 2).
""")
RULES = [("big", "k > 3")]
RULE = "both(s, x) :- name(s, x)."

State = Any


def engine_steps(chance: random.Random) -> list[Any]:
    steps: list[Any] = []
    for _ in range(400):
        what, number, ttl = chance.random(), chance.randrange(30), chance.choice([None, 3, 0.5])
        if what < 0.5:
            steps.append(("insert", "arc", (number, chance.randrange(5)), ttl))
        elif what < 0.6:
            steps.append(("delete", "arc", (number, chance.randrange(5))))
        elif what < 0.75:
            operations = [
                (chance.choice("+-"), "name", (f"n{chance.randrange(9)}", n)) for n in range(number)
            ]
            steps.append(("apply", operations, ttl))
        elif what < 0.85:
            steps.append(("load", "name", [("é" * number, n) for n in range(5 * number)], ttl))
        elif what < 0.96:
            steps.append(("later", chance.choice([0.5, 1])))
        else:
            steps.append(("rule",))
    return steps


def change_engine(engine: tocsin.Engine, step: Any) -> None:
    what, *rest = step
    if what == "later":
        engine.advance(engine.now + rest[0])
    elif what == "rule":
        (engine.remove_rule if RULE in engine.program.rules else engine.add_rule)(RULE)
    else:
        getattr(engine, what)(*rest)


def engine_state(engine: tocsin.Engine) -> State:
    moments = {
        (name, engine.code(name).decode(row)): moment
        for (name, row), moment in engine._expiry.moments.items()
    }
    return {name: engine.query(name) for name in engine}, moments, engine.now, engine.program.rules


def watch_steps(chance: random.Random) -> list[Any]:
    def row() -> dict[str, Any]:
        return {"k": chance.randrange(6), "text": "é" * chance.randrange(400)}

    kinds = [("insert",), ("insert",), ("update", "delete")]
    return [(chance.choice(chance.choice(kinds)), chance.choice("st"), row()) for _ in range(400)]


def change_watch(watch: tocsin.Watch, step: Any) -> None:
    what, table, row = step
    if what == "insert":
        watch.insert(table, row)
    elif watch.rows(table):
        old = watch.rows(table)[len(row["text"]) % len(watch.rows(table))]
        watch.delete(table, old) if what == "delete" else watch.update(table, old, row)


def watch_state(watch: tocsin.Watch) -> State:
    return {table: watch.rows(table) for table in "st"}


KINDS: dict[str, tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any], Callable[..., Any]]] = {
    "engine": (PROGRAM.start, engine_steps, change_engine, engine_state),
    "watch": (lambda **named: tocsin.watch(RULES, **named), watch_steps, change_watch, watch_state),
}


def run_child(opened: Any, steps: list[Any], change: Callable[..., Any], pipe: int) -> None:
    for step in steps:
        change(opened, step)
        os.write(pipe, b".")


def killed(folder: Path, kind: str, chance: random.Random, sync: str) -> bool:
    """Kill a child once, and judge what is left; whether it was killed in the middle of its work."""
    start, make_steps, change, state = KINDS[kind]
    steps = make_steps(chance)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(reading)
            run_child(start(journal=folder, sync=sync), steps, change, writing)
        finally:
            os._exit(0)
    os.close(writing)
    acknowledged = len(os.read(reading, 1))
    time.sleep(chance.random() ** 2 * 0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while piece := os.read(reading, 1000):
        acknowledged += len(piece)
    os.close(reading)
    with start(journal=folder, sync=sync) as opened:
        found = state(opened)
    judge = start()
    for step in steps[:acknowledged]:
        change(judge, step)
    if found != state(judge):
        assert acknowledged < len(steps)
        change(judge, steps[acknowledged])
        assert found == state(judge)
    return 0 < acknowledged < len(steps)


def kill_often(folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str, times: int) -> None:
    monkeypatch.setattr(record_log, "FLOOR", 2_000)  # so that snapshots are killed as well
    start, make_steps, change, _ = KINDS[kind]
    warm = start()
    for step in make_steps(random.Random(0)):
        change(warm, step)
    midway = 0
    for number in range(times):
        chance = random.Random(number)
        sync = "always" if number % 10 == 0 else "10 ms"
        with monkeypatch.context() as patched:
            if number % 10 > 1:
                patched.setattr(record_log, "_sync", lambda descriptor: None)
                patched.setattr(os, "fsync", lambda descriptor: None)
            midway += killed(folder / str(number), kind, chance, sync)
        shutil.rmtree(folder / str(number))
    assert midway > times // 2


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_kills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    kill_often(tmp_path, monkeypatch, kind, 6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand_kills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    kill_often(tmp_path, monkeypatch, kind, 1_000)
