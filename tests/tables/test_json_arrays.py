"""Arrays of objects, cut into lines: what json.loads finds in them, and in which line."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin.tables import elements, is_array, json_arrays
from tocsin.tables.json_arrays import lines_of_array

VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "a,b", '"', '{"x"]', "\\", "é", "\n"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from('ab"\\{,'), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=200)
@given(
    events=st.lists(st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3), max_size=6),
    indent=st.sampled_from([None, 0, 2]),
    before=st.sampled_from([b"", b"\n \t", b"\xef\xbb\xbf"]),
    at_once=st.sampled_from([1, 7, 1 << 18]),
)
def test_elements_are_what_json_has(
    events: list[object], indent: int | None, before: bytes, at_once: int
) -> None:
    text = before + json.dumps(events, indent=indent, ensure_ascii=False).encode() + b"\n"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_arrays, "_AT_ONCE", at_once)
        patch.setattr(json_arrays, "_FIRST", 64)
        assert is_array(text)
        assert [json.loads(line) for line in lines_of_array(io.BytesIO(text))] == events
        found = list(elements(io.BytesIO(text)))
    assert [json.loads(element) for _, element in found] == events
    lines = text.split(b"\n")
    assert all(lines[line - 1].find(element.split(b"\n")[0]) >= 0 for line, element in found)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (b"[]", []),
        (b'[{"a": 1} {"b": 2}, , {"c": 3},]', [b'{"a": 1} {"b": 2}', b'{"c": 3}']),
        (b'[{"a": "x\ny"}, 5]', [b'{"a": "x\x0by"}', b"5"]),
        (b'[{"a": 1}]\n{"b": 2}\n{"c": 3}', [b'{"a": 1}', b'{"b": 2}', b'{"c": 3}']),
    ],
)
def test_what_is_no_array_of_objects_is_left_to_the_reader_of_lines(text: bytes, lines: list[bytes]) -> None:
    assert [line.rstrip(b"\n") for line in lines_of_array(io.BytesIO(text))] == lines


def test_an_array_that_breaks_off_gives_what_comes_before() -> None:
    stream = lines_of_array(io.BytesIO(b'[{"a": 1},\n{"b": 2},\n{"c"'))
    assert [stream.readline(), stream.readline()] == [b'{"a": 1}\n', b'{"b": 2}\n']
    with pytest.raises(EOFError, match="line 3: the array breaks off"):
        stream.readline()


def test_lines_are_no_array() -> None:
    assert not any(map(is_array, (b'{"a": 1}', b"[1, 2]\n", b'["a"]', b"", b"a,b\n[{")))
