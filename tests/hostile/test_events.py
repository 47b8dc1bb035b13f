"""Events that no system should send: each is matched rightly or refused with a clear error."""

from __future__ import annotations

import json
from collections import OrderedDict, UserDict
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.contract.doors import indexed
from tests.hostile.clock import not_hanging

from tocsin import Index
from tocsin.engines import ENGINES
from tocsin.errors import EventError, InputError, TocsinError, UsageError
from tocsin.events import FieldPlan
from tocsin.tables import parse_lines

pytestmark = pytest.mark.filterwarnings("ignore::tocsin.errors.TocsinWarning")

DEEP = 100_000


@pytest.fixture(params=list(ENGINES))
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def names(index: Any, event: Any) -> list[str]:
    return [match.rule for match in index.match(event)]


def depth_for(engine: str) -> int:
    """Far beyond what the interpreter's stack bears; the engine that everybody has gets the deepest."""
    return DEEP if engine == "atree" else DEEP // 10


def nested_list(value: object, depth: int) -> object:
    for _ in range(depth):
        value = [value]
    return value


def nested_object(value: object, depth: int) -> object:
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize("event", [None, 1, "text", [("x", 1)], [{"x": 1}], True, b"{}", {1, 2}, object()])
def test_events_that_are_not_objects(event: object, engine: str) -> None:
    index = indexed([("r", "x = 1"), ("null", "x is null"), ("true", "true")], engine=engine)
    with pytest.raises(EventError, match="an event is a dictionary"):
        index.match(event)
    with pytest.raises(EventError, match="an event is a dictionary"):
        index.explain("r", event)


@pytest.mark.parametrize("make", [OrderedDict, UserDict, MappingProxyType])
def test_every_mapping_is_an_event(make: Any, engine: str) -> None:
    index = indexed([("r", "x = 1 and y.z = 'a'")], engine=engine)
    assert names(index, make({"x": 1, "y": make({"z": "a"})})) == ["r"]


def test_deep_events(engine: str) -> None:
    index = indexed(
        [("a", "a = 1"), ("is", "a is null"), ("b", "a.a.a.b = 1"), ("any", "a > 0 or true")], engine=engine
    )
    depth = depth_for(engine)
    with not_hanging():
        assert names(index, {"a": nested_list(1, depth)}) == ["a", "any"]
        assert names(index, {"a": nested_list([], depth)}) == ["any"]
        assert names(index, {"a": nested_object(1, depth)}) == ["any"]
        assert names(index, nested_object(1, depth)) == ["any"]


def test_a_path_as_deep_as_its_event(engine: str) -> None:
    depth = depth_for(engine) // 5
    path = ".".join(["a"] * depth)
    event: object = 1
    for _ in range(depth):
        event = {"a": event}
    with not_hanging():
        index = indexed([("r", f"{path} = 1"), ("longer", f"{path}.a is null")], engine=engine)
        assert names(index, event) == ["r", "longer"]


def test_explaining_deep_and_long_values(engine: str) -> None:
    index = indexed([("r", "a = 1 or a.b = 2")], engine=engine)
    depth = depth_for(engine)
    for value in (
        nested_list(1, depth),
        nested_object(1, depth),
        [nested_object(1, depth), 1],
        10**5_000,
        "x" * 10**6,
        [1] * 10**5,
    ):
        with not_hanging():
            text = str(index.explain("r", {"a": value}))
        assert len(text) < 2_000


def test_lists_that_hold_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tocsin.events.python_events.DEEPEST_LIST", DEEP)
    loop: list[object] = []
    loop.append(loop)
    with not_hanging(), pytest.raises(EventError, match="nested"):
        indexed([("r", "a = 1")]).match({"a": loop})


def test_huge_numbers(engine: str) -> None:
    rules = [("up", "n > 9223372036854775807"), ("down", "n < -9223372036854775808"), ("zero", "n = 0")]
    index = indexed([*rules, ("most", "n > 1.7976931348623157e308")], engine=engine)
    with not_hanging():
        assert names(index, {"n": 10**100_000}) == ["up", "most"]
        assert names(index, {"n": -(10**100_000)}) == ["down"]
        assert names(index, {"n": [10**400, -(10**400), 0]}) == ["up", "down", "zero", "most"]
        assert names(index, {"n": Decimal("1e999999")}) == ["up", "most"]
        assert names(index, {"n": Decimal("1e-999999")}) == []
        assert names(index, {"n": Decimal("-0")}) == ["zero"]
        assert names(index, {"n": float("inf")}) == ["up", "most"]
        assert names(index, {"n": 5e-324}) == []


def test_numbers_of_other_libraries(engine: str) -> None:
    index = indexed([("r", "n = 1"), ("b", "n = true"), ("null", "n is null")], engine=engine)
    for one in (
        np.int8(1),
        np.uint64(1),
        np.float16(1),
        np.float64(1),
        np.array([1, 2]),
        np.array(1),
        {1, 2},
        (1,),
    ):
        assert names(index, {"n": one}) == ["r"], repr(one)
    assert names(index, {"n": np.bool_(True)}) == ["b"]
    for nothing in (np.float32("nan"), Decimal("nan"), Decimal("sNaN"), pd.NA, pd.NaT, np.datetime64("NaT")):
        assert names(index, {"n": nothing}) == ["null"], repr(nothing)


@pytest.mark.parametrize("value", [b"bytes", 1j, object(), lambda: 0, np.timedelta64(1, "s"), np.void(b"x")])
def test_values_that_no_condition_can_test(value: object, engine: str) -> None:
    index = indexed([("r", "x = 1"), ("y", "y = 1")], engine=engine)
    with pytest.raises(EventError, match="type"):
        index.match({"x": value})
    with pytest.raises(EventError, match="type"):
        index.match({"x": [1, value]})
    assert names(index, {"z": value, "y": 1}) == ["y"]


def test_half_a_surrogate_pair(engine: str) -> None:
    index = indexed([("r", "x = 'a'"), ("y", "y is null")], engine=engine)
    for value in ("\ud800", "a\udfff", ["a", "\ud800"]):
        with pytest.raises(EventError, match="surrogate"):
            index.match({"x": value})
    assert names(index, {"\ud800": 1, "z": "\ud800", "x": "a"}) == ["r", "y"]


def test_keys_that_are_not_strings(engine: str) -> None:
    index = indexed([("r", "x = 1"), ("null", '"1" is null')], engine=engine)
    assert names(index, {1: 2, None: 3, ("x",): 4, "x": 1}) == ["r", "null"]


ODD_NAMES = [
    *("", " ", ".", "a.b", "a b", 'a"b', "a'b", "é", "☃", "😀", "and", "true", "null", "cidr", "timestamp"),
    *(
        "a\x00b",
        "\n",
        "\t",
        "--",
        "a--b",
        "1",
        "1a",
        "(",
        ")",
        ",",
        ";",
        "%",
        "\\",
        "\u200b",
        "\u2028",
        "\ufeff",
    ),
    *("A", "a", "_", "x" * 10_000, "%s", "{0}", "$", "`", "event", "rule", "score", "id", "when"),
]


def test_names_of_every_odd_character(engine: str) -> None:
    quoted = ['"' + name.replace('"', '""') + '"' for name in ODD_NAMES]
    rules = [(f"{number}", f"{name} = {number}") for number, name in enumerate(quoted)]
    nested = [(f"in {number}", f"{name}.{name} = {number}") for number, name in enumerate(quoted)]
    index = indexed([*rules, *nested], engine=engine)
    event = {name: number for number, name in enumerate(ODD_NAMES)}
    assert names(index, event) == [str(number) for number in range(len(ODD_NAMES))]
    deeper = {name: {name: number} for number, name in enumerate(ODD_NAMES)}
    assert names(index, deeper) == [f"in {number}" for number in range(len(ODD_NAMES))]
    table = pa.table({name: [number] for name, number in event.items()})
    assert index.match_table(table)["rule"].to_pylist() == [str(number) for number in range(len(ODD_NAMES))]
    structs = pa.table({name: [value] for name, value in deeper.items()})
    assert index.match_table(structs)["rule"].to_pylist() == [
        f"in {number}" for number in range(len(ODD_NAMES))
    ]


def test_ten_thousand_fields() -> None:
    count = 10_000
    with not_hanging():
        index = indexed([(str(number), f"f{number} = {number}") for number in range(count)])
        event = {f"f{number}": number for number in range(count)}
        assert len(index.match(event)) == count
        assert names(index, {"f77": 77, **{f"g{number}": number for number in range(count)}}) == ["77"]
        table = pa.table({f"f{number}": [number, None] for number in range(count)})
        assert index.match_table(table, count=True).per_event.to_pylist() == [count, 0]


def test_a_list_of_a_million(engine: str) -> None:
    size = 1_000_000 if engine == "atree" else 50_000
    rules = [("in", f"n = {size - 1}"), ("out", "n != -1"), ("none", "n > 1000000"), ("s", "s = 'x'")]
    index = indexed(rules, engine=engine)
    with not_hanging():
        assert names(index, {"n": list(range(size)), "s": ["x"] * 10}) == ["in", "out", "s"]
        table = pa.table({"n": [list(range(size)), []], "s": [None, "x"]})
        found = index.match_table(table)
    assert list(zip(found["event"].to_pylist(), found["rule"].to_pylist(), strict=True)) == [
        (0, "in"),
        (0, "out"),
        (1, "out"),
        (1, "s"),
    ]


def test_a_text_of_ten_megabytes(engine: str) -> None:
    text = "ab" * 5_000_000
    index = indexed(
        [("like", "s like '%b%a%b'"), ("re", "s matches 'ba$'"), ("eq", "s = 'ab'")], engine=engine
    )
    with not_hanging():
        assert names(index, {"s": text}) == ["like"]


# ---- tables


def test_no_rules(engine: str) -> None:
    index = indexed([], engine=engine)
    assert len(index) == 0
    assert list(index.match({"x": 1})) == []
    assert index.match_table(pa.table({"x": [1, 2]})).num_rows == 0
    counts = index.match_table(pa.table({"x": [1, 2]}), count=True)
    assert (counts.per_event.to_pylist(), counts.per_rule.to_pylist()) == ([0, 0], [])


def test_tables_without_rows_or_columns(engine: str) -> None:
    index = indexed([("r", "x = 1"), ("null", "x is null")], engine=engine)
    for empty in (
        pa.table({}),
        pa.table({"x": pa.array([], pa.int64())}),
        pa.table({"x": pa.chunked_array([], pa.string())}),
        pa.schema([("x", pa.null())]).empty_table(),
    ):
        assert index.match_table(empty).num_rows == 0
        assert index.match_table(empty, count=True).per_event.to_pylist() == []
    reader = pa.RecordBatchReader.from_batches(pa.schema([("x", pa.int64())]), [])
    assert index.match_table(reader).read_all().num_rows == 0
    bare = pa.table({"y": [1, 2, 3]}).select([])
    assert bare.num_rows == 3
    assert index.match_table(bare)["event"].to_pylist() == [0, 1, 2]
    assert index.match_table(bare, count=True).per_rule.to_pylist() == [0, 3]
    batch = pa.RecordBatch.from_pydict({"y": [1, 2]}).select([])
    assert index.match_table(batch)["rule"].to_pylist() == ["null", "null"]


@pytest.mark.parametrize("table", [None, 5, "events.csv", [{"x": 1}], {"x": [1]}, object()])
def test_what_is_no_table(table: object, engine: str) -> None:
    index = indexed([("r", "x = 1")], engine=engine)
    with pytest.raises(UsageError, match="match_table takes a table"):
        index.match_table(table)


def test_a_reader_that_fails(engine: str) -> None:
    schema = pa.schema([("x", pa.int64())])

    def batches() -> Any:
        yield pa.record_batch({"x": [1]}, schema)
        raise ValueError("the source broke")

    index = indexed([("r", "x = 1")], engine=engine)
    result = index.match_table(pa.RecordBatchReader.from_batches(schema, batches()))
    with pytest.raises(ValueError, match="the source broke"):
        result.read_all()


def test_types_that_no_condition_can_test(engine: str) -> None:
    index = indexed([("r", "x = 1"), ("y", "y = 1")], engine=engine)
    with pytest.raises(TocsinError, match="type"):
        index.match_table(pa.table({"x": [b"bytes"]}))
    assert index.match_table(pa.table({"z": [b"bytes"], "y": [1]}))["rule"].to_pylist() == ["y"]


def test_a_table_with_a_column_twice(engine: str) -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"])
    with pytest.raises(InputError, match="2 columns named x"):
        indexed([("r", "x = 1")], engine=engine).match_table(table)


def test_timestamps_outside_of_pythons_years(engine: str) -> None:
    index = indexed(
        [("late", "t > timestamp '9999-12-31T23:59:59Z'"), ("early", "t < timestamp '0001-01-01T00:00:00Z'")],
        engine=engine,
    )
    for unit, ticks in (("s", 2**62), ("ms", 2**62), ("us", 2**62)):
        for zone in (None, "UTC", "Asia/Tokyo"):
            table = pa.table({"t": pa.array([ticks, -ticks, None], pa.timestamp(unit, zone))})
            found = index.match_table(table)
            assert found["rule"].to_pylist() == ["late", "early"], (unit, zone)


# ---- lines of JSON


HOSTILE_LINES = [
    (b"[" * DEEP, "deep"),
    (b'{"a":' * DEEP + b"1" + b"}" * DEEP, "deep"),
    (b'{"n": ' + b"9" * 200_000 + b"}", "digits"),
    (b"[1]", "list"),
    (b"5", "number"),
    (b"null", "null"),
    (b'"x"', "string"),
    (b"{", "JSON"),
    (b'{"a": 1} x', "JSON"),
    (b"{'a': 1}", "JSON"),
    (b'{"a": "\x00"}', "JSON"),
    (b'{"a": "\xff"}', "UTF-8"),
    (b'{"a": "\xed\xa0\x80"}', "UTF-8"),
    (b'{"a": "\\ud800"}', "surrogate"),
    (b'{"a": 01}', "JSON"),
    (b'{"a": 1,}', "JSON"),
]


@pytest.mark.parametrize(("line", "reason"), HOSTILE_LINES, ids=lambda part: str(part)[:30])
def test_lines_that_are_no_events(line: bytes, reason: str) -> None:
    with not_hanging():
        parsed = parse_lines([b'{"a": 1}', line, b'{"a": 2}'])
    assert parsed.objects == [{"a": 1}, {"a": 2}]
    assert parsed.rows == [0, 2]
    assert [reject.row for reject in parsed.rejects] == [1]
    assert reason.lower() in parsed.rejects[0].reason.lower()


def test_lines_that_are_odd_and_right() -> None:
    lines = [
        b'{"a": 1, "a": 2}',
        b'{"a": ' + b"9" * 90_000 + b"}",
        b'{"a": 1e999}',
        '{"a": "\U0001f600"}'.encode(),
        b'{"a": "\\ud83d\\ude00"}',
        b'{"a": ' + b"[" * 400 + b"2" + b"]" * 400 + b"}",
    ]
    index = indexed([("two", "a = 2"), ("big", "a > 1e308"), ("s", "a = '😀'")])
    assert isinstance(index, Index)
    with not_hanging():
        parsed = parse_lines(lines)
        found = index.version.match_cells(FieldPlan(index.fields).batch(parsed.objects))
    assert parsed.rejects == []
    assert found.rule.tolist() == [0, 1, 1, 2, 2, 0]
    assert json.loads(lines[0]) == parsed.objects[0]
