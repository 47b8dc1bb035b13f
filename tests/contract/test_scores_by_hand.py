"""The verdicts that were worked out by hand, through engines and doors that match events.

Each case is three rules: its query as boolean, with its own score as threshold, and with the next larger
double as threshold.
"""

from __future__ import annotations

from itertools import groupby
from math import inf, nextafter

import pyarrow as pa
import pytest
from tests.text_scores import CASES, Case

import tocsin
from tocsin import Dictionary

BOOLEAN, REACHED, MISSED = "boolean", "reached", "missed"


def settings_of(case: Case) -> tuple[object, ...]:
    return case.documents, sorted(case.counts.items()), sorted(case.by_hand.items()), sorted(case.stop_words)


GROUPS = [list(group) for _, group in groupby(sorted(CASES, key=settings_of), settings_of)]


def rules_of(place: int, case: Case) -> list[tuple[str, str]]:
    query = "'" + case.query.replace("'", "''") + "'"
    name = "tm_contains" if case.tm else "contains"
    thresholds = {BOOLEAN: "boolean", REACHED: repr(case.score), MISSED: repr(nextafter(case.score, inf))}
    return [(f"{place} {kind}", f"{name}(d, {query}, {given})") for kind, given in thresholds.items()]


def expected_of(place: int, case: Case) -> dict[str, float]:
    return {f"{place} {kind}": case.score for kind in (BOOLEAN, REACHED)} if case.holds else {}


@pytest.mark.parametrize("engine", ["atree", "scan", "interval", "dnf"])
@pytest.mark.parametrize("cases", GROUPS, ids=lambda cases: f"{len(cases)} cases")
def test_every_door_gives_the_verdict(cases: list[Case], engine: str) -> None:
    some = cases[0]
    words = Dictionary.of_counts(some.counts, some.documents).with_idf(some.by_hand)
    rules = [rule for place, case in enumerate(cases) for rule in rules_of(place, case)]
    index = tocsin.build(rules, engine, dictionaries={"d": words}, stop_words=some.stop_words)
    texts = [list(case.texts) for case in cases]
    table = index.match_table(pa.table({"d": pa.array(texts, pa.list_(pa.string()))}))
    assert isinstance(table, pa.Table)
    for place, case in enumerate(cases):
        own = {rule for rule, _ in rules_of(place, case)}
        single = {match.rule: match.score for match in index.match({"d": texts[place]}) if match.rule in own}
        assert single == expected_of(place, case), case
        rows = [row for row in table.to_pylist() if row["event"] == place and row["rule"] in own]
        assert {row["rule"]: row["score"] for row in rows} == expected_of(place, case), case
