"""Files in pieces: every line is in one of them, and has its number."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from tocsin.datalog.spark.batch.fact_frames import Piece, count_lines, lines_between


@given(
    st.lists(st.sampled_from([b"\n", b"a", b"bc\n", b"\r\n", b"defghi"]), max_size=20).map(b"".join),
    st.integers(1, 9),
)
def test_pieces_are_the_file(data: bytes, step: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "r.facts")
        path.write_bytes(data)
        before = 0
        found = b""
        for start in range(0, max(len(data), 1), step):
            piece = Piece(str(path), start, start + step)
            lines = lines_between(path, piece)
            if lines:
                assert data.startswith(lines, len(found))
                assert count_lines(str(path), 0, start) == data[: len(found)].count(b"\n") == before
            found += lines
            before += lines.count(b"\n")
        assert found == data
