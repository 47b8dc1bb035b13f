"""tocsin verify."""

from __future__ import annotations

import json

import pytest
from tests.cli.running import Command
from tests.fuzz.mutated_arrays import read, written

import tocsin as package
from tocsin.index.text.dictionary import Dictionary


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


@pytest.mark.parametrize("said", [[], {"format": 1}, {"format": 1, "parts": []}, {"format": 1, "parts": [1]}])
def test_an_index_in_parts_that_is_none(tocsin: Command, said: object) -> None:
    (tocsin.folder / "parts").mkdir()
    (tocsin.folder / "parts" / "parts.json").write_text(json.dumps(said))
    ran = tocsin("verify", "parts", "nothing.tocsin")
    assert ran.code == 1
    assert ran.err.startswith("tocsin: parts is damaged: parts.json cannot be read\n")
    assert "nothing.tocsin" in ran.err
