from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.datalog_trees import print_rule, rules

from tocsin.datalog.language import Type
from tocsin.datalog.language.parser import parse_program
from tocsin.datalog.language.sources import Problems, read_sources
from tocsin.datalog.language.syntax import Anonymous, Argument, Constant, Rule
from tocsin.datalog.language.tree_walk import Rewriter


class _Opened(Rewriter):
    """Leaves open the type of a bare number, as the parser does and the quick way to read facts does not."""

    def simple(self, argument: Constant | Anonymous) -> Argument:
        return replace(argument, type=None if argument.type is Type.NUMBER else argument.type)


def parsed(text: str) -> list[Rule]:
    problems = Problems(read_sources(text))
    block = parse_program(text, problems)
    assert [str(error) for error in problems.errors()] == []
    opened = _Opened()
    return [replace(rule, heads=tuple(map(opened.atom, rule.heads))) for rule in block.rules]


@given(st.lists(rules, max_size=3))
def test_what_is_printed_reads_back_as_the_same_tree(written: list[Rule]) -> None:
    text = "\n".join(map(print_rule, written))
    read = parsed(text)
    assert read == written
    assert "\n".join(map(print_rule, read)) == text


@given(rules)
def test_the_text_of_a_rule_says_the_same_as_its_tree(rule: Rule) -> None:
    spread = print_rule(rule).replace(" :- ", "\n  :- // a comment; with marks.\n  ")
    kept = parsed(f"/* before */ {spread} // behind")[0]
    assert "\n" not in kept.text
    assert parsed(kept.text) == [rule]


@pytest.mark.parametrize(
    "text",
    [
        'p(1, -2, 3u, 1.5, "a\\n\\"b\\\\").',
        "p() :- q().",
        "p(x), q(x) :- r(x, _), !s(x), x != 3.",
        "p(x) :- (a(x) ; b(x), c(x)), d(x).",
        "p(x) :- a(x) ; b(x), (c(x) ; d(x)).",
        "p((x + 1) * 2, x + 1 * 2, x - (1 - 2), x - 1 - 2).",
        "p(2 ^ 3 ^ 2, (2 ^ 3) ^ 2, -2 ^ 2, (-2) ^ 2, 2 ^ (-2), -x, --1).",
        "p(x lor y lxor z land a bor b bxor c band d bshl e bshr f bshru g + h * i).",
        "p(bnot x band lnot y, bnot (x band y)).",
        "p(n) :- n = count : { q(x), x > 1 } + sum x : { q(x) }.",
        'p(cat("a", s), substr(s, 0, 2), as(x, T.U)) :- match("a.*", s), !contains("b", s).',
        "p(@x, y) :- q(@x, y), true, r(@7).",
        "p(max(x, y, 1), min(x, 2)) :- m.q(x, y).",
    ],
)
def test_few_parentheses(text: str) -> None:
    assert print_rule(parsed(text)[0]) == text
