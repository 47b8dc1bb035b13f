"""Conditions that no person would write: each is taken and right, or refused with a clear error."""

from __future__ import annotations

import random
from collections.abc import Callable

import pyarrow as pa
import pytest
from tests.contract.doors import indexed
from tests.hostile.clock import not_hanging

import tocsin
from tocsin.engines import ENGINES
from tocsin.errors import RuleError, RuleErrors

pytestmark = pytest.mark.filterwarnings("ignore::tocsin.errors.TocsinWarning")  # few fields occur

DEEP = 100_000


@pytest.fixture(params=list(ENGINES))
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def is_refused_by(engine: str, error: RuleError) -> None:
    assert engine != "atree"
    assert error.rule == "r"
    assert error.reason.startswith(f"the engine {engine} cannot take this rule: ")


def holds(condition: str, event: dict[str, object], engine: str = "atree") -> bool:
    """Whether one event, alone and in a table, satisfies a condition that is built alone."""
    index = indexed([("r", condition)], engine=engine)
    alone = len(index.match(event)) == 1
    if all(isinstance(value, int | str) for value in event.values()):
        assert index.match_table(pa.Table.from_pylist([event])).num_rows == alone
    return alone


def parentheses(depth: int) -> tuple[str, bool]:
    return "(" * depth + "x = 1" + ")" * depth, True


def nots(depth: int) -> tuple[str, bool]:
    return "not " * depth + "x = 1", depth % 2 == 0


def nots_in_parentheses(depth: int) -> tuple[str, bool]:
    return "not (" * depth + "x = 1" + ")" * depth, depth % 2 == 0


def leaning_left(depth: int) -> tuple[str, bool]:
    """((x = 1 and x = 1) or x = 2) and ..."""
    words = [("and x = 1", "or x = 2")[level % 2] for level in range(depth)]
    return "(" * depth + "x = 1 " + ") ".join(words) + ")", True


def leaning_right(depth: int) -> tuple[str, bool]:
    """x = 1 and (x = 2 or (x = 1 and ..."""
    words = ["x = 1 and (" if level % 2 == 0 else "x = 2 or (" for level in range(depth)]
    return "".join(words) + "x = 1" + ")" * depth, True


def leaning_left_over_many_fields(depth: int) -> tuple[str, bool]:
    words = [(f"and a{level % 7} = 1", f"or b{level % 5} = 2")[level % 2] for level in range(depth)]
    return "(" * depth + "x = 2 " + ") ".join(words) + ") or x = 1", True


def repeated_and(depth: int) -> tuple[str, bool]:
    return " and ".join(["x = 1"] * depth), True


SHAPES: list[Callable[[int], tuple[str, bool]]] = [
    *(parentheses, nots, nots_in_parentheses, leaning_left, leaning_right, leaning_left_over_many_fields),
    repeated_and,
]


@pytest.mark.parametrize("depth", [DEEP // 5, pytest.param(DEEP + 1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_nested_a_hundred_thousand_deep(shape: Callable[[int], tuple[str, bool]], depth: int) -> None:
    condition, truth = shape(depth)
    with not_hanging():
        assert holds(condition, {"x": 1}) == truth


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_every_engine_takes_them_deep_or_says_why_not(
    shape: Callable[[int], tuple[str, bool]], engine: str
) -> None:
    condition, truth = shape(DEEP // 40)
    with not_hanging():
        try:
            assert holds(condition, {"x": 1}, engine) == truth
        except RuleError as refused:
            is_refused_by(engine, refused)


@pytest.mark.parametrize("text", ["(" * DEEP, ")" * DEEP, "not " * DEEP, "(" * DEEP + "x" + ")" * (DEEP - 1)])
def test_deep_and_broken(text: str) -> None:
    with not_hanging(), pytest.raises(RuleError) as caught:
        indexed([("r", text)])
    assert caught.value.rule == "r"
    assert len(str(caught.value)) < 20_000


@pytest.mark.parametrize("seed", range(3))
def test_chains_of_xor(engine: str, seed: int) -> None:
    rng = random.Random(seed)
    size = 2_000
    words = ["xor", "xnor"]
    chosen = [rng.choice(words) for _ in range(size - 1)]
    condition = "x0 = 1" + "".join(f" {word} x{number + 1} = 1" for number, word in enumerate(chosen))
    try:
        index = indexed([("r", condition)], engine=engine)
    except RuleError as refused:
        is_refused_by(engine, refused)
        return
    for missing in (False, True):
        event: dict[str, object] = {f"x{number}": rng.randint(0, 1) for number in range(size)}
        truth = event["x0"] == 1
        for number, word in enumerate(chosen):
            truth = (truth != (event[f"x{number + 1}"] == 1)) == (word == "xor")
        if missing:
            del event[f"x{rng.randrange(size)}"]
        with not_hanging():
            assert [match.rule for match in index.match(event)] == (["r"] if truth and not missing else [])
            table = pa.Table.from_pylist(
                [event], pa.schema([(f"x{number}", pa.int64()) for number in range(size)])
            )
            assert index.match_table(table).num_rows == (truth and not missing)


def test_a_xor_nested_in_parentheses() -> None:
    depth = 3_000
    condition = "(" * depth + "x0 = 1" + "".join(f" xor x{number % 50} = 1)" for number in range(depth))
    event: dict[str, object] = {f"x{number}": 1 for number in range(50)}
    with not_hanging():
        assert holds(condition, event) == ((depth + 1) % 2 == 1)


@pytest.mark.parametrize("size", [100_000])
def test_a_hundred_thousand_values_in_one_in(size: int) -> None:
    numbers = f"n in ({', '.join(map(str, range(0, 3 * size, 3)))})"
    texts = f"s not in ({', '.join(repr(f'v{number}') for number in range(size))})"
    with not_hanging():
        index = indexed([("numbers", numbers), ("texts", texts)])
        found = [
            [match.rule for match in index.match(event)]
            for event in ({"n": 3, "s": "v3"}, {"n": 4, "s": "w"})
        ]
    assert found == [["numbers"], ["texts"]]


def test_a_condition_of_a_megabyte() -> None:
    parts = [f"field{number % 997} = 'value {number}'" for number in range(40_000)]
    condition = " or ".join(parts)
    assert len(condition) > 1_000_000
    with not_hanging():
        assert holds(condition, {"field5": "value 5"})
        assert not holds(condition, {"field5": "value 6"})


def test_a_string_and_a_name_of_a_megabyte() -> None:
    long = "é" * 500_000
    with not_hanging():
        assert holds(f"s = '{long}'", {"s": long})
        assert not holds(f"s = '{long}'", {"s": long[:-1] + "e"})
        assert holds(f'"{long}" = 1', {long: 1})
        assert holds(f"s like '%{long}_'", {"s": long + "x"})


def test_a_comment_of_a_megabyte() -> None:
    assert holds("--" + "'(" * 500_000 + "\nx = 1", {"x": 1})


@pytest.mark.parametrize("word", ["and", "or"])
def test_ten_thousand_children(word: str) -> None:
    condition = f" {word} ".join(f"x{number} = {number}" for number in range(10_000))
    event: dict[str, object] = {f"x{number}": number for number in range(10_000)}
    with not_hanging():
        index = indexed([("r", condition)])
        assert len(index.match(event)) == 1
        assert len(index.match({"x9999": 9_999})) == (word == "or")
        assert len(index.match({**event, "x7": 0})) == (word == "or")


def test_ten_thousand_rules_that_differ_in_a_value() -> None:
    with not_hanging():
        index = indexed([(str(number), f"x >= {number} and y = 1") for number in range(10_000)])
        assert len(index.match({"x": 5_000, "y": 1})) == 5_001
        assert len(index.match({"x": 5_000})) == 0


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("s = 'abc", "string never ends"),
        ('"abc = 1', "name never ends"),
        ("s = 'it's'", "string never ends"),
        ("s = ''''' ", "string never ends"),
        ("", "empty"),
        ("   -- nothing\n", "empty"),
        ("x =", "expected a value"),
        ("x = 1 and", "expected a condition"),
        ("and x = 1", "expected a condition"),
        ("x = 1 x = 2", "expected"),
        ("(x = 1", "never closed"),
        ("x = 1)", "closes nothing"),
        ("x in ()", "expected a value"),
        ("x in (1, 'a')", "one kind"),
        ("x between 1 and 'a'", "one kind"),
        ("x = 9223372036854775808", "does not fit 64 bits"),
        ("x = " + "9" * 100_000, "does not fit 64 bits"),
        ("x = 1e400", "too large"),
        ("x = 1" + "e9" * 50_000, "not a number"),
        ("s like 'a\\'", "lone backslash"),
        ("s matches '('", ""),
        ("s matches '(?=a)'", ""),
        ("s matches '(a)\\1'", ""),
        ("s matches 'a{1000}{1000}{1000}'", ""),
        ("cidr(x, '10.0.0.1/8')", ""),
        ("cidr(x, '10.0.0.0/33')", ""),
        ("contains(x, '!a')", "only a negation"),
        ("x = timestamp '2026-02-30T00:00:00Z'", "not a timestamp"),
        ("x\x00 = 1", "U\\+0000"),
        ("x\u00a0= 1", "U\\+00A0"),
        ("é = 1", "not a plain name"),
        ("x = null", "is null"),
        ("a..b = 1", "expected a name"),
        ("x == 1", "use '='"),
        ("select = 1 && y = 2", "use 'and'"),
    ],
    ids=lambda part: part[:40],
)
def test_refused_with_a_reason(condition: str, reason: str, engine: str) -> None:
    with not_hanging(), pytest.raises(RuleError, match=f"(?s){reason}") as caught:
        indexed([("good", "x = 1"), ("bad", condition)], engine=engine)
    assert caught.value.rule == "bad"
    assert caught.value.line == 2
    assert len(str(caught.value)) < 2_000


def test_every_error_is_reported() -> None:
    bad = [(f"r{number}", "x = " if number % 2 else "y = 'a") for number in range(5_000)]
    with not_hanging(), pytest.raises(RuleErrors) as caught:
        indexed(bad)
    assert [error.rule for error in caught.value.errors] == [name for name, _ in bad]
    assert len(str(caught.value)) < 20_000
    with pytest.raises(RuleErrors) as several:
        indexed([("r", "x = and y == 2 or z <")])
    assert [error.column for error in several.value.errors] == [5, 11, 22]


def test_good_rules_among_bad_ones() -> None:
    rules = [(str(number), "x = 1" if number % 3 else "x = ") for number in range(30)]
    index, errors = tocsin.build_good(rules)
    assert len(index) == 20
    assert [error.rule for error in errors] == [str(number) for number in range(0, 30, 3)]
    assert [match.rule for match in index.match({"x": 1})] == [
        str(number) for number in range(30) if number % 3
    ]


@pytest.mark.parametrize(
    "expression",
    ["(a+)+$", "(a|aa)*$", "(.*a){20}", "^(([a-z])+.)+[A-Z]([a-z])+$", "(x+x+)+y", "(a?){50}a{50}"],
)
def test_catastrophic_expressions(expression: str, engine: str) -> None:
    text = "a" * 50_000 + "!"
    with not_hanging():
        index = indexed([("r", f"s matches '{expression}' or s = '{text}'")], engine=engine)
        assert len(index.match({"s": text})) == 1


def test_an_expression_nested_deep(engine: str) -> None:
    """RE2 takes it or says why not."""
    for depth in (100, 5_000, 100_000):
        condition = f"s matches '{'(' * depth}a{')' * depth}'"
        with not_hanging():
            try:
                assert holds(condition, {"s": "bab"}, engine)
            except RuleError as error:
                assert "matches" in str(error) or "expression" in str(error)  # noqa: PT017


def test_catastrophic_likes(engine: str) -> None:
    text = "a" * 20_000
    with not_hanging():
        assert not holds(f"s like '{'%a' * 200}%b'", {"s": text}, engine)
        assert not holds(f"s like '{'%_' * 200}b'", {"s": text}, engine)
        assert holds(f"s ilike '{'%A_' * 100}%'", {"s": text}, engine)
        assert not holds(f"s like '%{'a_' * 500}b%'", {"s": text}, engine)


def test_only_constants(engine: str) -> None:
    index = indexed(
        [("always", "true"), ("never", "false"), ("odd", "not (true xor not false)")], engine=engine
    )
    assert [match.rule for match in index.match({})] == ["always", "odd"]
    found = index.match_table(pa.table({"x": [1, None]}))
    assert found["event"].to_pylist() == [0, 0, 1, 1]
    counts = index.match_table(pa.table({"x": [1, None]}), count=True)
    assert counts.per_rule.to_pylist() == [2, 0, 2]


def test_an_explanation_of_a_deep_rule_is_not_deeper_than_the_rule(engine: str) -> None:
    """Its text grows with the number of parts, and not with their square."""
    depth = 5_000
    condition, _ = leaning_left(depth)
    with not_hanging():
        text = str(indexed([("r", condition)], engine=engine).explain("r", {"x": 1}))
    assert text.startswith("r matches")
    assert len(text) < 1_000 * depth
