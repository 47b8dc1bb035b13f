"""Lines of JSON by the loop: the same cells, rejects, lines and kept texts as by Python's json."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tests.events.reading import seen_batch

from tocsin.errors import InputError
from tocsin.events import (
    EventChunk,
    FieldPlan,
    Slice,
    json_chunks,
    plan_slices,
    read_slice,
    scanned_cells,
    scanned_lines,
)
from tocsin.events import Path as Field
from tocsin.events.event_chunk import parsed_chunk
from tocsin.tables import DEEPEST, is_array, record_lines

FIELDS: list[Field] = [("a",), ("b",), ("a", "b"), ("b", "a", "b"), ("",), ("é",), ("a.b",), ("a", "a")]
KEPT = ["a", "é", ""]


@pytest.fixture(autouse=True)
def by_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_chunks, "FEW_BYTES", 3)
    monkeypatch.setattr(scanned_cells, "is_cached", lambda _: True)


NUMBERS = [
    *("0", "-0", "1", "-7", "12", "1.5", "1E5", "1e400", "-1e400", "1e-400", "0.1", "-0.0", "0e5", "1.0"),
    *("9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808"),
    *("-9223372036854775809", "18446744073709551615", "18446744073709551616", "9" * 30, "1" * 700),
    *("0.30000000000000004", "5e-324", "2.2250738585072014e-308", "1.7976931348623157e308", "1e22", "1e23"),
    *("123456789012345678.9", "0." + "0" * 30 + "123", "9" * 25 + ".5", "1e-00000000000000000005"),
    *("NaN", "Infinity", "-Infinity"),
]
NO_NUMBERS = ["01", "1.", "-", "+1", ".5", "1e", "1e+", "0x1", "1_0", "-NaN", "1e5.0", "Infinit", "٣", "--1"]
STRINGS = [
    *('""', '"a"', '"b"', '"é"', '"\\u00e9"', '"\\ud83d\\ude00"', '"😀"', '"a\\nb"', '"\\\\"', '"\\""'),
    *(
        '"\\/"',
        '"\\u0000"',
        '"\\b\\f\\n\\r\\t"',
        '"\x7f"',
        '"2026-01-01T00:00:00Z"',
        '"long ' + "x" * 40 + '"',
    ),
]
NO_STRINGS = [
    *('"\\ud800"', '"\\udc00x"', '"\\ud800\\ud800"', '"\\ud800\\u0041"', '"\\x"', '"\\u12"', '"\\u12G4"'),
    *('"tab\tin"', '"open', '"\\', '"\x00"', "'a'"),
]
WORDS = ["true", "false", "null", "nul", "True", "nullx", "falsee", "", "undefined"]
blanks = st.sampled_from(["", "", "", " ", "\t", "\r", " \r\t "])
scalars = st.one_of(
    st.sampled_from([*NUMBERS, *STRINGS, *WORDS[:3]]),
    st.sampled_from([*NUMBERS, *STRINGS, *NO_NUMBERS, *NO_STRINGS, *WORDS]),
    st.integers().map(str),
    st.floats().map(json.dumps),
    st.text(max_size=12).map(json.dumps),
    st.text(max_size=12).map(lambda text: json.dumps(text, ensure_ascii=False)),
)
names = st.sampled_from(
    ['"a"', '"b"', '""', '"é"', '"a.b"', '"\\u0061"', '"\\u00e9"', '"x"', '"\\b"', '"\\ud800"']
)


def _listed(elements: list[str], blank: str) -> str:
    return "[" + f"{blank},{blank}".join(elements) + blank + "]"


def _object(members: list[tuple[str, str]], blank: str) -> str:
    return (
        "{"
        + f"{blank},".join(f"{blank}{name}{blank}:{blank}{value}" for name, value in members)
        + blank
        + "}"
    )


values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.builds(_listed, st.lists(inner, max_size=3), blanks),
        st.builds(_object, st.lists(st.tuples(names, inner), max_size=4), blanks),
    ),
    max_leaves=6,
)
objects = st.builds(_object, st.lists(st.tuples(names, values), max_size=6), blanks)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass").replace(b"\n", b" ")


def _damaged(line: bytes, place: int, piece: bytes) -> bytes:
    place %= len(line) + 1
    return line[:place] + piece + line[place + 1 :]


PIECES = [
    b"",
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b",",
    b":",
    b"\\",
    b"0",
    b"-",
    b"e",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
]
damaged = st.builds(
    _damaged,
    objects.map(_encoded),
    st.integers(0, 200),
    st.sampled_from([*PIECES, b"\r", b"\x00", b"\x0c", b"\xa0"]),
)
lines = st.one_of(
    objects.map(_encoded),
    objects.map(_encoded),
    damaged,
    values.map(_encoded),
    st.sampled_from([b"", b" ", b"\r", b"\t \r", b"\xef\xbb\xbf{}", b"{}", b"  {} \r", b"{} {}", b"{},"]),
)


def check(folder: Path, data: bytes, batch_rows: int) -> None:
    file = folder / "e.jsonl"
    file.write_bytes(data)
    whole = parsed_chunk(list(record_lines(io.BytesIO(data))), 5, FieldPlan(FIELDS), KEPT)
    found = list(read_slice(Slice(str(file), "jsonl", 5, None, 0, len(data)), FIELDS, KEPT, batch_rows))
    assert [row for chunk in found for row in chunk.rows.tolist()] == whole.rows.tolist()
    assert [reject for chunk in found for reject in chunk.rejects] == whole.rejects
    assert [line for chunk in found for line in chunk.lines] == list(whole.lines)
    assert cells(found) == cells([whole])
    kept = pa.concat_tables([chunk.kept for chunk in found]) if found else whole.kept.slice(0, 0)
    assert kept.equals(whole.kept)
    kept.validate(full=True)


def cells(chunks: list[EventChunk]) -> dict[Field, dict[int, object]]:
    found: dict[Field, dict[int, object]] = {}
    for chunk in chunks:
        for field, seen in seen_batch(chunk.events).items():
            found.setdefault(field, {}).update({int(chunk.rows[row]): cell for row, cell in seen.items()})
    return found


@given(
    st.lists(lines, max_size=12),
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.sampled_from([b"", b"\n"]),
    st.sampled_from([1, 3, 8192]),
)
@example([b'{"a": {"b": 1}, "b": [{"a": {"b": 2}}], "a": {"b": 3}, "a": {"a": 4}}'], b"", b"", 8192)
@example([b'{"a": "\\ud800", "a": 1}', b'{"a": "x"}'], b"", b"\n", 8192)
@example([b'{"a": [[], [1, [2, null, {"b": 3}]], {"a": []}], "b": [], "": {}}'], b"", b"\n", 8192)
def test_any_lines(
    tmp_path_factory: pytest.TempPathFactory, some: list[bytes], start: bytes, end: bytes, batch_rows: int
) -> None:
    data = start + b"\n".join(some) + end
    assume(not is_array(data))  # which is read otherwise
    check(tmp_path_factory.mktemp("lines"), data, batch_rows)


def test_numbers_and_strings_one_by_one(tmp_path: Path) -> None:
    pieces = [*NUMBERS, *NO_NUMBERS, *STRINGS, *NO_STRINGS, *WORDS]
    text = "".join(f'{{"a": {piece}}}\n{{"b": [{piece}]}}\n[{piece}]\n{piece}\n' for piece in pieces)
    check(tmp_path, text.encode("utf-8", "surrogatepass"), 8192)


def test_nothing_plainly_right_is_left_to_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> EventChunk:
        raise AssertionError("a block was read by Python's json")

    monkeypatch.setattr(scanned_lines, "parsed_chunk", never)
    monkeypatch.setattr(json_chunks, "parsed_chunk", never)
    file = tmp_path / "e.jsonl"
    file.write_text(
        "".join(f'{{"a": {piece}, "a": {piece}}}\n' for piece in [*NUMBERS, *STRINGS, *WORDS[:3]])
    )
    (chunk,) = read_slice(plan_slices(file)[0], FIELDS)
    assert len(chunk.rows) == len(NUMBERS) + len(STRINGS) + 3


def test_depth(tmp_path: Path) -> None:
    lists = [b'{"a": ' + b"[" * depth + b"]" * depth + b"}" for depth in (DEEPEST - 1, DEEPEST, 100_000)]
    nested = [b'{"a":' * depth + b"1" + b"}" * depth for depth in (DEEPEST, DEEPEST + 1)]
    check(tmp_path, b"\n".join([*lists, *nested, b"[" * 1000, b'{"b": "' + b"[" * 1000 + b'"}']), 8192)


def test_more_cells_than_there_is_room_for(tmp_path: Path) -> None:
    long = json.dumps({"a": list(range(100_000)), "b": ["x", 1.5] * 20_000}).encode()
    check(tmp_path, b"\n".join([b'{"a": 1}', long, b'{"a": 2}', long]), 3)


def test_long_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line may be longer than what is read at once, and one that is too long ends the loop."""
    monkeypatch.setattr(scanned_lines, "FIRST_BYTES", 1 << 10)
    text = [b'{"a": "%s"}' % (b"x" * size) for size in (10, 5_000, 70_000, 20)]
    check(tmp_path, b"\n".join(text), 8192)
    for module in ("tocsin.tables.json_lines", "tocsin.events.scanned_lines"):
        monkeypatch.setattr(f"{module}.LONGEST_LINE", 3_000)
    monkeypatch.setattr(scanned_lines, "_LIMITS", scanned_lines._LIMITS._replace(line=3_000))
    check(tmp_path, b"\n".join(text), 8192)
    check(tmp_path, b"\n".join([*text, b"\n" * 9_000, b" " * 4_000, b'{"a": 1}\n']), 2)


def test_a_packed_file_that_is_cut(tmp_path: Path) -> None:
    text = b"".join(b'{"a": %d, "b": "%d"}\n' % (n, n * 7919 % 1000) for n in range(50_000))
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(text)[:-20_000])
    piece = Slice(str(tmp_path / "cut.jsonl.gz"), "jsonl", 0, None)
    rows: list[int] = []
    with pytest.raises(InputError, match="cannot be read"):
        rows.extend(row for chunk in read_slice(piece, FIELDS) for row in chunk.rows.tolist())
    assert rows == list(range(len(rows)))
    assert len(rows) > 10_000
