"""Changes: mappings of sets, read when looked at."""

from __future__ import annotations

import numpy as np
import pytest

import tocsin
from tocsin import Changes
from tocsin.datalog.engine.changes import Changed, Tuples, no_tuples
from tocsin.datalog.language import Type
from tocsin.datalog.machine import Rows, Symbols, TupleCode, closure_change

CODE = TupleCode("r", [Type.NUMBER, Type.SYMBOL], Symbols(), ["n", "s"])


def tuples(*values: tuple[int, str]) -> Tuples:
    return Tuples(CODE.rows(values), CODE)


def test_tuples_are_a_set_in_typed_order() -> None:
    some = tuples((2, "b"), (1, "z"), (1, "a"))
    assert list(some) == [(1, "a"), (1, "z"), (2, "b")]
    assert some[0] == (1, "a")
    assert some[1:] == [(1, "z"), (2, "b")]
    assert len(some) == 3
    assert (1, "z") in some
    assert (1, "y") not in some
    assert some == {(2, "b"), (1, "z"), (1, "a")} == some
    assert some == [(2, "b"), (1, "z"), (1, "a")]
    assert some != {(2, "b")}
    assert some & {(1, "a"), (3, "c")} == {(1, "a")}
    assert some - tuples((1, "a")) == {(2, "b"), (1, "z")}
    assert some >= {(1, "a")}
    assert repr(some) == "{(1, 'a'), (1, 'z'), (2, 'b')}"
    assert some.table().to_pylist()[0] == {"n": 1, "s": "a"}
    assert repr(tuples(*((number, "") for number in range(25)))).endswith("... and 5 more}")


def test_only_relations_with_changes_are_keys() -> None:
    changed = Changed({"r": tuples((1, "a")), "q": tuples()}, no_tuples({"r": CODE, "q": CODE, "p": CODE}))
    assert dict(changed) == {"r": {(1, "a")}}
    assert changed == {"r": {(1, "a")}}
    assert "q" not in changed
    assert len(changed) == 1
    assert changed["p"] == set()
    assert changed.get("p") == set()
    with pytest.raises(KeyError):
        changed["o"]
    assert not Changed({"q": tuples()}, no_tuples({"q": CODE}))
    assert repr(Changes(changed, {})) == "Changes(added={'r': {(1, 'a')}}, removed={})"


def test_changes_are_equal_by_what_they_hold() -> None:
    one = Changes(
        Changed({"r": tuples((1, "a"))}, no_tuples({"r": CODE})), Changed({}, no_tuples({"r": CODE}))
    )
    assert one == Changes({"r": {(1, "a")}}, {})
    assert one != Changes({}, {"r": {(1, "a")}})
    assert one != "nothing"
    assert one
    assert not Changes({}, {})


PATHS = (
    ".decl arc(x: number, y: number)\n.decl path(x: number, y: number)\npath(x, y) :- arc(x, y).\n"
    "path(x, y) :- arc(x, z), path(z, y).\n.output path"
)


def test_nothing_is_worked_out_before_it_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    changed_pairs = closure_change.changed_pairs

    def counted(compared: closure_change.Comparison) -> tuple[Rows, Rows]:
        asked.append(1)
        return changed_pairs(compared)

    monkeypatch.setattr(closure_change, "changed_pairs", counted)
    chain = [(number, number + 1) for number in range(100)]
    lazy = tocsin.Program.parse(PATHS).start().load("arc", chain)
    assert lazy
    assert asked == []
    assert set(lazy.added["path"]) == {(x, y) for x in range(100) for y in range(x + 1, 101)}
    assert (0, 100) in lazy.added["path"]
    assert lazy
    assert asked == [1]


def test_a_closure_is_kept_implicit_until_somebody_looks() -> None:
    """A chain of n arcs has some n²/2 paths, of which no one is made while nobody asks."""
    engine = tocsin.Program.parse(PATHS).start()
    chain = [(number, number + 1) for number in range(400)]
    loaded = engine.load("arc", chain)
    cut = engine.delete("arc", (200, 201))
    engine.delete("arc", (1, 2))
    removed = cut.removed["path"]
    assert isinstance(removed, Tuples)
    assert not isinstance(removed._rows, np.ndarray)
    assert len(removed) == 201 * 200
    assert not cut.added
    assert len(loaded.added["path"]) == 401 * 400 // 2
