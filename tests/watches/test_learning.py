"""Watches that learn: each change is scored by all documents before it, opened again or not."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.learning import has_documents, learnt
from tests.text_rules import Settings, make_condition, make_event, make_settings

import tocsin
from tocsin import Dictionary, Watch
from tocsin.conditions.language import TEXT_TESTS, parse_condition
from tocsin.conditions.meaning import matches, score
from tocsin.errors import JournalError
from tocsin.events import path_text
from tocsin.rules import event_with
from tocsin.storage import Record, record_log
from tocsin.watches import KeptRows
from tocsin.watches.row_journal import WORDS
from tocsin.watches.row_values import encode

TABLES = ("news", "mail")


class Judge:
    """What a watch with these rules has to tell. A rule is (id, kinds of change, table, condition)."""

    def __init__(self, setting: Settings) -> None:
        self.rules: list[tuple[str, tuple[str, ...], str | None, str]] = []
        self.setting = setting
        self.version = 1

    def change(self, kind: str, table: str, row: Any, old: Any) -> list[tuple[str, float | None, int]]:
        texts = self.setting.for_meaning()
        event = event_with(row, old)
        found = [
            (name, score(condition, event, texts), self.version)
            for name, kinds, of_table, when in self.rules
            if kind in kinds and of_table in (table, None)
            for condition in [parse_condition(when)]
            if matches(condition, event, texts)
        ]
        if kind != "delete":
            asked = {
                path_text(predicate.field)
                for _, _, of_table, when in self.rules
                if of_table in (table, None)
                for predicate in parse_condition(when).predicates()
                if predicate.test in TEXT_TESTS
            }
            self.version += has_documents([event], sorted(asked))
            self.setting = learnt(self.setting, [event], sorted(asked))
        return found


def told(alerts: list[tocsin.Alert]) -> list[tuple[str, float | None, int | None]]:
    return [(alert.rule, alert.score, alert.dictionary) for alert in alerts]


def add_rule(watch: Watch, judge: Judge, choices: random.Random, folder: Path) -> None:
    name, when = f"r{len(judge.rules)}", make_condition(choices)
    roll = choices.randrange(4)
    if roll == 0:
        judge.rules.append((name, ("insert",), None, when))
        watch.add([(name, when)])
        return
    table = choices.choice(TABLES)
    kinds = choices.choice((("insert",), ("update",), ("insert", "update"), ("update", "delete")))
    if roll == 1 and kinds != ("insert",):
        when = when.replace("(title,", "(old.title,")
    file = folder / f"{name}.sql"
    after = " or ".join(kinds)
    file.write_text(f"create trigger {name} after {after} to {table} when {when};", encoding="utf-8")
    judge.rules.append((name, kinds, table, when))
    watch.add(file)


@given(seed=st.integers(0, 10**9))
@settings(max_examples=15)
def test_every_change_is_scored_by_those_before(seed: int) -> None:
    choices = random.Random(seed)
    setting = make_settings(choices)
    judge, rows = Judge(setting), {table: list[dict[str, Any]]() for table in TABLES}
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(record_log, "FLOOR", choices.choice((1, 2_000, 1 << 20)))
        journal = None if choices.randrange(3) == 0 else Path(folder) / "journal"
        watch = tocsin.watch([], learn=True, journal=journal, **setting.for_build())
        for _ in range(5):
            add_rule(watch, judge, choices, Path(folder))
        for _ in range(30):
            roll, table = choices.randrange(12), choices.choice(TABLES)
            if roll == 0 and journal is not None:  # the triggers are given anew, in files and pairs
                watch.close()
                others = (
                    {} if choices.randrange(2) else {"dictionaries": {"body": Dictionary.count(["other"])}}
                )
                again = {**setting.for_build(), **others}
                watch = tocsin.watch([], learn=True, journal=journal, **again)
                kept, judge.rules = judge.rules, []
                for name, kinds, of_table, when in kept:
                    judge.rules.append((name, kinds, of_table, when))
                    watch.add([(name, when)] if of_table is None else Path(folder) / f"{name}.sql")
            elif roll == 1:
                add_rule(watch, judge, choices, Path(folder))
            elif roll < 4 and rows[table]:
                old, new = choices.choice(rows[table]), make_event(choices)
                rows[table].remove(old)
                rows[table].append(new)
                expected = judge.change("update", table, new, old)
                assert told(watch.update(table, old, new)) == expected
            elif roll == 4 and rows[table]:
                old = rows[table].pop()
                expected = judge.change("delete", table, old, old)
                assert told(watch.delete(table, old)) == expected
            else:
                rows[table].append(make_event(choices))
                expected = judge.change("insert", table, rows[table][-1], None)
                assert told(watch.insert(table, rows[table][-1])) == expected
        for name in ("body", "title", "old.title"):
            assert watch.dictionary(name) == judge.setting.dictionaries.get(name, Dictionary())
        watch.close()


def test_what_was_learnt_stays_when_nothing_more_is(tmp_path: Path) -> None:
    rules = [("golf", "contains(body, 'golf, trophy', 1.2)")]
    given_words = {"body": Dictionary.count(["a golf trophy", "a day"])}
    with tocsin.watch(rules, learn=True, journal=tmp_path, dictionaries=given_words) as watch:
        assert watch.insert("news", {"body": "golf"}) == []
        expected = watch.dictionary("body")
        assert expected == Dictionary.count(["a golf trophy", "a day", "golf"])
    with tocsin.watch(rules, journal=tmp_path) as watch:
        (alert,) = watch.insert("news", {"body": "golf trophy"})
        assert alert.dictionary == 2
        assert alert.score == tocsin.score("golf trophy", "golf, trophy", expected)
        assert watch.dictionary("body") == expected
    with tocsin.watch(rules, learn=True, journal=tmp_path) as watch:
        watch.insert("news", {"body": "golf trophy"})
        (alert,) = watch.insert("news", {"body": "golf trophy"})
        assert alert.dictionary == 3
        watch.remove("golf")
        watch.insert("news", {"body": "nobody asks"})
        assert watch.dictionary("body").documents == 5


def test_an_empty_document_counts(tmp_path: Path) -> None:
    watch = tocsin.watch([("golf", "contains(body, 'golf')")], learn=True)
    watch.insert("news", {"body": ""})
    assert watch.dictionary("body").documents == 1
    watch.insert("news", {"title": "golf"})
    assert watch.dictionary("body").documents == 1
    assert watch.dictionary("title") == Dictionary()


def test_a_watch_that_does_not_learn_tells_of_no_version() -> None:
    watch = tocsin.watch([("golf", "contains(body, 'golf')")])
    (alert,) = watch.insert("news", {"body": "golf"})
    assert alert.dictionary is None
    assert watch.dictionary("body") == Dictionary()


def test_filters_go_by_what_was_learnt(tmp_path: Path) -> None:
    file = tmp_path / "rules.sql"
    file.write_text(
        "create trigger t from news as n, authors as a after insert to n"
        " when a.id = n.author and (contains(n.body, 'golf, trophy', 1.3) or a.id = 7);"
    )
    watch = tocsin.watch(file, learn=True)
    watch.insert("authors", {"id": 1})
    texts = ["golf", "trophy", "a day", "golf trophy"]
    alerts = [watch.insert("news", {"author": 1, "body": text}) for text in texts]
    assert [len(each) for each in alerts] == [0, 0, 0, 1]
    words = Dictionary.count(texts[:3])
    assert alerts[3][0].score == tocsin.score(texts[3], "golf, trophy", words)
    assert alerts[3][0].dictionary == 4


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"documents": 1, "words": ["b", "a"], "counts": [1, 1], "given": []},
        {"documents": 1, "words": ["a"], "counts": [2], "given": []},
        {"documents": 1, "words": ["a"], "counts": [], "given": []},
        {"documents": 1, "words": ["a"], "counts": [1], "given": [[0, -1.0]]},
        {"documents": 1, "words": ["a"], "counts": [1], "given": [[7, 1.0]]},
        {"documents": 1, "words": [7], "counts": [1], "given": []},
        {"documents": None, "words": [], "counts": [], "given": []},
    ],
)
def test_a_journal_with_a_dictionary_that_is_none_is_refused(row: dict[str, Any]) -> None:
    record = Record(48, encode([WORDS, 3, '["body"]', row]))
    with pytest.raises(JournalError, match="cannot be understood"):
        KeptRows("journal", [record])
