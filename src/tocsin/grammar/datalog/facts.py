"""The quick way to read the plainest facts: a program may hold a million of them.

What this does not take (a float, a comment, an escape, an operation, any mistake) the parser reads; both
give the same tree.
"""

from __future__ import annotations

import re

from tocsin.grammar.datalog.cursor import Cursor
from tocsin.grammar.datalog.syntax import Argument, Atom, Constant, Place, Rule, Truth, Type
from tocsin.grammar.datalog.vocabulary import RESERVED

_CONSTANT = r'-?(?:0|[1-9][0-9]{0,18})|"[^"\\\n\ud800-\udfff]*+"'
_FACT = re.compile(
    rf"([?A-Za-z_][?A-Za-z0-9_]*+)\(((?:{_CONSTANT})(?: ?, ?(?:{_CONSTANT}))*+) ?\)"
    r" ?\.(?=\s|\Z)"
)
_CONSTANTS = re.compile(_CONSTANT)


def read_fact(cursor: Cursor) -> Rule | None:
    """The plain fact at the cursor, which then stands behind it; or None, and nothing has happened."""
    start = cursor.token.offset
    found = _FACT.match(cursor.text, start)
    if found is None or found[1] in RESERVED:
        return None
    place = cursor.place_of(start)
    line, first = place.line, place.column - start
    arguments: list[Argument] = []
    for constant in _CONSTANTS.finditer(cursor.text, found.start(2), found.end(2)):
        written = constant[0]
        where = Place(line, first + constant.start())
        if written[0] == '"':
            arguments.append(Constant(written[1:-1], where, Type.SYMBOL))
        else:
            arguments.append(Constant(int(written), where))
    cursor.jump(found.end())
    atom = Atom(found[1], tuple(arguments), place)
    return Rule((atom,), Truth(True, place), place, found[0])
