"""Predicates read from bytes are those that the grammar reads: the same form, the same leaves."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import make_condition, make_predicate
from tests.conditions.graph.odd_texts import SNIPPETS, broken, dressed, soup
from tests.conftest import examples
from tests.strategies import predicates

from tocsin.arrays.packed import packed_bytes
from tocsin.conditions.graph import Predicates, read_conditions, scalar_key
from tocsin.conditions.graph.predicate_table import TEST_CODE
from tocsin.conditions.kernels import constants
from tocsin.conditions.kernels import predicate_parser as codes
from tocsin.conditions.kernels.condition_precheck import is_condition
from tocsin.conditions.kernels.constants import UNSURE
from tocsin.conditions.language import (
    Condition,
    Predicate,
    Test,
    parse_condition,
    print_condition,
    print_predicate,
)
from tocsin.conditions.language.parser import parse_predicate
from tocsin.conditions.operators import canonical_predicate
from tocsin.errors import RuleError
from tocsin.events import Kind


def column(texts: Sequence[str]) -> pa.LargeStringArray:
    return pa.array(texts, pa.large_string())


def leaves(texts: Sequence[str]) -> tuple[list[int], int]:
    """The leaf of each predicate's text (negation aside), and how many the kernel read itself."""
    found = Predicates()
    parsed = [parse_predicate(text)[0] for text in texts]
    whole = [predicate for predicate in parsed if isinstance(predicate, Predicate)]
    assert len(whole) == len(texts)
    start, data = packed_bytes([text.encode() for text in texts])
    ref = found.read(data, start[:-1], start[1:])
    sure = ref != UNSURE
    by_grammar = found.add(whole)
    ref[~sure] = by_grammar[~sure]
    _, leaf = found.table()
    assert leaf[ref >> 1].tolist() == leaf[by_grammar >> 1].tolist(), texts
    return leaf[ref >> 1].tolist(), int(sure.sum())


def test_the_kernels_numbers_are_the_grammars() -> None:
    assert [getattr(codes, test.name) for test in Test] == [TEST_CODE[test] for test in Test]
    assert (constants.NUMBER, constants.STRING, constants.BOOLEAN) == (Kind.NUMBER, Kind.STRING, Kind.BOOLEAN)
    assert max(Kind) + 1 == codes.NULLS


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(predicates(), min_size=1, max_size=12))
def test_one_leaf_for_each_canonical_predicate(found: list[Predicate]) -> None:
    numbers, _ = leaves([print_predicate(predicate) for predicate in found])
    canonical = list(map(canonical_predicate, found))
    first = {predicate: canonical.index(predicate) for predicate in canonical}
    by_leaf = {leaf: numbers.index(leaf) for leaf in numbers}
    assert [by_leaf[leaf] for leaf in numbers] == [first[predicate] for predicate in canonical]


SPELLINGS = [
    ("x = 1", "x = 1.0", "x = +1", "x = 001", "x in (1, 1.00)", "x=10e-1", "x between 1 and 1e0", '"x" = 1'),
    ("x = 0", "x = -0", "x = -0.0", "x = 0e5", "x != 0"),
    ("x = 0.5", "x = 5e-1", "x = 0.50000000000000000000000", "x in (5e-1, 0.5)"),
    ("x = 1e22", "x = 10000000000000000000000.0"),
    ("x = 123456789012345.5", "x = 1234567890123455e-1"),
    ("x = 9223372036854775807", "x = 09223372036854775807"),
    ("x = -9223372036854775808", "x in (-9223372036854775808)"),
    ("s = 'it''s'", "s like 'it''s'", "s in ('it''s', 'it''s')", "s like 'i\\t''s'"),
    ("s in ('a', 'ab', 'b')", "s in ('b', 'ab', 'a', 'b')", "s not in ('ab', 'b', 'a')"),
    ("s in ('', 'a')", "s in ('a', '')"),
    ("s in ('é', 'z')", "s in ('z', 'é')"),
    ("s like '%a\\_b%'", "s like '%%a\\_\\b%%%'", "s not like '%a\\_b%'"),
    ("s ilike '%abc%'", "s ilike '%ABC%'", "s not ilike '%%aBc%'"),
    ("s ilike 'k%'", "s ilike 'K%'", "s ilike '\u212a%'"),
    ("s = 'a%b'", "s like 'a\\%b'"),
    ("user.name is null", 'user . "name" IS NOT NULL', '"user".name is -- x\n null'),
    ("x.and.or = true", 'x."and".or', "x.and . or = TRUE"),
    ("flag", "flag = true", "flag != true", "flag in (true)", "flag between true and true"),
    ("contains(s, 'a b', 1)", "CONTAINS ( s , 'a b' , 1.0 )", "contains(s,'a b',-- x\n 10e-1)"),
    ("contains(s.t, 'it''s')", "Contains(s . \"t\", 'it''s')"),
    ("tm_contains(s, '\"a b\"', boolean)", "TM_Contains(s,'\"a b\"',BOOLEAN)"),
    ("contains(s, 'é', 0.1)", "contains(s, 'é', 0.1000000000000000055)"),
]


@pytest.mark.parametrize("texts", SPELLINGS, ids=lambda texts: texts[0])
def test_spellings_of_one_predicate(texts: tuple[str, ...]) -> None:
    assert len(set(leaves(texts)[0])) == 1


def test_the_groups_of_spellings_are_all_different() -> None:
    assert len(set(leaves([texts[0] for texts in SPELLINGS])[0])) == len(SPELLINGS)


@pytest.mark.parametrize(
    "texts",
    [
        ("x = 9007199254740993.0", "x = 9007199254740992", "x = 9007199254740992.5"),
        ("x = 0.1", "x = 0.1000000000000000055", "x = 0.10000000000000001"),
        ("x in (0.1, 2)", "x in (0.1000000000000000055, 2)"),
        ("x in (9007199254740993.0, 9007199254740992)", "x = 9007199254740992", "x = 9007199254740993.0"),
        ("x = 123456789012345e4", "x = 1234567890123450000", "x = 1234567890123449984"),
        ("x = 1e30", "x = 1000000000000000000000000000001.0"),
        ('"a.b" = 1', "a.b = 1"),
        ('"" = 1', '"".""= 1'),
        ("s in ('a', 'b')", "s in ('ab', '')", "s in ('', 'ab', 'a')"),
        ("s between 'a' and 'b'", "s between 'ab' and ''", "s between 'b' and 'a'"),
        ("x < 1", "x <= 1", "x = 1", "x > 1", "x >= 1", "x = '1'", "x = true", "x is null"),
        ("s like 'a_'", "s like 'a\\_'", "s ilike 'a_'", "s matches 'a_'"),
        ("contains(s, 'a')", "tm_contains(s, 'a')", "contains(t, 'a')", "contains(s, 'b')", "s = 'a'"),
        ("contains(s, 'a')", "contains(s, 'a', boolean)", "contains(s, 'a', 0)", "contains(s, 'a', 0.5)"),
    ],
)
def test_not_the_same(texts: tuple[str, ...]) -> None:
    assert len(set(leaves(texts)[0])) == len(texts)


TYPICAL = [
    "x = 1",
    "d12 <> -5",
    "price <= 12.75",
    "a.b.c > 1e3",
    "s = 'x'",
    "s in ('a', 'b')",
    "n not in (1, 2, 3)",
    "n between -1 and 0.5",
    "s not between 'a' and 'b'",
    "f is not null",
    "s like 'a%_'",
    "s ilike '%Cmd.EXE%'",
    "flag",
    "flag != false",
    '"odd ""name" = 1',
    "contains(s, 'golf & \"David Lee\"', boolean)",
    "tm_contains(s.t, 'golf | trop*')",
]


def test_the_kernel_reads_what_rule_sets_are_full_of() -> None:
    assert leaves(TYPICAL)[1] == len(TYPICAL)


@settings(max_examples=examples(300), deadline=None)
@given(st.one_of(st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False)))
def test_numbers_have_the_keys_of_the_grammars_literals(value: int | float) -> None:
    predicate, _ = parse_predicate(f"x = {value!r}")
    assert isinstance(predicate, Predicate)
    (literal,) = canonical_predicate(predicate).operands
    found = Predicates()
    found.add([predicate])
    table, _ = found.table()
    assert (int(table.operand_high[0]), int(table.operand_low[0])) == scalar_key(literal)


def surely(text: str) -> bool:
    return bool(is_condition(np.frombuffer(bytearray(text.encode()), np.uint8)))


def is_valid(text: str) -> bool:
    try:
        parse_condition(text)
    except RuleError:
        return False
    return True


def test_a_sure_condition_is_one() -> None:
    rng = random.Random(21)
    texts = [broken(rng) for _ in range(3_000)] + [soup(rng) for _ in range(3_000)] + list(SNIPPETS)
    sure = [text for text in texts if surely(text)]
    assert len(sure) > 100
    assert [text for text in sure if not is_valid(text)] == []


def test_typical_conditions_are_sure() -> None:
    assert surely(f"({' and '.join(TYPICAL)}) or not (true xor {TYPICAL[0]})")
    assert not surely("")
    assert not surely("a = ")


PIECES_OF_CALLS = st.sampled_from(
    [
        *("contains", "tm_contains", "(", ")", ",", "s", ".", "boolean", "true", "not", "and", "=", "--\n"),
        *("'a b'", "'\"a b\"~2'", "'!a'", "'é'", "''", "'a''b'"),
        *("1", "0.5", "-1", "1e400", "9007199254740993"),
    ]
)


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(PIECES_OF_CALLS, max_size=10), st.booleans())
def test_calls_of_free_text_are_only_sure_when_they_are_good(pieces: list[str], whole: bool) -> None:
    text = " ".join(["contains(s,", *pieces, ")"] if whole else pieces)
    assert is_valid(text) or not surely(text)


def test_several_thresholds_are_for_the_grammar_to_judge() -> None:
    assert surely("contains(s, 'a', 1) and contains(s, 'b') and contains(s, 'c', boolean)")
    assert not surely("contains(s, 'a', 1) or contains(s, 'b', 1)")


def test_odd_dress_changes_no_leaf() -> None:
    rng = random.Random(22)
    for _ in range(300):
        text = dressed(rng)
        plain = print_condition(parse_condition(text))
        found = read_conditions(column([plain, text]), {})
        assert not found.errors
        assert set(found.predicates) == set(map(canonical_predicate, parse_condition(text).predicates()))
        assert len(found.predicates) == len(set(found.predicates))


@pytest.mark.parametrize("seed", range(30))
def test_an_alias_is_left_out(seed: int) -> None:
    rng = random.Random(seed)
    conditions = [make_condition(rng) for _ in range(6)]
    aliases = {number: "u" if number % 3 else "other" for number in range(1, 6)}
    written = [print_condition(conditions[0])]
    written += [_with_alias(conditions[number], alias) for number, alias in aliases.items()]
    found = read_conditions(column(written), aliases)
    assert not found.errors
    assert set(found.predicates) == {
        canonical_predicate(predicate) for condition in conditions for predicate in condition.predicates()
    }


def _with_alias(condition: Condition, alias: str) -> str:
    """The condition with the alias before each of its fields."""
    steps = [
        Predicate((alias, *step.field), step.test, step.operands) if isinstance(step, Predicate) else step
        for step in condition.steps
    ]
    return print_condition(Condition(tuple(steps)))


def test_a_field_that_is_only_the_alias_is_an_error() -> None:
    found = read_conditions(column(["u.x = 1 and u = 2", "u.x = 1", '"u" = 2']), {0: "u", 1: "u", 2: "u"})
    assert {number for number, _ in found.errors} == {0}


def test_random_predicates_go_both_ways() -> None:
    rng = random.Random(23)
    texts = [print_predicate(make_predicate(rng)) for _ in range(2_000)]
    _, sure = leaves(texts)
    assert sure > 1_000
