"""Plain lines are to Arrow what they are one by one."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from tocsin.errors import InputError
from tocsin.tables import CsvRecords

PIECES = st.sampled_from([*",,\n\n", "1", "a b", '"', "\r\n", "\r", "é", "\ufeff", "\x00", "\udcff", " "])


def records(text: str) -> CsvRecords:
    return CsvRecords("r.csv", io.StringIO(text, newline=""))


@given(st.lists(PIECES, max_size=20).map("".join), st.integers(1, 3), st.integers(1, 4))
def test_plain_lines(text: str, width: int, lines: int) -> None:
    quick = records(text)
    found: list[list[str]] = []
    try:
        while quick.look_ahead(lines):
            table = quick.plain(width)
            if table is None:
                return
            found += [[value or "" for value in row.values()] for row in table.to_pylist()]
    except InputError:
        return
    assert found == list(records(text))
