"""The activation index (the Yield paper): a checked program becomes arrays, and facts move through them.

normal_form.py     four kinds of step; normaliser.py and passes/ lead there
constraints.py     a body as equations; index_links.py: which columns share a data index
planner.py         for each atom, what is asked when; plans.py: the words of a plan
machine.py         all of it at work: facts come and go, relations follow
closures.py        transitive closures that are kept as a graph (closure_graph.py) instead of pairs
python_steps.py    what kernels cannot work out: texts, maps, aggregates
column_arithmetic  expressions over many rows, for Spark's workers

Begin with normal_form.py, then machine.py; the loops are in ../kernels.
"""

from __future__ import annotations
