"""Sorting by falling weight."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tocsin.text.kernels.term_order import sort_falling

weights = st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, -1.0]), min_size=1, max_size=8)


@given(weight=weights, data=st.data())
def test_by_falling_weight_then_rising_tie_and_number(weight: list[float], data: st.DataObject):
    number = data.draw(st.lists(st.integers(0, len(weight) - 1), max_size=60))
    first = data.draw(st.integers(0, len(number)))
    end = data.draw(st.integers(first, len(number)))
    tie = data.draw(st.lists(st.integers(0, 2), min_size=len(weight), max_size=len(weight)))
    array = np.array(number, np.int32)
    sort_falling(array, first, end, np.array(weight), np.array(tie, np.int32))
    ordered = sorted(number[first:end], key=lambda each: (-weight[each], tie[each], each))
    assert array.tolist() == number[:first] + ordered + number[end:]
