"""The normal form says what the program says."""

from __future__ import annotations

from hypothesis import HealthCheck, assume, given, settings
from tests.datalog_programs import Case, cases
from tests.normal_programs import run

from tocsin.errors import RuleError
from tocsin.grammar.datalog.meaning import evaluate
from tocsin.index.activation.normalising import normal_program


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(cases())
def test_same_contents(case: Case) -> None:
    program = case.program()
    try:
        normal = normal_program(program)
    except RuleError as error:
        assume("depends on this rule itself" not in error.reason)
        raise
    contents = run(normal, case.facts)
    wanted = evaluate(program, case.facts)
    assert {name: contents[name] for name in wanted} == wanted
