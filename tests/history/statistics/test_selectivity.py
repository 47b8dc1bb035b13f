"""How often predicates hold: exact where history knows all values, near the truth elsewhere."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path as FilePath

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.history.statistics.corpora import history_of

from tocsin import Dictionary, History
from tocsin.conditions.language import Predicate, parse_condition
from tocsin.conditions.language.parser import parse_predicate
from tocsin.conditions.live import Preparation
from tocsin.conditions.meaning import Truth, matches, predicate_truth
from tocsin.conditions.planner import plan_rules
from tocsin.errors import InputError, UsageError
from tocsin.events import Kind
from tocsin.history.statistics import HistorySelectivity
from tocsin.history.statistics.selectivity import GUESS
from tocsin.rules import Rules
from tocsin.text import parse_query, query_code, words_for_kernels

ROWS = 400
STATES = ["CA", "NY", "OR", "TX"]


def events() -> list[dict[str, object]]:
    chosen = random.Random(11)
    return [
        {
            "n": chosen.randrange(20),
            "state": chosen.choice(STATES) if chosen.random() < 0.8 else None,
            "on": chosen.random() < 0.25,
            "at": dt.datetime(2026, 1, 1 + chosen.randrange(20), tzinfo=dt.UTC),
            "said": f"2026-01-{1 + chosen.randrange(20):02}T00:00:00Z",
            "ip": f"10.0.{chosen.randrange(4)}.{chosen.randrange(200)}",
            "user": {"age": chosen.randrange(50)},
            "tags": [chosen.choice("ab") for _ in range(chosen.randrange(3))],
            "body": "golf day" if chosen.random() < 0.1 else "a day",
        }
        for _ in range(ROWS)
    ]


EVENTS = events()
FIELDS = [("at",), ("body",), ("ip",), ("n",), ("on",), ("said",), ("state",), ("tags",), ("user", "age")]


@pytest.fixture(scope="module")
def history() -> History:
    return history_of(EVENTS, FIELDS, [("body",)])


def asked(condition: str) -> Predicate:
    predicate, negated = parse_predicate(condition)
    assert isinstance(predicate, Predicate)
    assert not negated
    return predicate


def share(condition: str) -> float:
    predicate = asked(condition)
    return sum(predicate_truth(predicate, event) is Truth.TRUE for event in EVENTS) / ROWS


def estimate(condition: str, history: History) -> float:
    return HistorySelectivity(history)(asked(condition))


EXACT = [
    "n = 7",
    "n in (1, 2, 2, 99)",
    "n < 5",
    "n <= 5",
    "n > 5",
    "n >= 5.5",
    "n between 3 and 8",
    "state = 'CA'",
    "state in ('NY', 'OR')",
    "state > 'NZ'",
    "state is null",
    "on = true",
    "at > timestamp '2026-01-10T00:00:00Z'",
    "at between timestamp '2026-01-05T00:00:00Z' and timestamp '2026-01-07T00:00:00Z'",
    "said < timestamp '2026-01-05T00:00:00Z'",
    "user.age < 25",
    "state like '%A'",
    "state ilike 'o_'",
    "state matches '^[A-N]'",
    "tags = 'a'",
    "tags = 'b'",
    "tags in ('a', 'b')",
    "tags >= 'a'",
    "tags < 'b'",
    "contains(body, 'golf')",
    "contains(body, 'golf & day')",
    "tm_contains(body, 'gol* | day')",
    "contains(body, 'a & !golf')",
]


@pytest.mark.parametrize("condition", EXACT)
def test_exact_where_all_values_are_known(condition: str, history: History) -> None:
    assert estimate(condition, history) == pytest.approx(share(condition), abs=1e-12)


@pytest.mark.parametrize(
    "condition",
    ["cidr(ip, '10.0.1.0/24')", "ip like '10.0.2.%'"],
)
def test_near_where_values_are_sampled(condition: str, history: History) -> None:
    assert estimate(condition, history) == pytest.approx(share(condition), abs=0.12)


@pytest.mark.parametrize(
    "condition",
    [
        "n = 1000",
        "n > 1000",
        "n = 'text'",
        "nowhere = 1",
        "state like 'q%'",
        "contains(body, 'tennis')",
        "at < 3",
    ],
)
def test_what_never_happened_is_unlikely_but_possible(condition: str, history: History) -> None:
    assert 0 < estimate(condition, history) <= 1 / ROWS


LISTS = st.one_of(
    st.none(),
    st.lists(st.one_of(st.sampled_from([1, 2, 3.0, 0.5, True]), st.sampled_from("abc")), max_size=5),
    st.sampled_from([1, "a", True]),
)


ASKED_OF_LISTS = [
    *("x = 1", "x = 0.5", "x = 'a'", "x = true", "x in ('b', 'b')", "x is null"),
    *(
        "x in (1, 3)",
        "x in ('a', 'b', 'c', 'd')",
        "x in (1, 2, 3, 4)",
        "x > 1",
        "x <= 2",
        "x < 'c'",
        "x >= 'b'",
    ),
    *("x between 0.5 and 2", "x between 'b' and 'c'"),
]


@given(st.lists(LISTS, min_size=1, max_size=20))
def test_what_lists_hold_is_exact_while_all_are_sampled(values: list[object]) -> None:
    rows = [{"x": value} for value in values]
    known = history_of(rows, [("x",)])
    for condition in ASKED_OF_LISTS:
        predicate = asked(condition)
        held = sum(predicate_truth(predicate, row) is Truth.TRUE for row in rows) / len(rows)
        if held:
            assert HistorySelectivity(known)(predicate) == pytest.approx(held, abs=1e-12)


@pytest.fixture(scope="module", params=[300, 2_000])
def tagged(request: pytest.FixtureRequest) -> tuple[list[dict[str, object]], History]:
    """Lists whose values go together: the tags 3k, 3k + 1 and 3k + 2, and a few of one's own."""
    dice = random.Random(request.param)
    rows: list[dict[str, object]] = []
    for _ in range(20_000):
        theme = 3 * min(int(dice.expovariate(0.02)), request.param // 3 - 1)
        together = [theme + place for place in range(3) if dice.random() < 0.9]
        rows.append({"x": [*together, *dice.choices(range(request.param), k=dice.randrange(3))]})
    return rows, history_of(rows, [("x",)])


@pytest.mark.parametrize(
    "condition",
    [
        *("x in (0, 1, 2)", "x in (0, 3, 6)", "x in (6, 7, 8, 15, 16, 17, 30, 31, 32)", "x in (0, 1)"),
        *("x < 3", "x < 40", "x > 60", "x >= 12", "x between 30 and 59"),
    ],
)
def test_lists_are_near_by_how_their_values_go_together(
    condition: str, tagged: tuple[list[dict[str, object]], History]
) -> None:
    rows, known = tagged
    predicate = asked(condition)
    held = sum(predicate_truth(predicate, row) is Truth.TRUE for row in rows) / len(rows)
    sampled = known.field("x").kinds[Kind.NUMBER].lists
    assert 200 < sampled < 1_024
    assert HistorySelectivity(known)(predicate) == pytest.approx(
        held, abs=4 * (held * (1 - held) / sampled) ** 0.5
    )


NEGATED = ["not contains(body, 'golf')", "n != 7", "state not in ('CA', 'NY')", "n is not null"]


def test_a_negation_holds_only_where_its_field_is_known() -> None:
    rows: list[dict[str, object]] = [
        {"body": "golf day", "n": 7},
        {"body": "day", "state": "CA"},
        {"n": 3, "state": "TX"},
        {"n": "x"},
    ]
    rows *= 10
    known = history_of(rows, [("body",), ("n",), ("state",)], [("body",)])
    preparation = Preparation.of(known)
    plans = plan_rules(Rules.of(enumerate(NEGATED)), preparation.base, preparation.planner)
    for condition, plan in zip(NEGATED, plans, strict=True):
        held = sum(matches(parse_condition(condition), row) for row in rows) / len(rows)
        assert plan.conjuncts[0].selectivity == pytest.approx(held, abs=1e-12), condition


def test_field_that_no_event_has_is_null(history: History) -> None:
    assert estimate("nowhere is null", history) == 1.0


def test_guesses() -> None:
    empty = history_of([], [("n",)])
    assert estimate("n = 1", empty) == GUESS
    uncounted = history_of([{"body": "golf"}, {}] * 10, [("body",)])
    assert estimate("contains(body, 'golf')", uncounted) == GUESS / 2


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_ranges_of_many_values_are_near(one: int, two: int) -> None:
    low, high = sorted((one, two))
    values = sorted(MANY)
    true = sum(low <= value <= high for value in values) / len(values)
    assert estimate(f"n between {low} and {high}", many_numbers()) == pytest.approx(true, abs=0.06)


MANY = [random.Random(seed).randrange(10**6) for seed in range(5_000)]
_KEPT: list[History] = []


def many_numbers() -> History:
    if not _KEPT:
        _KEPT.append(history_of([{"n": value} for value in MANY], [("n",)]))
    return _KEPT[0]


def test_seldom_values_share_what_is_left() -> None:
    found = estimate(f"n = {MANY[0]}", many_numbers())
    assert 1 / len(MANY) / 4 < found < 4 / len(MANY)


def test_text_queries_all_at_once(history: History) -> None:
    queries = ["golf", "golf & !day", "a | golf", "tennis", "day, golf"]
    fields = [("state",), ("body",)]
    code, terms = query_code(
        [parse_query(query) for query in queries * 2],
        [0] * len(queries) + [1] * len(queries),
        [0.0] * (2 * len(queries)),
        words_for_kernels([Dictionary(), Dictionary()]),
    )
    numbers = np.arange(2 * len(queries), dtype=np.int32)[::-1].copy()
    for known in (history, history_of([], FIELDS, [("body",)])):
        found = HistorySelectivity(known).of_queries(code, terms, numbers, fields).tolist()
        expected = [
            estimate(f"contains({path}, '{query}')", known) for (path,) in fields for query in queries
        ]
        assert found == pytest.approx(expected[::-1], rel=1e-12)


def test_words_that_were_not_counted(history: History) -> None:
    with pytest.raises(UsageError, match="counted are: body"):
        history.dictionary("state")
    assert history.dictionary("body").documents == ROWS
    assert history.dictionary(("body",)).documents_with("day") == ROWS


def test_folders_that_hold_no_statistics(tmp_path: FilePath) -> None:
    with pytest.raises(InputError, match="no statistics here"):
        History.open(tmp_path)
    (tmp_path / "statistics.json").write_text("{}")
    with pytest.raises(InputError, match="damaged"):
        History.open(tmp_path)
    (tmp_path / "statistics.json").write_text('{"format": 99}')
    with pytest.raises(InputError, match="format 99"):
        History.open(tmp_path)


def test_damaged_folders(tmp_path: FilePath) -> None:
    history_of(EVENTS[:20], FIELDS, [("body",)], folder=tmp_path)
    words = tmp_path / "words-1" / "0.parquet"
    kept = words.read_bytes()
    words.unlink()
    with pytest.raises(InputError, match="words"):
        History.open(tmp_path).dictionary("body")
    words.write_bytes(kept[:-20])
    with pytest.raises(InputError, match="cannot be read"):
        History.open(tmp_path).dictionary("body")
    (tmp_path / "fields-1.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match="cannot be read"):
        History.open(tmp_path)
