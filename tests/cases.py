"""Random conditions, rule sets and events, made from any source of choices.

Each maker is written once, against `Choices`. `random.Random` is such a source (thousands of cases a
second, for seeded loops), and strategies.py makes another from Hypothesis (which shrinks what fails).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar

from tests.pools import (
    EXPRESSIONS,
    FIELDS,
    FOLDED_PATTERNS,
    JSON_VALUES,
    LIKE_PATTERNS,
    LITERALS,
    NETWORKS,
    VALUES,
)

from tocsin.conditions.language import (
    Condition,
    Connective,
    Constant,
    Literal,
    Operator,
    Path,
    Predicate,
    Step,
    Test,
)
from tocsin.events import Kind

T = TypeVar("T")
Steps = tuple[Step, ...]
Event = dict[str, object]
Values = dict[Kind, list[object]]

LONGEST = 300
"""Steps of a condition: sharing doubles sizes quickly, and an oracle should stay quick."""
CONNECTIVES = (Connective.AND, Connective.OR, Connective.NOT, Connective.XOR, Connective.XNOR)
COMPARISONS = (Test.EQ, Test.LT, Test.LE, Test.GT, Test.GE)


class Choices(Protocol):
    """Where a maker gets its choices from; random.Random has both methods."""

    def choice(self, options: Sequence[T], /) -> T: ...

    def randint(self, low: int, high: int, /) -> int: ...


def one_in(choices: Choices, count: int) -> bool:
    """True once in `count` times; the first choice, to which Hypothesis shrinks, is False."""
    return choices.randint(1, count) == count


def make_predicate(choices: Choices) -> Predicate:
    """A predicate on one of FIELDS, mostly of the field's own kind."""
    field, kind = choices.choice(list(FIELDS.items()))
    if one_in(choices, 10):
        kind = choices.choice(list(Kind))
    if one_in(choices, 10):
        return Predicate(field, Test.NULL, ())
    if kind is Kind.ADDRESS:
        return _on_text(field, Test.CIDR, choices.choice(NETWORKS))
    if kind is Kind.STRING and one_in(choices, 2):
        return _pattern(choices, field)
    return _comparison(choices, field, LITERALS[kind])


def _pattern(choices: Choices, field: Path) -> Predicate:
    pools = {Test.LIKE: LIKE_PATTERNS, Test.ILIKE: FOLDED_PATTERNS, Test.MATCHES: EXPRESSIONS}
    test = choices.choice(list(pools))
    return _on_text(field, test, choices.choice(pools[test]))


def _on_text(field: Path, test: Test, text: str) -> Predicate:
    return Predicate(field, test, (Literal(Kind.STRING, text),))


def _comparison(choices: Choices, field: Path, literals: list[Literal]) -> Predicate:
    test = choices.choice([*COMPARISONS, Test.IN, Test.BETWEEN])
    count = {Test.IN: choices.randint(1, 4), Test.BETWEEN: 2}.get(test, 1)
    return Predicate(field, test, tuple(choices.choice(literals) for _ in range(count)))


def make_conditions(choices: Choices, count: int) -> list[Condition]:
    """Conditions that share parts with one another.

    All are made from one growing stock of parts: a new part joins some of the older ones, the same one
    twice now and then, negates one, or says one again in another order. Conditions are the last parts.
    """
    leaves: list[Steps] = [(make_predicate(choices),) for _ in range(choices.randint(1, 3 + count // 2))]
    if one_in(choices, 8):
        leaves.append((Constant(choices.choice([True, False])),))
    stock = leaves
    made: list[Condition] = []
    for _ in range(count):
        for _ in range(choices.randint(0, 4)):
            stock.append(_join(choices, stock))
        part = choices.choice(stock[-4:])
        if one_in(choices, 12):
            part = _deep(choices, part, choices.choice(leaves))
        made.append(Condition(part))
    return made


def make_condition(choices: Choices) -> Condition:
    """One condition."""
    return make_conditions(choices, 1)[0]


def make_rule_set(choices: Choices, most: int = 12) -> list[tuple[str, Condition]]:
    """Rules with distinct ids whose conditions share parts."""
    conditions = make_conditions(choices, choices.randint(1, most))
    return [(f"r{number}", condition) for number, condition in enumerate(conditions)]


def _join(choices: Choices, stock: list[Steps]) -> Steps:
    connective = choices.choice(
        [Connective.AND, Connective.OR, Connective.NOT, Connective.XOR, Connective.XNOR]
    )
    if connective is Connective.NOT:
        arity = 1
    elif connective in (Connective.AND, Connective.OR):
        arity = choices.randint(2, 4)
    else:
        arity = 2
    parts = [choices.choice(stock) for _ in range(arity)]
    if arity == 2 and one_in(choices, 6):
        parts[1] = parts[0]
    steps = tuple(step for part in parts for step in part)
    return (*steps, Operator(connective, arity)) if len(steps) < LONGEST else parts[0]


def _deep(choices: Choices, part: Steps, leaf: Steps) -> Steps:
    """The part at the bottom of a tower of negations and connectives."""
    for _ in range(choices.randint(2, 40)):
        connective = choices.choice([Connective.NOT, Connective.AND, Connective.OR, Connective.XOR])
        if connective is Connective.NOT:
            part = (*part, Operator(connective, 1))
        else:
            part = (*part, *leaf, Operator(connective, 2))
    return part


def make_event(choices: Choices, values: Values = VALUES) -> Event:
    """An event that holds some of FIELDS: plain values, lists, objects, lists of objects, nulls."""
    return _object(choices, (), values)


def make_json_event(choices: Choices) -> Event:
    """An event that JSON can say, and that comes back from it equal."""
    return make_event(choices, JSON_VALUES)


def names_below(path: Path) -> list[str]:
    """The names that fields have after this path, in order."""
    below = {
        field[len(path)]: None for field in FIELDS if field[: len(path)] == path and len(field) > len(path)
    }
    return list(below)


def _object(choices: Choices, path: Path, values: Values) -> Event:
    made: Event = {}
    for name in names_below(path):
        if not one_in(choices, 5):
            made[name] = _value(choices, (*path, name), values)
    return made


def _value(choices: Choices, path: Path, values: Values) -> object:
    if one_in(choices, 12):
        return None
    if names_below(path) and not one_in(choices, 5):
        if one_in(choices, 2):
            return [_element(choices, path, values) for _ in range(choices.randint(0, 3))]
        return _object(choices, path, values)
    if one_in(choices, 4):
        return [_list_element(choices, path, values) for _ in range(choices.randint(0, 3))]
    if one_in(choices, 25):
        return {"unasked": 1}
    return _scalar(choices, path, values)


def _element(choices: Choices, path: Path, values: Values) -> object:
    """An element of a list of objects, which may hold something else now and then."""
    return _list_element(choices, path, values) if one_in(choices, 6) else _object(choices, path, values)


def _list_element(choices: Choices, path: Path, values: Values) -> object:
    if one_in(choices, 8):
        return choices.choice([None, [], [None], {"unasked": 1}, [[_scalar(choices, path, values)], None]])
    return _scalar(choices, path, values)


def _scalar(choices: Choices, path: Path, values: Values) -> object:
    kind = FIELDS.get(path, Kind.STRING)
    if one_in(choices, 10):
        kind = choices.choice(list(Kind))
    return choices.choice(values[kind])


def random_condition(rng: random.Random) -> Condition:
    """make_condition for a seeded loop."""
    return make_condition(rng)


def random_event(rng: random.Random) -> Event:
    """make_event for a seeded loop."""
    return make_event(rng)
