from __future__ import annotations

import csv
import gzip
import io
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin import Rule, Rules, read_rules
from tocsin.conditions.language import parse_condition
from tocsin.errors import InputError, RuleError, RuleErrors, UsageError
from tocsin.rules.rule_files import read_csv, rule_files


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def pairs(rules: Rules) -> list[tuple[str, str]]:
    return [(rule.id, rule.when) for rule in rules]


def all_errors(error: RuleError) -> list[RuleError]:
    return list(error.errors) if isinstance(error, RuleErrors) else [error]


def test_each_kind_of_file(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", 'id,when,severity\n007,"a in (1, 2)",high\n8,b,\n')
    write(
        tmp_path / "b.jsonl", '{"id": 9, "when": "c", "severity": "low", "n": 1}\n\n{"id":"x","when":"d"}\n'
    )
    write(tmp_path / "c.sql", "create trigger t with (n = 'many')\n from v when v.x = 1;")
    pq.write_table(pa.table({"id": [10], "when": ["e"], "n": [2]}), tmp_path / "d.parquet")
    rules = read_rules(tmp_path)
    assert list(rules) == [
        Rule("007", "a in (1, 2)", {"severity": "high"}, str(tmp_path / "a.csv"), 2),
        Rule("8", "b", {}, str(tmp_path / "a.csv"), 3),
        Rule("9", "c", {"severity": "low", "n": "1"}, str(tmp_path / "b.jsonl"), 1),
        Rule("x", "d", {}, str(tmp_path / "b.jsonl"), 3),
        Rule("t", "v.x = 1", {"n": "many", "table": "v", "alias": "v"}, str(tmp_path / "c.sql"), 2),
        Rule("10", "e", {"n": "2"}, str(tmp_path / "d.parquet"), 1),
    ]
    assert rules.aliases == {4: "v"}
    assert rules.rejected == []
    assert rules[-1].id == "10"
    assert isinstance(rules.ids, pa.LargeStringArray)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.csv.gz", "id,when\n1,a\n"),
        ("r.jsonl.gz", '{"id": 1, "when": "a"}'),
        ("r.sql.gz", 'create trigger "1" when a;'),
        ("R.CSV", "\ufeffid,when\r\n1,a\r\n"),
        ("r.sql", '\ufeffcreate trigger "1" when a;'),
        ("r.jsonl", '\ufeff{"id": 1, "when": "a"}\r\n'),
    ],
)
def test_compressed_and_marked_files(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    data = text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    assert pairs(read_rules(path)) == [("1", "a")]
    assert pairs(read_rules(str(path))) == [("1", "a")]


def test_folders_are_read_by_path_without_hidden_files(tmp_path: Path) -> None:
    for name in ("b/2.csv", "a.csv", "b/1.csv", ".hidden.csv", ".git/x.csv", "notes.txt"):
        write(tmp_path / name, f"id,when\n{name},a\n")
    assert [rule.id for rule in read_rules(tmp_path)] == ["a.csv", "b/1.csv", "b/2.csv"]
    assert rule_files(str(tmp_path)) == [tmp_path / name for name in ("a.csv", "b/1.csv", "b/2.csv")]
    assert [rule.id for rule in read_rules(tmp_path / "b", tmp_path / "a.csv")] == [
        "b/1.csv",
        "b/2.csv",
        "a.csv",
    ]


def test_what_is_no_rule_file(tmp_path: Path) -> None:
    write(tmp_path / "empty/readme.md", "")
    for path, part in (
        (tmp_path / "empty", "no rule files"),
        (tmp_path / "missing.csv", "no such file"),
        (tmp_path / "empty/readme.md", "the file is empty"),
        (write(tmp_path / "notes.txt", "some words"), "not a rule file"),
        (write(tmp_path / "events.jsonl", '{"a": 1}\n'), "are these events?"),
        (write(tmp_path / "x.parquet", "nonsense"), "not a Parquet file"),
        (write(tmp_path / "x.csv.gz", "nonsense"), "cannot be read"),
        (write(tmp_path / "x.csv", ""), "the file is empty"),
        (write(tmp_path / "y.csv", "\n\n"), "the file is empty"),
        (write(tmp_path / "z.csv", "id;when\n1;a\n"), "no column 'id': the columns are 'id;when'"),
        (write(tmp_path / "q.csv", "id,when,id\n1,a,2\n"), "the column 'id' stands there twice"),
        (write(tmp_path / "u.csv", 'id,when\n1,a\n2,"b\n3,c\n'), "u.csv:3: a quoted field"),
    ):
        with pytest.raises(InputError, match=str(path.name)) as raised:
            read_rules(path)
        assert part in str(raised.value)
    with pytest.raises(UsageError):
        read_rules()


@pytest.mark.parametrize("name", ["x.csv", "x.sql"])
def test_text_that_is_not_utf8_is_refused_with_its_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"id,when\n1,a\n2,\xff\n")
    with pytest.raises(InputError, match=r":3: the file is not UTF-8"):
        read_rules(path)


def test_truncated_gzip(tmp_path: Path) -> None:
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"id,when\n" + os.urandom(1000).hex().encode())[:-200])
    with pytest.raises(InputError, match="cannot be read"):
        read_rules(path)


def test_csv_errors_have_the_lines_of_their_rows(tmp_path: Path) -> None:
    path = write(
        tmp_path / "r.csv",
        'id,when\n1,"a\nand b"\n\n2,c\n3,a in (1,2)\n,d\n4,\n5\n"",e\n1,f\n6,""\n',
    )
    with pytest.raises(RuleErrors) as raised:
        read_rules(path)
    assert [(error.line, error.rule) for error in raised.value.errors] == [
        (6, "3"),
        (7, None),
        (8, "4"),
        (9, "5"),
        (10, None),
        (11, "1"),
    ]
    reasons = [error.reason for error in raised.value.errors]
    assert reasons[0] == "expected 2 fields, found 3: a condition with a comma stands in double quotes"
    assert reasons[1] == "the id is missing: expected a string or an integer"
    assert reasons[2] == "the condition is missing"
    assert reasons[3] == "expected 2 fields, found 1"
    assert reasons[4] == "the id is empty"
    assert reasons[5] == f"the id '1' is already taken at {path}:2"
    rules = read_rules(path, skip_bad=True)
    assert pairs(rules) == [("1", "a\nand b"), ("2", "c"), ("6", "")]
    assert [error.reason for error in rules.rejected] == reasons


def test_a_row_of_a_table_between_tabs_that_does_not_fit(tmp_path: Path) -> None:
    path = write(tmp_path / "r.tsv", "id\twhen\na,b\tx in (1, 2)\nc\ts = '\t'\n")
    rules = read_rules(path, skip_bad=True)
    assert pairs(rules) == [("a,b", "x in (1, 2)")]
    (error,) = rules.rejected
    assert (error.rule, error.line) == ("c", 3)
    assert error.reason == "expected 2 fields, found 3: a condition with a tab stands in double quotes"


def test_a_header_alone_is_no_rules(tmp_path: Path) -> None:
    for text in ("id,when", "id,when\n", "id,when,x\n\n"):
        assert len(read_rules(write(tmp_path / "r.csv", text))) == 0


def test_a_very_long_row(tmp_path: Path) -> None:
    long = " or ".join(["a = 1"] * 1_500_000)
    rules = read_rules(write(tmp_path / "r.csv", f"id,when\n1,{long}\n2,b\n"))
    assert [len(rule.when) for rule in rules] == [len(long), 1]


cells = st.text(st.characters(exclude_characters="\x00\r", codec="utf-8"), max_size=6)


@settings(max_examples=60)
@given(st.lists(st.tuples(cells, cells), max_size=6))
def test_csv_as_python_writes_it(rows: list[tuple[str, str]]) -> None:
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(["id", "when"])
    lines = []
    for row in rows:
        lines.append(out.getvalue().count("\n") + 1)
        writer.writerow(row)
    rules = read_csv(out.getvalue().encode(), "r.csv")
    good = [at for at, (name, _) in enumerate(rows) if name]
    assert pairs(rules) == [rows[at] for at in good]
    assert rules.lines.tolist() == [lines[at] for at in good]


def test_jsonl_errors(tmp_path: Path) -> None:
    bad = [
        ("[1]", "expected an object"),
        ('{"id": 1', "not JSON"),
        ('{"id": 2}', "the condition is missing"),
        ('{"when": "a"}', "the id is missing"),
        ('{"id": 1.5, "when": "a"}', "the id is of type float"),
        ('{"id": true, "when": "a"}', "the id is of type bool"),
        ('{"id": "", "when": "a"}', "the id is empty"),
        ('{"id": 3, "when": 5}', "the condition is of type int"),
        ('{"id": 4, "when": "a", "x": NaN}', "NaN is not a JSON value"),
        ('{"id": 5, "when": "a", "x": "\\ud800"}', "surrogate"),
        ("[" * 100_000, "nested too deeply"),
        ('{"id": ' + "9" * 5_000 + ', "when": "a"}', "not JSON"),
        ('{"id": "ok", "when": "a"}', "already taken at"),
    ]
    path = write(tmp_path / "r.jsonl", '{"id": "ok", "when": "a"}\n' + "\n".join(line for line, _ in bad))
    rules = read_rules(path, skip_bad=True)
    assert pairs(rules) == [("ok", "a")]
    assert [error.line for error in rules.rejected] == list(range(2, 2 + len(bad)))
    for error, (_, part) in zip(rules.rejected, bad, strict=True):
        assert part in error.reason
        assert error.file == str(path)


def test_jsonl_that_is_not_utf8_loses_only_its_line(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b'{"id": 1, "when": "a"}\n{"id": 2, "when": "\xff"}\n{"id": 3, "when": "b"}\n')
    rules = read_rules(path, skip_bad=True)
    assert [rule.id for rule in rules] == ["1", "3"]
    assert [error.line for error in rules.rejected] == [2]


def test_jsonl_metadata_of_different_types(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [
        {"id": 1, "when": "a", "x": 1, "tags": ["p", "q"], "deep": {"k": 1}},
        {"id": 2, "when": "a", "x": "one", "tags": ["r"]},
        {"id": 3, "when": "a", "x": 2**70},
    ]
    rules = read_rules(write(tmp_path / "r.jsonl", "\n".join(map(json.dumps, lines))))
    assert [rule.metadata for rule in rules] == [
        {"x": "1", "tags": ["p", "q"], "deep": {"k": 1}},
        {"x": "one", "tags": ["r"]},
        {"x": str(2**70)},
    ]


def test_deep_metadata_is_kept_or_refused(tmp_path: Path) -> None:
    for depth in (50, 200, 700, 950, 5_000):
        deep = "[" * depth + "1" + "]" * depth
        path = write(tmp_path / "r.jsonl", '{"id": 1, "when": "a", "x": ' + deep + "}\n")
        rules = read_rules(path, skip_bad=True)
        assert len(rules) + len(rules.rejected) == 1
        assert len(list(rules)) == len(rules)


def test_too_many_names_are_refused(tmp_path: Path) -> None:
    lines = [json.dumps({"id": at, "when": "a", f"name{at}": 1}) for at in range(1_100)]
    with pytest.raises(InputError, match="more than 1,000 different names"):
        read_rules(write(tmp_path / "r.jsonl", "\n".join(lines)))


def test_triggers_report_every_error_of_every_file(tmp_path: Path) -> None:
    first = write(
        tmp_path / "a.sql", "create trigger a when b == 1 and c >;\ncreate trigger good when a = 1;"
    )
    second = write(tmp_path / "b.sql", "\ncreate trigger good when b = 1;")
    with pytest.raises(RuleErrors) as raised:
        read_rules(tmp_path)
    assert [(error.file, error.line, error.rule) for error in raised.value.errors] == [
        (str(first), 1, "a"),
        (str(first), 1, "a"),
        (str(second), 2, "good"),
    ]
    assert raised.value.errors[2].reason == f"the id 'good' is already taken at {first}:2"


def test_rules_of_pairs_tables_and_mappings() -> None:
    expected = [("1", "a"), ("x", "b")]
    table = pa.table({"id": ["1", "x"], "when": ["a", "b"]})
    dictionary = pa.table(
        {"id": table["id"].dictionary_encode(), "when": table["when"].cast(pa.string_view())}
    )
    for source in (
        [(1, "a"), ["x", "b"]],
        iter([(1, "a"), ("x", "b")]),
        {1: "a", "x": "b"},
        table,
        pa.concat_tables([table.slice(0, 1), table.slice(1)]),
        table.to_batches()[0],
        pa.RecordBatchReader.from_batches(table.schema, table.to_batches()),
        dictionary,
        table.to_pandas(),
    ):
        assert pairs(Rules.of(source)) == expected
    rules = Rules.of(table)
    assert Rules.of(rules) is rules
    assert pairs(Rules.of([])) == []
    assert pairs(Rules.of(pa.table({"id": pa.array([7], pa.uint8()), "when": ["a"]}))) == [("7", "a")]


def test_bad_pairs_are_errors_with_row_and_id() -> None:
    source = [("ok", "a"), (None, "a"), ("", "a"), ("n", None), ("m", 5), (True, "a"), "xyz", 7,
              ("\ud800", "a"), ("s", "'\ud800'"), ("ok", "b")]  # fmt: skip
    with pytest.raises(RuleErrors) as raised:
        Rules.of(source)
    assert [error.line for error in raised.value.errors] == list(range(2, 12))
    assert raised.value.errors[2].rule == "n"
    assert raised.value.errors[-1].reason == "the id 'ok' is already taken in row 1"
    rules = Rules.of(source, skip_bad=True)
    assert pairs(rules) == [("ok", "a")]
    assert len(rules.rejected) == 10


def test_bad_tables() -> None:
    for columns, part in (
        ({"id": ["1"], "condition": ["a"]}, "no column 'when': the columns are 'id', 'condition'"),
        ({}, "no column 'id': there are no columns"),
        ({"id": [1.5], "when": ["a"]}, "the column 'id' holds double: expected strings or integers"),
        ({"id": ["1"], "when": [5]}, "the column 'when' holds int64: expected strings"),
    ):
        with pytest.raises(InputError) as raised:
            Rules.of(pa.table(columns))
        assert part in str(raised.value)
    bad_text = pa.array([b"a", b"\xff", None], pa.binary()).view(pa.string())
    rules = Rules.of(pa.table({"id": [1, 2, 3], "when": bad_text, "n": [4, 5, 6]}), skip_bad=True)
    assert [(rule.id, rule.metadata) for rule in rules] == [("1", {"n": 4})]
    assert [(error.line, error.rule) for error in rules.rejected] == [(2, "2"), (3, "3")]
    nulls = Rules.of(pa.table({"id": pa.nulls(2), "when": ["a", "b"]}), skip_bad=True)
    assert [error.line for error in nulls.rejected] == [1, 2]


@pytest.mark.parametrize("source", ["rules.csv", b"x", 5, None])
def test_what_rules_cannot_be(source: object) -> None:
    with pytest.raises(UsageError, match="rules cannot be"):
        Rules.of(source)


def condition_error(rules: Rules, row: int) -> RuleError:
    with pytest.raises(RuleError) as raised:
        parse_condition(rules[row].when, rules.aliases.get(row))
    return rules.error(row, raised.value)


def test_errors_of_conditions_get_the_place_of_their_text() -> None:
    rules = Rules.of([("r", "a = 1\nand b ==\n2 or c = ")])
    first, second = all_errors(condition_error(rules, 0))
    assert (first.rule, first.file, first.line, first.column, first.caret) == ("r", None, 1, 13, 7)
    assert (second.column, second.caret) == (25, 10)
    assert second.excerpt == "2 or c = "


def test_errors_of_trigger_conditions_stand_in_their_file(tmp_path: Path) -> None:
    path = write(tmp_path / "r.sql", "create trigger t\n  when a = 1\n   or b = 2;")
    rules = read_rules(path)
    at_first = rules.error(0, RuleError("x", line=1, column=3))
    at_second = rules.error(0, RuleError("x", line=2, column=7))
    assert (at_first.file, at_first.line, at_first.column) == (str(path), 2, 10)
    assert (at_second.line, at_second.column) == (3, 7)


def test_take_and_concat_keep_origins_aliases_and_metadata(tmp_path: Path) -> None:
    sql = write(tmp_path / "a.sql", "create trigger t from v when v.x = 1;\ncreate trigger u from w when y;")
    rules = Rules.concat([Rules.of([("p", "a"), ("q", "b")]), read_rules(sql)])
    assert [rules.file(row) for row in range(4)] == [None, None, str(sql), str(sql)]
    assert rules.aliases == {2: "v", 3: "w"}
    taken = rules.take(np.array([3, 0]))
    assert [(rule.id, rule.file, rule.line, rule.metadata) for rule in taken] == [
        ("u", str(sql), 2, {"table": "w", "alias": "w"}),
        ("p", None, 1, {}),
    ]
    assert taken.aliases == {0: "w"}
