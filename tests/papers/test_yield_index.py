"""The Yield index at work: Figures 1, 6, 9 and 11 of the paper, and its algorithms where they are wrong."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from tests.activation_shape import Hanging, check_shape, waiting_and_matching

import tocsin
from tocsin.datalog.language.checker import check_program
from tocsin.datalog.machine import JoinRule, Machine, Symbols, TupleCode
from tocsin.datalog.machine.normaliser import normal_program


class Index:
    """A machine whose tuples are given and read as Python values."""

    def __init__(self, text: str, local: int | None = None) -> None:
        program = check_program(text)
        self.symbols = Symbols()
        self.machine = Machine(normal_program(program, local), self.symbols)
        self.codes = {
            name: TupleCode(name, relation.types, self.symbols)
            for name, relation in program.relations.items()
        }
        self.machine.settle()

    def insert(self, relation: str, *tuples: tuple[object, ...]) -> None:
        for values in tuples:
            self._change(relation, values, True)

    def delete(self, relation: str, values: tuple[object, ...]) -> None:
        self._change(relation, values, False)

    def rows(self, relation: str) -> set[tuple[object, ...]]:
        return set(self.codes[relation].decode_rows(self.machine.rows(self.machine.relation(relation))))

    def counts(self) -> tuple[int, int, int]:
        """Index accesses, tuple accesses and activations since the last time."""
        stats = self.machine.stats()
        self.machine.reset_stats()
        return stats["index_accesses"], stats["tuple_accesses"], stats["activations"]

    def _change(self, relation: str, values: tuple[object, ...], insert: bool) -> None:
        self.machine.change_one(self.machine.relation(relation), self.codes[relation].encode(values), insert)
        check_shape(self.machine)


# Figure 1, where a dash is a parent who died: no tuple
FATHER = [("Tom", "Jim"), ("Bill", "Tom"), ("Ellen", "Jim"), ("Cobe", "George")]
MOTHER = [("Alice", "Linda"), ("George", "Linda"), ("Bill", "Ellen"), ("Tom", "Alice"), ("Ellen", "Alice")]
MEN = ("George", "Bill", "Tom", "Cobe", "Bob", "Jim")
WOMEN = ("Alice", "Ellen", "Linda", "Mary")

R2 = """
.decl father(x: symbol, y: symbol)
.decl mother(x: symbol, y: symbol)
.decl sex(x: symbol, mf: symbol)
.decl son_with_parents(z: symbol)
son_with_parents(z) :- father(z, x), mother(z, y), sex(z, "M").
"""


def family() -> Index:
    index = Index(R2)
    index.insert("father", *FATHER)
    index.insert("mother", *MOTHER)
    index.insert("sex", *((name, "M") for name in MEN), *((name, "F") for name in WOMEN))
    return index


def test_figure_1() -> None:
    assert family().rows("son_with_parents") == {("Tom",), ("Bill",)}


def at(index: Index, found: dict[int, Hanging], key: str) -> dict[str, object]:
    """What hangs in the entry of a name, in values."""
    return {
        relation: rows if isinstance(rows, int) else {index.codes[relation].decode(row) for row in rows}
        for relation, rows in found.get(index.symbols.number(key), {}).items()
    }


def test_figures_2_and_3_a_tuple_waits_where_its_partner_will_come() -> None:
    """Of R2's parents nothing is wanted but that there are some, so it is enough to count them."""
    index = family()
    index.counts()
    index.insert("mother", ("Mary", "Jane"))
    assert at(index, waiting_and_matching(index.machine, "mother", 0), "Mary") == {"mother": 1}
    assert index.counts() == (2, 0, 0), "one search, one look for a partner, no activation"
    index.insert("father", ("Mary", "George"))
    assert at(index, waiting_and_matching(index.machine, "mother", 0), "Mary") == {"mother": 1, "father": 1}
    assert index.counts()[1:] == (0, 0), "no tuple is read while sex(Mary, M) is missing"
    index.insert("sex", ("Mary", "M"))
    assert ("Mary",) in index.rows("son_with_parents")
    assert index.counts() == (3, 0, 1), "its own entry, and in it those who wait"


R2_NAMED = R2.replace("(z: symbol)", "(z: symbol, x: symbol, y: symbol)").replace(
    "parents(z)", "parents(z, x, y)"
)


def test_a_tuple_that_is_wanted_waits_itself() -> None:
    """The same rule with the parents in its head: now the tuples hang in the entry, not their number."""
    index = Index(R2_NAMED)
    index.insert("mother", ("Mary", "Jane"), ("Ann", "Jane"))
    index.insert("sex", ("Mary", "M"))
    hanging = waiting_and_matching(index.machine, "mother", 0)
    assert at(index, hanging, "Mary") == {"mother": {("Mary", "Jane")}, "sex": {("Mary", "M")}}
    index.counts()
    index.insert("father", ("Mary", "George"))
    assert index.rows("son_with_parents") == {("Mary", "George", "Jane")}
    searches, tuples, activations = index.counts()
    assert searches <= 5, "one search for its own entry; the partners wait there, and are not searched for"
    assert (tuples, activations) == (1, 1), "of the others only the mother is read"


def test_a_deletion_makes_partners_wait_again() -> None:
    index = family()
    index.delete("father", ("Bill", "Tom"))
    assert index.rows("son_with_parents") == {("Tom",)}
    hanging = at(index, waiting_and_matching(index.machine, "mother", 0), "Bill")
    assert hanging == {"mother": 1, "sex": {("Bill", "M")}}
    index.insert("father", ("Bill", "Jim"))
    assert index.rows("son_with_parents") == {("Tom",), ("Bill",)}


R11 = """
.decl w(x: number, y: number)
.decl s(x: number, y: number)
.decl t(x: number, y: number)
.decl q(x: number, y: number)
q(a, b) :- w(3, x), s(x, a), t(x, b).
"""
FIGURE_6 = {
    "w": [(6, 7), (2, 1), (3, 2), (3, 3), (3, 12)],
    "t": [(1, 8), (2, 9), (4, 10), (5, 11), (4, 12)],
    "s": [(2, 4), (5, 3), (7, 6)],
}


def filled(text: str, facts: dict[str, list[tuple[int, int]]], local: int | None = None) -> Index:
    index = Index(text, local)
    for relation, tuples in facts.items():
        index.insert(relation, *tuples)
    return index


def test_figure_6() -> None:
    index = filled(R11, FIGURE_6)
    assert index.rows("q") == {(4, 9)}
    assert waiting_and_matching(index.machine, "s", 0) == {
        1: {"t": {(1, 8)}},
        2: {"w": {(3, 2)}, "s": {(2, 4)}, "t": {(2, 9)}},
        3: {"w": {(3, 3)}},
        4: {"t": {(4, 10), (4, 12)}},
        5: {"s": {(5, 3)}, "t": {(5, 11)}},
        7: {"s": {(7, 6)}},
        12: {"w": {(3, 12)}},
    }, "(6, 7) and (2, 1) of W do not have the constant 3"


@pytest.mark.parametrize("last", ["w", "s", "t"])
def test_no_activation_without_result_where_one_variable_joins(last: str) -> None:
    index = Index(R11)
    for relation in [*(name for name in FIGURE_6 if name != last), last]:
        index.insert(relation, *FIGURE_6[relation])
    index.delete("s", (2, 4))
    index.insert("s", (2, 5))
    stats = index.machine.stats()
    assert stats["activations"] == 3, "for (4, 9) twice and for (5, 9)"
    assert stats["activations_without_result"] == 0
    assert index.rows("q") == {(5, 9)}


R12 = """
.decl w(a: number, x: number)
.decl s(y: number, b: number)
.decl q(a: number, b: number)
q(a, b) :- w(a, x), s(y, b), a > 3, x > y.
"""
FIGURE_9 = {"w": [(6, 7), (2, 1), (3, 2), (3, 3), (3, 12)], "s": [(2, 4), (5, 3), (7, 6)]}


@pytest.mark.parametrize("order", [("w", "s"), ("s", "w")])
def test_figure_9_inequality(order: Iterable[str]) -> None:
    index = filled(R12, {relation: FIGURE_9[relation] for relation in order})
    assert index.rows("q") == {(6, 4), (6, 3)}
    index.machine.reset_stats()
    index.insert("s", (6, 100))
    assert index.machine.stats()["tuple_accesses"] == 1, "of W only (6, 7) is within the bounds"
    assert index.rows("q") == {(6, 4), (6, 3), (6, 100)}
    index.delete("w", (6, 7))
    assert index.rows("q") == set()


R13 = """
.decl l(x: number, a: number)
.decl p(a: number, y: number)
.decl d(x: number, z: number)
p(x, y) :- l(x, @a), p(@a, y), d(x, z).
"""
FIGURE_11 = {
    "l": [(6, 5), (2, 1), (3, 7), (3, 3), (13, 3)],
    "p": [(2, 3), (1, 1), (5, 6), (7, 2)],
    "d": [(1, 3), (5, 1), (7, 6), (4, 2)],
}


def test_figure_11_location() -> None:
    index = filled(R13, FIGURE_11, local=1)
    assert index.rows("p") == set(FIGURE_11["p"]), "l(2, 1) and p(1, 1) are here, and wait for d(2, z)"
    index.insert("d", (2, 9))
    assert index.rows("p") == {*FIGURE_11["p"], (2, 1)}
    elsewhere = filled(R13, {**FIGURE_11, "d": [*FIGURE_11["d"], (6, 1), (3, 8)]}, local=7)
    assert elsewhere.rows("p") == {*FIGURE_11["p"], (3, 2)}, "at node 7 it is l(3, 7) and p(7, 2)"


def test_algorithm_4_a_tuple_that_one_rule_drops_is_for_the_next() -> None:
    """As printed, a tuple without the first rule's constant is discarded before other rules see it."""
    engine = tocsin.Program.parse(
        ".decl s(x: number, y: number) .decl t(x: number) .decl a(x: number) .decl b(x: number) "
        "a(x) :- s(1, x), t(x). b(x) :- s(2, x), t(x)."
    ).start()
    engine.insert("t", (5,))
    assert engine.insert("s", (2, 5)).added == {"b": {(5,)}}
    assert engine.insert("s", (1, 5)).added == {"a": {(5,)}}


def test_algorithm_5_partners_and_shared_keys_outlive_a_deleted_tuple() -> None:
    """As printed, it deletes the key in the partner's data index, and the key that other tuples share."""
    index = Index(
        ".decl s(x: number, y: number) .decl t(x: number, y: number) .decl q(a: number, b: number) "
        "q(a, b) :- s(x, a), t(x, b)."
    )
    index.insert("s", (1, 10), (1, 11))
    index.insert("t", (1, 20))
    index.delete("s", (1, 10))
    assert index.rows("q") == {(11, 20)}
    index.delete("s", (1, 11))
    index.insert("s", (1, 12))
    assert index.rows("q") == {(12, 20)}, "t(1, 20) waited"


def test_algorithm_6_goes_on_to_all_atoms_of_the_starting_tuple() -> None:
    """As printed, the starting predicate's elements count as done before they are followed: a rule of two
    atoms is never joined."""
    index = Index(
        ".decl s(x: number) .decl t(x: number, y: number) .decl q(x: number, y: number) "
        "q(x, y) :- s(x), t(x, y)."
    )
    index.insert("t", (1, 2), (1, 3), (4, 5))
    index.insert("s", (1,))
    assert index.rows("q") == {(1, 2), (1, 3)}


def test_algorithm_7_gives_all_that_it_found() -> None:
    """As printed, it collects matching tuples in one variable and returns another, which is empty."""
    index = filled(R11, FIGURE_6)
    (rule,) = (step for step in index.machine.program.steps if isinstance(step, JoinRule))
    for atom in range(3):
        (listener,) = index.machine.listeners([(rule, atom)])
        assert index.machine.fire_all(listener).tolist() == [[4, 9]]


RN = """
.decl p(x: number, y: number)
.decl s(x: number, y: number)
.decl q(x: number, y: number)
q(x, y) :- p(x, y), !s(x, y).
"""


def test_algorithm_8_compares_with_every_tuple_of_the_key() -> None:
    """As printed, it reads one tuple of S that has the key, and gives up when that one differs."""
    index = Index(RN)
    index.insert("s", (1, 7), (1, 8), (1, 9))
    index.insert("p", (1, 7), (1, 8), (1, 9), (1, 10))
    assert index.rows("q") == {(1, 10)}


def test_algorithm_9_decides_for_tuples_not_for_keys() -> None:
    """As printed, a key that has any match is left out with all its tuples."""
    index = Index(RN)
    index.insert("p", (1, 1), (1, 2), (2, 1))
    index.insert("s", (1, 1))
    assert index.rows("q") == {(1, 2), (2, 1)}
    index.delete("s", (1, 1))
    assert index.rows("q") == {(1, 1), (1, 2), (2, 1)}
