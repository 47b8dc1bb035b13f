"""Everyday mistakes: each says what is wrong and what to do, with its exit code and without a traceback."""

from __future__ import annotations

import pytest
from tests.cli.running import EVENTS, RULES, Command

MISTAKES = [
    ("matc rules.csv", 2, "there is no command 'matc', did you mean match?"),
    ("match rules.csv --evnts events.jsonl", 2, "there is no option --evnts, did you mean --events?"),
    ("match --events events.jsonl rules.csv", 2, "they stand first"),
    ("match rules.csv", 2, "required: --events"),
    ("match rules.csv --events events.jsonl --engine atre", 2, "did you mean atree?"),
    ("match rules.csv --events events.jsonl --spark --no-spark", 2, "not allowed with"),
    ("match rules.csv --events events.jsonl --keep rule", 2, "cannot be named 'rule'"),
    ("match rules.csv --events events.jsonl --out out.txt", 2, "must end in .jsonl, .csv, .parquet"),
    ("match rules.csv --events events.jsonl --dictionary words", 2, "takes FIELD=FILE"),
    ("match rules.csv --events events.jsonl --out full/", 1, "the folder is not empty"),
    ("match rules.csv --events events.jsonl --out nowhere/x.csv", 1, "there is no folder nowhere"),
    ("match nowhere.csv --events events.jsonl", 1, "nowhere.csv: there is no such file"),
    ("match rules.csv --events nowhere.jsonl", 1, "nowhere.jsonl: there is no such file"),
    ("match events.jsonl --events events.jsonl", 1, "are these events?"),
    ("match empty --events events.jsonl", 1, "no rule files in this folder"),
    ("match empty.csv --events events.jsonl", 1, "the file is empty"),
    ("match binary --events events.jsonl", 1, "binary: not a rule file: expected .sql"),
    ("match binary.sql --events events.jsonl", 1, "binary.sql:1: the file is not UTF-8 text"),
    ("match rules.csv --events binary", 1, "neither its name nor what is in it"),
    ("match rules.csv --events rules.csv events.jsonl", 1, "rules.csv is CSV, events.jsonl is JSON"),
    ("match rules.csv --events rules.tocsin", 1, "this is a saved index, and events are expected"),
    ("check rules.tocsin", 1, "this is a saved index, and rule files are expected"),
    ("explain rules.csv --rule Adults --event {}", 1, "did you mean 'adults'?"),
    ("explain rules.csv --rule adults --event {age:1}", 1, "not valid JSON at character 2"),
    ("explain rules.csv --rule adults --event [1]", 1, "not an object but a list"),
    ("explain rules.csv --event {}", 2, "explain needs --rule and --event"),
    ("backtest rules.csv --events events.jsonl --rule adult", 1, "did you mean 'adults'?"),
    ("backtest rules.csv --events events.jsonl --threshold 2", 2, "name it with --rule"),
    ("statistics --events events.jsonl -o rules.csv", 1, "statistics go to a folder"),
    ("stream rules.csv --source nowhere --sink alerts", 1, "nowhere: there is no such folder"),
    ("datalog nothing.dl", 1, "nothing.dl"),
    ("verify nowhere.tocsin", 1, "nowhere.tocsin"),
    ("bench nosuch", 2, "tocsin bench --list names them"),
]


@pytest.mark.parametrize(("line", "code", "said"), MISTAKES)
def test_a_mistake_is_said(tocsin: Command, line: str, code: int, said: str) -> None:
    tocsin.file("rules.csv", RULES)
    tocsin.file("events.jsonl", EVENTS)
    tocsin.file("empty.csv", "")
    tocsin.file("binary", b"\x00\xff\x01" * 100)
    tocsin.file("binary.sql", b"\x00\xff\x01" * 100)
    tocsin.file("full/x", "")
    (tocsin.folder / "empty").mkdir()
    if "rules.tocsin" in line:
        assert tocsin("build", "rules.csv", "-o", "rules.tocsin").code == 0
    ran = tocsin(*line.split())
    assert ran.code == code, ran.err
    assert said in ran.out + ran.err
    assert "Traceback" not in ran.err
