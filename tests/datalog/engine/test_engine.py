"""The live engine: what each door gives, by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tocsin
from tocsin.datalog.language import Value
from tocsin.errors import DerivationError, IndexFileError, InputError, RuleError, UsageError

PATHS = """
.decl arc(x: number, y: number)
.decl path(x: number, y: number)
.input arc
path(x, y) :- arc(x, y).
path(x, y) :- arc(x, z), path(z, y).
.output path
"""

ACCESS = """
.decl near(who: symbol, device: symbol)
.decl may(who: symbol, device: symbol)
.decl asks(device: symbol, service: symbol)
.decl banned(who: symbol)
.decl granted(who: symbol, service: symbol)
.decl busy(device: symbol, askers: number)
granted(w, s) :- near(w, d), may(w, d), asks(d, s), !banned(w).
busy(d, n) :- asks(d, _), n = count : { near(_, d) }.
"""


def start(text: str, local: Value | None = None) -> tocsin.Engine:
    return tocsin.Program.parse(text).start(local)


def test_a_tuple_that_has_another_derivation_stays() -> None:
    engine = start(PATHS)
    assert engine.insert("arc", (1, 2)).added == {"path": {(1, 2)}}
    assert engine.insert("arc", (2, 3)).added == {"path": {(2, 3), (1, 3)}}
    changes = engine.insert("arc", (1, 3))
    assert not changes
    assert changes == engine.delete("arc", (7, 7))
    assert engine.delete("arc", (2, 3)).removed == {"path": {(2, 3)}}
    assert engine.query("path") == [(1, 2), (1, 3)]


def test_a_circle_does_not_hold_itself_up() -> None:
    engine = start(PATHS + "arc(1, 2). arc(2, 3). arc(3, 2).")
    assert engine.size("path") == 6
    changes = engine.delete("arc", (1, 2))
    assert changes.removed == {"path": {(1, 2), (1, 3)}}
    assert engine.delete("arc", (3, 2)).removed == {"path": {(2, 2), (3, 3), (3, 2)}}


def test_negation_and_aggregates_go_both_ways() -> None:
    engine = start(ACCESS)
    assert engine.program.outputs == ["granted", "busy"]
    engine.apply([("+", "may", ("ada", "lamp")), ("+", "near", ("ada", "lamp"))])
    changes = engine.insert("asks", ("lamp", "light"))
    assert changes.added == {"granted": {("ada", "light")}, "busy": {("lamp", 1)}}
    assert changes.removed == {}
    assert engine.insert("banned", ("ada",)).removed == {"granted": {("ada", "light")}}
    changes = engine.insert("near", ("bob", "lamp"))
    assert (changes.added, changes.removed) == ({"busy": {("lamp", 2)}}, {"busy": {("lamp", 1)}})
    assert engine.delete("banned", ("ada",)).added == {"granted": {("ada", "light")}}
    assert engine.apply([("-", "near", ("ada", "lamp")), ("-", "near", ("bob", "lamp"))]).added == {
        "busy": {("lamp", 0)}
    }


def test_facts_of_the_program_are_given_and_can_be_deleted() -> None:
    engine = start(PATHS + "arc(1, 1 + 1). path(9, 9). path(x, 7) :- x = 6.")
    assert engine.query("path") == [(1, 2), (6, 7), (9, 9)]
    assert engine.delete("arc", (1, 2)).removed == {"path": {(1, 2)}}
    assert engine.delete("path", (9, 9)).removed == {"path": {(9, 9)}}
    assert not engine.delete("path", (6, 7))
    assert engine.query("path") == [(6, 7)]


def test_facts_given_to_a_derived_relation() -> None:
    engine = start(PATHS)
    engine.insert("arc", (1, 2))
    assert engine.insert("path", (2, 9)).added == {"path": {(2, 9), (1, 9)}}
    assert not engine.insert("path", (1, 2))
    assert engine.delete("arc", (1, 2)).removed == {"path": {(1, 9)}}
    assert engine.query("path") == [(1, 2), (2, 9)]
    assert engine.delete("path", (1, 2)).removed == {"path": {(1, 2)}}


def test_of_several_changes_to_a_tuple_the_last_one_counts() -> None:
    engine = start(PATHS)
    assert not engine.apply([("+", "arc", (1, 2)), ("-", "arc", (1, 2))])
    assert engine.apply([("-", "arc", (1, 2)), ("+", "arc", (1, 2))]).added == {"path": {(1, 2)}}
    changes = engine.apply([("-", "arc", (1, 2)), ("+", "arc", (1, 3)), ("+", "arc", (3, 2))])
    assert (changes.added, changes.removed) == ({"path": {(1, 3), (3, 2)}}, {})
    assert not engine.apply([])


def test_all_or_nothing() -> None:
    engine = start(PATHS)
    for wrong, error in [
        (("+", "arc", (1,)), InputError),
        (("+", "arc", (1, "a")), InputError),
        (("+", "ark", (1, 2)), UsageError),
        (("*", "arc", (1, 2)), UsageError),
        (("+", "arc"), UsageError),
        (None, UsageError),
    ]:
        with pytest.raises(error):
            engine.apply([("+", "arc", (1, 2)), wrong])  # type: ignore[list-item]
    assert engine.query("arc") == []
    with pytest.raises(InputError, match="operation 1: arc has 2 columns"):
        engine.apply([("+", "arc", (1, 2)), ("+", "arc", (1, 2, 3))])


DIVIDING = """
.decl pair(x: number, y: number)
.decl kept(x: number)
.decl ratio(q: number)
.decl off(y: number)
ratio(x / y) :- pair(x, y), !off(y).
off(0).
"""


def test_an_error_in_a_rule_changes_nothing() -> None:
    engine = start(DIVIDING)
    assert engine.apply([("+", "pair", (6, 3)), ("+", "pair", (1, 0)), ("+", "kept", (5,))]).added == {
        "ratio": {(2,)}
    }
    for change in (
        lambda: engine.delete("off", (0,)),
        lambda: engine.apply(
            [("-", "off", (0,)), ("+", "pair", (8, 2)), ("-", "kept", (5,)), ("+", "kept", (6,))]
        ),
        lambda: engine.apply([("-", "off", (0,)), *(("+", "pair", (9, y)) for y in range(1, 200))]),
    ):
        with pytest.raises(DerivationError, match=r"division by zero, in the rule: ratio\(x / y\)"):
            change()
        assert [engine.query(name) for name in engine] == [[(1, 0), (6, 3)], [(5,)], [(2,)], [(0,)]]
    engine.delete("pair", (1, 0))
    assert not engine.delete("off", (0,))
    with pytest.raises(DerivationError):
        engine.insert("pair", (1, 0))
    assert engine.insert("pair", (8, 2)).added == {"ratio": {(4,)}}
    with pytest.raises(DerivationError):
        engine.load("pair", [(4, 4), (1, 0)])
    assert engine.query("pair") == [(6, 3), (8, 2)]


@pytest.mark.parametrize("test", ["x = 1 / x", "y = 1 / x", "1 / x = x", "z = 1 / x, z = y", "x = x / x"])
def test_a_bound_variable_that_equals_no_value_is_no_error_where_an_atom_denies(test: str) -> None:
    program = tocsin.Program.parse(
        f".decl e(x: number, y: number)\n.decl p(x: number)\np(x) :- e(x, y), !e(x, y), {test}."
    )
    assert program.start(facts={"e": [(0, 5), (1, 1)]}).query("p") == []
    engine = program.start()
    for change in ([("+", "e", (0, 5))], [("+", "e", (0, 1)), ("-", "e", (0, 5))], [("-", "e", (0, 1))]):
        assert not engine.apply(change).added.get("p")


@pytest.mark.parametrize("known", [(0,), (3,)])
def test_what_is_negated_of_no_value_hides_no_error(known: tuple[int]) -> None:
    """Also not when it comes with what has none, in one change."""
    text = """
    .decl pair(x: number, y: number)
    .decl known(z: number)
    .decl ratio(z: number)
    ratio(z) :- pair(x, y), z = x / y, w = z + 1, !known(w), !known(z).
    """
    engine = start(text)
    together = [("+", "pair", (9, 0)), ("+", "known", known)]
    for operations in (together, together[::-1], [*together, ("+", "known", (1,))]):
        with pytest.raises(DerivationError, match="division by zero"):
            engine.apply(operations)
    assert engine.apply([("+", "pair", (6, 2)), ("+", "known", (3,)), ("+", "pair", (8, 1))]).added == {
        "ratio": {(8,)}
    }


def test_an_error_counts_only_when_all_is_settled() -> None:
    """Inserting 0 makes p(0), with which the rule fails, before it makes q(0), which keeps p(0) out."""
    engine = start(
        """
        .decl base(x: number) .decl p(x: number) .decl q(x: number) .decl r(x: number) .decl t(x: number)
        .decl word(s: symbol) .decl bad(s: symbol)
        p(x) :- base(x).
        q(x) :- p(x), p(y), x = y, x < 1.
        r(8 / x) :- p(x), !q(x).
        bad(s) :- word(s), !match("[0-9]+", s).
        t(to_number(s)) :- word(s), !bad(s).
        """
    )
    assert engine.insert("base", (0,)).added == {"p": {(0,)}, "q": {(0,)}}
    assert engine.insert("base", (2,)).added == {"p": {(2,)}, "r": {(4,)}}
    assert engine.load("word", [("x",), ("12",)]).added == {"bad": {("x",)}, "t": {(12,)}}
    assert engine.delete("base", (0,)).removed == {"p": {(0,)}, "q": {(0,)}}
    assert not engine.apply([("-", "word", ("x",)), ("+", "word", ("x",))])
    assert engine.query("r") == [(4,)]


def test_a_program_that_never_ends_is_stopped() -> None:
    text = ".decl n(x: number)\nn(x + 1) :- n(x)."
    engine = tocsin.Program.parse(text).start(limit=1_000)
    with pytest.raises(DerivationError, match=r"more than 1,000"):
        engine.insert("n", (1,))
    assert engine.query("n") == []
    with pytest.raises(UsageError, match="limit"):
        tocsin.Program.parse(text).start(limit=-1)


def test_query_patterns() -> None:
    engine = start(ACCESS)
    engine.load("may", [("bob", "tv"), ("ada", "tv"), ("ada", "lamp"), ("Zoë", "tv")])
    assert engine.query("may") == [("Zoë", "tv"), ("ada", "lamp"), ("ada", "tv"), ("bob", "tv")]
    assert engine.query("may", ("ada", None)) == [("ada", "lamp"), ("ada", "tv")]
    assert engine.query("may", {"device": "tv"}) == [("Zoë", "tv"), ("ada", "tv"), ("bob", "tv")]
    assert engine.query("may", {}) == engine.query("may", (None, None)) == engine.query("may")
    assert engine.query("may", ("ada", "sofa")) == []
    assert engine.table("may", ("bob", None)).to_pylist() == [{"who": "bob", "device": "tv"}]
    assert engine.holds("may", ("ada", "tv"))
    assert not engine.holds("may", ("bob", "lamp"))
    engine.insert("may", ("eve", "tv"))
    engine.delete("may", ("ada", "tv"))
    assert engine.query("may", {"device": "tv"}) == [("Zoë", "tv"), ("bob", "tv"), ("eve", "tv")]
    for wrong in (("ada",), {"place": "x"}, "ada"):
        with pytest.raises(UsageError):
            engine.query("may", wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"may\.device takes a string, not 3"):
        engine.query("may", (None, 3))


def test_typed_order() -> None:
    engine = start(".decl r(f: float, u: unsigned, n: number, s: symbol)\n.output r")
    tuples = [
        (1.5, 2**64 - 1, -1, "b"),
        (1.5, 3, 5, "a"),
        (-2.0, 0, 0, ""),
        (1.5, 3, -5, "é"),
        (1.5, 3, 5, "Z"),
    ]
    assert list(engine.load("r", tuples).added["r"]) == sorted(tuples)
    assert engine.query("r") == sorted(tuples)
    assert engine.table("r").column("f").to_pylist() == [-2.0, 1.5, 1.5, 1.5, 1.5]


def test_ways_to_load(tmp_path: Path) -> None:
    engine = start(PATHS)
    table = pa.table({"y": [2, 3], "x": [1, 2]})
    assert engine.load("arc", table).added == {"path": {(1, 2), (2, 3), (1, 3)}}
    assert not engine.load("arc", table.to_batches()[0])
    reader = pa.RecordBatchReader.from_batches(table.schema, pa.table({"y": [4], "x": [3]}).to_batches() * 2)
    assert len(engine.load("arc", reader).added["path"]) == 3
    assert not engine.load("arc", pa.RecordBatchReader.from_batches(table.schema, []))
    (tmp_path / "more.facts").write_text("9\t9\n")
    assert engine.load("arc", tmp_path / "more.facts").added == {"path": {(9, 9)}}
    assert engine.load("arc", ((x, x) for x in (10, 11))).added == {"path": {(10, 10), (11, 11)}}
    assert not engine.load("arc", [])
    with pytest.raises(InputError, match="tuple 1"):
        engine.load("arc", [(20, 20), (20,)])
    with pytest.raises(UsageError, match="facts are a table"):
        engine.load("arc", 5)  # type: ignore[arg-type]
    assert not engine.holds("arc", (20, 20))


def test_start_with_facts() -> None:
    program = tocsin.Program.parse(DIVIDING + "pair(1, 0).")
    engine = program.start(facts={"pair": [(4, 2)], "kept": pa.table({"x": [1]})})
    assert engine.query("ratio") == [(2,)]
    assert engine.query("kept") == [(1,)]
    with pytest.raises(UsageError, match="no relation 'par'"):
        program.start(facts={"par": []})
    # Everything is there before the first rule is applied.
    guarded = tocsin.Program.parse(DIVIDING.replace("off(0).", "pair(1, 0)."))
    assert guarded.start(facts={"off": [(0,)]}).query("ratio") == []
    with pytest.raises(DerivationError):
        guarded.start()


def test_times_to_live() -> None:
    engine = start(PATHS)
    assert engine.now == 0
    engine.insert("arc", (1, 2), ttl=10)
    engine.insert("arc", (2, 3), 5)
    assert not engine.advance(4)
    assert engine.advance(5).removed == {"path": {(2, 3), (1, 3)}}
    assert not engine.insert("arc", (1, 2), ttl=10)
    assert not engine.advance(14.5)
    engine.insert("arc", (3, 4), ttl=1)
    engine.insert("arc", (3, 4))
    assert engine.advance(15).removed == {"path": {(1, 2)}}
    assert engine.query("arc") == [(3, 4)]
    engine.insert("arc", (5, 6), ttl=1)
    engine.delete("arc", (5, 6))
    engine.insert("arc", (5, 6))
    assert not engine.advance(1_000)
    engine.apply([("+", "arc", (7, 8)), ("-", "arc", (3, 4))], ttl=2)
    engine.load("arc", [(7, 9)], ttl=3)
    assert engine.advance(1_003).removed == {"path": {(7, 8), (7, 9)}}
    for wrong in (-1, float("nan"), "1", True):
        with pytest.raises(UsageError, match="ttl"):
            engine.insert("arc", (1, 1), ttl=wrong)  # type: ignore[arg-type]
    for early in (1_002, None, float("nan")):
        with pytest.raises(UsageError, match="time moves forward"):
            engine.advance(early)  # type: ignore[arg-type]
    assert engine.query("arc") == [(5, 6)]


def test_an_expiry_that_cannot_be_leaves_the_clock() -> None:
    engine = start(DIVIDING)
    engine.insert("off", (0,), ttl=5)
    engine.insert("pair", (1, 0))
    for _ in range(2):
        with pytest.raises(DerivationError):
            engine.advance(7)
        assert engine.now == 0
        assert engine.holds("off", (0,))
    engine.delete("pair", (1, 0))
    engine.advance(7)
    assert not engine.holds("off", (0,))


def test_rules_come_and_go() -> None:
    engine = start(PATHS)
    engine.load("arc", [(1, 2), (2, 3)])
    changes = engine.remove_rule("path(x,y) :- arc( x, z ), /* then */ path(z, y).")
    assert (changes.added, changes.removed) == ({}, {"path": {(1, 3)}})
    assert engine.program.rules == ["path(x, y) :- arc(x, y)."]
    changes = engine.add_rule(".decl near(x: number)\nnear(2).\npath(y, x) :- arc(x, y), near(x).")
    assert changes.added == {"path": {(3, 2)}}
    assert engine.delete("near", (2,)).removed == {"path": {(3, 2)}}
    engine.add_rule("path(x, y) :- arc(y, x).")
    assert engine.query("near") == []
    assert engine.remove_rule(2).removed == {"path": {(2, 1), (3, 2)}}
    assert engine.insert("near", (1,)).added == {"path": {(2, 1)}}
    assert engine.add_rule("arc(2, 3). arc(5, 6).").added == {"path": {(5, 6)}}
    engine.add_rule(".output arc")
    assert engine.program.outputs == ["arc", "path"]
    assert engine.insert("arc", (7, 7)).added == {"arc": {(7, 7)}, "path": {(7, 7)}}


def test_a_rule_that_cannot_be_added_changes_nothing() -> None:
    engine = start(PATHS + "arc(1, 2).")
    with pytest.raises(RuleError) as caught:
        engine.add_rule("path(x, y) :-\n  arc(x, z), ark(z, y).")
    assert (caught.value.line, caught.value.column) == (2, 14)
    with pytest.raises(DerivationError):
        engine.add_rule("path(x / 0, y) :- arc(x, y).")
    for wrong in ("path(x, x) :- arc(x, x).", "arc(1, 2).", 7, -1, None, ""):
        with pytest.raises(UsageError):
            engine.remove_rule(wrong)  # type: ignore[arg-type]
    assert len(engine.program.rules) == 2
    assert engine.query("path") == [(1, 2)]


def test_snapshots(tmp_path: Path) -> None:
    engine = start(ACCESS)
    engine.load("near", [(f"x{number}", "lamp") for number in range(50)])
    engine.apply([("-", "near", (f"x{number}", "lamp")) for number in range(49)])
    engine.insert("may", ("x49", "lamp"), ttl=3)
    engine.insert("asks", ("lamp", "light"))
    engine.add_rule("granted(w, s) :- banned(w), asks(_, s).")
    engine.advance(1)
    engine.save(tmp_path / "access.tocsin")
    again = tocsin.open(tmp_path / "access.tocsin")
    assert isinstance(again, tocsin.Engine)
    assert [again.query(name) for name in again] == [engine.query(name) for name in engine]
    assert again.now == 1
    assert again.program.rules == engine.program.rules
    assert again.stats()["symbols"] == 3
    for each in (engine, again):
        assert each.insert("banned", ("eve",)).added == {"granted": {("eve", "light")}}
        assert each.advance(3).removed == {"granted": {("x49", "light")}}


def test_a_snapshot_is_no_index(tmp_path: Path) -> None:
    from tocsin.conditions.graph import open_index

    path = tmp_path / "paths.tocsin"
    start(PATHS + "arc(1, 2).").save(path)
    with pytest.raises(IndexFileError, match="it holds a program"):
        open_index(path)
    path.write_bytes(path.read_bytes().replace((2).to_bytes(8, "little"), (3).to_bytes(8, "little")))
    with pytest.raises(IndexFileError, match="damaged"):
        tocsin.open(path)


def test_local_addresses(tmp_path: Path) -> None:
    text = ".decl link(at: symbol, to: symbol)\n.decl hop(to: symbol)\nhop(y) :- link(@x, y).\n"
    engine = tocsin.Program.parse(text).start(local="a")
    assert engine.load("link", [("a", "b"), ("b", "c")]).added == {"hop": {("b",)}}
    engine.save(tmp_path / "local.tocsin")
    assert tocsin.open(tmp_path / "local.tocsin").insert("link", ("a", "d")).added == {"hop": {("d",)}}


def test_a_local_address_of_another_type() -> None:
    declared = ".decl link(at: symbol, to: symbol)\n.decl hop(to: symbol)\n"
    with pytest.raises(UsageError, match="local is what @x is held to, a string, not 5"):
        start(declared + 'hop(y) :- link(@x, y).\nlink("a", "1").', local=5)
    engine = start(declared + "hop(y) :- link(_, y).", local=5)
    with pytest.raises(UsageError, match="local is what @x is held to"):
        engine.add_rule("hop(y) :- n = count : { link(@x, _) }, n > 1, link(y, _).")
    assert engine.insert("link", ("a", "b")).added == {"hop": {("b",)}}


def test_relations_without_columns_and_equivalences() -> None:
    engine = start(
        '.decl on()\n.decl same(x: symbol, y: symbol) eqrel\n.decl seen()\nseen() :- on(), same("a", "c").'
    )
    assert engine.program.outputs == ["same", "seen"]
    engine.insert("on", ())
    engine.insert("same", ("a", "b"))
    changes = engine.insert("same", ("c", "b"))
    assert changes.added["seen"] == {()}
    assert ("a", "c") in changes.added["same"]
    assert engine.size("same") == 9
    assert engine.delete("on", ()).removed == {"seen": {()}}


def test_why() -> None:
    engine = start(PATHS + "arc(1, 2). arc(2, 3). arc(3, 1).")
    found = engine.why("path", (1, 3))
    assert found
    assert str(found).splitlines() == [
        "path(1, 3)  by  path(x, y) :- arc(x, z), path(z, y).",
        "  arc(1, 2)  given",
        "  path(2, 3)  by  path(x, y) :- arc(x, y).",
        "    arc(2, 3)  given",
    ]
    engine.delete("arc", (2, 3))
    missing = engine.why("path", (1, 3))
    assert not missing
    assert "arc(1, 3) has no partner" in str(missing)
    assert "given" in str(engine.why("arc", (1, 2)))
    same = start('.decl same(x: symbol, y: symbol) eqrel\nsame("a", "b"). same("c", "b").')
    assert "symmetric" in str(same.why("same", ("a", "c")))
    with pytest.raises(InputError):
        engine.why("path", (1,))


def test_what_an_engine_says_of_itself() -> None:
    engine = start(PATHS + "arc(1, 2).")
    assert "arc" in engine
    assert "ark" not in engine
    assert list(engine) == ["arc", "path"]
    assert repr(engine) == "<tocsin.Engine of <tocsin.Program: 2 relations, 2 rules>>"
    stats = engine.stats()
    assert stats["relations"] == {"arc": 1, "path": 1}
    assert {"index_accesses", "tuple_accesses", "bytes"} <= stats.keys()
    methods: list[Any] = [engine.insert, engine.delete, engine.query, engine.holds, engine.load]
    for method in methods:
        with pytest.raises(UsageError, match="there is no relation 'ark': the program declares arc, path"):
            method("ark", (1, 2))


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("insert", (["arc"], (1, 2))),
        ("delete", (["arc"], (1, 2))),
        ("apply", (5,)),
        ("add_rule", (5,)),
        ("insert", ("arc", (1, 2), 10**400)),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(method: str, arguments: tuple[object, ...]) -> None:
    engine = tocsin.Program.parse(".decl arc(x: number, y: number)").start()
    with pytest.raises(tocsin.UsageError):
        getattr(engine, method)(*arguments)
    assert engine.query("arc") == []
