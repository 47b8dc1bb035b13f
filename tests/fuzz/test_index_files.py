"""Index files with hostile contents and right checksums: refused, or good for odd answers at worst."""

from __future__ import annotations

import contextlib
import json
import os
import random
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.fuzz.in_child import failures
from tests.fuzz.mutated_arrays import mutated, read, written
from tests.sharded_rules import shared_out, write_in_parts

import tocsin
from tocsin.errors import IndexFileError, TocsinError, TocsinWarning

Event = dict[str, Any]

STRUCTURED = [
    ("a", "x = 1 and y in ('p', 'q') or not (z < 5 and x is null)"),
    ("b", "z between 2 and 8 and z > 3 and (x != 4 or y = 'p') xor t = true"),
    ("c", "at between timestamp '2026-01-31T12:00:00Z' and timestamp '2026-02-01T00:00:00Z' or true"),
    ("d", "cidr(ip, '10.0.0.0/8') and not cidr(ip, '10.1.0.0/16') or y >= 'm' and y < 'zz'"),
    *(
        (f"s{i}", f"x = {i % 7} and z > {i} or y = 'v{i % 5}' and not u.w in ({i}, {i + 1})")
        for i in range(40)
    ),
    *((f"n{i}", f"not (x < {i} and (z >= {i % 4} or not (y = 'p' and x <= 3)))") for i in range(12)),
]
PATTERNS = [
    ("l1", "s like 'ab%' or s like '%cd' or s like '%bcd%' or s = 'abcd'"),
    ("l2", "s ilike '%AbC_%e%' or s ilike 'x' or s like '_%' and z > 1"),
    ("l3", "s matches 'foo[0-9]+' or s matches '(?i)barx|bary' or s matches '[0-9]{3}'"),
    *(
        (f"p{i}", f"s like '%{'abcde'[i % 5] * (1 + i % 3)}{'xyz'[i % 3]}%' or v like 'q{i}%'")
        for i in range(20)
    ),
]
LABELLED = [
    ("deep", " and (y = 'p' or ".join(f"x != {i} or z > {i}" for i in range(14)) + 13 * ")"),
    ("broad", " or ".join(f"x = {i} and z >= {i - 1}" for i in range(80))),
    ("always", "x is null or x is not null"),
]
"""Labels of Dewey that do not fit into 64 bits, and a tree of Interval that does not."""

TALL = [
    (f"tall{i}", f"x = {i}" + "".join(f" and (y = 'v{j}' or z > {i + j})" for j in range(12)))
    for i in range(12)
]
"""Rules of whose places few are opening ones."""

TEXTS = [
    ("t1", "contains(body, 'golf & trop* & \"david lee\"')"),
    ("t2", "contains(body, '(golf | tennis) & !open, trophy', 0.7) and x = 1"),
    ("t3", "contains(title, '\"interest rate\", cut*, !opinion', 0.4) or not contains(body, 'golf')"),
    ("t4", "tm_contains(body, '\"david golf lee\" | ab*')"),
    *((f"w{i}", f"contains(body, 'golf & word{i} & other{i % 4} & {chr(97 + i % 6)}*')") for i in range(60)),
]
EVENTS: list[Event] = [
    {"x": 1, "y": "p", "z": 7, "t": True, "s": "abcd", "body": "golf tropic david lee word3 other3 apple"},
    {
        "z": 3.5,
        "y": "zq",
        "ip": "10.2.1.1",
        "s": "xxAbCdexx foo12",
        "title": "an interest rate is cutting costs",
    },
    {},
    {"s": "", "ip": "x", "x": None, "u": {"w": [3, 4]}, "body": ["golf open", "david x golf lee abacus"]},
    {"x": [1, 2, 3], "y": "v3", "z": 10**30, "s": "barX 123", "at": "2026-01-31T13:00:00Z", "v": "q1"},
    *(
        {"x": i % 9, "y": f"v{i % 6}", "z": i, "body": f"golf word{i} other{i % 4} david lee abc"}
        for i in range(20)
    ),
]
TABLE = pa.table(
    {
        "y": [event.get("y") for event in EVENTS],
        "z": [float(event.get("z", 4)) for event in EVENTS],
        "s": [event.get("s", "abcd foo1") for event in EVENTS],
        "body": [f"golf tropic word{row} other{row % 4} david lee a{row}" for row in range(len(EVENTS))],
    }
)


def rule_sets() -> Mapping[str, Callable[[], Any]]:
    """Indexes of several kinds."""
    columns = {"id": [name for name, _ in STRUCTURED], "when": [when for _, when in STRUCTURED]}
    described = pa.table(
        {**columns, "severity": [len(name) for name, _ in STRUCTURED], "note": columns["id"]}
    )

    def changed() -> Any:
        index = tocsin.build([*STRUCTURED, *TEXTS])
        index.insert("new", "x > 3 and contains(body, 'golf & fresh*')")
        index.delete("a")
        return index

    dictionary = tocsin.Dictionary.count(["golf open", "david lee golf", "trophy final word1", "a b c apple"])
    everything = [*STRUCTURED, *PATTERNS, *TEXTS]
    return {
        "interval": lambda: tocsin.build([*everything, *LABELLED, *TALL], engine="interval"),
        "dewey": lambda: tocsin.build([LABELLED[0], *TALL, *TEXTS[:2]], engine="dewey"),
        "scan": lambda: tocsin.build(STRUCTURED[:20], engine="scan"),
        "structured": lambda: tocsin.build(described),
        "patterns": lambda: tocsin.build(PATTERNS),
        "texts": lambda: tocsin.build([*TEXTS, *STRUCTURED[:4]], dictionaries={"body": dictionary}),
        "changed": changed,
        "nothing": lambda: tocsin.build([]),
        "everything": lambda: tocsin.build(everything, stop_words=["the"]),
    }


def use(path: Path) -> None:
    """Open an index and do all that can be done with it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TocsinWarning)  # of fields that events lack
        _use(path)


def _use(path: Path) -> None:
    index = tocsin.open(path)
    for event in EVENTS[:5]:
        each(partial(index.match, event))
    for action in (
        lambda: index.match_table(TABLE, threads=1),
        lambda: index.match_table(TABLE, count=True, threads=1),
        index.stats,
        lambda: index.ids.to_pylist(),
        lambda: index.rule("a"),
        lambda: index.explain("b", EVENTS[0]),
        lambda: index.explain("t2", EVENTS[0]),
        lambda: index.insert("fresh", "x = 5 and contains(body, 'golf & new*')"),
        lambda: index.delete("t1"),
        lambda: index.match(EVENTS[0]),
        lambda: index.match_table(TABLE, threads=1),
        index.compact,
        lambda: index.match(EVENTS[1]),
        lambda: index.save(path.with_suffix(".again")),
    ):
        each(action)


def each(action: Callable[[], object]) -> None:
    """Errors that are raised on purpose are good answers."""
    with contextlib.suppress(TocsinError):
        action()


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("saved")
    found = {}
    for name, make in rule_sets().items():
        make().save(folder / name)
        use(folder / name)  # kernels are compiled here, not in every child
        found[name] = (folder / name).read_bytes()
    return found


def tried(
    saved: Mapping[str, bytes], folder: Path, count: int, seed: int, only: tuple[str, ...] = ("",)
) -> Iterator[str]:
    """What goes wrong with so many files of each rule set, changed in arrays whose names begin so."""
    for name, data in saved.items():
        draw = random.Random(f"{name} {seed}")
        cases = [mutated(data, draw, only) for _ in range(count)]

        def attempt(number: int, cases: list[tuple[str, bytes]] = cases, name: str = name) -> None:
            path = folder / f"{name}-{number}.tocsin"
            path.write_bytes(cases[number][1])
            try:
                use(path)
            finally:
                path.unlink()

        yield from failures([f"{name}, {said}" for said, _ in cases], attempt)


def test_written_again_is_the_same(saved: dict[str, bytes]) -> None:
    for data in saved.values():
        assert written(*read(data)) == data


def test_mutated_files(saved: dict[str, bytes], tmp_path: Path) -> None:
    assert list(tried(saved, tmp_path, 60, 1)) == []


OF_ENGINES = ("conjunctions.", "places.", "labels.")


def test_mutated_files_of_engines(saved: dict[str, bytes], tmp_path: Path) -> None:
    labelled = {name: saved[name] for name in ("interval", "dewey")}
    assert list(tried(labelled, tmp_path, 250, 3, OF_ENGINES)) == []


ENGINE_ARRAYS: list[tuple[str, str, Callable[[Any], Any]]] = [
    ("interval", "conjunctions.size_start", lambda array: array[:2]),
    ("interval", "conjunctions.start", lambda array: array[::-1].copy()),
    ("interval", "conjunctions.item", lambda array: array + 1),
    ("interval", "conjunctions.item", lambda array: array[::-1].copy()),
    ("dewey", "conjunctions.item", lambda array: array * 0),
    ("dewey", "places.rule_start", lambda array: array + (1 << 29)),
    ("dewey", "places.rule_start", lambda array: array // 2),
    ("dewey", "places.block", lambda array: array | np.uint64(1)),
    ("interval", "places.opening", lambda array: array * 0),
    ("interval", "places.opening", lambda array: array + (1 << 29)),
    ("dewey", "places.other", lambda array: array - 1_000),
    ("dewey", "places.other_start", lambda array: array[:-1]),
    ("dewey", "places.opening_last", lambda array: array + 1),
    ("interval", "places.always", lambda array: array + 1_000),
    ("interval", "places.always", lambda array: np.repeat(array, 2)),
    ("interval", "labels.start", lambda array: array + 1_000_000),
    ("interval", "labels.start", lambda array: -array),
    ("interval", "labels.narrow", lambda array: array & np.uint32(0xFFFF)),
    ("interval", "labels.narrow", lambda array: array | np.uint32(0xFFFF)),
    ("interval", "labels.narrow", lambda array: array << np.uint32(16) | array >> np.uint32(16)),
    ("dewey", "labels.form", lambda array: array + 1),
    ("dewey", "labels.start", lambda array: array - 1),
    ("dewey", "labels.packed", lambda array: array * np.uint64(0)),
    ("dewey", "labels.packed", lambda array: array[::-1].copy()),
    ("dewey", "labels.number_start", lambda array: array + 1),
    ("dewey", "labels.number_start", lambda array: array[:0]),
]


@pytest.mark.parametrize(("name", "array", "change"), ENGINE_ARRAYS)
def test_every_array_of_an_engine_is_checked(
    name: str, array: str, change: Callable[[Any], Any], saved: dict[str, bytes], tmp_path: Path
) -> None:
    header, arrays = read(saved[name])
    assert len(arrays[array])
    arrays[array] = change(arrays[array]).astype(arrays[array].dtype)
    path = tmp_path / "kept.tocsin"
    path.write_bytes(written(header, arrays))
    with pytest.raises(IndexFileError, match=f"kept.tocsin is damaged: the array {array.split('.')[0]}"):
        tocsin.open(path)


@pytest.mark.parametrize("engine", [None, 7, "", "atree", "no such engine", ["dewey"], "interval"])
def test_a_file_of_no_engine(engine: object, saved: dict[str, bytes], tmp_path: Path) -> None:
    header, arrays = read(saved["dewey"])
    path = tmp_path / "kept.tocsin"
    path.write_bytes(written({**header, "engine": engine}, arrays))
    with pytest.raises(IndexFileError, match=r"kept\.tocsin is (for the engine|damaged)"):
        tocsin.open(path)


def test_a_graph_that_an_engine_cannot_take(saved: dict[str, bytes], tmp_path: Path) -> None:
    """Sound for the A-Tree, whose parts are shared; written out as a tree it is without end."""
    tocsin.build([("a", " xor ".join(f"x = {i}" for i in range(40)))]).save(tmp_path / "large.tocsin")
    header, arrays = read((tmp_path / "large.tocsin").read_bytes())
    (tmp_path / "large.tocsin").write_bytes(written({**header, "kind": "engine", "engine": "scan"}, arrays))
    with pytest.raises(IndexFileError, match="damaged: the engine scan cannot take its rule 0: written out"):
        tocsin.open(tmp_path / "large.tocsin")


KEPT: list[tuple[str, str, Callable[[Any], Any]]] = [
    # What was ever found to crash, to hang, or to raise what is no TocsinError: rule set, array, change.
    ("structured", "graph.level_start", lambda array: array[:0]),
    ("everything", "texts.terms.idf", lambda array: array * 1e-300),
    ("everything", "texts.words.unknown", lambda array: array * 1e-300),
    ("structured", "graph.child", lambda array: array + 100_000),
    ("structured", "graph.root", lambda array: array - 1_000),
    ("structured", "links.link", lambda array: array + (1 << 28)),
    ("structured", "literals.scalar_table", lambda array: np.maximum(array, 1)),
    ("patterns", "patterns.word", lambda array: array ^ (1 << 36)),
    ("patterns", "patterns.shorter", lambda array: array * 0),
    ("texts", "texts.trie.branch", lambda array: array[::-1].copy()),
    ("texts", "texts.terms.slot", lambda array: array | 1),
    ("texts", "texts.queries.step", lambda array: array + 7),
    ("texts", "texts.trie.root_child", lambda array: array + (1 << 30)),
]


@pytest.mark.parametrize(("name", "array", "change"), KEPT, ids=[f"{case[0]} {case[1]}" for case in KEPT])
def test_kept_cases(
    name: str, array: str, change: Callable[[Any], Any], saved: dict[str, bytes], tmp_path: Path
) -> None:
    header, arrays = read(saved[name])
    arrays[array] = change(arrays[array]).astype(arrays[array].dtype)
    path = tmp_path / "kept.tocsin"
    path.write_bytes(written(header, arrays))
    with pytest.raises(IndexFileError, match=f"kept.tocsin is damaged: the array {array.split('.')[0]}"):
        tocsin.open(path)


HEADERS: list[tuple[str, Any]] = [
    # What opened and failed later, or raised what is no TocsinError: where in the header, and what.
    ("texts.threshold", -1),
    ("texts.threshold", -0.5),
    ("texts.threshold", 10**400),
    ("texts.threshold", float("nan")),
    ("texts.stop_words", ["A b"]),
    ("texts.stop_words", [""]),
    ("texts.stop_words", ["\ud800"]),
    ("texts.fields", [["\ud800"]]),
    ("fields", [["\ud800"]]),
    ("facts", {"read": 10**400}),
    ("facts", {"read": -1}),
    ("facts", {"read": float("inf")}),
    ("facts", {"\ud800": 1.0}),
]


@pytest.mark.parametrize(
    ("place", "value"), HEADERS, ids=[f"{place} {at}" for at, (place, _) in enumerate(HEADERS)]
)
def test_kept_headers(place: str, value: Any, saved: dict[str, bytes], tmp_path: Path) -> None:
    header, arrays = read(saved["everything"])
    *holders, key = place.split(".")
    holder = header[holders[0]] if holders else header
    holder[key] = value
    path = tmp_path / "kept.tocsin"
    path.write_bytes(written(header, arrays))
    with pytest.raises(IndexFileError, match=r"kept\.tocsin is damaged: (its|in its) header"):
        tocsin.open(path)


PARTS: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
    ("another size", lambda part: part.update(bytes=part["bytes"] + 1)),
    ("another number of rules", lambda part: part.update(rules=part["rules"] + 1)),
    ("a name that no file has", lambda part: part.update(file="part\0")),
    ("a name that is not a text", lambda part: part.update(file="shard-\ud800")),
    ("no name", lambda part: part.update(file="")),
]


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    folder = tmp_path / "parts"
    write_in_parts(folder, shared_out(random.Random(1), STRUCTURED, 2))
    return folder


@pytest.mark.parametrize("change", [change for _, change in PARTS], ids=[what for what, _ in PARTS])
def test_a_list_of_parts_that_says_nonsense(change: Callable[[dict[str, Any]], object], parts: Path) -> None:
    said = json.loads((parts / "shards.json").read_text())
    change(said["shards"][1])
    (parts / "shards.json").write_text(json.dumps(said))
    with pytest.raises(IndexFileError, match="parts is damaged"):
        tocsin.open(parts)


def test_a_part_that_is_there_twice(parts: Path) -> None:
    said = json.loads((parts / "shards.json").read_text())
    said["shards"].append(said["shards"][0])
    (parts / "shards.json").write_text(json.dumps(said))
    with pytest.raises(IndexFileError, match=r"shards\.json cannot be read"):
        tocsin.open(parts)


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.tocsin")
    with pytest.raises(IndexFileError, match="not a regular file"):
        tocsin.open(tmp_path / "pipe.tocsin")


@pytest.mark.slow
def test_many_mutated_files(saved: dict[str, bytes], tmp_path: Path) -> None:
    assert list(tried(saved, tmp_path, 3000, 2)) == []
