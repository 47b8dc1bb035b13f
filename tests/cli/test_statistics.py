"""`tocsin statistics`: what is refused before Spark is started (tests/spark runs it)."""

from __future__ import annotations

from tests.cli.running import EVENTS, Command


def test_help_shows_an_example(tocsin: Command) -> None:
    ran = tocsin("statistics", "--help")
    assert ran.code == 0
    assert "tocsin statistics --events visits/ -o history" in ran.out


def test_no_events(tocsin: Command) -> None:
    ran = tocsin("statistics", "--events", tocsin.folder / "nowhere", "-o", tocsin.folder / "history")
    assert ran.code == 1
    assert "nowhere: there is no such file or folder" in ran.err
    empty = tocsin.file("empty.jsonl", "")
    ran = tocsin("statistics", "--events", empty, "-o", tocsin.folder / "history")
    assert (ran.code, ran.out) == (2, "")
    assert "there are no events to count" in ran.err


def test_folder_that_holds_something_else(tocsin: Command) -> None:
    events = tocsin.file("events/a.jsonl", EVENTS)
    ran = tocsin("statistics", "--events", events, "-o", events.parent)
    assert ran.code == 1
    assert "holds something else" in ran.err
    ran = tocsin("statistics", "--events", events, "-o", events)
    assert ran.code == 1
    assert "this is a file" in ran.err
    ran = tocsin("statistics", "--events", events.parent, "-o", events.parent / "history")
    assert ran.code == 2
    assert "where events are read from" in ran.err
    assert tocsin.files() == ["events", "events/a.jsonl"]


def test_both_ends_are_needed(tocsin: Command) -> None:
    assert tocsin("statistics", "--events", "events.jsonl").code == 2
    assert tocsin("statistics", "-o", "history").code == 2


def test_small_files_are_counted_in_this_process(tocsin: Command) -> None:
    events = tocsin.file("events.jsonl", EVENTS)
    ran = tocsin("statistics", "--events", events, "-o", tocsin.folder / "history", "--text", "state")
    assert (ran.code, ran.out) == (0, "")
    assert "Working in this process: 1 file of 108 bytes (--spark for Spark)" in ran.err
    assert "3 events, 3 fields" in ran.err
    assert "state  in 100.0%, 3 different strings, 3 words" in ran.err
    ran = tocsin("statistics", "--events", events, "-o", tocsin.folder / "history", "--merge")
    assert "(version 2)" in ran.err
    ran = tocsin("statistics", "--events", events, "-o", tocsin.folder / "history", "--text", "nowhere")
    assert ran.code == 2
    assert "no field 'nowhere'" in ran.err
    ran = tocsin("statistics", "--events", events, "-o", tocsin.folder / "h", "--spark", "--no-spark")
    assert ran.code == 2
