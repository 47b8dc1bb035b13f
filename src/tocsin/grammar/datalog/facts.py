"""The quick way to read the plainest facts: a program may hold a million of them.

What this does not take (a float, a comment, an escape, an operation, any mistake) the parser reads. Both
give the same tree, but that a bare `1`, which the parser leaves open, is a number here: what it almost
always is, and then the fact need not be copied to say so.
"""

from __future__ import annotations

import re
from typing import Final

from tocsin.grammar.datalog.cursor import Cursor
from tocsin.grammar.datalog.syntax import Argument, Atom, Constant, Place, Rule, Truth, Type
from tocsin.grammar.datalog.vocabulary import RESERVED

_CONSTANT = r'-?(?:0|[1-9][0-9]{0,18})|"[^"\\\n\ud800-\udfff]*+"'
_FACT = re.compile(
    rf"\s*+([?A-Za-z_][?A-Za-z0-9_]*+)\(((?:{_CONSTANT})(?: ?, ?(?:{_CONSTANT}))*+) ?\)"
    r" ?\.(?=\s|\Z)"
)
_CONSTANTS = re.compile(_CONSTANT)
_TRUE = Truth(True)

BARE: Final = (None, Type.NUMBER)
"""The types that a number has before checking when it may still be of another type."""


def read_facts(cursor: Cursor) -> list[Rule]:
    """The plain facts at the cursor, which then stands behind them; there may be none."""
    text = cursor.text
    facts: list[Rule] = []
    end = cursor.token.offset
    found = _FACT.match(text, end)
    while found is not None and found[1] not in RESERVED:
        end = found.end()
        start = found.start(1)
        place = cursor.place_of(start)
        line, first = place.line, place.column - start
        arguments: list[Argument] = []
        for constant in _CONSTANTS.finditer(text, found.start(2), found.end(2)):
            written = constant[0]
            where = Place(line, first + constant.start())
            if written[0] == '"':
                arguments.append(Constant(written[1:-1], where, Type.SYMBOL))
            else:
                arguments.append(Constant(int(written), where, Type.NUMBER))
        atom = Atom(found[1], tuple(arguments), place)
        facts.append(Rule((atom,), _TRUE, place, text[start:end]))
        found = _FACT.match(text, end)
    if facts:
        cursor.jump(end)
    return facts
