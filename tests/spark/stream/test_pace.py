from __future__ import annotations

import pytest

import tocsin.spark as ts
from tocsin.errors import UsageError
from tocsin.spark.stream.stream import milliseconds_of


@pytest.mark.parametrize(
    ("every", "expected"), [("5 seconds", 5_000), ("1m30s", 90_000), ("250 ms", 250), ("0.5 s", 500)]
)
def test_lengths_of_time(every: str, expected: int) -> None:
    assert milliseconds_of(every) == expected


@pytest.mark.parametrize(
    ("every", "reason"),
    [
        ("soon", "every: expected a length of time such as '5 seconds', found 'soon'"),
        ("", "every: expected a length of time such as '5 seconds', found ''"),
        ("5", "every: expected a unit after 5: milliseconds, seconds"),
        ("5 parsecs", "every: 'parsecs' is not a unit here"),
        ("0 seconds", "every: it is longer than nothing"),
        ("0.5 ms", "every: it is a whole number of milliseconds"),
    ],
)
def test_what_is_none_is_said_before_anything_starts(every: str, reason: str) -> None:
    with pytest.raises(UsageError) as caught:
        ts.stream("nowhere", "no rules", "ftp://no-sink", every=every)
    assert str(caught.value).startswith(reason)
