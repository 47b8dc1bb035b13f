"""tocsin.watch: what alerts hold, what fires which trigger, and that a bad change changes nothing."""

from __future__ import annotations

from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow as pa
import pytest

import tocsin
from tocsin import Watch
from tocsin.conditions.graph import condition_reader
from tocsin.rules.rule_files import rules_of_triggers
from tocsin.watches import joins


def watching(*statements: str) -> Watch:
    text = "\n".join(f"create trigger {each};" for each in statements)
    return tocsin.watch(tocsin.Rules.concat([rules_of_triggers(text)]))


def fired(alerts: list[tocsin.Alert]) -> list[tuple[str, Any]]:
    return [(alert.rule, alert.rows) for alert in alerts]


def test_an_alert() -> None:
    watch = watching(
        "r from s as a, t as b after insert to b when a.k = b.k and contains(b.note, 'red, fox', 0.5)"
        " do alert '{b.name} / {a.k} / {a.tags} / {b.gone} / {score} / {b.o} / {b.flag} / {b.at} / {x y}'",
        "plain from s when k = 7",
    )
    assert watch.insert("s", {"k": 7, "tags": [1, None, "é"]}) == [
        tocsin.Alert("plain", {"s": {"k": 7, "tags": [1, None, "é"]}}, None, None)
    ]
    row = {"k": 7.0, "note": "a red fox", "name": "Bob", "o": {"p": 0.5}, "flag": True, "at": "noon"}
    (alert,) = watch.insert("t", row)
    assert alert.rule == "r"
    assert alert.rows == {"a": {"k": 7, "tags": [1, None, "é"]}, "b": row}
    assert alert.score == pytest.approx(2**0.5)
    assert alert.text == f'Bob / 7 / [1, "é"] / null / {alert.score!r} / {{"p": 0.5}} / true / noon / {{x y}}'


def test_rules_come_as_a_path_pairs_a_mapping_or_a_table(tmp_path: Path) -> None:
    file = tmp_path / "rules.sql"
    file.write_text("create trigger r from s when k = 1;")
    assert len(tocsin.watch(file).insert("s", {"k": 1})) == 1
    assert tocsin.watch(str(tmp_path)).insert("t", {"k": 1}) == []
    for rules in ([("r", "k = 1")], {"r": "k = 1"}, pa.table({"id": ["r"], "when": ["k = 1"]})):
        (alert,) = tocsin.watch(rules).insert("any table", {"k": 1})
        assert alert == ("r", {"any table": {"k": 1}}, None, None, None)


def test_a_rule_without_a_table_watches_inserts_into_every_table() -> None:
    watch = watching("r when k = 1 do alert '{k} {o.p}'", "v after delete to t when t.k = 1")
    assert [alert.text for alert in watch.insert("s", {"k": 1, "o": {"p": 2}})] == ["1 2"]
    assert fired(watch.insert("t", {"k": 1})) == [("r", {"t": {"k": 1}})]
    assert fired(watch.update("t", {"k": 1}, {"k": 1, "m": 2})) == []
    assert fired(watch.delete("t", {"k": 1, "m": 2})) == [("v", {"t": {"k": 1, "m": 2}})]
    assert fired(watch.delete("s", {"k": 1, "o": {"p": 2}})) == []


def test_which_changes_fire_what() -> None:
    watch = watching(
        "any from s as a, t as b when a.k = b.k",
        "ins from s as a, t as b after insert to b when a.k = b.k",
        "upd from s as a, t as b after update to b when a.k = b.k",
        "del from s as a, t as b after delete to b when a.k = b.k",
    )

    def rules(alerts: list[tocsin.Alert]) -> list[str]:
        return [alert.rule for alert in alerts]

    assert watch.insert("t", {"k": 1}) == []
    assert rules(watch.insert("s", {"k": 1})) == ["any"]
    assert rules(watch.insert("t", {"k": 1, "n": 2})) == ["any", "ins"]
    assert rules(watch.update("s", {"k": 1}, {"k": 1, "n": 3})) == []
    assert fired(watch.update("t", {"k": 1}, {"k": 1, "n": 5})) == [
        ("upd", {"a": {"k": 1, "n": 3}, "b": {"k": 1, "n": 5}})
    ]
    assert rules(watch.update("t", {"k": 1, "n": 5}, {"k": 1, "n": 5})) == ["upd"]
    assert rules(watch.update("t", {"k": 1, "n": 5}, {"k": 4})) == []
    assert rules(watch.delete("t", {"k": 4})) == []
    assert fired(watch.delete("t", {"k": 1, "n": 2})) == [
        ("del", {"a": {"k": 1, "n": 3}, "b": {"k": 1, "n": 2}})
    ]
    assert rules(watch.delete("s", {"k": 1, "n": 3})) == []
    assert rules(watch.insert("t", {"k": 1})) == []


def test_equal_rows_are_two_rows() -> None:
    watch = watching("r from s as a, t as b when a.k = b.k")
    watch.insert("s", {"k": 1})
    watch.insert("s", {"k": 1.0})
    assert len(watch.insert("t", {"k": 1})) == 2
    watch.delete("s", {"k": 1})
    assert len(watch.insert("t", {"k": 1})) == 1
    watch.delete("s", {"k": 1})
    assert watch.insert("t", {"k": 1}) == []
    with pytest.raises(tocsin.EventError, match="no such row in the table s"):
        watch.delete("s", {"k": 1})


def test_a_row_is_its_own_partner_until_it_is_deleted() -> None:
    watch = watching(
        "any from s as a, s as b when a.k = b.k",
        "del from s as a, s as b after delete to a when a.k = b.k",
    )
    assert fired(watch.insert("s", {"k": 1})) == [("any", {"a": {"k": 1}, "b": {"k": 1}})]
    assert len(watch.insert("s", {"k": 1, "n": 2})) == 3
    assert fired(watch.delete("s", {"k": 1})) == [("del", {"a": {"k": 1}, "b": {"k": 1, "n": 2}})]
    assert watch.delete("s", {"k": 1, "n": 2}) == []


def test_tables_without_a_join_are_all_combined() -> None:
    watch = watching("r from s as a, t as b when a.k = 1 and b.k = 2")
    watch.insert("s", {"k": 1, "n": 1})
    watch.insert("s", {"k": 1, "n": 2})
    watch.insert("s", {"k": 3})
    assert [rows["a"]["n"] for _, rows in fired(watch.insert("t", {"k": 2}))] == [1, 2]


def test_the_score_of_texts_in_selections_and_filters() -> None:
    watch = watching(
        "r from s as a, t as b after insert to b when a.k = b.k and contains(b.note, 'red', boolean)"
        " and (a.n = 1 or contains(b.note, 'red, fox', 1.3))"
    )
    watch.insert("s", {"k": 1, "n": 1})
    watch.insert("s", {"k": 1, "n": 2})
    assert [alert.score for alert in watch.insert("t", {"k": 1, "note": "red"})] == [1.0]
    scores = [alert.score for alert in watch.insert("t", {"k": 1, "note": "red fox"})]
    assert scores == [pytest.approx(2**0.5)] * 2


def test_long_integers_stand_in_texts_with_all_their_digits() -> None:
    watch = watching("r when k = 1 do alert '{n} {l}'")
    (alert,) = watch.insert("s", {"k": 1, "n": 10**5_000, "l": [-(10**5_000)]})
    assert alert.text == f"1{'0' * 5_000} [-1{'0' * 5_000}]"


def test_settings_of_free_text() -> None:
    rules = [("r", "contains(note, 'red, fox')")]
    assert tocsin.watch(rules, text_threshold=1.2).insert("s", {"note": "red"}) == []
    watch = tocsin.watch(rules, stop_words=["red"])
    assert [alert.score for alert in watch.insert("s", {"note": "red"})] == [0.0]
    dictionary = tocsin.Dictionary.of_counts({"red": 1}, 10)
    (alert,) = tocsin.watch(rules, dictionaries={"note": dictionary}).insert("s", {"note": "red blue"})
    assert alert.score == pytest.approx(1.0)


def test_a_bad_change_changes_nothing() -> None:
    watch = watching("r from s as a, t as b when a.k = b.k and a.n = 1 and a.m < b.m do alert '{b.p}'")
    watch.insert("s", {"k": 1, "n": 1, "m": 1})
    before = watch.rows("s"), watch.rows("t")
    for row in ("text", {"k": object(), "n": 1}, {"k": 1, "n": object()}, {"k": 1, "n": 1, "m": b"x"}):
        with pytest.raises(tocsin.EventError):
            watch.insert("s", row)  # type: ignore[arg-type]
        with pytest.raises(tocsin.EventError):
            watch.update("s", {"k": 1, "n": 1, "m": 1}, row)  # type: ignore[arg-type]
    with pytest.raises(tocsin.EventError):
        watch.insert("t", {"k": 1, "m": 2, "p": object()})
    with pytest.raises(tocsin.EventError, match="no such row"):
        watch.update("s", {"k": 2}, {"k": 3})
    with pytest.raises(tocsin.EventError, match="no such row"):
        watch.delete("nowhere", {"k": 2})
    with pytest.raises(tocsin.UsageError, match="named by a string"):
        watch.insert(5, {"k": 1})  # type: ignore[arg-type]
    assert (watch.rows("s"), watch.rows("t")) == before
    assert len(watch.insert("t", {"k": 1, "m": 2, "other": object()})) == 1


def test_too_many_combinations_of_keys_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joins, "MOST_KEYS", 5)
    watch = watching("r from s as a, t as b when a.k = b.k and a.m = b.m")
    watch.insert("s", {"k": [1, 2], "m": [1, 2]})
    with pytest.raises(tocsin.EventError, match="more than 5 combinations"):
        watch.insert("s", {"k": [1, 2, 3], "m": [1, 2]})
    assert len(watch.rows("s")) == 1
    assert len(watch.insert("t", {"k": [2, 1], "m": 2})) == 1


def test_rows_are_the_watchs_own() -> None:
    watch = watching("r from s as a, t as b when a.k.p = b.k")
    row: dict[str, Any] = {"k": {"p": [1]}}
    watch.insert("s", row)
    row["k"]["p"].append(2)
    assert watch.insert("t", {"k": 2}) == []
    (alert,) = watch.insert("t", {"k": 1})
    alert.rows["a"].clear()
    assert watch.rows("s") == [{"k": {"p": [1]}}]
    assert watch.delete("s", {"k": {"p": [1]}}) == []


def test_triggers_come_and_go() -> None:
    watch = watching("r from s as a, t as b when a.k = b.k")
    watch.insert("s", {"k": 1})
    watch.insert("t", {"k": 2})
    watch.add(rules_of_triggers("create trigger q from s as a, t as b after insert to b when a.k = b.k;"))
    watch.add([("p", "k = 1")])
    assert (len(watch), "q" in watch, "x" in watch, watch.tables) == (3, True, False, ["s", "t"])
    assert [alert.rule for alert in watch.insert("t", {"k": 1})] == ["r", "q", "p"]
    watch.remove("r")
    assert [alert.rule for alert in watch.insert("s", {"k": 2})] == []
    assert [alert.rule for alert in watch.insert("t", {"k": 2})] == ["q"]
    with pytest.raises(tocsin.UnknownRuleError):
        watch.remove("r")
    watch.add(rules_of_triggers("create trigger r from t as a, t as b when a.k = b.k and a.n = 1;"))
    assert [alert.rule for alert in watch.insert("t", {"k": 2, "n": 1})] == ["q", "r", "r", "r"]


def test_bad_rules_are_refused_together_and_none_is_added() -> None:
    watch = watching("r from s when k = 1")
    with pytest.raises(tocsin.RuleErrors) as caught:
        watch.add([("r", "k = 2"), ("x", "k = "), ("y", "k = 1")])
    assert {error.rule for error in caught.value.errors} == {"r", "x"}
    assert len(watch) == 1
    assert len(watch.insert("s", {"k": 1})) == 1
    with pytest.raises(tocsin.RuleError, match="no alias 'c'"):
        watching("q from s as a, t as b when c.k = 1")


def test_an_index_refuses_triggers_over_several_tables_by_id() -> None:
    rules = rules_of_triggers(
        "create trigger one from s when k = 1;\ncreate trigger two from s, t\n when s.k = t.k;"
    )
    for engine in ("atree", "scan"):
        with pytest.raises(tocsin.RuleError, match=r"over several tables.*tocsin\.watch") as caught:
            tocsin.build(rules, engine=engine)
        assert (caught.value.rule, caught.value.line) == ("two", 3)
    index, errors = tocsin.build_good(rules)
    assert (len(index), [error.rule for error in errors]) == (1, ["two"])


def test_threads_share_a_watch() -> None:
    watch = watching("r from s as a, t as b when a.k = b.k")
    told: list[tocsin.Alert] = []

    def feed(table: str) -> None:
        for k in range(50):
            told.extend(watch.insert(table, {"k": k}))

    threads = [Thread(target=feed, args=(table,)) for table in ("s", "t")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(alert.rows["a"]["k"] for alert in told) == list(range(50))


def test_triggers_that_no_index_can_take_are_not_read_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would be an error, which is slow to make and of no use."""

    def parse(text: str, alias: str | None = None) -> None:
        raise AssertionError(f"{text} was read for an index")

    monkeypatch.setattr(condition_reader, "parse_condition", parse)
    compared = "create trigger a from t as o after update to o when old.n < o.n;"
    joined = "create trigger b from t as o, u when o.n = u.n;"
    watch = tocsin.watch(rules_of_triggers(f"{compared} {joined} create trigger c from t when n = 1;"))
    assert len(watch) == 3
