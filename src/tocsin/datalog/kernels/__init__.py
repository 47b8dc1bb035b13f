"""The loops of the activation index.

layout.py        where everything is; memory_table.py: how a kernel reaches all of it with one argument
data_index.py    entries by key, and the tuples that hang in them; key_order.py: keys in order, for < and >
activation.py    every way in which a body holds with one given tuple
fixpoint.py      changes go through all rules until every relation is what it should be
arcs.py, arc_lists.py, reach_bits.py, closure_changes.py    transitive closures that are kept as graphs

Begin with layout.py, then activation.py.
"""
