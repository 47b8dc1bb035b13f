"""Programs: rules over several relations, in a subset of Soufflé's Datalog.

Text to tree: tokens.py, parser.py, clause_parser.py, the tree in syntax.py. Then checker.py has components
written out (components.py), types found (type_inference.py), variables bound (scopes.py) and relations put in
order (strata.py). functors.py has a row for each functor, comparison and aggregate, which all else goes by.

Promised: all errors of a program at once, each at its place. Begin with syntax.py and checker.py.
Other rooms come in by the names below.
"""

from typing import TYPE_CHECKING

from tocsin.door import door

if TYPE_CHECKING:
    from tocsin.datalog.language.directives import Transfer, inputs, outputs, printed_sizes
    from tocsin.datalog.language.syntax import TEXT_LIMIT, Type, Value
else:
    __getattr__ = door(__name__)
