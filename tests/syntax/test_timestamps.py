from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.conditions.language import parse_condition
from tocsin.errors import RuleError
from tocsin.syntax import is_too_fine, parse_timestamp, print_timestamp
from tocsin.syntax.timestamps import FIRST_SECOND, LAST_SECOND, NANOS, WIDEST_OFFSET

NOON = 1_769_860_800 * NANOS


@pytest.mark.parametrize(
    ("text", "nanos"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("2026-01-31T12:00:00Z", NOON),
        ("2026-01-31t12:00:00z", NOON),
        ("2026-01-31 12:00:00Z", NOON),
        ("2026-01-31T13:30:00+01:30", NOON),
        ("2026-01-31T00:01:00-11:59", NOON),
        ("2026-01-31T12:00:00-00:00", NOON),
        ("2026-02-01T11:59:00+23:59", NOON),
        ("2026-01-31T12:00:00.5Z", NOON + NANOS // 2),
        ("2026-01-31T12:00:00.000000001Z", NOON + 1),
        ("2026-01-31T12:00:00.1234567890000Z", NOON + 123_456_789),
        ("2026-01-31T12:00:00." + "0" * 10_000 + "Z", NOON),
        ("1969-12-31T23:59:59.999999999Z", -1),
        ("2024-02-29T00:00:00Z", 1_709_164_800 * NANOS),
        ("2000-02-29T00:00:00Z", 951_782_400 * NANOS),
        ("0001-01-01T00:00:00Z", -62_135_596_800 * NANOS),
        ("0000-02-29T00:00:00Z", (FIRST_SECOND + 59 * 86_400) * NANOS),
        ("9999-12-31T23:59:59.999999999Z", (LAST_SECOND + 1) * NANOS - 1),
        ("2016-12-31T23:59:60Z", 1_483_228_800 * NANOS),
        ("2017-01-01T00:59:60.5+01:00", 1_483_228_800 * NANOS + NANOS // 2),
        ("9999-12-31T23:59:60Z", (LAST_SECOND + 1) * NANOS),
    ],
)
def test_what_reads(text: str, nanos: int) -> None:
    assert parse_timestamp(text) == nanos


@pytest.mark.parametrize(
    "text",
    [
        *("", "now", "2026-01-31", "2026-01-31T12:00:00", "12:00:00Z", "2026-01-31T12:00Z", "1769860800"),
        *(
            "2026-01-31T12:00:00Z ",
            " 2026-01-31T12:00:00Z",
            "2026-01-31T12:00:00Z\n",
            "2026-01-31  12:00:00Z",
        ),
        *("2026-1-31T12:00:00Z", "26-01-31T12:00:00Z", "+2026-01-31T12:00:00Z", "12026-01-31T12:00:00Z"),
        *("2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-04-31T00:00:00Z", "2026-01-00T00:00:00Z"),
        *("2025-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T12:60:00Z"),
        *(
            "2026-01-31T12:00:61Z",
            "2026-01-31T12:00:00.Z",
            "2026-01-31T12:00:00,5Z",
            "2026-01-31T12:00:00+0100",
        ),
        *(
            "2026-01-31T12:00:00+01",
            "2026-01-31T12:00:00+24:00",
            "2026-01-31T12:00:00+01:60",
            "2026-01-31_12:00:00Z",
        ),
        *("2026-01-31T12:00:00\u221201:00", "٢٠٢٦-01-31T12:00:00Z", "2026-01-31T12:00:00UTC"),
        "2026-01-31T12:00:60Z",  # no leap second at noon
        "2016-12-30T23:59:60Z",  # nor within a month
        "2016-12-31T23:59:60+01:00",  # nor at a midnight that is not UTC's
    ],
)
def test_what_does_not_read(text: str) -> None:
    assert parse_timestamp(text) is None


@pytest.mark.parametrize(
    ("nanos", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (-1, "1969-12-31T23:59:59.999999999Z"),
        (NOON + 120_000_000, "2026-01-31T12:00:00.12Z"),
        (FIRST_SECOND * NANOS, "0000-01-01T00:00:00Z"),
        ((LAST_SECOND + 1) * NANOS, "9999-12-31T00:01:00-23:59"),
        (FIRST_SECOND * NANOS - 1, "0000-01-01T23:58:59.999999999+23:59"),
    ],
)
def test_the_canonical_text(nanos: int, text: str) -> None:
    assert print_timestamp(nanos) == text


@pytest.mark.parametrize(
    "seconds", [FIRST_SECOND - WIDEST_OFFSET - 1, LAST_SECOND + WIDEST_OFFSET + 1, 10**30]
)
def test_no_text_for_what_no_text_can_say(seconds: int) -> None:
    with pytest.raises(ValueError, match="0000 to 9999"):
        print_timestamp(seconds * NANOS)


INSTANTS = st.integers((FIRST_SECOND - WIDEST_OFFSET) * NANOS, (LAST_SECOND + WIDEST_OFFSET + 1) * NANOS - 1)


@given(INSTANTS)
def test_what_is_printed_reads_back(nanos: int) -> None:
    assert parse_timestamp(print_timestamp(nanos)) == nanos


@given(st.datetimes(), st.integers(-1439, 1439))
def test_the_same_instants_as_datetime(wall: datetime, offset: int) -> None:
    moment = wall.replace(tzinfo=timezone(timedelta(minutes=offset)))
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    assert parse_timestamp(moment.isoformat()) == (moment - epoch) // timedelta(microseconds=1) * 1_000


def test_what_is_finer_than_a_nanosecond_is_cut_off_in_events_and_refused_in_rules() -> None:
    fine = "2026-01-31T12:00:00.1234567899Z"
    assert parse_timestamp(fine) == parse_timestamp("2026-01-31T12:00:00.123456789Z")
    assert is_too_fine(fine)
    assert not is_too_fine("2026-01-31T12:00:00.1234567890Z")
    with pytest.raises(RuleError, match="nine digits"):
        parse_condition(f"t = timestamp '{fine}'")
