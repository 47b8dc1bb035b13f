"""Rules become arrays: distinct predicates, the shared graph over them, and the file they are saved in.

A condition's text is read into steps (condition_reader.py), its predicates find their places by operator
family (predicate_table.py, leaf_families.py), equal parts of conditions become one node (shared_graph.py),
and all of it is one compiled_index.py, which index_file.py maps from disk and soundness.py checks.

Begin with compiled_index.py: it names every array.
"""

from __future__ import annotations
