"""Bodies as text. What is printed reads back as the same tree, with as few parentheses as that needs.

Names that checking made (scopes.py) are printed as they are, and are the only text that cannot be read.
"""

from __future__ import annotations

from tocsin.datalog.language import syntax
from tocsin.datalog.language.functors import BINDING, CAST, EACH, PREDICATES, UNARY, UNARY_BINDING
from tocsin.datalog.language.tokens import ESCAPES

_ESCAPED = str.maketrans({meant: f"\\{letter}" for letter, meant in ESCAPES.items() if letter != "'"})
_PREFIXES = {functor: "-" if word == "-" else f"{word} " for word, functor in UNARY.items()}


def print_atom(atom: syntax.Atom) -> str:
    """The text of an atom."""
    return f"{atom.relation}({', '.join(map(print_argument, atom.arguments))})"


def print_body(body: syntax.Body, within: type[syntax.Body] | None = None) -> str:
    """The text of a body; in parentheses where the part it stands in would take it apart."""
    if isinstance(body, syntax.Positive):
        return print_atom(body.atom)
    if isinstance(body, syntax.Negation):
        return f"!{print_atom(body.atom)}"
    if isinstance(body, syntax.Comparison):
        left, right = print_argument(body.left), print_argument(body.right)
        if body.operator.lstrip("!") in PREDICATES:
            return f"{body.operator}({left}, {right})"
        return f"{left} {'=' if body.operator == EACH else body.operator} {right}"
    if isinstance(body, syntax.Truth):
        return "true" if body.holds else "false"
    joint = ", " if isinstance(body, syntax.Conjunction) else " ; "
    text = joint.join(print_body(part, type(body)) for part in body.parts)
    inner = within is type(body) or (within is syntax.Conjunction and isinstance(body, syntax.Disjunction))
    return f"({text})" if inner else text


def print_argument(argument: syntax.Argument, least: int = 0) -> str:
    """The text of an argument; in parentheses if it binds less strongly than `least`."""
    if isinstance(argument, syntax.Variable):
        return f"@{argument.name}" if argument.located else argument.name
    if isinstance(argument, syntax.Anonymous):
        return "_"
    if isinstance(argument, syntax.Constant):
        text = print_value(argument.value, argument.type)
        if argument.located:
            return f"@{text}"
        return f"({text})" if text.startswith("-") and least > UNARY_BINDING else text
    if isinstance(argument, syntax.Aggregate):
        value = "" if argument.value is None else f" {print_argument(argument.value)}"
        return f"{argument.function}{value} : {{ {print_body(argument.body)} }}"
    return _operation(argument, least)


def print_value(value: syntax.Value, type_: syntax.Type | None = None) -> str:
    """The text of a constant's value."""
    if isinstance(value, str):
        return f'"{value.translate(_ESCAPED)}"'
    return f"{value}u" if type_ is syntax.Type.UNSIGNED else repr(value)


def _operation(operation: syntax.Operation, least: int) -> str:
    functor, operands = operation.functor, operation.operands
    if functor in _PREFIXES:
        text, binding = _PREFIXES[functor] + print_argument(operands[0], UNARY_BINDING), UNARY_BINDING
    elif functor in BINDING:
        binding = BINDING[functor]
        right = functor == "^"
        left_text = print_argument(operands[0], binding + right)
        text = f"{left_text} {functor} {print_argument(operands[1], binding + (not right))}"
    elif functor == CAST and isinstance(operands[1], syntax.Constant):
        return f"{functor}({print_argument(operands[0])}, {operands[1].value})"
    else:
        return f"{functor}({', '.join(map(print_argument, operands))})"
    return f"({text})" if binding < least else text
