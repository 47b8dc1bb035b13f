"""Arrow's memory, read directly, says what Arrow's own functions say."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.events.arrow_buffers import large_texts, list_elements, list_lengths, valid_of, values_of

LISTS = [pa.list_(pa.int64()), pa.large_list(pa.int64()), pa.list_view(pa.int64()), pa.list_(pa.int64(), 2)]


@given(values=st.lists(st.none() | st.integers(-5, 5), max_size=40), start=st.integers(0, 20))
def test_validity_and_values_of_a_slice(values: list[int | None], start: int) -> None:
    array = pa.array(values, pa.int32()).slice(start, 17)
    valid = valid_of(array)
    known = [value is not None for value in array.to_pylist()]
    assert (valid is None) == all(known)
    if valid is not None:
        assert valid.tolist() == known
    if len(array):
        read = values_of(array, np.dtype(np.int32))
        assert [value for value, kept in zip(read.tolist(), known, strict=True) if kept] == (
            array.drop_null().to_pylist()
        )


@pytest.mark.parametrize("kind", LISTS, ids=str)
@given(data=st.data())
def test_lists_of_a_slice(kind: pa.DataType, data: st.DataObject) -> None:
    size = 2 if pa.types.is_fixed_size_list(kind) else None
    one = st.lists(st.none() | st.integers(0, 9), min_size=size or 0, max_size=size or 4)
    whole = pa.array(data.draw(st.lists(st.none() | one, max_size=12)), kind)
    array = whole.slice(data.draw(st.integers(0, 5)), 6)
    lengths = list_lengths(array)
    assert lengths.tolist() == [len(each or ()) for each in array.to_pylist()]
    elements = [element for each in array.to_pylist() for element in each or ()]
    assert list_elements(array, lengths).to_pylist() == elements


def test_what_a_null_list_hides_is_left_out() -> None:
    hidden = pa.ListArray.from_arrays([0, 2, 4, 5], [1, 2, 3, 4, 5], mask=pa.array([False, True, False]))
    lengths = list_lengths(hidden)
    assert lengths.tolist() == [2, 0, 1]
    assert list_elements(hidden, lengths).to_pylist() == [1, 2, 5]


@given(texts=st.lists(st.text(max_size=5), max_size=12), start=st.integers(0, 12))
def test_texts_with_larger_offsets(texts: list[str], start: int) -> None:
    larger = large_texts(pa.array(texts, pa.string()).slice(start, 4))
    assert larger.type == pa.large_string()
    assert larger.to_pylist() == texts[start : start + 4]
