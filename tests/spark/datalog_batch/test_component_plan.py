"""A program's components: in order, whole, and told as they were worked out."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from tests.datalog_programs import Case, cases

from tocsin.datalog.language.checker import check_program
from tocsin.datalog.machine.normal_form import head_of, reads
from tocsin.datalog.machine.normaliser import normal_program
from tocsin.datalog.spark.batch.component_plan import Decision, components_of, part_of, reading_counts


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases())
def test_each_component_comes_behind_what_it_needs(case: Case) -> None:
    program = normal_program(case.program())
    done: set[str] = set()
    steps: list[int] = []
    for component in components_of(program):
        assert component.inputs <= done
        assert {head_of(step) for step in component.steps} <= set(component.members)
        needed = {name for step in component.steps for name in reads(step)}
        assert component.is_recursive == bool(needed & set(component.members))
        assert component.inputs == needed - set(component.members)
        done |= set(component.members)
        steps += map(id, component.steps)
    assert done == {relation.name for relation in program.relations}
    assert sorted(steps) == sorted(map(id, program.steps))


def test_a_part_of_a_program_is_what_its_components_name() -> None:
    program = normal_program(
        check_program("""
        .decl a(x: number) .decl b(x: number) .decl c(x: number) .decl d(x: number)
        b(x) :- a(x), a(_). c(x) :- b(x), !a(x). d(x) :- c(x).
        """)
    )
    components = {component.members[0]: component for component in components_of(program)}
    part = part_of(program, [components["b"], components["c"]])
    assert [relation.name for relation in part.relations] == ["a", "b", "c"]
    assert len(part.steps) == 2
    assert reading_counts(part) == {"a": 3, "b": 1}
    assert reading_counts(program)["c"] == 1


def test_decisions_are_told() -> None:
    assert (
        str(Decision(("p", "+1", "+2"), "in one worker", 1)) == "p, 2 made on the way: in one worker, 1 tuple"
    )
    assert (
        str(Decision(("+1",), "joined where it is read", None))
        == "1 made on the way: joined where it is read"
    )
