"""Saved engines, dictionaries and statistics with hostile contents: refused, or odd answers at worst."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.fuzz.in_child import failures
from tests.fuzz.mutated_arrays import mutated, read, written
from tests.history.statistics.corpora import history_of

import tocsin
from tocsin import Dictionary, History
from tocsin.cli import main
from tocsin.errors import IndexFileError, InputError

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


@pytest.mark.parametrize("word", [0x7FF8000000000000, -1, -(2**63)], ids=["nan", "another nan", "minus zero"])
def test_a_float_that_no_fact_has(word: int, saved: bytes, tmp_path: Path) -> None:
    header, arrays = read(saved)
    arrays["facts.n"][1] = word
    (tmp_path / "kept.tocsin").write_bytes(written(header, arrays))
    with pytest.raises(IndexFileError, match=r"the array facts\.n has a float"):
        tocsin.open(tmp_path / "kept.tocsin")


@pytest.mark.parametrize("now", [10**400, float("nan"), "1", None, True])
def test_a_time_that_is_none(now: object, saved: bytes, tmp_path: Path) -> None:
    header, arrays = read(saved)
    (tmp_path / "kept.tocsin").write_bytes(written({**header, "now": now}, arrays))
    with pytest.raises(IndexFileError, match="what time it is"):
        tocsin.open(tmp_path / "kept.tocsin")


@pytest.mark.parametrize("text", [".decl e((", ".decl e(x: number) e(y) :- e(x).", "\x1b[31m"])
def test_a_program_with_errors(text: str, saved: bytes, tmp_path: Path) -> None:
    header, arrays = read(saved)
    (tmp_path / "kept.tocsin").write_bytes(written({**header, "text": text}, arrays))
    with pytest.raises(IndexFileError, match=r"kept\.tocsin is damaged: its program has errors"):
        tocsin.open(tmp_path / "kept.tocsin")


LATE: list[tuple[float, float]] = [
    (float("inf"), 1),
    (0, float("inf")),
    (int(1.7e308), int(1.7e308)),
    (5, 1e308),
]


@pytest.mark.parametrize(("now", "ttl"), LATE, ids=map(str, range(len(LATE))))
def test_times_without_end_are_kept(now: float, ttl: float, tmp_path: Path) -> None:
    program = tocsin.Program.parse(PROGRAM)
    with program.start(journal=tmp_path / "journal") as engine:
        engine.advance(now)
        engine.insert("on", (), ttl=ttl)
        engine.save(tmp_path / "engine.tocsin")
        engine.add_rule("on() :- e(x, x).")  # writes the journal anew
    with tocsin.open(tmp_path / "engine.tocsin") as saved, tocsin.open(tmp_path / "journal") as journalled:
        assert saved.query("on") == journalled.query("on") == [()]
        assert saved.now == journalled.now == now


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
    _CONTENTS | {"fields": ["ab"]},
    _CONTENTS | {"fields": [[]]},
]


@pytest.mark.parametrize("said", [*map(json.dumps, _ODD), "[" * 100_000], ids=range(len(_ODD) + 1))
def test_statistics_that_say_nonsense(said: str, tmp_path: Path) -> None:
    (tmp_path / "statistics.json").write_text(said)
    with pytest.raises(InputError, match=r"statistics\.json: is damaged"):
        History.open(tmp_path)


_COUNTED: list[tuple[str, str, object]] = [
    ("fields-1.parquet", "number", -1),
    ("fields-1.parquet", "number", None),
    ("fields-1.parquet", "number", 1_000),
    ("words-1/0.parquet", "documents", -1),
    ("words-1/0.parquet", "documents", 1_000),
    ("words-1/0.parquet", "documents", None),
    ("words-1/0.parquet", "word", "open"),
]


@pytest.mark.parametrize(("file", "column", "value"), _COUNTED, ids=map(str, range(len(_COUNTED))))
def test_counts_that_nobody_counted(file: str, column: str, value: object, tmp_path: Path) -> None:
    events = [{"a": number, "body": "golf open"} for number in range(9)]
    history_of(events, [("a",), ("body",)], [("body",)], folder=tmp_path)
    table = pq.read_table(tmp_path / file)
    about = [tuple(each.values()) for each in table.select([0, 1, 2]).to_pylist()]
    row = about.index((0, -1, "present")) if file.startswith("fields") else 0
    values = table.column(column).to_pylist()
    assert values[row] != value
    values[row] = value
    place = table.column_names.index(column)
    field = table.schema.field(place)
    pq.write_table(table.set_column(place, field, pa.array(values, field.type)), tmp_path / file)
    assert main(["verify", str(tmp_path)]) == 1


def test_a_column_that_has_no_name_in_utf8(tmp_path: Path) -> None:
    path = tmp_path / "words.parquet"
    Dictionary.of_counts({"golf": 2}, 4).save(path)
    table = pq.read_table(path).replace_schema_metadata(None)
    pq.write_table(table, path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"documents", b"document\xff"))
    with pytest.raises(InputError, match="cannot be read as a dictionary"):
        Dictionary.open(path)
    program = tocsin.Program.parse(".decl r(word: symbol, documents: number, given: float)")
    with pytest.raises(InputError, match=r"words\.parquet"):
        program.start(facts={"r": path})
    assert main(["check", str(path)]) == 1
