"""A text query back to text, such that reading it gives the same steps."""

from __future__ import annotations

from tocsin.text.language.query import ANY_GAP, Leaf, Operation, TextQuery

_BETWEEN = {Operation.AND: " & ", Operation.OR: " | ", Operation.ACCRUE: ", "}


def print_query(query: TextQuery, *, any_gap: bool = False) -> str:
    """The text of a query; with `any_gap` as tm_contains writes phrases.

    Every group within a group stands in parentheses: to nobody is it obvious how | and , bind.
    """
    operands = query.operands()
    written: list[str] = []
    todo: list[str | int] = [len(query.steps) - 1]
    outermost = len(query.steps) - 1
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            written.append(item)
            continue
        step = query.steps[item]
        if isinstance(step, Leaf):
            written.append(print_leaf(step, any_gap=any_gap))
            continue
        parts: list[str | int] = [] if item == outermost else ["("]
        for number, operand in enumerate(operands[item]):
            if number:
                parts.append(_BETWEEN[step.operation])
            parts.append(operand)
        if item != outermost:
            parts.append(")")
        todo.extend(reversed(parts))
    return "".join(written)


def print_leaf(leaf: Leaf, *, any_gap: bool = False) -> str:
    """The text of a word or phrase."""
    words = [word.text + "*" * word.is_prefix for word in leaf.words]
    negation = "!" * leaf.negated
    if len(words) == 1:
        return negation + words[0]
    if leaf.gap == (ANY_GAP if any_gap else 0):
        gap = ""
    elif any_gap:
        return negation + "-".join(words)
    else:
        gap = "~*" if leaf.gap == ANY_GAP else f"~{leaf.gap}"
    return f'{negation}"{" ".join(words)}"{gap}'
