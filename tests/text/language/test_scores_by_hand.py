from __future__ import annotations

import pytest
from tests.text_scores import CASES, Case

from tocsin.text import judge, parse_query


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.query} in {'; '.join(case.texts)[:40]!r}")
def test_verdict_is_the_one_worked_out_by_hand(case: Case) -> None:
    query = parse_query(case.query, any_gap=case.tm)
    assert judge(query, case.texts, case) == (case.holds, case.score)
