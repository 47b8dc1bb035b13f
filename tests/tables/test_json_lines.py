"""Lines of JSON to events and rejects."""

from __future__ import annotations

import io
import json
import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.tables import DEEPEST, member_text, parse_lines, record_lines


def one(line: bytes) -> dict[str, object] | str:
    """The event that a line gives, or the reason why there is none."""
    parsed = parse_lines([line])
    assert len(parsed.objects) + len(parsed.rejects) == 1
    return parsed.objects[0] if parsed.objects else parsed.rejects[0].reason


@pytest.mark.parametrize(
    ("line", "event"),
    [
        (b"{}", {}),
        (b' \t{"a": 1}\r\n', {"a": 1}),
        (b'{"a": 1, "a": "x"}', {"a": "x"}),
        (b'{"a": [1, 1.0, true, null, "1"]}', {"a": [1, 1.0, True, None, "1"]}),
        (b'{"a": 9007199254740993}', {"a": 2**53 + 1}),
        (b'{"a": -0}', {"a": 0}),
        (b'{"a": 1e400}', {"a": math.inf}),
        (b'{"a": -Infinity}', {"a": -math.inf}),
        (b'{"a": "\\ud83d\\ude00 \\\\ud800"}', {"a": "😀 \\ud800"}),
        ('{"é": "ß"}'.encode(), {"é": "ß"}),
    ],
)
def test_events(line: bytes, event: dict[str, object]) -> None:
    found = one(line)
    assert found == event
    assert [type(value) for value in found.values()] == [type(value) for value in event.values()]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"a": "\xff"}', "not valid UTF-8 at byte 8"),
        (b'{"a": "\xed\xa0\x80"}', "not valid UTF-8 at byte 8"),
        (b'{"a": 1', "not valid JSON at character 8: Expecting ',' delimiter"),
        (b'{"a": 1} {"a": 2}', "not valid JSON at character 10: Extra data"),
        (b"{'a': 1}", "not valid JSON at character 2"),
        (b'\xef\xbb\xbf{"a": 1}', "not valid JSON at character 1"),
        (b"\x0c", "not valid JSON at character 1"),
        (b'{"a": 01}', "not valid JSON"),
        (b"[]", "not an object but a list"),
        (b"null", "not an object but null"),
        (b"true", "not an object but a Boolean"),
        (b"1.5", "not an object but a number"),
        (b'"x"', "not an object but a string"),
        (b'{"a": "\\ud800"}', "half a surrogate pair"),
        (b'{"a": [{"\\uDC00x": 1}]}', "half a surrogate pair"),
        (b'{"a": ' + b"9" * 100_001 + b"}", "a number of 100,001 digits; at most 100,000"),
    ],
)
def test_rejects(line: bytes, reason: str) -> None:
    found = one(line)
    assert isinstance(found, str)
    assert found.startswith(reason)


def nested(depth: int) -> bytes:
    return b'{"a": ' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"


def test_depth_has_one_limit() -> None:
    assert isinstance(one(nested(DEEPEST)), dict)
    assert one(nested(DEEPEST + 1)) == f"nested more than {DEEPEST} deep"
    assert one(nested(1_000_000)) == f"nested more than {DEEPEST} deep"
    assert one(b"[" * 1_000_000) == f"nested more than {DEEPEST} deep"
    assert isinstance(one(b'{"a": "' + b"[" * 10_000 + b'\\"[", "b": [' + b"[]," * 1_000 + b"1]}"), dict)


def test_integers_of_thousands_of_digits_are_exact() -> None:
    digits = b"1" + b"0" * 4999 + b"7"
    found = one(b'{"a": ' + digits + b', "b": -' + digits + b"}")
    assert found == {"a": 10**5000 + 7, "b": -(10**5000) - 7}
    assert sys.get_int_max_str_digits() < 5000


def test_a_line_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tocsin.tables.json_lines.LONGEST_LINE", 20)
    lines = [
        b'{"a": "0123456789"}\n',
        b'{"a": "0123456789x"}\n',
        b" " * 50 + b'{"a": 1}\n',
        b" " * 90 + b"\n",
        b"{}",
    ]
    parsed = parse_lines(record_lines(io.BytesIO(b"".join(lines))))
    assert parsed.objects == [{"a": "0123456789"}, {"a": 1}, {}]
    assert parsed.rows == [0, 2, 3]
    assert [(reject.row, reject.reason) for reject in parsed.rejects] == [(1, "longer than 20 bytes")]


def test_rows_count_rejects_and_no_blank_lines() -> None:
    lines = [b"{}\n", b"\n", b"  \t\r\n", b"oops \xff\r\n", b'{"a": 1}']
    parsed = parse_lines(lines, first_row=10)
    assert parsed.rows == [10, 12]
    assert parsed.lines == [b"{}\n", b'{"a": 1}']
    assert [(reject.row, reject.text) for reject in parsed.rejects] == [(11, "oops \\xff")]


@given(
    st.lists(st.sampled_from([b"\n", b"\n" * 70, b" \r\n" * 70, b"{}\n", b"  ", b" {}\r\n"]), max_size=8),
    st.integers(1, 64),
    st.integers(0, 300),
)
def test_many_blank_lines(lines: list[bytes], buffer: int, stop: int) -> None:
    data = b"".join(lines)
    for end in (None, stop):
        stream = io.BufferedReader(io.BytesIO(data), buffer)
        assert list(record_lines(stream, 0, end)) == list(record_lines(io.BytesIO(data), 0, end))


def test_what_is_kept_is_json_even_where_the_line_is_not() -> None:
    line = b'{"k": [NaN, "NaN", 1e400]}'
    (event,) = parse_lines([line]).objects
    assert member_text(event, line, "k") == '[null, "NaN", 1e400]'


def test_a_byte_order_mark_only_at_the_start() -> None:
    stream = io.BytesIO(b'\xef\xbb\xbf{"a": 1}\n\xef\xbb\xbf{}\n')
    parsed = parse_lines(record_lines(stream))
    assert parsed.rows == [0]
    assert [reject.row for reject in parsed.rejects] == [1]
    assert list(record_lines(io.BytesIO(b"\xef\xbb\xbf\n{}"))) == [b"{}"]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b'{"k": "x\xc3\xa9"}', '"xé"'),
        (b'{"k": {"a": [1, true]}}', '{"a": [1, true]}'),
        (b'{"k": null}', None),
        (b'{"k": NaN}', None),
        (b"{}", None),
        (b' { "k" : [ 1e400 ] , "j":2}', "[ 1e400 ]"),
        (b'{"k": 1, "a,}": {"k": 3}, "\\u006b" : -1e999 }', "-1e999"),
        (b'{"k": ' + b"7" * 5000 + b"}", "7" * 5000),
        (
            b'{"k": [1e999999, -12.5E+1000000, 0e9999999, "1e999999"]}',
            '[1e999, -1e999, 0e9999999, "1e999999"]',
        ),
        (b'{"k":\n[1e400,\r\n"\\n"]\n}', '[1e400,  "\\n"]'),
        (b'{"k": [-Infinity, "\\"Infinity", {"NaN": Infinity}]}', '[-1e999, "\\"Infinity", {"NaN": 1e999}]'),
    ],
)
def test_kept_members(line: bytes, text: str | None) -> None:
    event = one(line)
    assert isinstance(event, dict)
    found = member_text(event, line, "k")
    assert found == text
    if text is not None and len(text) < 1000:
        assert json.loads(text) == event["k"]
