"""A condition back to text, such that reading it gives the same steps.

Grouping is kept (`(a and b) and c` stays two operators), and no parenthesis is written that the
grammar does not need. A NOT directly over a predicate is written in the predicate's negated form
where it has one: `x != 5`, `x not in (1, 2)`, `x is not null`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from tocsin.conditions.language.tokens import TRIGGER_WORDS
from tocsin.conditions.language.tree import (
    Condition,
    Connective,
    Constant,
    Literal,
    Operator,
    Path,
    Predicate,
    is_boolean,
)
from tocsin.conditions.operators import OPERATORS, Shape
from tocsin.events import Kind
from tocsin.syntax import print_timestamp

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_BINDING = {Connective.OR: 1, Connective.XOR: 2, Connective.XNOR: 2, Connective.AND: 3, Connective.NOT: 4}
"""How tightly each connective holds its operands; an operand that is looser needs parentheses."""


def print_condition(condition: Condition) -> str:
    """The text of a condition. Takes steps of any depth; the text grows with the steps, no faster."""
    return print_steps(condition.steps, condition.operands(), print_predicate)


def print_steps(
    steps: Sequence[Any], children: Sequence[tuple[int, ...]], leaf: Callable[[Any, bool], str]
) -> str:
    """The text of steps, given the places that each takes, and the text of a leaf or of NOT over it."""
    written: list[str] = []
    todo: list[str | tuple[int, int]] = [(len(steps) - 1, 0)]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            written.append(item)
            continue
        at, least = item
        step = steps[at]
        if not isinstance(step, Operator):
            written.append(_constant(step) if isinstance(step, Constant) else leaf(step, False))
        elif step.connective is Connective.NOT:
            operand = steps[children[at][0]]
            if not isinstance(operand, Operator | Constant):
                written.append(leaf(operand, True))
            else:
                written.append("not ")
                todo.append((children[at][0], _BINDING[Connective.NOT]))
        else:
            todo.extend(reversed(_joined(step, children[at], least)))
    return "".join(written)


def print_predicate(predicate: Predicate, negated: bool = False) -> str:
    """The text of a predicate, or of NOT over it."""
    field = print_field(predicate.field)
    row = OPERATORS[predicate.test]
    word = (negated and row.negated) or predicate.test.value
    prefix = "not " if negated and row.negated is None else ""
    operands = list(map(print_literal, predicate.operands))
    if row.shape is Shape.CALL:
        if is_boolean(predicate):
            operands[1] = "boolean"
        return f"{prefix}{word}({', '.join([field, *operands])})"
    if row.shape is Shape.LIST:
        return f"{field} {word} ({', '.join(operands)})"
    if row.shape is Shape.RANGE:
        return f"{field} {word} {' and '.join(operands)}"
    return " ".join([prefix + field, word, *operands])


def print_field(path: Path) -> str:
    """The text of a field, each name quoted where it must be."""
    return ".".join(_name(name) for name in path)


def print_literal(literal: Literal) -> str:
    """The text of a constant."""
    value = literal.value
    if literal.kind is Kind.STRING:
        return "'" + str(value).replace("'", "''") + "'"
    if literal.kind is Kind.BOOLEAN:
        return "true" if value else "false"
    if literal.kind is Kind.TIMESTAMP:
        return f"timestamp '{print_timestamp(int(value))}'"
    return str(value)


def _joined(step: Operator, operands: Sequence[int], least: int) -> list[str | tuple[int, int]]:
    """An operator's operands with the connective between them, each to be printed in its turn.

    Only the left operand of xor and xnor may be of the same strength without parentheses: their
    chains are binary from left to right, whereas an `and` within an `and` was written in parentheses.
    """
    binding = _BINDING[step.connective]
    chained = step.connective in (Connective.XOR, Connective.XNOR)
    parts: list[str | tuple[int, int]] = [(operands[0], binding if chained else binding + 1)]
    for operand in operands[1:]:
        parts.append(f" {step.connective.value} ")
        parts.append((operand, binding + 1))
    return ["(", *parts, ")"] if binding < least else parts


def _name(name: str) -> str:
    if _PLAIN_NAME.fullmatch(name) and name.lower() not in TRIGGER_WORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


def _constant(constant: Constant) -> str:
    return "true" if constant.value else "false"
