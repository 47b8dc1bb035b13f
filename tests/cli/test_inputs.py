"""Where a file may stand: standard input, patterns, several files, arrays, TSV, names that say nothing."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
import threading
from collections.abc import Iterator

import pytest
from tests.cli.running import EVENTS, PAIRS, RULES, Command

from tocsin import read_rules
from tocsin.storage import input_paths


@pytest.fixture(autouse=True)
def _files(tocsin: Command) -> Iterator[None]:
    tocsin.file("rules.csv", RULES)
    tocsin.file("events.jsonl", EVENTS)
    yield
    input_paths._kept_input.cache_clear()


def given(monkeypatch: pytest.MonkeyPatch, data: str | bytes) -> None:
    """Standard input, which a process has once."""
    input_paths._kept_input.cache_clear()
    whole = data if isinstance(data, bytes) else data.encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(whole)))


def pairs(tocsin: Command, *arguments: str) -> list[tuple[int, str]]:
    ran = tocsin("match", *arguments)
    assert ran.code == 0, ran.err
    return [(row["event"], row["rule"]) for row in ran.rows]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_events_from_standard_input(tocsin: Command, monkeypatch: pytest.MonkeyPatch, pack: object) -> None:
    assert callable(pack)
    given(monkeypatch, pack(EVENTS.encode()))
    assert pairs(tocsin, "rules.csv", "--events", "-") == PAIRS
    assert pairs(tocsin, "rules.csv", "--events", "-", "--engine", "scan") == PAIRS  # it is kept


def test_rules_an_index_and_an_event_from_standard_input(
    tocsin: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    given(monkeypatch, RULES)
    assert tocsin("check", "-").code == 0
    assert pairs(tocsin, "-", "--events", "events.jsonl") == PAIRS
    assert tocsin("build", "rules.csv", "-o", "rules.tocsin").code == 0
    given(monkeypatch, (tocsin.folder / "rules.tocsin").read_bytes())
    assert pairs(tocsin, "-", "--events", "events.jsonl") == PAIRS
    assert tocsin("verify", "-").out == "standard input: OK: an index of 3 rules\n"
    given(monkeypatch, EVENTS.splitlines()[0])
    assert tocsin("explain", "rules.csv", "--rule", "adults", "--event", "-").out.startswith("adults matches")
    given(monkeypatch, "a golf trophy")
    assert tocsin("score", "@-", "golf").out == "1.0\n"


def test_an_error_in_standard_input_is_named_so(tocsin: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, "id,when\na,age >\n")
    assert tocsin("check", "-").out.startswith("standard input:2:6: expected a value")
    given(monkeypatch, EVENTS + "oops\n")
    ran = tocsin("match", "rules.csv", "--events", "-")
    assert "standard input:4: event 3: not valid JSON" in ran.err
    assert tocsin("match", "-", "--events", "-").code == 2


def test_blank_lines_behind_a_byte_order_mark_are_counted(tocsin: Command) -> None:
    (tocsin.folder / "marked.jsonl").write_bytes(b"\xef\xbb\xbf\n\n" + EVENTS.encode() + b"oops\n")
    assert (
        "marked.jsonl:6: event 3: not valid JSON"
        in tocsin("match", "rules.csv", "--events", "marked.jsonl").err
    )


def test_what_is_left_out_names_what_the_user_wrote(tocsin: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, RULES + "a,age >\nadults,true\n")
    pipe = tocsin.folder / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(EVENTS + "oops\n",))
    writer.start()
    ran = tocsin("match", "-", "--events", str(pipe), "--skip-bad", "--rejects", "left.jsonl")
    writer.join()
    assert ran.code == 0, ran.err
    left = [json.loads(line) for line in (tocsin.folder / "left.jsonl").read_text().splitlines()]
    assert [(each["file"], each["line"]) for each in left] == [
        ("standard input", 6),
        ("standard input", 5),
        (str(pipe), 4),
    ]
    assert left[0]["reason"] == "the id 'adults' is already taken at standard input:2"


def test_another_pipe_of_the_same_name_is_read_too() -> None:
    before, first = os.pipe()
    os.write(first, b"id,when\na,x = 1\n")
    os.close(first)
    assert input_rules(before) == ["a"]
    after, second = os.pipe()
    os.write(second, b"id,when\nb,x = 1\nc,x = 2\n")
    os.close(second)
    os.dup2(after, before)
    assert input_rules(before) == ["b", "c"]
    os.close(before)
    os.close(after)


def input_rules(descriptor: int) -> list[str]:
    ids: list[str] = read_rules(f"/dev/fd/{descriptor}").ids.to_pylist()
    return ids


def test_patterns_several_files_and_a_name_that_says_nothing(tocsin: Command) -> None:
    lines = EVENTS.splitlines(keepends=True)
    for name, line in zip(("logs/a.jsonl", "logs/b.jsonl", "nameless"), lines, strict=True):
        tocsin.file(name, line)
    (tocsin.folder / "packed.jsonl").write_bytes(gzip.compress(EVENTS.encode()))  # a name that is wrong
    assert pairs(tocsin, "rules.csv", "--events", "logs/*.jsonl", "nameless") == PAIRS
    assert pairs(tocsin, "rules.csv", "--events", "logs", "--events", "nameless") == PAIRS
    assert pairs(tocsin, "*.csv", "--events", "packed.jsonl") == PAIRS
    ran = tocsin("match", "rules.csv", "--events", "none*.jsonl")
    assert (ran.code, ran.err) == (1, "tocsin: none*.jsonl: no file has a name of this pattern\n")


def test_arrays_of_objects(tocsin: Command) -> None:
    events = [json.loads(line) for line in EVENTS.splitlines()]
    tocsin.file("events.json", json.dumps(events, indent=2))
    assert pairs(tocsin, "rules.csv", "--events", "events.json") == PAIRS
    assert pairs(tocsin, "rules.csv", "--events", "events.json", "--engine", "atree") == PAIRS
    rules = [dict(zip(("id", "when"), line.split(",", 1), strict=True)) for line in RULES.splitlines()[1:]]
    rules = [{name: text.strip('"') for name, text in rule.items()} for rule in rules]
    tocsin.file("rules.json", json.dumps(rules))
    assert pairs(tocsin, "rules.json", "--events", "events.jsonl") == PAIRS
    tocsin.file("rules.json", '[{"id": "a", "when": "x = 1"},\n {"id": "b",\n  "when": "x ="}, 5]')
    assert tocsin("check", "rules.json").out.splitlines()[0].startswith("rules.json:2:4: expected a value")


def test_bad_elements_are_named_by_their_line(tocsin: Command) -> None:
    tocsin.file("events.json", '[{"age": 31},\n\n {"age": }, 7,\n {"age": 40}]\n')
    ran = tocsin("match", "rules.csv", "--events", "events.json", "--skip-bad")
    assert [row["event"] for row in ran.rows] == [0, 3]
    rejects = [json.loads(line) for line in (tocsin.folder / "tocsin-rejects.jsonl").read_text().splitlines()]
    assert [(each["line"], each["event"]) for each in rejects] == [(3, 1), (3, 2)]
    tocsin.file("events.json", '[{"age": 31},\n {"age": 40}')
    ran = tocsin("match", "rules.csv", "--events", "events.json")
    assert (ran.code, ran.out) == (1, "")
    assert "events.json: cannot be read: line 2: the array breaks off" in ran.err


@pytest.mark.parametrize("name", ["events.tsv", "events.tsv.gz", "events"])
def test_tab_separated_values(tocsin: Command, name: str) -> None:
    text = b'age\tstate\n31\tCA\n12\tNY\n40\t"W\tA"\n8\n'
    tocsin.file(name, gzip.compress(text) if name.endswith(".gz") else text)
    tocsin.file("rules.tsv", "id\twhen\nadults\tage > 18\ntab\t\"state = 'W\tA'\"\n")
    expected = [(0, "adults"), (2, "adults"), (2, "tab")]
    assert pairs(tocsin, "rules.tsv", "--events", name, "--skip-bad") == expected
    ran = tocsin("match", "rules.tsv", "--events", name)
    assert f"{name}:5: event 3: 1 values where the header names 2" in ran.err


def test_results_to_standard_output(tocsin: Command) -> None:
    assert pairs(tocsin, "rules.csv", "--events", "events.jsonl", "--out", "-") == PAIRS
    assert tocsin("statistics", "--events", "events.jsonl", "-o", "-").code == 2
    ran = tocsin("match", "rules.csv", "--events", "events.jsonl", "--skip-bad", "--rejects", "-")
    assert (ran.code, "name a file" in ran.err) == (2, True)
