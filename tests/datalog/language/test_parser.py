from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.datalog_errors import errors_of
from tests.datalog_trees import print_rule

from tocsin.datalog.language import Type, Value
from tocsin.datalog.language.clause_parser import ClauseReader
from tocsin.datalog.language.cursor import Cursor
from tocsin.datalog.language.fact_parser import placed, read_facts
from tocsin.datalog.language.outline import Block, Column, Named, RelationDeclaration, TypeDeclaration
from tocsin.datalog.language.parser import parse_program
from tocsin.datalog.language.printer import print_body
from tocsin.datalog.language.sources import Problems, read_sources
from tocsin.datalog.language.syntax import Atom, Constant, Directive, Operation, Place, Rule, Truth


def block_of(text: str) -> Block:
    problems = Problems(read_sources(text))
    block = parse_program(text, problems)
    assert problems.errors() == []
    return block


def body_of(text: str) -> str:
    return print_body(block_of(f"h() :- {text}.").rules[0].body)


def argument_of(text: str) -> object:
    return block_of(f"h({text}) :- true.").rules[0].heads[0].arguments[0]


def test_declarations_and_directives() -> None:
    block = block_of(
        """.decl a, b(x: number, y: T.U) brie output
.type A <: symbol
.type B = A | C
.type D
.number_type E
.input r.s, t(IO=file, filename="a\\tb", n=3)
"""
    )
    columns = (
        Column("x", Named("number", Place(1, 15)), Place(1, 12)),
        Column("y", Named("T.U", Place(1, 26)), Place(1, 23)),
    )
    assert block.relations == [
        RelationDeclaration("a", Place(1, 7), columns, frozenset({"brie", "output"})),
        RelationDeclaration("b", Place(1, 10), columns, frozenset({"brie", "output"})),
    ]
    assert block.types == [
        TypeDeclaration("A", Place(2, 7), True, (Named("symbol", Place(2, 12)),)),
        TypeDeclaration("B", Place(3, 7), False, (Named("A", Place(3, 11)), Named("C", Place(3, 15)))),
        TypeDeclaration("D", Place(4, 7), True, (Named("symbol", Place(4, 7)),)),
        TypeDeclaration("E", Place(5, 14), True, (Named("number", Place(5, 14)),)),
    ]
    parameters = {"IO": "file", "filename": "a\tb", "n": "3"}
    assert block.directives == [
        Directive("output", "a", {}),
        Directive("output", "b", {}),
        Directive("input", "r.s", parameters),
        Directive("input", "t", parameters),
    ]
    assert [directive.place for directive in block.directives] == [(1, 7), (1, 10), (6, 8), (6, 13)]


@pytest.mark.parametrize(
    ("text", "operations"),
    [
        ("1 + 2 * 3", ("+", 1, ("*", 2, 3))),
        ("1 - 2 - 3", ("-", ("-", 1, 2), 3)),
        ("2 ^ 3 ^ 4", ("^", 2, ("^", 3, 4))),
        ("-2 ^ 2", ("neg", ("^", 2, 2))),
        ("2 ^ -1 * 3", ("*", ("^", 2, -1), 3)),
        ("-x * y", ("*", ("neg", "x"), "y")),
        ("-1 - -1", ("-", -1, -1)),
        ("bnot x + y", ("+", ("bnot", "x"), "y")),
        ("lnot x land y lor z", ("lor", ("land", ("lnot", "x"), "y"), "z")),
        ("x lor y lxor z land w", ("lor", "x", ("lxor", "y", ("land", "z", "w")))),
        ("x bor y bxor z band w", ("bor", "x", ("bxor", "y", ("band", "z", "w")))),
        ("x band y bshl z + 1", ("band", "x", ("bshl", "y", ("+", "z", 1)))),
        ("x bshl 1 bshr 2 bshru 3", ("bshru", ("bshr", ("bshl", "x", 1), 2), 3)),
        ("x land y bor 1", ("land", "x", ("bor", "y", 1))),
        ("1 % 2 / 3 * 4", ("*", ("/", ("%", 1, 2), 3), 4)),
        ("(1 + 2) * 3", ("*", ("+", 1, 2), 3)),
        ("max(x, 1, 2 + 3)", ("max", "x", 1, ("+", 2, 3))),
    ],
)
def test_how_operators_bind(text: str, operations: object) -> None:
    def shape(argument: object) -> object:
        if isinstance(argument, Operation):
            return (argument.functor, *map(shape, argument.operands))
        return argument.value if isinstance(argument, Constant) else getattr(argument, "name", None)

    assert shape(argument_of(text)) == operations


@pytest.mark.parametrize(
    ("text", "value", "type_"),
    [
        ("7", 7, None),
        ("-7", -7, None),
        ("-9223372036854775808", -(2**63), None),
        ("0x1F", 31, None),
        ("0b101", 5, None),
        ("007", 7, None),
        ("7u", 7, Type.UNSIGNED),
        ("0xffu", 255, Type.UNSIGNED),
        ("0b1u", 1, Type.UNSIGNED),
        ("1.5", 1.5, Type.FLOAT),
        ("-0.0", 0.0, Type.FLOAT),
        ("1e3", 1000.0, Type.FLOAT),
        ("2.5e-1", 0.25, Type.FLOAT),
        ('"a\\tb\\"\\\\\\n"', 'a\tb"\\\n', Type.SYMBOL),
        ('"// é \'"', "// é '", Type.SYMBOL),
    ],
)
def test_constants(text: str, value: Value, type_: Type | None) -> None:
    constant = argument_of(text)
    assert repr(constant) == repr(Constant(value, type=type_))


@pytest.mark.parametrize(
    ("written", "pushed_down"),
    [
        ("!p(x)", "!p(x)"),
        ("!!p(x)", "p(x)"),
        ("!(p(x), q(x))", "!p(x) ; !q(x)"),
        ("!(p(x) ; !q(x))", "!p(x), q(x)"),
        ("!(x = 1), !(x < 1), !(x <= 1)", "x != 1, x >= 1, x > 1"),
        ("!(x != 1), !(x > 1), !(x >= 1)", "x = 1, x <= 1, x < 1"),
        ("!match(x, y), !!contains(x, y)", "!match(x, y), contains(x, y)"),
        ("!true, !(false ; p(x))", "false, true, !p(x)"),
        ("r(y), !(p(x), (q(x) ; !r(x)))", "r(y), (!p(x) ; !q(x), r(x))"),
        ("(p(x), (q(x), r(x))), ((s(x) ; t(x)) ; u(x))", "p(x), q(x), r(x), (s(x) ; t(x) ; u(x))"),
    ],
)
def test_negation_is_pushed_down_and_nesting_is_flat(written: str, pushed_down: str) -> None:
    assert body_of(written) == pushed_down


@pytest.mark.parametrize(
    "text",
    [
        "n = count : { p(x) }",
        "n = sum x * 2 : { p(x), x > 1 }",
        "n = sum (x + 1) * 2 : { p(x) }",
        "n = max max(x, y) : { p(x), q(y) }",
        "n = 1 + count : { p(x) } + 2",
        "count : { p(x) } > max x : { q(x) }",
    ],
)
def test_aggregates(text: str) -> None:
    assert body_of(text) == text


def test_an_aggregate_over_an_atom_needs_no_braces() -> None:
    assert body_of("n = count : a.p(x), q(n)") == "n = count : { a.p(x) }, q(n)"
    assert body_of("n = max (x) : p(x)") == "n = max x : { p(x) }"


def test_every_part_knows_its_place() -> None:
    rule = block_of("\n  h(x,\n    1 + x) :- p(x), !q(x), x < 2.").rules[0]
    assert rule.place == (2, 3)
    first, second = rule.heads[0].arguments
    assert (first.place, second.place) == ((2, 5), (3, 7))
    positive, negation, comparison = rule.body.parts  # type: ignore[union-attr]
    assert positive.atom.place == (3, 15)  # type: ignore[union-attr]
    assert (negation.place, negation.atom.place) == ((3, 21), (3, 22))  # type: ignore[union-attr]
    assert comparison.place == (3, 30)  # type: ignore[union-attr]


def test_the_text_of_a_rule_is_one_line() -> None:
    text = 'h(x) :-\n\tp(x), // "no"\n  q("a  /* b */") /* c\n d */ .'
    assert block_of(text).rules[0].text == 'h(x) :- p(x), q("a  /* b */") .'


def test_names_joined_by_points_and_points_that_end() -> None:
    rules = block_of("a.b(x) :- x = y.c(x).d.e.f(1).\np(x) :- c.d(x), x = y.\nq(1).").rules
    assert [rule.heads[0].relation for rule in rules] == ["a.b", "c", "d.e.f", "p", "q"]


def test_reading_goes_on_at_the_next_clause() -> None:
    found = errors_of(
        """n(1 2). n(1, 2).
n(x, y) :- n(x, y), x. n(3, 4, 5).
.decl bad(x number)
bad(1) :- n("a", 1).
.comp C { n(1 2). bad(2). n(1, 2, 3). }
.init c = C
n(x, 1) :- a.b.c(x), !.
n("b", 1).
"""
    )
    assert [error.split(": ")[0] for error in found] == [
        "1:5",
        "2:22",
        "2:24",
        "3:13",
        "4:13",
        "5:15",
        "5:27",
        "7:23",
        "8:3",
    ]


CONSTANTS = st.one_of(
    st.integers(-(10**20), 10**20).map(str),
    st.sampled_from(
        ["007", "1.5", "2u", "0x1", "x", "1 + 2", "- 1", '"é"', '"a\\n"', '"a, b"', '"', "_", ""]
    ),
)
BLANKS = st.sampled_from(["", " ", "  ", "\t", "\n", " /* c */ ", "// c\n"])


@given(
    st.sampled_from(["p", "?q", "_r", "count", "p.q", "é"]),
    st.lists(st.tuples(BLANKS, CONSTANTS, BLANKS).map("".join), max_size=3),
    st.tuples(BLANKS, BLANKS, st.sampled_from(["\n", "", "q(1).", " :- p(1).", "0"])),
)
def test_the_quick_way_reads_facts_as_the_parser_does(
    relation: str, constants: list[str], ends: tuple[str, str, str]
) -> None:
    text = f"\n {relation}({','.join(constants)}{ends[0]}){ends[1]}.{ends[2]}"
    quick, slow = Cursor(text), Cursor(text)
    facts = read_facts(quick)
    if not facts:
        return
    fact = placed(facts[0])
    parsed = ClauseReader(slow).clause()
    assert print_rule(fact) == print_rule(parsed)
    assert (fact.place, fact.text) == (parsed.place, parsed.text)
    assert [each.place for each in fact.heads[0].arguments] == [
        each.place for each in parsed.heads[0].arguments
    ]
    if len(facts) == 1:
        assert quick.token == slow.token


def test_the_quick_way_is_taken() -> None:
    facts = read_facts(Cursor('arc(1, -2,"a b").\n'))
    assert facts == [
        Rule(
            (
                Atom(
                    "arc",
                    (
                        Constant(1, type=Type.NUMBER),
                        Constant(-2, type=Type.NUMBER),
                        Constant("a b", type=Type.SYMBOL),
                    ),
                ),
            ),
            Truth(True),
            is_fact=True,
        )
    ]
    assert [fact.place for fact in read_facts(Cursor("a(1).\n\n b(2). c(x)."))] == [(1, 1), (3, 2)]
    assert read_facts(Cursor("arc(x).")) == []
