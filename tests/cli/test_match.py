"""tocsin match without Spark: rows, formats, kept fields, and what is wrong with the input."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from tests.cli.running import EVENTS, PAIRS, RULES, Command

from tocsin.events import plan_slices


@pytest.fixture(autouse=True)
def _rules(tocsin: Command) -> None:
    tocsin.file("rules.csv", RULES)
    tocsin.file("events.jsonl", EVENTS)


def match(tocsin: Command, *arguments: str, events: str = "events.jsonl", rules: str = "rules.csv") -> Any:
    return tocsin("match", rules, "--events", events, "--no-spark", *arguments)


def pairs(rows: list[dict[str, Any]]) -> list[tuple[int, str]]:
    return [(row["event"], row["rule"]) for row in rows]


def read(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
        return rows
    if path.suffix == ".csv":
        with path.open(newline="") as stream:
            return [row | {"event": int(row["event"])} for row in csv.DictReader(stream)]
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_rows_on_standard_output_alone(tocsin: Command) -> None:
    ran = match(tocsin)
    assert ran.code == 0
    assert ran.out.splitlines()[1] == '{"event": 0, "rule": "west", "score": null}'
    assert pairs(ran.rows) == PAIRS
    assert ran.err.startswith("3 events, 4 matches, 0 rejects in ")
    assert tocsin.files() == ["events.jsonl", "rules.csv"]


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_output_files(tocsin: Command, suffix: str) -> None:
    ran = match(tocsin, "--out", f"out{suffix}", "--keep", "id", "state")
    assert (ran.code, ran.out) == (0, "")
    rows = read(tocsin.folder / f"out{suffix}")
    assert list(rows[0]) == ["event", "rule", "score", "id", "state"]
    assert pairs(rows) == PAIRS
    assert [(str(row["id"]), row["state"]) for row in rows] == [
        ("7", "CA"),
        ("7", "CA"),
        ("9", "WA"),
        ("9", "WA"),
    ]
    assert tocsin.files() == ["events.jsonl", f"out{suffix}", "rules.csv"]


@pytest.mark.parametrize("out", ["out.jsonl", "out.csv", "out.parquet", "out/"])
def test_matches_are_written_at_once(tocsin: Command, out: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("tocsin.matches.slice_matches._PartWriter")
    assert match(tocsin, "--out", out, "--keep", "id").code == 0
    path = tocsin.folder / out
    assert pairs(read(next(path.iterdir()) if path.is_dir() else path)) == PAIRS


FOLDERS = {"out.jsonl/": ".jsonl", "out.csv/": ".csv", "out.parquet/": ".parquet", "out/": ".parquet"}


def part_files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


@pytest.mark.parametrize("out", FOLDERS)
def test_a_folder_has_the_rows_of_one_file(
    tocsin: Command, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    monkeypatch.setattr("tocsin.events.plan_slices", partial(plan_slices, slice_bytes=200))
    no_match = '{"id": 1, "age": 5, "state": "NY"}\n' * 40
    tocsin.file("events.jsonl", EVENTS * 30 + no_match + '{"id": "x", "age": 50}\n' * 20)
    suffix = FOLDERS[out]
    assert match(tocsin, "--out", f"one{suffix}", "--keep", "id").code == 0
    ran = match(tocsin, "--out", out, "--keep", "id")
    assert (ran.code, ran.out) == (0, "")
    files = part_files(tocsin.folder / out)
    assert len(files) > 5
    assert {file.suffix for file in files} == {suffix}
    assert all(re.fullmatch(r"part-\d{7}", file.stem) for file in files)
    assert [row for file in files for row in read(file)] == read(tocsin.folder / f"one{suffix}")
    assert all(read(file) for file in files)
    assert not [name for name in tocsin.files() if ".tocsin-" in name]


@pytest.mark.parametrize("events", ['{"age": 3, "state": "NY"}\n', "\n"])
def test_a_folder_without_matches_tells_the_columns(tocsin: Command, events: str) -> None:
    tocsin.file("events.jsonl", events)
    (tocsin.folder / "there").mkdir()
    assert match(tocsin, "--out", "there", "--keep", "age").code == 0
    (file,) = part_files(tocsin.folder / "there")
    table = pq.read_table(file)
    assert (table.num_rows, table.column_names) == (0, ["event", "rule", "score", "age"])


def test_folders_that_cannot_be_written(tocsin: Command) -> None:
    tocsin.file("full/something", "")
    tocsin.file("a-file", "")
    for out, why in (
        ("full", "not empty"),
        ("full/", "not empty"),
        ("a-file/", "is a file"),
        ("no/no/", "no folder"),
    ):
        ran = match(tocsin, "--out", out)
        assert (ran.code, ran.out) == (1, "")
        assert why in ran.err
    tocsin.file("events.jsonl", EVENTS + "no event\n")
    assert match(tocsin, "--out", "new/").code == 1
    assert not (tocsin.folder / "new").exists()
    assert match(tocsin, "--out", "new/", "--skip-bad").code == 0
    assert len(read(tocsin.folder / "new.rejects.jsonl")) == 1
    assert pairs(read(tocsin.folder / "new" / "part-0000000.parquet")) == PAIRS
    ran = tocsin("match", "rules.csv", "--events", "t=events.jsonl", "--out", "alerts/", "--no-spark")
    assert ran.code == 2
    assert "one file" in ran.err


def test_types_of_a_parquet_result(tocsin: Command) -> None:
    match(tocsin, "--out", "out.parquet", "--keep", "id", "state")
    assert pq.read_schema(tocsin.folder / "out.parquet").equals(
        pa.schema(
            [
                ("event", pa.int64()),
                ("rule", pa.string()),
                ("score", pa.float64()),
                ("id", pa.int64()),
                ("state", pa.string()),
            ]
        )
    )


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_no_match_at_all_gives_an_empty_result(tocsin: Command, suffix: str) -> None:
    tocsin.file("events.jsonl", '{"age": 3, "state": "NY"}\n')
    assert match(tocsin, "--out", f"out{suffix}", "--keep", "age").code == 0
    assert read(tocsin.folder / f"out{suffix}") == []


def test_no_event_at_all(tocsin: Command) -> None:
    tocsin.file("events.jsonl", "\n")
    ran = match(tocsin, "--keep", "id")
    assert (ran.code, ran.out) == (0, "")
    assert "warning" not in ran.err


def as_csv(table: pa.Table, path: Path) -> None:
    pa_csv.write_csv(table, path)


def as_json(table: pa.Table, path: Path) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))


def as_packed_json(table: pa.Table, path: Path) -> None:
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode()))


def as_packed_csv(table: pa.Table, path: Path) -> None:
    as_csv(table, path)
    path.write_bytes(gzip.compress(path.read_bytes()))


WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    ".jsonl": as_json,
    ".jsonl.gz": as_packed_json,
    ".csv": as_csv,
    ".csv.gz": as_packed_csv,
    ".parquet": pq.write_table,
}


@pytest.mark.parametrize("suffix", WRITERS)
def test_every_format_of_events_and_folders_of_them(tocsin: Command, suffix: str) -> None:
    table = pa.Table.from_pylist([json.loads(line) for line in EVENTS.splitlines()])
    folder = tocsin.folder / "events"
    (folder / "more").mkdir(parents=True)
    WRITERS[suffix](table.slice(0, 2), folder / f"a{suffix}")
    WRITERS[suffix](table.slice(2), folder / "more" / f"b{suffix}")
    tocsin.file("events/_SUCCESS", "")
    ran = match(tocsin, "--keep", "id", events="events")
    assert pairs(ran.rows) == PAIRS
    assert [row["id"] for row in ran.rows] == [7, 7, 9, 9]


def test_slices_are_joined_in_order(tocsin: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tocsin.events.plan_slices", lambda path, **how: plan_slices(path, 40, **how))
    tocsin.file("events.jsonl", EVENTS * 20)
    ran = match(tocsin, "--keep", "id", "--out", "out.csv")
    assert ran.code == 0
    expected = [(event + 3 * turn, rule) for turn in range(20) for event, rule in PAIRS]
    assert pairs(read(tocsin.folder / "out.csv")) == expected


@pytest.mark.parametrize("rules", ["rules.tocsin", "index.bin"])
def test_a_saved_index_is_known_by_its_name_or_content(tocsin: Command, rules: str) -> None:
    tocsin("build", "rules.csv", "-o", rules)
    assert pairs(match(tocsin, rules=rules).rows) == PAIRS


def test_a_damaged_index(tocsin: Command) -> None:
    tocsin("build", "rules.csv", "-o", "rules.tocsin")
    whole = (tocsin.folder / "rules.tocsin").read_bytes()
    tocsin.file("rules.tocsin", whole[:-10])
    ran = match(tocsin, rules="rules.tocsin")
    assert (ran.code, ran.out) == (1, "")
    assert "damaged" in ran.err
    tocsin.file("rules.tocsin", b"nothing")
    assert "not a tocsin index" in match(tocsin, rules="rules.tocsin").err


def test_the_engine_scan_gives_the_same(tocsin: Command) -> None:
    tocsin.file("events.csv", "id,age,state,ip\n7,31,CA,\n8,12,NY,x\n9,17,WA,\n")
    pq.write_table(pa_csv.read_csv(tocsin.folder / "events.csv"), tocsin.folder / "events.parquet")
    for events in ("events.jsonl", "events.csv", "events.parquet"):
        ran = match(tocsin, "--engine", "scan", "--keep", "id", events=events)
        assert pairs(ran.rows) == PAIRS
        assert ran.out == match(tocsin, "--keep", "id", events=events).out


def test_scan_runs_here_although_spark_was_asked_for(tocsin: Command) -> None:
    ran = tocsin("match", "rules.csv", "--events", "events.jsonl", "--engine", "scan", "--spark")
    assert pairs(ran.rows) == PAIRS
    assert "does not run on Spark" in ran.err


def test_engines_that_do_not_fit(tocsin: Command) -> None:
    tocsin("build", "rules.csv", "-o", "rules.tocsin")
    assert match(tocsin, "--engine", "magic").code == 2
    assert match(tocsin, "--engine", "scan", rules="rules.tocsin").code == 2
    assert match(tocsin, "--engine", "atree", rules="rules.tocsin").code == 0
    tocsin("build", "rules.csv", "-o", "dewey.tocsin", "--engine", "dewey")
    assert pairs(match(tocsin, rules="dewey.tocsin").rows) == PAIRS
    assert pairs(match(tocsin, "--engine", "dewey", rules="dewey.tocsin").rows) == PAIRS
    ran = match(tocsin, "--engine", "interval", rules="dewey.tocsin")
    assert (ran.code, ran.out) == (2, "")
    assert "dewey.tocsin is for the engine dewey: give rule files for another" in ran.err
    assert tocsin("match", "rules.tocsin", "rules.csv", "--events", "events.jsonl", "--no-spark").code == 2


def test_json_values_are_kept_exactly(tocsin: Command) -> None:
    texts = ["12345678901234567890123", "1e400", "0.1", '"é\\n\\""', "true", "null", '{"b": [1, 2.0]}', "[]"]
    lines = "".join(f'{{"age": 20, "kept": {text}}}\n' for text in texts)
    tocsin.file("events.jsonl", lines + '{"age": 20}\n')
    ran = match(tocsin, "--keep", "kept")
    shown = [line.split('"kept": ')[1].removesuffix("}") for line in ran.out.splitlines()]
    assert shown == [*texts, "null"]


def test_kept_columns_of_a_parquet_file_keep_their_types(tocsin: Command) -> None:
    table = pa.table(
        {
            "age": [20, 5, 30],
            "price": pa.array([Decimal("1.50"), None, Decimal("2.00")], pa.decimal128(10, 2)),
            "at": pa.array([1, None, 3], pa.timestamp("ns", "UTC")),
            "tags": [["a"], None, []],
            "who": pa.array(["x", "y", "x"]).dictionary_encode(),
            "rules": [1.5, None, float("inf")],
        }
    )
    pq.write_table(table, tocsin.folder / "events.parquet")
    names = ["price", "at", "tags", "who", "rules"]
    assert match(tocsin, "--out", "out.parquet", "--keep", *names, events="events.parquet").code == 0
    kept = pq.read_table(tocsin.folder / "out.parquet")
    assert kept.schema.field("price").type == pa.decimal128(10, 2)
    assert kept.schema.field("at").type == pa.timestamp("ns", "UTC")
    assert kept.select(["price", "at", "tags", "rules"]).equals(
        table.take([0, 2]).select(["price", "at", "tags", "rules"])
    )
    rows = match(tocsin, "--keep", *names, events="events.parquet").rows
    assert [[row[name] for name in names] for row in rows] == [
        [1.5, "1970-01-01T00:00:00.000000001Z", ["a"], "x", 1.5],
        [2.0, "1970-01-01T00:00:00.000000003Z", [], "x", float("inf")],
    ]
    match(tocsin, "--out", "out.csv", "--keep", *names, events="events.parquet")
    first = read(tocsin.folder / "out.csv")[0]
    assert [first[name] for name in names] == ["1.50", "1970-01-01T00:00:00.000000001Z", '["a"]', "x", "1.5"]


def test_files_that_disagree_about_a_kept_column(tocsin: Command) -> None:
    (tocsin.folder / "events").mkdir()
    pq.write_table(pa.table({"age": [20], "k": [1], "n": [1]}), tocsin.folder / "events" / "a.parquet")
    pq.write_table(pa.table({"age": [20], "k": ["x"], "n": [1.5]}), tocsin.folder / "events" / "b.parquet")
    pq.write_table(pa.table({"age": [20]}), tocsin.folder / "events" / "c.parquet")
    assert match(tocsin, "--out", "out.parquet", "--keep", "k", "n", events="events").code == 0
    rows = read(tocsin.folder / "out.parquet")
    assert [(row["k"], row["n"]) for row in rows] == [("1", 1.0), ('"x"', 1.5), (None, None)]


def test_what_cannot_be_kept(tocsin: Command) -> None:
    for name in ("event", "rule", "score"):
        ran = match(tocsin, "--keep", name)
        assert (ran.code, ran.out) == (2, "")
        assert repr(name) in ran.err
    ran = match(tocsin, "--keep", "id", "no such", "id")
    assert list(ran.rows[0]) == ["event", "rule", "score", "id", "no such"]
    assert "warning: no event has what is to be kept, so it is null: 'no such'" in ran.err


def test_unknown_fields_are_one_warning(tocsin: Command) -> None:
    tocsin.file("rules.csv", RULES + "x,agee > 3 or user.name = 'x'\n")
    ran = match(tocsin)
    assert ran.code == 0
    assert ran.err.count("warning: ") == 1
    assert "agee, user.name" in ran.err


BAD_EVENTS = EVENTS + '{"age": \n[1]\n' + EVENTS


def test_bad_events_stop_it(tocsin: Command) -> None:
    tocsin.file("events.jsonl", BAD_EVENTS)
    for arguments in ([], ["--out", "out.csv"]):
        ran = match(tocsin, *arguments)
        assert (ran.code, ran.out) == (1, "")
        assert "events.jsonl:4: event 3: not valid JSON" in ran.err
        assert "events.jsonl:5: event 4: not an object" in ran.err
    assert tocsin.files() == ["events.jsonl", "rules.csv"]


def test_bad_events_and_rules_can_be_left_out(tocsin: Command) -> None:
    tocsin.file("events.jsonl", BAD_EVENTS)
    tocsin.file("rules.csv", RULES + "bad,age >\n")
    ran = match(tocsin, "--skip-bad", "--out", "out.jsonl")
    assert ran.code == 0
    assert pairs(read(tocsin.folder / "out.jsonl")) == PAIRS + [(event + 5, rule) for event, rule in PAIRS]
    assert "out.rejects.jsonl" in ran.err
    assert "6 events, 8 matches, 2 rejects" in ran.err
    rule, *events = read(tocsin.folder / "out.rejects.jsonl")
    assert (rule["file"], rule["rule"], rule["line"], rule["text"]) == ("rules.csv", "bad", 5, "age >")
    assert [(line["file"], line["event"], line["text"]) for line in events] == [
        ("events.jsonl", 3, '{"age": '),
        ("events.jsonl", 4, "[1]"),
    ]


def test_bad_files_in_a_folder(tocsin: Command) -> None:
    """One is no Parquet file, one breaks off: without --skip-bad an error that names it."""
    folder = tocsin.folder / "visits"
    folder.mkdir()
    for name in ("a", "b", "c"):
        pq.write_table(pa.table({"age": [20] * 20}), folder / f"{name}.parquet", row_group_size=10)
    place = pq.read_metadata(folder / "b.parquet").row_group(1).column(0).data_page_offset
    damaged = bytearray((folder / "b.parquet").read_bytes())
    damaged[place : place + 8] = b"\xff" * 8
    (folder / "b.parquet").write_bytes(damaged)
    tocsin.file("rules.csv", "id,when\nr,age > 1\n")
    ran = match(tocsin, events="visits")
    assert (ran.code, ran.out) == (1, "")
    assert "b.parquet: cannot be read" in ran.err
    (folder / "a.parquet").write_bytes(b"PAR1 this is none")
    ran = match(tocsin, events="visits")
    assert (ran.code, ran.out) == (1, "")
    assert "a.parquet: cannot be read" in ran.err
    ran = match(tocsin, "--skip-bad", events="visits")
    assert ran.code == 0
    assert [row["event"] for row in ran.rows] == [*range(10), *range(20, 40)]
    whole, rest = read(tocsin.folder / "tocsin-rejects.jsonl")
    assert (whole["file"], whole["event"]) == ("visits/a.parquet", None)
    assert (rest["file"], rest["event"]) == ("visits/b.parquet", 10)
    assert rest["reason"].endswith("nothing is read from here on, up to event 19")
    assert "files that cannot be read were left out, 1 of them: see tocsin-rejects.jsonl" in ran.err


def test_rejects_without_an_output_file(tocsin: Command) -> None:
    tocsin.file("events.jsonl", BAD_EVENTS)
    assert len(match(tocsin, "--skip-bad").rows) == 8
    assert len(read(tocsin.folder / "tocsin-rejects.jsonl")) == 2
    assert match(tocsin, "--skip-bad", "--rejects", "bad.jsonl").code == 0
    assert len(read(tocsin.folder / "bad.jsonl")) == 2
    assert match(tocsin, "--rejects", "bad.jsonl").code == 2


def test_bad_rules_stop_it(tocsin: Command) -> None:
    tocsin.file("rules.csv", RULES + "bad,age >\n")
    ran = match(tocsin)
    assert (ran.code, ran.out) == (1, "")
    assert "rules.csv:5:6: " in ran.err


@pytest.mark.parametrize(
    ("events", "said"),
    [("nothing.jsonl", "nothing.jsonl: there is no such file"), (".", "one format")],
)
def test_events_that_are_not_there(tocsin: Command, events: str, said: str) -> None:
    ran = tocsin("match", "rules.csv", "--events", events, "--no-spark")
    assert (ran.code, ran.out) == (1, "")
    assert said in ran.err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--out", "out.txt"], 2, ".jsonl, .csv, .parquet"),
        (["--out", "events.jsonl"], 2, "one of the files to be read"),
        (["--out", "rules.csv"], 2, "one of the files to be read"),
        (["--out", "nowhere/out.csv"], 1, "no folder nowhere"),
        (["--skip-bad", "--out", "a.csv", "--rejects", "./a.csv"], 2, "same file"),
    ],
)
def test_places_that_do_not_fit(tocsin: Command, arguments: list[str], code: int, said: str) -> None:
    before = tocsin.files()
    ran = match(tocsin, *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err
    assert tocsin.files() == before
    assert (tocsin.folder / "rules.csv").read_text() == RULES


def test_a_folder_that_is_there(tocsin: Command) -> None:
    own = tocsin.folder / "own"
    own.mkdir(mode=0o700)
    (tocsin.folder / "link").symlink_to(own)
    assert match(tocsin, "--out", "link/").code == 0
    assert (tocsin.folder / "link").is_symlink()
    assert own.stat().st_mode & 0o777 == 0o700
    assert [file.name for file in own.iterdir()] == ["part-0000000.parquet"]
    tocsin.file("events/a.jsonl", EVENTS)
    ran = match(tocsin, "--out", "events/out/", events="events")
    assert ran.code == 2
    assert "events are read from" in ran.err


def test_a_result_of_an_earlier_run_is_not_read_as_events(tocsin: Command) -> None:
    tocsin.file("events/a.jsonl", EVENTS)
    assert match(tocsin, "--out", "events/out.jsonl", events="events").code == 0
    ran = match(tocsin, "--out", "events/out.jsonl", events="events")
    assert ran.code == 2
    assert "one of the files to be read" in ran.err


def test_a_rule_file_in_a_folder_is_never_overwritten(tocsin: Command) -> None:
    rules = tocsin.file("rules/a.csv", RULES)
    for options in (["--out", "rules/a.csv"], ["--skip-bad", "--rejects", "rules/a.csv"]):
        ran = match(tocsin, *options, rules="rules")
        assert (ran.code, ran.out) == (2, "")
        assert "one of the files to be read" in ran.err
    assert rules.read_text() == RULES
    assert match(tocsin, "--out", "rules/result.parquet", rules="rules").code == 0


def test_an_empty_file_of_events_is_not_overwritten(tocsin: Command) -> None:
    tocsin.file("events.jsonl", "")
    assert match(tocsin, "--out", "events.jsonl").code == 2


def test_every_bad_rule_is_named_however_many(tocsin: Command) -> None:
    tocsin.file("rules.csv", "id,when\n" + "".join(f"r{number},age >\n" for number in range(50)))
    ran = match(tocsin)
    assert ran.code == 1
    assert [number for number in range(50) if f" (rule r{number})\n" not in ran.err] == []


def test_an_earlier_result_stays_when_a_later_run_fails(tocsin: Command) -> None:
    assert match(tocsin, "--out", "out.jsonl").code == 0
    tocsin.file("events.jsonl", BAD_EVENTS)
    assert match(tocsin, "--out", "out.jsonl").code == 1
    assert pairs(read(tocsin.folder / "out.jsonl")) == PAIRS


def test_ids_of_any_text(tocsin: Command) -> None:
    tocsin.file("rules.csv", 'id,when\n"say ""hi"", é\n",true\n')
    assert {row["rule"] for row in match(tocsin).rows} == {'say "hi", é\n'}
    assert match(tocsin, "--out", "out.csv").code == 0
    assert read(tocsin.folder / "out.csv")[0]["rule"] == 'say "hi", é\n'


@pytest.mark.parametrize("out", ["out.csv", "out.csv/"])
def test_csv_without_formulas_where_that_is_asked_for(tocsin: Command, out: str) -> None:
    ids = ["=1+1", "+1", "-1", "@a", "\ta", "\ra", "a=1", "'=1"]
    texts = "".join(json.dumps({"id": each, "when": "true"}) + "\n" for each in ids)
    tocsin.file("rules.jsonl", texts)
    tocsin.file("events.jsonl", '{"x": "=cmd|\' /C calc\'!A0", "n": -5}\n')
    assert match(tocsin, "--out", out, "--csv-safe", "--keep", "x", "n", rules="rules.jsonl").code == 0
    file = tocsin.folder / "out.csv"
    rows = read(file / "part-0000000.csv" if out.endswith("/") else file)
    assert [row["rule"] for row in rows] == [*("'" + each for each in ids[:6]), "a=1", "'=1"]
    assert {(row["x"], str(row["n"])) for row in rows} == {("'=cmd|' /C calc'!A0", "-5")}
    assert match(tocsin, "--out", "plain.csv", rules="rules.jsonl").code == 0
    assert [row["rule"] for row in read(tocsin.folder / "plain.csv")] == ids
