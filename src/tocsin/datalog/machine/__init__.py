"""The activation index (the Yield paper): a checked program becomes arrays, and facts move through them.

normal_form.py     four kinds of step; normaliser.py and passes/ lead there
constraints.py     a body as equations; index_links.py: which columns share a data index
planner.py         for each atom, what is asked when; plans.py: the words of a plan
machine.py         all of it at work: facts come and go, relations follow
closures.py        transitive closures that are kept as a graph (closure_graph.py) instead of pairs
python_steps.py    what kernels cannot work out: texts, maps, aggregates
column_arithmetic  expressions over many rows, for Spark's workers

Begin with normal_form.py, then machine.py; the loops are in ../kernels.
Other rooms come in by the names below.
"""

from typing import TYPE_CHECKING

from tocsin.door import door

if TYPE_CHECKING:
    from tocsin.datalog.machine.closure_graph import ClosureGraph
    from tocsin.datalog.machine.machine import Machine
    from tocsin.datalog.machine.normal_form import Atom, JoinRule, NormalProgram, Relation, Variable
    from tocsin.datalog.machine.symbols import Symbols
    from tocsin.datalog.machine.tuples import Rows, TupleCode
else:
    __getattr__ = door(__name__)
