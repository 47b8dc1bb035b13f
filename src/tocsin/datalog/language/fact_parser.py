"""The quick way to read the plainest facts: a program may hold a million of them.

What this does not take (a float, a comment, an escape, an operation, any mistake) the parser reads. Both
give the same tree, with two differences that make a fact cheap to keep and to check:

- a bare `1`, whose type the parser leaves open, is a number here, which it almost always is
- constants do not know their places, so that one serves all facts that have it; `placed` finds them out
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from tocsin.datalog.language.cursor import Cursor
from tocsin.datalog.language.functors import NO_RELATIONS
from tocsin.datalog.language.syntax import NOWHERE, Argument, Atom, Constant, Place, Rule, Truth, Type

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
    constants: dict[str, Constant] = {}
    end = cursor.token.offset
    found = _FACT.match(text, end)
    while found is not None and found[1] not in NO_RELATIONS:
        end = found.end()
        arguments: list[Argument] = []
        for written in _CONSTANTS.findall(found[2]):
            constant = constants.get(written)
            if constant is None:
                constant = constants[written] = _constant(written)
            arguments.append(constant)
        start = found.start(1)
        place = cursor.place_of(start)
        atom = Atom(found[1], tuple(arguments), place)
        facts.append(Rule((atom,), _TRUE, place, text[start:end], is_fact=True))
        found = _FACT.match(text, end)
    if facts:
        cursor.jump(end)
    return facts


def placed(rule: Rule) -> Rule:
    """A rule whose constants know their places."""
    found = _FACT.match(rule.text)
    if found is None or rule.body is not _TRUE:
        return rule
    line, column = rule.place
    arguments = [
        _constant(constant[0], Place(line, column + constant.start()))
        for constant in _CONSTANTS.finditer(rule.text, found.start(2), found.end(2))
    ]
    return replace(rule, heads=(replace(rule.heads[0], arguments=tuple(arguments)),))


def _constant(written: str, place: Place = NOWHERE) -> Constant:
    if written[0] == '"':
        return Constant(written[1:-1], place, Type.SYMBOL)
    return Constant(int(written), place, Type.NUMBER)
