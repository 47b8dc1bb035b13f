from __future__ import annotations

import json
from datetime import UTC, date, datetime
from math import sqrt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.text_cases import documents, query_texts

import tocsin
from tocsin import Dictionary, backtest
from tocsin.conditions.language import parse_condition
from tocsin.conditions.meaning import matches
from tocsin.conditions.meaning import score as score_by_meaning

EVENTS: list[dict[str, Any]] = [
    {"at": "2026-01-01T10:00:00Z", "kind": "a", "body": "a golf trophy"},
    {"at": "2026-01-01T23:59:59-02:00", "kind": "a", "body": "golf golf trophy"},
    {"at": "2026-01-05T00:00:00Z", "kind": "a", "body": "nothing"},
    {"at": "2026-01-05T10:00:00Z", "kind": "b", "body": ["golf", "xx", "a trophy of tin"]},
    {"at": "2026-01-05T11:00:00Z", "kind": "a", "body": "golf"},
    {"at": "2026-01-05T12:00:00Z", "kind": "a"},
]
RULE = [("r", "kind = 'a' and contains(body, 'golf, trophy', 1.2)"), ("other", "contains(body, 'x')")]


def test_events_are_ranked_by_score_with_their_words_marked() -> None:
    run = backtest(RULE, EVENTS, rule="r")
    assert run.table.to_pylist() == [
        {
            "event": 0,
            "score": pytest.approx(sqrt(2)),
            "always": False,
            "day": date(2026, 1, 1),
            "text": "a [golf] [trophy]",
        },
        {
            "event": 1,
            "score": pytest.approx(1.5 / sqrt(1.25)),
            "always": False,
            "day": date(2026, 1, 2),
            "text": "[golf] [golf] [trophy]",
        },
        {"event": 4, "score": 1.0, "always": False, "day": date(2026, 1, 5), "text": "[golf]"},
    ]
    assert (run.rule, run.threshold, run.events, run.time, run.days) == ("r", 1.2, 6, "at", 5)


def test_alerts_a_day_of_each_threshold() -> None:
    run = backtest(RULE, EVENTS, rule="r")
    assert run.thresholds.to_pylist() == [
        {"threshold": 0.0, "alerts": 3, "alerts a day": 3 / 5},
        {"threshold": 1.0, "alerts": 3, "alerts a day": 3 / 5},
        {"threshold": 1.2, "alerts": 2, "alerts a day": 2 / 5},
        {"threshold": 1.341, "alerts": 2, "alerts a day": 2 / 5},
        {"threshold": 1.414, "alerts": 1, "alerts a day": 1 / 5},
    ]
    assert run.per_day(1.1).to_pydict() == {
        "day": [date(2026, 1, day) for day in range(1, 6)],
        "alerts": [1, 1, 0, 0, 0],
    }
    assert [run.alerts(each) for each in (0, 1, 1.001, 1.4, 1.5)] == [3, 3, 2, 1, 0]


def test_what_holds_without_the_text_is_an_alert_with_every_threshold() -> None:
    run = backtest([("r", "kind = 'b' or contains(body, 'golf, trophy', 1.2)")], EVENTS, rule="r")
    assert run.table["event"].to_pylist() == [0, 3, 1, 4]
    assert run.table["always"].to_pylist() == [False, True, False, False]
    assert run.table["text"][1].as_py() == "[golf] / a [trophy] of tin"
    assert [run.alerts(each) for each in (0, 1.2, 2)] == [4, 3, 1]


def test_words_weigh_what_the_dictionary_says() -> None:
    words = Dictionary.of_counts({"golf": 1, "trophy": 4}, 4)
    run = backtest(RULE, EVENTS, rule="r", dictionaries={"body": words})
    assert run.table["score"].to_pylist() == [1.0, 1.0, 1.0]
    stopped = backtest(RULE, EVENTS, rule="r", stop_words=["golf"])
    assert stopped.table["score"].to_pylist() == [1.0, 1.0, 0.0]


def test_only_the_first_keep_their_texts() -> None:
    events = [{"body": f"golf {'trophy ' * (number % 7)}"} for number in range(20_000)]
    run = backtest([("r", "contains(body, 'golf, trophy')")], events, rule="r", top=5)
    assert len(run.ranking.texts) == 5
    assert run.table["event"].to_pylist()[:5] == [1, 8, 15, 22, 29]
    assert run.table["text"].to_pylist()[:6] == ["[golf] [trophy] "] * 5 + [None]
    assert len(run.table) == 20_000


def test_the_history_may_be_files_or_a_table(tmp_path: Path) -> None:
    flat = [{**event, "body": str(event.get("body"))} for event in EVENTS]
    expected = backtest(RULE, flat, rule="r").table
    (tmp_path / "news.jsonl").write_text("\n".join(map(json.dumps, flat)))
    timed = [{**event, "at": datetime.fromisoformat(event["at"]).astimezone(UTC)} for event in flat]
    pq.write_table(pa.Table.from_pylist(timed), tmp_path / "news.parquet")
    lines = [f'{event["at"]},{event["kind"]},"{event["body"]}"' for event in flat]
    (tmp_path / "news.csv").write_text("\n".join(["at,kind,body", *lines]))
    for source in ("news.jsonl", "news.parquet", "news.csv"):
        assert backtest(RULE, tmp_path / source, rule="r").table.equals(expected), source
    assert backtest(RULE, pa.Table.from_pylist(timed), rule="r").table.equals(expected)


def test_records_that_are_no_events_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "news.jsonl").write_text(
        '{"kind": "a", "body": "golf"}\n[1]\n{"kind": "a", "body": "golf"}\n'
    )
    run = backtest(RULE, tmp_path / "news.jsonl", rule="r")
    assert run.table["event"].to_pylist() == [0, 2]
    assert (run.events, run.rejects) == (2, 1)


def test_days_of_a_field_that_is_named() -> None:
    events = [{"meta": {"seen": f"2026-02-0{day}T00:00:00Z"}, "body": "golf"} for day in (3, 1)]
    run = backtest([("r", "contains(body, 'golf')")], events, rule="r", time="meta.seen")
    assert run.table["day"].to_pylist() == [date(2026, 2, 3), date(2026, 2, 1)]
    assert run.days == 3


def test_without_time_there_are_no_days() -> None:
    run = backtest([("r", "contains(body, 'golf')")], [{"body": "golf", "n": 1}], rule="r")
    assert (run.time, run.days) == (None, None)
    assert run.thresholds["alerts a day"].to_pylist() == [None, None]
    assert run.table["day"].to_pylist() == [None]
    with pytest.raises(tocsin.UsageError, match="tells the time"):
        run.per_day(1)


def test_a_history_without_any_match() -> None:
    run = backtest(RULE, EVENTS[2:3], rule="r")
    assert len(run.table) == 0
    assert run.thresholds["threshold"].to_pylist() == [0.0, 1.2]
    assert len(run.histogram()) == 0
    assert len(backtest(RULE, [], rule="r").table) == 0


def test_bars_of_scores() -> None:
    run = backtest(RULE, EVENTS, rule="r")
    bars = run.histogram(4).to_pylist()
    assert [bar["events"] for bar in bars] == [1, 0, 0, 2]
    assert bars[0]["from"] == 1.0
    assert bars[-1]["below"] == pytest.approx(sqrt(2))
    assert backtest(RULE, EVENTS[:1], rule="r").histogram()["events"].to_pylist() == [1]


@pytest.mark.parametrize(
    ("condition", "part"),
    [
        ("kind = 'a'", "has no contains"),
        ("contains(a, 'x') and contains(b, 'y')", "none with a threshold"),
        ("not contains(a, 'x', 1)", "below a not"),
        ("x or (y and not (z or contains(a, 'x')))", "below a not"),
        ("x xor contains(a, 'x')", "below a not"),
    ],
)
def test_rules_whose_threshold_cannot_be_found_give_their_hits(condition: str, part: str) -> None:
    events = [*EVENTS, {"a": "x", "b": "y"}, {"x": True, "a": "z"}, {"a": "z"}]
    run = backtest([("r", condition)], events, rule="r")
    parsed = parse_condition(condition)
    hits = [at for at, event in enumerate(events) if matches(parsed, event)]
    assert sorted(run.table["event"].to_pylist()) == hits
    assert run.hits == run.alerts(None) == len(hits) > 0
    for row in run.table.to_pylist():
        assert row["score"] == score_by_meaning(parsed, events[row["event"]])
        assert row["text"].startswith("{")
    assert run.query is None
    for asked in (lambda: run.thresholds, lambda: run.alerts(1), lambda: run.pick(0), lambda: run.write(1)):
        with pytest.raises(tocsin.UsageError, match=part):
            asked()


def test_picks_exactly_the_score_of_an_event(tmp_path: Path) -> None:
    words = Dictionary.of_counts({"golf": 7, "trophy": 29, "tin": 3}, 41)
    texts = ["golf golf trophy", "golf trophy trophy tin", "tin golf golf golf", "golf", "trophy", "x"]
    events = [{"body": text} for text in texts]
    file = tmp_path / "rules.sql"
    file.write_text("create trigger r when contains(body, 'golf, trophy, tin', 0.1);")
    ranked = backtest(file, events, rule="r", dictionaries={"body": words}).table.to_pylist()
    assert len({row["score"] for row in ranked}) > 2
    for row in ranked:
        run = backtest(file, events, rule="r", dictionaries={"body": words})
        run.write(run.pick(row["event"]))
        index = tocsin.build(tocsin.read_rules(file), dictionaries={"body": words})
        matched = {at for at, text in enumerate(texts) if len(index.match({"body": text}))}
        assert matched == {each["event"] for each in ranked if each["score"] >= row["score"]}
    run = backtest(file, events, rule="r")
    with pytest.raises(tocsin.UsageError, match="event 5 does not satisfy the rule 'r'"):
        run.pick(5)
    always = backtest([("r", "n = 1 or contains(body, 'golf')")], [{"n": 1, "body": "golf"}], rule="r")
    with pytest.raises(tocsin.UsageError, match="without its contains"):
        always.pick(0)


def test_of_several_the_one_with_a_threshold_is_tried() -> None:
    rule = [("r", "contains(body, 'golf', boolean) and contains(body, 'trophy, tin', 0.5)")]
    assert backtest(rule, EVENTS, rule="r").table["text"].to_pylist() == [
        "a [trophy] of [tin]",
        "a golf [trophy]",
        "golf golf [trophy]",
    ]


def test_what_makes_no_sense() -> None:
    with pytest.raises(tocsin.UnknownRuleError):
        backtest(RULE, EVENTS, rule="none")
    with pytest.raises(tocsin.RuleError):
        backtest([("r", "contains(body, '!a')")], EVENTS, rule="r")
    with pytest.raises(tocsin.UsageError):
        backtest(RULE, 5, rule="r")  # type: ignore[call-overload]
    with pytest.raises(tocsin.UsageError):
        backtest(RULE, [1], rule="r")  # type: ignore[list-item]
    with pytest.raises(tocsin.UsageError):
        backtest(RULE, EVENTS, rule="r", top=-1)


def test_writes_the_threshold_into_the_rule_and_nowhere_else(tmp_path: Path) -> None:
    file = tmp_path / "rules.sql"
    text = "create trigger r when contains(body, 'golf, trophy', boolean); -- mine\n"
    file.write_text(text)
    file.chmod(0o640)
    run = backtest(file, EVENTS, rule="r")
    assert run.threshold is None
    assert run.write(1.25) == file
    assert file.read_text() == text.replace("boolean", "1.25")
    assert file.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [file]
    assert backtest(file, EVENTS, rule="r").threshold == 1.25
    with pytest.raises(tocsin.InputError, match="read the file again"):
        run.write(1.5)
    with pytest.raises(tocsin.UsageError, match="comes from no file"):
        backtest(RULE, EVENTS, rule="r").write(1)
    assert run.warning(1.25) is None
    assert "no text reaches" in (run.warning(2) or "")


CONDITIONS = (
    "contains(d, {query}, {threshold})",
    "x = 1 and contains(d, {query}, {threshold})",
    "x = 1 or contains(d, {query}, {threshold}) and y = 1",
    "contains(e, 'a | b') and (x = 1 or contains(d, {query}, {threshold}))",
)
made_events = st.lists(
    st.fixed_dictionaries(
        {"x": st.sampled_from([1, 2, None]), "y": st.sampled_from([1, 2])},
        optional={"d": documents(longest=6), "e": st.sampled_from(["a", "c", "b b"])},
    ),
    max_size=8,
)


@settings(max_examples=60)
@given(st.sampled_from(CONDITIONS), query_texts(), made_events, st.sampled_from([0, 0.4, 0.7, 1, 1.2, 1.5]))
def test_alerts_are_the_matches_that_the_rule_would_have_had(
    condition: str, written: tuple[str, object], events: list[dict[str, object]], threshold: float
) -> None:
    query = "'" + written[0].replace("'", "''") + "'"
    rule = condition.format(query=query, threshold="boolean" if "e, " not in condition else "7")
    run = backtest([("r", rule)], events, rule="r")
    tried = parse_condition(condition.format(query=query, threshold=threshold))
    assert run.alerts(threshold) == sum(matches(tried, event) for event in events)
    for row in run.table.to_pylist():
        assert row["score"] == score_by_meaning(tried, events[row["event"]])
