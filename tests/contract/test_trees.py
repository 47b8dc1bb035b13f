"""Trees to depth 12, and small odd ones: every engine gives the meaning's answer."""

from __future__ import annotations

import random

import pytest
from tests.contract.doors import by_event, expected, taken

from tocsin.conditions.language import Condition, parse_condition

DEPTH = 12
VALUES = (1, 2, 3, None)


def make_tree(rng: random.Random, depth: int) -> str:
    """A condition with one path of this depth at least, and bushes beside it."""
    if depth == 0:
        return rng.choice(
            ["a = 1", "b in (1, 2)", "c not in (2)", "d >= 2", "e between 1 and 2", "f != 3", "g is null"]
        )
    deep = f"({make_tree(rng, depth - 1)})"
    beside = [f"({make_tree(rng, rng.randint(0, min(2, depth - 1)))})" for _ in range(rng.randint(1, 2))]
    match rng.randint(1, 10):
        case 1:
            return f"not {deep}"
        case 2:
            return f"{deep} {rng.choice(['xor', 'xnor'])} {beside[0]}"
        case _:
            parts = [deep, *beside]
            rng.shuffle(parts)
            return rng.choice([" and ", " or "]).join(parts)


def make_event(rng: random.Random) -> dict[str, object]:
    return {name: rng.choice(VALUES) for name in "abcdefg" if rng.random() < 0.8}


@pytest.mark.parametrize("depth", range(1, DEPTH + 1))
def test_random_trees(engine: str, depth: int) -> None:
    rng = random.Random(depth)
    made = [(f"r{number}", parse_condition(make_tree(rng, depth))) for number in range(25)]
    events = [make_event(rng) for _ in range(12)]
    index, rules = taken(made, engine)
    assert len(rules) > 20
    found = expected(rules, events)
    assert found
    assert by_event(index, events) == found


ODD = [
    "a = 1",
    "not a = 1",
    "(((a = 1)))",
    "a = 1 and a = 1",
    "a = 1 or a = 1",
    "a = 1 or (a = 1 and b = 2)",
    "a = 1 and (a = 1 or b = 2)",
    "(a = 1 and b = 2) or (a = 1 and b = 2)",
    "(a = 1 or b = 2) and (a = 1 or c = 3)",
    "a = 1 or not a = 1",
    "a = 1 and not a = 1",
    "not (a = 1 and not a = 1)",
    "a = 1 xor a = 1",
    "a = 1 xnor a = 1",
    "a is null or a is not null",
    "a is null and a is not null",
    "true",
    "false",
    "true and a = 1",
    "a = 1 or true",
    "a not in (1, 2) and b not in (1)",
    "not (a not in (1))",
    "a in (1, 2) and a in (2, 3)",
    "a = 1 and (b = 1 or (c = 1 and (d = 1 or (e = 1 and (f = 1 or g = 1)))))",
]


@pytest.mark.parametrize("together", [True, False])
def test_odd_trees(engine: str, together: bool) -> None:
    conditions: list[tuple[str, Condition]] = [(text, parse_condition(text)) for text in ODD]
    rng = random.Random(1)
    events = [make_event(rng) for _ in range(80)] + [{}]
    for rules in [conditions] if together else [[each] for each in conditions]:
        index, took = taken(rules, engine)
        assert list(took) == rules
        assert by_event(index, events) == expected(rules, events)
