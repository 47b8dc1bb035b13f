"""The canonical form and the index agree on what is one expression (see
conditions/kernels/shared_graph.py).
"""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conditions.language.canonical.canonical_form import canonical
from tests.conditions.language.canonical.scrambling import scramble
from tests.strategies import Drawn, rule_sets

import tocsin
from tocsin.conditions.language import Condition, parse_condition, print_condition


def roots(texts: list[str]) -> list[int]:
    """For each condition the node that stands for it in one index of them all."""
    index = tocsin.build([(str(number), text) for number, text in enumerate(texts)])
    assert isinstance(index, tocsin.Index)
    return list(map(int, index.version.layers[0].compiled.graph.root))


@st.composite
def scrambled_sets(draw: st.DrawFn) -> list[tuple[Condition, Condition]]:
    rules = [condition for _, condition in draw(rule_sets(6))]
    return [(condition, scramble(Drawn(draw), condition)) for condition in rules]


@settings(max_examples=150)
@given(scrambled_sets())
def test_one_expression_is_one_node(pairs: list[tuple[Condition, Condition]]) -> None:
    found = roots([print_condition(condition) for pair in pairs for condition in pair])
    for (written, scrambled), one, other in zip(pairs, found[::2], found[1::2], strict=True):
        assert canonical(written) == canonical(scrambled)
        assert one == other, (print_condition(written), print_condition(scrambled))


@settings(max_examples=150)
@given(rule_sets())
def test_one_form_is_one_node(rules: list[tuple[str, Condition]]) -> None:
    written = [condition for _, condition in rules]
    forms = [canonical(condition) for condition in written]
    found = roots([print_condition(condition) for condition in (*written, *forms)])
    assert found[: len(written)] == found[len(written) :]
    for (one, one_root), (other, other_root) in combinations(zip(forms, found, strict=False), 2):
        assert one != other or one_root == other_root


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("not (a and b)", "not a or not b"),
        ("((a or b) and (a or b)) or c", "a or b or c"),
        ("((a and b) or (b and a)) and c", "a and b and c"),
        ("((a xor b) and (a xor b)) xor c", "a xor b xor c"),
        ("(a or b) xor c", "not (c xor (not b and not a))"),
        ("not a xor b", "a xnor b"),
        ("a xnor b xnor c", "c xor b xor a"),
        ("(true xor true) or a", "a"),
        ("(a xor true) and b", "b and not a"),
        ("s like 'abc'", "s in ('abc', 'abc')"),
    ],
)
def test_these_are_one_expression_to_both(one: str, other: str) -> None:
    assert canonical(parse_condition(one)) == canonical(parse_condition(other))
    first, second = roots([one, other])
    assert first == second


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a or not a", "true"),
        ("a and not a", "b and not b"),
        ("a xor a", "false"),
        ("n >= 5", "not n < 5"),
        ("a = false", "not a"),
        ("a xor b", "a xnor b"),
        ("a and (b or c)", "a and b or a and c"),
    ],
)
def test_these_are_two_expressions_to_both(one: str, other: str) -> None:
    assert canonical(parse_condition(one)) != canonical(parse_condition(other))
    first, second = roots([one, other])
    assert first != second
