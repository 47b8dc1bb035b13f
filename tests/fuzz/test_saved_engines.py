"""Saved engines, dictionaries and statistics with hostile contents: refused, or odd answers at worst."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.fuzz.in_child import failures
from tests.fuzz.mutated_arrays import mutated

import tocsin
from tocsin.errors import InputError
from tocsin.index.statistics.history import History
from tocsin.index.text.dictionary import Dictionary

PROGRAM = """
.decl e(a:symbol, b:symbol)
.decl p(a:symbol, b:symbol)
.decl n(x:number, y:float, z:unsigned)
.decl on()
.output p
p(a, b) :- e(a, b).
p(a, c) :- p(a, b), e(b, c), on().
n(x, 1.5, 2) :- n(y, _, _), x = y + 1, x < 5, y > 0.
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("saved") / "engine.tocsin"
    engine = tocsin.Program.parse(PROGRAM).start()
    for a, b in (("x", "y"), ("y", "z"), ("z", "x"), ("ü", "")):
        engine.insert("e", (a, b))
    engine.insert("n", (1, 2.5, 3))
    engine.insert("on", ())
    engine.insert("e", ("q", "r"), ttl=5)
    engine.save(path)
    use(path)
    return path.read_bytes()


def use(path: Path) -> None:
    """Open an engine and do what can be done with it."""
    engine = tocsin.open(path)
    for name in ("e", "p", "n", "on"):
        engine.query(name)
    engine.insert("e", ("new", "x"))
    engine.delete("e", ("x", "y"))
    engine.advance(10)
    engine.save(path.with_suffix(".again"))


def tried(saved: bytes, folder: Path, count: int, seed: int) -> Iterator[str]:
    draw = random.Random(seed)
    cases = [mutated(saved, draw) for _ in range(count)]

    def attempt(number: int) -> None:
        path = folder / f"{number}.tocsin"
        path.write_bytes(cases[number][1])
        use(path)

    yield from failures([said for said, _ in cases], attempt)


def test_mutated_engines(saved: bytes, tmp_path: Path) -> None:
    assert list(tried(saved, tmp_path, 60, 1)) == []


@pytest.mark.slow
def test_many_mutated_engines(saved: bytes, tmp_path: Path) -> None:
    assert list(tried(saved, tmp_path, 5_000, 2)) == []


_ABOUT = (
    "null",
    "[" * 100_000,
    '{"format": 1}',
    '{"format": 1, "documents": -1, "version": true, "checksum": 0}',
)


@pytest.mark.parametrize("about", _ABOUT, ids=[about[:20] for about in _ABOUT])
def test_a_dictionary_that_says_nonsense(about: str, tmp_path: Path) -> None:
    path = tmp_path / "words.parquet"
    Dictionary.of_counts({"golf": 2, "the": 4}, 4).save(path)
    table = pq.read_table(path).replace_schema_metadata({"tocsin.dictionary": about})
    pq.write_table(table, path)
    with pytest.raises(InputError, match=r"words\.parquet"):
        Dictionary.open(path)


_CONTENTS = {
    "version": 1, "rows": 2, "rejects": 0, "fields": [["a"]], "text": [0], "words": 1, "sketch": 4,
    "fields_file": "fields-1.parquet", "words_folder": "words-1", "format": 1,
}  # fmt: skip
_ODD: list[object] = [
    [],
    _CONTENTS | {"text": [7]},
    _CONTENTS | {"fields_file": "../../secret"},
    _CONTENTS | {"words_folder": ".."},
    _CONTENTS | {"rows": 1e400},
    _CONTENTS | {"rows": -1},
    _CONTENTS | {"fields": 5},
]


@pytest.mark.parametrize("said", [*map(json.dumps, _ODD), "[" * 100_000], ids=range(len(_ODD) + 1))
def test_statistics_that_say_nonsense(said: str, tmp_path: Path) -> None:
    (tmp_path / "statistics.json").write_text(said)
    with pytest.raises(InputError, match=r"statistics\.json: is damaged"):
        History.open(tmp_path)
