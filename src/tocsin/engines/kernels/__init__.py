"""The loops of the engines.

expressions.py      what every engine is given: AND and OR over literals; held_literals.py: those that hold
unfolded_trees.py   one tree for each rule; conjunction_leaves.py: with conjunctions as leaves
conjunctions.py     which conjunctions hold: counted, or by cursors (conjunction_cursors.py)
dewey_labels.py     Algorithms 1 to 3 of the first paper; interval_labels.py: Algorithms 4 and 5
bdd_*.py            decision diagrams; dnf_translation.py, literal_counts.py: the second paper's other peers

Begin with expressions.py and held_literals.py, then interval_labels.py.
"""
