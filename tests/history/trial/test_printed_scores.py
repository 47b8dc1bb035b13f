from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tocsin.history.trial import cut_off
from tocsin.history.trial.printed_scores import printed_scores

scores = st.one_of(
    st.floats(0, 1e300),
    st.floats(0, 3),
    st.sampled_from([0.0, 5e-324, 1.0, np.nextafter(1.0, 2), np.nextafter(1.0, 0), 1.41421356, 1.414213]),
    st.floats(0, 3).map(lambda each: round(each, 4)),
)


@given(st.lists(scores, min_size=1, max_size=12))
@example([1.7320508075688774])
@example([5e-324, 0.0])
def test_a_printed_score_as_a_threshold_cuts_where_it_stands(found: list[float]) -> None:
    ranked = np.sort(np.array(found))[::-1]
    texts = printed_scores(ranked, len(ranked))
    for score, text in zip(ranked.tolist(), texts, strict=True):
        assert float(text) <= score
        assert np.count_nonzero(ranked >= float(text)) == np.count_nonzero(ranked >= score)
    assert printed_scores(ranked, 1) == texts[:1]


def test_no_more_digits_than_it_takes() -> None:
    found = np.array([1.7320508075688774, 1.4142135623730951, 1.414213, 1.0, 1.0, 0.00004, 0.0])
    assert printed_scores(found, 7) == [
        "1.7320",
        "1.4142135",
        "1.4142",
        "1.0000",
        "1.0000",
        "0.00004",
        "0.0000",
    ]
    assert cut_off(1.99999, 2) == "1.99"
