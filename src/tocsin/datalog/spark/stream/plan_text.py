"""A plan in words: which rules run by which key, which in one place, and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tocsin.datalog.engine.program import Program
    from tocsin.datalog.spark.stream.units import Plan, Unit


def explain_activation(program: Program) -> str:
    """How ts.activate spreads a program over keys.

    Level by level: the rules that run together, and by which key. A rule `by` a variable or a column runs
    for each of its values wherever Spark likes. What runs `in one place` is the work of one task.
    """
    from tocsin.datalog.spark.stream.unit_planner import plan

    return "\n".join(_lines(plan(program)))


def _lines(planned: Plan) -> Iterator[str]:
    for level in range(planned.levels):
        yield f"level {level}"
        for unit in planned.units:
            if unit.level == level:
                yield f"  {_how(unit)}"
                yield from (f"    {rule}" for rule in unit.rules)
        names = [name for name, at in planned.counted.items() if at == level]
        if names:
            yield f"  then by tuple, counted across rules and keys: {', '.join(names)}"


def _how(unit: Unit) -> str:
    if unit.key is None:
        if unit.counted:
            return "by rule, in one place: no variable stands in all atoms"
        return "whole, in one place: no column goes through the recursion"
    return f"by variable {unit.key}" if unit.counted else f"by key, complete: {unit.key}"
