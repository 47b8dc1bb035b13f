"""An engine beside an obvious one: the same calls to both, and the same answers wanted."""

from __future__ import annotations

from typing import Any

import pytest
from tests.datalog.engine.obvious_machine import start_obvious

from tocsin import Changes, Engine, Program
from tocsin.datalog.engine import first_state
from tocsin.datalog.machine import Symbols
from tocsin.errors import TocsinError

LIMIT = 2_000


def obvious_engine(program: Program, local: str | int | None = None) -> Engine:
    return Engine(first_state(program, local, LIMIT, Symbols(), {}), start_obvious)


def contents(engine: Engine) -> dict[str, list[Any]]:
    return {relation: engine.query(relation) for relation in engine}


def plain(changes: Changes) -> tuple[dict[str, set[Any]], dict[str, set[Any]]]:
    return (
        {relation: set(tuples) for relation, tuples in changes.added.items()},
        {relation: set(tuples) for relation, tuples in changes.removed.items()},
    )


class Judged:
    """Both engines; each step is made on both, and held to the difference of the contents."""

    def __init__(self, program: Program, local: str | int | None = None) -> None:
        self.engine = program.start(local, limit=LIMIT)
        self.judge = obvious_engine(program, local)
        self.check()

    def check(self) -> None:
        assert contents(self.engine) == contents(self.judge)

    def step(self, method: str, *arguments: object) -> Changes | None:
        """What a method of the engine gives, or None when both refuse it; then nothing has changed."""

        def change(engine: Engine) -> Changes:
            result: Changes = getattr(engine, method)(*arguments)
            return result

        before = contents(self.engine)
        outputs = self.engine.program.outputs
        try:
            wanted = change(self.judge)
        except TocsinError as error:
            with pytest.raises(type(error)):
                change(self.engine)
            assert contents(self.engine) == before
            self.check()
            return None
        found = change(self.engine)
        assert plain(found) == plain(wanted)
        assert found == wanted
        after = contents(self.engine)
        heard = {*outputs, *self.engine.program.outputs}
        for relation in heard:
            assert set(found.added[relation]) == set(after[relation]) - set(before.get(relation, ()))
            assert set(found.removed[relation]) == set(before.get(relation, ())) - set(after[relation])
        assert bool(found) == any(before.get(relation, []) != after[relation] for relation in heard)
        self.check()
        return found
