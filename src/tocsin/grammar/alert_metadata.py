"""Metadata of rules that mean something to an alert: its text, `throttle`, `dedup`."""

from __future__ import annotations

import pyarrow as pa

from tocsin.grammar.alert_texts import misread_alerts
from tocsin.grammar.throttles import read_throttles


def misread_metadata(metadata: pa.Table | None, count: int) -> dict[int, str]:
    """By row, what is wrong with the metadata of `count` rules: a mistake in it is one of the rule."""
    return read_throttles(metadata, count)[1] | misread_alerts(metadata)
