"""tocsin verify."""

from __future__ import annotations

import json

import pytest
from tests.cli.running import Command
from tests.fuzz.mutated_arrays import read, written

import tocsin as package
from tocsin import Dictionary


def test_what_is_sound(tocsin: Command) -> None:
    package.build([("a", "x = 1"), ("b", "y = 2")]).save(tocsin.folder / "rules.tocsin")
    Dictionary.of_counts({"golf": 2}, 4).save(tocsin.folder / "words.parquet")
    assert tocsin("verify", "rules.tocsin", "words.parquet") == (
        0,
        "rules.tocsin: OK: an index of 2 rules\nwords.parquet: OK: a dictionary of 1 word\n",
        "",
    )


def test_a_reference_to_nowhere(tocsin: Command) -> None:
    path = tocsin.folder / "rules.tocsin"
    package.build([("a", "x = 1"), ("b", "y = 2")]).save(path)
    header, arrays = read(path.read_bytes())
    arrays["graph.root"][1] = 4711
    path.write_bytes(written(header, arrays))
    ran = tocsin("verify", "rules.tocsin")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == (
        "tocsin: rules.tocsin is damaged: the array graph.root refers to 4711 at 1, and there are 4\n"
    )


def test_an_engine(tocsin: Command) -> None:
    path = tocsin.folder / "paths.tocsin"
    program = ".decl e(a:symbol, b:symbol)\n.decl p(a:symbol, b:symbol)\np(a, b) :- e(a, b)."
    engine = package.Program.parse(program).start()
    engine.insert("e", ("x", "y"))
    engine.save(path)
    assert tocsin("verify", "paths.tocsin").out == "paths.tocsin: OK: an engine of 2 relations\n"
    header, arrays = read(path.read_bytes())
    arrays["facts.e"][0] = 99
    path.write_bytes(written(header, arrays))
    ran = tocsin("verify", "paths.tocsin")
    assert ran.code == 1
    assert "paths.tocsin is damaged: the array facts.e refers to 99 at 0" in ran.err


@pytest.mark.parametrize(
    "said", [[], {"format": 2}, {"format": 2, "shards": []}, {"format": 2, "shards": [1]}]
)
def test_an_index_in_parts_that_is_none(tocsin: Command, said: object) -> None:
    (tocsin.folder / "shards").mkdir()
    (tocsin.folder / "shards" / "shards.json").write_text(json.dumps(said))
    ran = tocsin("verify", "shards", "nothing.tocsin")
    assert ran.code == 1
    assert ran.err.startswith("tocsin: shards is damaged: shards.json cannot be read\n")
    assert "nothing.tocsin" in ran.err


def test_a_journal_is_read_and_left_as_it_is(tocsin: Command) -> None:
    program = package.Program.parse('.decl e(a:symbol, b:symbol)\ne("a", "b").')
    with program.start(journal=tocsin.folder / "engine") as engine:
        engine.insert("e", ("x", "y"))
        ran = tocsin("verify", "engine")
        assert ran.code == 1
        assert "is open already, in process" in ran.err
    with package.watch([("r", "k > 3")], journal=tocsin.folder / "watch") as watch:
        for number in range(3):
            watch.insert("t", {"k": number})
    journal = tocsin.folder / "watch" / "journal"
    torn = journal.read_bytes()[:-5]
    journal.write_bytes(torn)
    ran = tocsin("verify", "engine", "watch")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "engine: OK: the journal of an engine with 2 facts",
        "watch: OK: the journal of a watch with 2 rows, and a torn end of 105 bytes",
    ]
    assert journal.read_bytes() == torn


def test_a_journal_that_is_damaged(tocsin: Command) -> None:
    with package.watch([("r", "k > 3")], journal=tocsin.folder / "watch") as watch:
        for number in range(3):
            watch.insert("t", {"k": number})
    journal = tocsin.folder / "watch" / "journal"
    whole = journal.read_bytes()
    for place, said in ((60, "is damaged: record 0 is not whole"), (20, "checksum of its header is wrong")):
        journal.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        ran = tocsin("verify", "watch")
        assert ran.code == 1
        assert said in ran.err
        assert ", byte " in ran.err


def test_names_are_shown_escaped(tocsin: Command) -> None:
    name = "a\x1b[2J\nb\u202e.tocsin"
    package.build([("a", "x = 1")]).save(tocsin.folder / name)
    assert tocsin("verify", name).out == "a\\x1b[2J\\nb\\u202e.tocsin: OK: an index of 1 rule\n"
    folder = tocsin.folder / "j\x1b"
    folder.mkdir()
    (folder / "journal").write_bytes(b"TOCSINJ\n")
    ran = tocsin("verify", folder.name)
    assert ran.code == 1
    assert ran.err == "tocsin: the journal j\\x1b/journal is not a tocsin journal, byte 0\n"
