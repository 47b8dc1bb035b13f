"""Programs: rules over several relations, in a subset of Soufflé's Datalog.

Text to tree: tokens.py, parser.py, clause_parser.py, the tree in syntax.py. Then checker.py has components
written out (components.py), types found (type_inference.py), variables bound (scopes.py) and relations put in
order (strata.py). functors.py has a row for each functor, comparison and aggregate, which all else goes by.

Promised: all errors of a program at once, each at its place. Begin with syntax.py and checker.py.
"""

from __future__ import annotations
