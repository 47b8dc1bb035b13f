"""Compile the kernels of programs before they are needed, or load them from the cache."""

from __future__ import annotations

from tocsin.arrays.jit import is_cached
from tocsin.datalog.engine.program import Program
from tocsin.datalog.kernels.tuple_table import report
from tocsin.datalog.language.syntax import Type
from tocsin.datalog.machine.column_arithmetic import worked_out
from tocsin.datalog.machine.normal_form import Constant, Let, Variable

_PROGRAM = """
.decl arc(x: number, y: number)
.decl path(x: number, y: number)
.decl far(x: number, y: number)
.decl lonely(x: number)
path(x, y) :- arc(x, y).
path(x, y) :- arc(x, z), path(z, y).
far(x, y) :- arc(x, y), arc(y, z), x < z, far(y, _).
far(x, y) :- arc(x, y), y > x + 1.
lonely(x) :- arc(x, _), !far(x, _).
"""


def is_warm() -> bool:
    """Whether this machine has the kernel that warm_up comes to last."""
    return is_cached(report)


def warm_up() -> None:
    """Run a small program live, and what Spark's workers compute, so that nobody waits for a compiler."""
    worked_out({}, 1, [Let(Variable(0), Constant(1), Type.NUMBER)], [])
    engine = Program.parse(_PROGRAM).start(facts={"arc": [(1, 2), (2, 4)]})
    changes = engine.insert("arc", (4, 1))
    len(changes.added["path"])
    engine.query("path")
    engine.query("far", (1, None))
    changes = engine.apply([("-", "arc", (1, 2)), ("+", "arc", (2, 5))])
    len(changes.removed["lonely"])
