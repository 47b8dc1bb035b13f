"""`why`: derivations that hold step by step and end in facts, and what is missing of absent tuples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.datalog.engine.obvious_known import ObviousKnown
from tests.datalog_programs import Case, Change, cases, changes, rows, signatures

from tocsin import Program
from tocsin.datalog.engine import facts_of
from tocsin.datalog.engine.derivations import Absence, Derivation, Fact
from tocsin.datalog.engine.why import Deriver
from tocsin.datalog.language import Value
from tocsin.datalog.language.checker import check_program
from tocsin.datalog.language.conjunctions import Tuple
from tocsin.datalog.language.syntax import CheckedProgram, Negation, Positive, Rule
from tocsin.datalog.language.tree_walk import walk
from tocsin.datalog.meaning import Contents, applied

PATHS = """
.decl arc(x: number, y: number)
.decl path(x: number, y: number)
.decl far(x: number, y: number)
.decl out(x: number, n: number)
path(x, y) :- arc(x, y).
path(x, y) :- arc(x, z), path(z, y).
far(x, y) :- path(x, y), !arc(x, y), y - x > 1.
out(x, n) :- arc(x, _), n = count : { arc(x, _) }.
"""
ARCS: dict[str, list[Tuple]] = {"arc": [(1, 2), (2, 3), (3, 1), (3, 4)]}


def explain(text: str, facts: Mapping[str, Iterable[Tuple]], relation: str, *values: Value) -> str:
    program = check_program(text)
    return str(Deriver(program).why(ObviousKnown(program, facts), relation, values))


def test_derivation_goes_down_to_facts() -> None:
    assert explain(PATHS, ARCS, "far", 1, 4).splitlines() == [
        "far(1, 4)  by  far(x, y) :- path(x, y), !arc(x, y), y - x > 1.",
        "  path(1, 4)  by  path(x, y) :- arc(x, z), path(z, y).",
        "    arc(1, 2)  given",
        "    path(2, 4)  by  path(x, y) :- arc(x, z), path(z, y).",
        "      arc(2, 3)  given",
        "      path(3, 4)  by  path(x, y) :- arc(x, y).",
        "        arc(3, 4)  given",
        "  !arc(1, 4)  there is none",
        "  4 - 1 > 1",
    ]


def test_an_aggregate_is_shown_with_its_result() -> None:
    assert explain(PATHS, ARCS, "out", 3, 2).splitlines() == [
        "out(3, 2)  by  out(x, n) :- arc(x, _), n = count : { arc(x, _) }.",
        "  arc(3, 1)  given",
        "  2 = count : { arc(3, _) }",
    ]


def test_the_witness_of_a_greatest_value_is_shown_as_it_was_written() -> None:
    text = ".decl e(x: number, k: number) .decl m(x: number, y: number) m(x, y) :- y = max k : { e(x, k) }."
    facts: dict[str, list[Tuple]] = {"e": [(1, 2), (3, 4)]}
    assert explain(text, facts, "m", 3, 4).splitlines() == [
        "m(3, 4)  by  m(x, y) :- y = max k : { e(x, k) }.",
        "  e(3, 4)  given",
        "  4 = max k : { e(x, k) }",
    ]
    assert "'" not in explain(text, facts, "m", 1, 2)
    assert "'" not in explain(text, {}, "m", 1, 2)


def test_a_tuple_that_is_used_twice_is_shown_once() -> None:
    text = """
    .decl a(x: number)
    .decl b(x: number)
    .decl c(x: number, y: number)
    b(x) :- a(x).
    c(x, y) :- b(x), b(y).
    """
    assert explain(text, {"a": [(1,)]}, "c", 1, 1).splitlines() == [
        "c(1, 1)  by  c(x, y) :- b(x), b(y).",
        "  b(1)  by  b(x) :- a(x).",
        "    a(1)  given",
        "  b(1)  as above",
    ]


def test_absent_tuple_names_the_atom_without_a_partner() -> None:
    assert explain(PATHS, ARCS, "path", 4, 1).splitlines() == [
        "path(4, 1) is not there",
        "  path(x, y) :- arc(x, y).",
        "    arc(4, 1) has no partner  with x = 4, y = 1",
        "  path(x, y) :- arc(x, z), path(z, y).",
        "    arc(4, z) has no partner  with x = 4, y = 1",
    ]


def test_absent_tuple_tells_how_far_a_rule_came() -> None:
    assert explain(PATHS, {"arc": [(1, 2), (2, 3)]}, "path", 1, 9).splitlines()[3:] == [
        "  path(x, y) :- arc(x, z), path(z, y).",
        "    path(2, 9) has no partner  with x = 1, y = 9, z = 2",
    ]


def test_absent_tuple_names_the_test_that_fails() -> None:
    assert explain(PATHS, ARCS, "far", 2, 1).splitlines()[2:] == [
        "    1 - 2 > 1 does not hold  with x = 2, y = 1",
    ]
    assert explain(PATHS, {"arc": [(1, 3)]}, "far", 1, 3).splitlines()[2:] == [
        "    !arc(1, 3) does not hold: there is one  with x = 1, y = 3",
    ]
    assert explain(PATHS, ARCS, "out", 3, 1).splitlines()[2:] == [
        "    1 = count : { arc(3, _) } does not hold  with x = 3, n = 1",
    ]


def test_absent_tuple_that_no_rule_could_give() -> None:
    assert (
        explain(PATHS, ARCS, "arc", 9, 9)
        == "arc(9, 9) is not there: it was not given, and no rule gives such a tuple"
    )


def test_equivalences() -> None:
    text = ".decl e(x: symbol, y: symbol) eqrel\n"
    assert explain(text, {"e": [("a", "b"), ("c", "b")]}, "e", "a", "c").splitlines() == [
        'e("a", "c")  by  e is transitive (eqrel)',
        '  e("a", "b")  given',
        '  e("b", "c")  by  e is symmetric (eqrel)',
        '    e("c", "b")  given',
    ]


BROKEN_CIRCLE = """
.decl given(x: number)
.decl seen(x: number)
.decl near(x: number, y: number)
.decl ready()
ready() :- given(0).
ready() :- near(0, 0), 0 != 0.
near(n, n) :- ready(), n = 0, !seen(0).
"""
"""`ready` and `near` depend on each other as it is written, but one of the rules that say so never holds."""


def test_relations_that_depend_on_each_other_only_by_a_rule_that_never_holds() -> None:
    engine = Program.parse(BROKEN_CIRCLE).start()
    engine.insert("given", (0,))
    assert str(engine.why("near", (0, 0))).splitlines() == [
        "near(0, 0)  by  near(n, n) :- ready(), n = 0, !seen(0).",
        "  ready()  by  ready() :- given(0).",
        "    given(0)  given",
        "  0 = 0",
        "  !seen(0)  there is none",
    ]


class _LongPath:
    """A path of so many arcs, without writing out all pairs."""

    def __init__(self, length: int) -> None:
        self._length = length

    def holds(self, relation: str, values: Tuple) -> bool:
        return any(self.matching(relation, dict(enumerate(values))))

    def matching(self, relation: str, columns: Mapping[int, Value]) -> Iterator[Tuple]:
        start, end = columns.get(0), columns.get(1)
        assert isinstance(start, int)
        if relation == "arc" and end in (None, start + 1) and start < self._length:
            yield start, start + 1
        if relation == "path":
            assert isinstance(end, int)
            if start < end <= self._length:
                yield start, end

    def rank(self, relation: str, values: Tuple) -> int:
        start, end = values
        assert isinstance(start, int)
        assert isinstance(end, int)
        return end - start

    def circle(self, relation: str) -> frozenset[str]:
        return frozenset({relation})

    def is_given(self, relation: str, values: Tuple) -> bool:
        return relation == "arc"


HEADS = {
    "x + 3": (".decl p(x: number)", 9, 6),
    "3 + x": (".decl p(x: number)", 9, 6),
    "x - 3": (".decl p(x: number)", 6, 9),
    "3 - x": (".decl p(x: number)", -6, 9),
    "x + 9223372036854775807": (".decl p(x: number)", -(2**63), 1),
    "x - 1": (".decl p(x: unsigned)", 2**64 - 1, 0),
    "x + y": (".decl p(x: number)", 11, 6),
}


@pytest.mark.parametrize("head", HEADS)
def test_the_body_of_a_computed_head_is_found_by_its_values(head: str) -> None:
    """No relation is gone through, even where the tuple that gives the head is one of many."""
    declared, result, origin = HEADS[head]
    bound = ", y = 5" if "y" in head else ""
    program = check_program(f"{declared} {declared.replace('p', 'q', 1)} p({head}) :- q(x){bound}.")
    known = Asked(program, {"q": [(origin,), (100,), (101,)]})
    derivation = Deriver(program).why(known, "p", (result,))
    assert derivation
    assert f"q({origin})  given" in str(derivation)
    assert [dict(columns) for relation, columns in known.asked if relation == "q"] == [{0: origin}]
    absence = Deriver(program).why(known, "p", (50,))
    assert "has no partner" in str(absence)
    assert all(columns for relation, columns in known.asked)


def test_an_argument_computed_in_a_body_is_solved_too() -> None:
    text = ".decl q(x: number) .decl r(x: number) .decl p() p() :- q(x + 2), r(x)."
    program = check_program(text)
    known = Asked(program, {"q": [(7,)], "r": [(4,), (5,)]})
    assert str(Deriver(program).why(known, "p", ())).splitlines() == [
        "p()  by  p() :- q(x + 2), r(x).",
        "  q(7)  given",
        "  r(5)  given",
    ]
    assert known.asked == [("q", {}), ("r", {0: 5})]


class Asked(ObviousKnown):
    """Remembers by which columns it was asked for tuples."""

    def __init__(self, program: CheckedProgram, facts: Mapping[str, Iterable[Tuple]]) -> None:
        super().__init__(program, facts)
        self.asked: list[tuple[str, Mapping[int, Value]]] = []

    def matching(self, relation: str, columns: Mapping[int, Value]) -> Iterator[Tuple]:
        self.asked.append((relation, columns))
        return super().matching(relation, columns)


def test_a_derivation_may_be_very_deep() -> None:
    length = 30_000
    derivation = Deriver(check_program(PATHS)).why(_LongPath(length), "path", (0, length))
    assert isinstance(derivation, Derivation)
    assert len(derivation.steps) == 2 * length
    assert len(str(derivation).splitlines()) < 100
    depth = 0
    while derivation.rule is not None:
        last = derivation.premises[-1]
        assert isinstance(last, Derivation)
        derivation, depth = last, depth + 1
    assert depth == length


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(cases(), st.data())
def test_every_step_holds(case: Case, data: st.DataObject) -> None:
    program = case.program()
    known = ObviousKnown(program, case.facts)
    deriver = Deriver(program)
    derived = sorted(
        (name, values) for name in known.contents for values in known.contents[name] if name[0] == "d"
    )
    for name, values in derived:
        derivation = deriver.why(known, name, values)
        assert isinstance(derivation, Derivation)
        check(derivation, program, known)
        assert str(derivation).startswith(str(Fact(name, values)))
    relation = data.draw(st.sampled_from(signatures(case.text)))
    missing = data.draw(rows(relation))
    answer = deriver.why(known, relation.name, missing)
    assert bool(answer) is known.holds(relation.name, missing)
    if isinstance(answer, Absence):
        texts = {rule.text for rule in program.rules} | {
            f"{relation.name} is {kind} (eqrel)" for kind in ("symmetric", "transitive")
        }
        assert {obstacle.rule for obstacle in answer.obstacles} <= texts
        assert str(answer).startswith(f"{answer.fact} is not there")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases(), changes())
def test_every_step_holds_in_an_engine(case: Case, some: list[Change]) -> None:
    engine = Program.parse(case.text).start()
    engine.apply([("+", name, values) for name, tuples in case.facts.items() for values in tuples])
    for change in some:
        engine.apply([("+" if change.insert else "-", change.relation, change.values)])
    given_facts = {name: engine.query(name) for name in case.facts}
    for name, values in facts_of(case.program()):
        given_facts.setdefault(name, []).append(values)
    known = ObviousKnown(case.program(), given_facts)
    for name in engine.program.relations:
        for values in engine.query(name):
            derivation = engine.why(name, values)
            assert isinstance(derivation, Derivation)
            check(derivation, case.program(), known)


def check(derivation: Derivation, program: CheckedProgram, known: ObviousKnown) -> None:
    """Each step is one of its rule, its premises come before it, and it ends in given facts."""
    by_text = {rule.text: rule for rule in program.rules}
    begun: set[Fact] = set()
    done: set[Fact] = set()
    waiting = [derivation.fact]
    while waiting:
        fact = waiting[-1]
        premises = [each for each in derivation.steps[fact].premises if isinstance(each, Fact)]
        open_ones = [premise for premise in premises if premise not in done]
        if open_ones:
            begun.add(fact)
            assert not begun & set(open_ones), "a tuple is derived from itself"
            waiting += open_ones
            continue
        done.add(waiting.pop())
        text = derivation.steps[fact].rule
        assert all(known.holds(*premise) for premise in premises)
        assert (text is None) == known.is_given(*fact)
        if text in by_text:
            assert (fact.relation, fact.values) in applied(
                by_text[text], only(premises, by_text[text], known)
            )


def only(premises: list[Fact], rule: Rule, known: ObviousKnown) -> Contents:
    """The contents with nothing but the premises in relations that the rule only has in positive atoms."""
    elsewhere = {node.atom.relation for node in walk(rule.body) if isinstance(node, Negation)}
    contents = dict(known.contents)
    positive = [node.atom.relation for node in walk(rule.body) if isinstance(node, Positive)]
    for name in set(positive) - elsewhere:
        if positive.count(name) <= sum(premise.relation == name for premise in premises):
            contents[name] = {premise.values for premise in premises if premise.relation == name}
    return contents
