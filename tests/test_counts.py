from __future__ import annotations

from tocsin.printable import number_of


def test_one_and_several() -> None:
    assert [number_of(count, "rule") for count in (0, 1, 2, 1_000)] == [
        "0 rules",
        "1 rule",
        "2 rules",
        "1,000 rules",
    ]
    assert [number_of(count, "match", "matches") for count in (0, 1, 2)] == [
        "0 matches",
        "1 match",
        "2 matches",
    ]
