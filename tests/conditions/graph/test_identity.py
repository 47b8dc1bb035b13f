"""Identity by structure: what says the same in another order is stored once, and nothing else is."""

from __future__ import annotations

import random
from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
from tests.cases import make_condition, make_conditions, make_event, one_in

from tocsin import Rules
from tocsin.conditions.graph import CompiledIndex, compile_rules
from tocsin.conditions.kernels.deferred_planes import AND, DEFERRED_OR, kinds_of
from tocsin.conditions.language import Condition, Connective, Operator, Step, parse_condition, print_condition
from tocsin.conditions.meaning import matches

NOT = Operator(Connective.NOT, 1)
Steps = tuple[Step, ...]


def compiled(conditions: list[Condition]) -> CompiledIndex:
    return compile_rules(Rules.of((str(n), print_condition(each)) for n, each in enumerate(conditions)))


def roots(*texts: str) -> list[int]:
    return [int(root) for root in compiled([parse_condition(text) for text in texts]).graph.root]


def said_again(rng: random.Random, condition: Condition) -> Condition:
    """The same in another order, other groups, with doubled negations and repeated parts."""
    stack: list[Steps] = []
    for step in condition.steps:
        part: Steps = (step,)
        if isinstance(step, Operator):
            parts = stack[-step.arity :]
            del stack[-step.arity :]
            part = _joined(rng, step.connective, parts)
        if one_in(rng, 5):
            part = (*part, NOT, NOT)
        if one_in(rng, 8) and len(part) < 200:
            part = (*part, *part, Operator(rng.choice([Connective.AND, Connective.OR]), 2))
        stack.append(part)
    return Condition(stack[0])


def _joined(rng: random.Random, connective: Connective, parts: list[Steps]) -> Steps:
    if connective is Connective.NOT:
        return (*parts[0], NOT)
    rng.shuffle(parts)
    if connective in (Connective.AND, Connective.OR):
        if one_in(rng, 4):
            parts.append(rng.choice(parts))
        while len(parts) > 2 and one_in(rng, 2):
            taken = rng.randint(2, len(parts) - 1)
            group = tuple(step for part in parts[:taken] for step in part)
            parts = [*parts[taken:], (*group, Operator(connective, taken))]
    return (*(step for part in parts for step in part), Operator(connective, len(parts)))


@pytest.mark.parametrize("seed", range(40))
def test_said_again_is_the_same_plane(seed: int) -> None:
    rng = random.Random(seed)
    conditions = [make_condition(rng) for _ in range(10)]
    others = [said_again(rng, condition) for condition in conditions]
    found = compiled([*conditions, *others]).graph.root
    differing = [number for number in range(10) if found[number] != found[number + 10]]
    assert [print_condition(others[number]) for number in differing] == []


@pytest.mark.parametrize("seed", range(20))
def test_conditions_of_other_meaning_are_other_planes(seed: int) -> None:
    rng = random.Random(seed)
    conditions = make_conditions(rng, 40)
    events = [make_event(rng) for _ in range(40)]
    answers = [tuple(matches(condition, event) for event in events) for condition in conditions]
    root = compiled(conditions).graph.root
    for first, second in combinations(range(40), 2):
        assert root[first] != root[second] or answers[first] == answers[second]


SAME = [
    [
        "a and b and c",
        "c and (b and a)",
        "not not (a and c) and b",
        "a and b and a and c",
        "(a and b) and (b and c)",
    ],
    ["a or b or c", "(c or a) or b", "(a or b or a) or (c or c)", "((a or b) and (a or b)) or c"],
    ["a and b", "(a and b) or (b and a)", "not (not (a and b))", "(a or a) and (b and b or b)"],
    ["a xor b xor c", "c xor (a xor b)", "(b xor c) xor a", "((a xor b) and (b xor a)) xor c"],
    ["a xnor b", "b xnor a", "not (a xor b)", "not a xor b", "a xor not b"],
    ["a xor b", "not a xor not b", "not (a xnor b)", "not not (b xor a)"],
    ["x != 5", "x <> 5", "not x = 5", "not (not x != 5)", "x not in (5)", "x != 5.0"],
    ["x in (1, 2, 3)", "x in (3, 1, 2, 1)", "x in (3.0, 2, 1)"],
    ["x between 1 and 1", "x = 1", "x in (1, 1)"],
    ["x is not null", "not x is null", "not not x is not null"],
    ["s like 'abc'", "s = 'abc'", "s in ('abc')"],
    ["a", "a = true", "not not a", "a and a", "(a or a) and a", '"a"'],
    ["true", "not false", "true or a", "true and true", "false xor true"],
    ["(a and b) or c", "c or (b and a)", "not (not c and not (a and b))"],
]


@pytest.mark.parametrize("texts", SAME, ids=lambda texts: texts[0])
def test_stored_once(texts: list[str]) -> None:
    assert len(set(roots(*texts))) == 1


def test_the_groups_of_same_are_all_different() -> None:
    assert len(set(roots(*(texts[0] for texts in SAME)))) == len(SAME)


DIFFERENT = [
    ("a or not a", "true"),
    ("a and not a", "false"),
    ("a xor a", "false"),
    ("a xnor a", "true"),
    ("not (n < 5)", "n >= 5"),
    ("n between 1 and 5", "n >= 1 and n <= 5"),
    ("a or (a and b)", "a"),
    ("a and (b or c)", "(a and b) or (a and c)"),
    ("n = 9007199254740993", "n = 9007199254740992"),
    ("n = 9007199254740993", "n = 9007199254740993.0"),
    ("s = '5'", "s = 5"),
    ("s = 'true'", "s = true"),
    ("s = '2026-01-31T12:00:00Z'", "s = timestamp '2026-01-31T12:00:00Z'"),
    ("s like 'a'", "s ilike 'a'"),
    ("s like 'a%'", "s matches 'a%'"),
    ('"a.b"', "a.b"),
    ("a", "A"),
    ("a xor b xor a", "b"),
]


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_not_the_same(first: str, second: str) -> None:
    """No complement or absorption law is used where a missing field or a list would show it."""
    one, other = roots(first, second)
    assert one != other


def test_parts_are_shared_between_rules() -> None:
    texts = [
        "a = 1 and b = 2",
        "(b = 2 and a = 1) or c",
        "not (a = 1 and b = 2) xor d",
        "x or (a = 1 and b = 2)",
    ]
    alone = compiled([parse_condition(texts[0])])
    together = compiled([parse_condition(text) for text in texts])
    assert alone.leaf_count == 2
    assert together.leaf_count == 5
    assert len(alone.graph.is_and) == 1
    shared = int(together.graph.root[0])
    assert together.graph.child.tolist().count(shared) >= 3


def test_every_order_of_a_chain() -> None:
    for word in ("and", "or", "xor"):
        texts = [f" {word} ".join(order) for order in permutations("abcd")]
        grouped = [f"({a} {word} {b}) {word} ({c} {word} {d})" for a, b, c, d in permutations("abcd")]
        assert len(set(roots(*texts, *grouped))) == 1


@pytest.mark.parametrize("seed", range(10))
def test_levels(seed: int) -> None:
    """Children come before their parents, in a lower level and with a lower number."""
    rng = random.Random(seed)
    index = compiled(make_conditions(rng, 60))
    graph = index.graph
    first_inner = index.leaf_count + len(graph.false_leaf)
    level = [0] * first_inner
    for depth in range(len(graph.level_start) - 1):
        level += [depth + 1] * int(graph.level_start[depth + 1] - graph.level_start[depth])
    assert len(level) == index.plane_count
    for inner in range(len(graph.is_and)):
        children = graph.child[graph.child_start[inner] : graph.child_start[inner + 1]].tolist()
        assert len(children) >= 2
        assert len(set(children)) == len(children)
        assert graph.is_and[inner] or children == sorted(children)
        assert all(child < first_inner + inner for child in children)
        assert max(level[child] for child in children) == level[first_inner + inner] - 1
    assert all(0 <= root < index.plane_count + 2 for root in graph.root.tolist())
    assert len(set(graph.false_leaf.tolist())) == len(graph.false_leaf)
    read = {*graph.root.tolist(), *graph.child.tolist()}
    unread = set(range(index.leaf_count, index.plane_count)) - read
    assert unread == set()
    for depth in range(len(graph.level_start) - 1):
        kinds = graph.is_and[graph.level_start[depth] : graph.level_start[depth + 1]].tolist()
        assert kinds == sorted(kinds, reverse=True), "ANDs stand before ORs"


def test_ranges_of_a_group_are_numbered_in_a_row() -> None:
    longest = 0
    for seed in range(10):
        ranges = compiled(make_conditions(random.Random(seed), 200)).ranges
        for start, leaf in (
            (ranges.prefix_start, ranges.prefix_leaf),
            (ranges.suffix_start, ranges.suffix_leaf),
        ):
            for begin, end in pairwise(start.tolist()):
                assert set(np.diff(leaf[begin:end]).tolist()) <= {1}
                longest = max(longest, end - begin)
    assert longest > 2


@pytest.mark.parametrize("seed", range(10))
def test_no_or_asks_for_a_deferred_or(seed: int) -> None:
    index = compiled(make_conditions(random.Random(seed), 200))
    graph = index.graph
    first_inner = index.leaf_count + len(graph.false_leaf)
    kind = kinds_of(graph, first_inner).tolist()
    asked = set(graph.root.tolist())
    for inner, each in enumerate(kind):
        assert (each == AND) == bool(graph.is_and[inner])
        if each != AND:
            asked |= set(graph.child[graph.child_start[inner] : graph.child_start[inner + 1]].tolist())
    deferred = {first_inner + inner for inner, each in enumerate(kind) if each == DEFERRED_OR}
    ors = {first_inner + inner for inner, each in enumerate(kind) if each != AND}
    assert deferred == ors - asked
    assert deferred
