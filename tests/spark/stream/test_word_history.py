"""The dictionaries of a stream that learns, without Spark: tasks that count, attempts that are given up."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.learning import has_documents, learnt
from tests.text_rules import FIELDS, Scored, expected_scores, make_condition, make_event, make_settings

import tocsin
from tocsin import Dictionary
from tocsin.conditions.live import Snapshot
from tocsin.events import FieldPlan
from tocsin.spark.stream import document_counts
from tocsin.spark.stream.rule_version import RuleVersion
from tocsin.spark.stream.word_history import KEPT_WORDS, Dictionaries, WordHistory, weighed

TEXTS = tuple((name,) for name in FIELDS)


def found(version: Snapshot, events: list[dict[str, Any]]) -> Scored:
    """The matches of a batch, as the evaluator gives them."""
    matches = version.match_cells(FieldPlan(version.fields).batch(events))
    rows = np.repeat(np.arange(len(events)), matches.per_event).tolist()
    ids = version.names.column(matches.rule).to_pylist()
    scores = [None] * len(ids) if matches.score is None else matches.score.tolist()
    return [
        (row, name, None if score is None or score != score else score)
        for row, name, score in zip(rows, ids, scores, strict=True)
    ]


def count(history: WordHistory, batch: int, events: list[dict[str, Any]], tasks: int, choices: Any) -> Any:
    """An attempt at a batch, cut into so many tasks, one of which is done twice."""
    counts = history.counting(batch, TEXTS)
    again = choices.randrange(tasks)
    for task in [*range(tasks), again]:
        some = events[task::tasks]
        counter = counts.counter()
        counter.add(FieldPlan(TEXTS).batch(some), np.ones(len(some), np.bool_))
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(document_counts, "partition_number", lambda: task)  # noqa: B023  (called here)
            counter.write()
    return counts


@given(seed=st.integers(0, 10**9))
@settings(max_examples=25)
def test_every_batch_is_scored_by_those_before_whatever_was_done_again(seed: int) -> None:
    choices = random.Random(seed)
    setting = make_settings(choices)
    rules = [(f"r{number}", make_condition(choices)) for number in range(12)]
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "rules.tocsin"
        tocsin.build(rules, **setting.for_build()).save(saved)
        version = RuleVersion(1, str(saved))
        words = Path(folder) / "words"
        start: dict[tuple[str, ...], Dictionary] = {
            (name,): dictionary for name, dictionary in setting.dictionaries.items()
        }
        history, expected = WordHistory(words, start), 1
        for batch in range(6):
            if choices.randrange(3) == 0:  # the process has ended and comes back
                history = WordHistory(words, {})
            assert history.latest == expected
            decided = history.version(history.latest)
            events = [make_event(choices) for _ in range(choices.randrange(6))]
            scored = expected_scores(rules, events, setting)
            for attempt in range(choices.choice((1, 1, 2, 3))):
                if attempt:
                    history = WordHistory(words, {})
                assert found(weighed(version, decided), events) == scored
                counts = count(history, batch, events, choices.randint(1, 4), choices)
                if choices.randrange(3):  # else it was killed before it could learn
                    history.learn(decided, counts)
            history.learn(decided, count(history, batch, events, choices.randint(1, 4), choices))
            history.purge(decided.number)
            setting = learnt(setting, events, FIELDS)
            expected += has_documents(events, FIELDS)
        found_words = history.version(history.latest).open()
        assert found_words == {(name,): each for name, each in setting.dictionaries.items()}
        assert not list(words.glob("counts-*"))
        assert len(list(words.glob("*.json"))) <= KEPT_WORDS + 1


def test_events_that_are_rejected_are_not_learnt_from(tmp_path: Path) -> None:
    history = WordHistory(tmp_path, {})
    counts = history.counting(0, TEXTS)
    events: list[dict[str, object]] = [
        {"body": "a b"},
        {"body": "a b"},
        {"body": []},
        {"body": []},
        {"title": 7},
    ]
    counter = counts.counter()
    counter.add(FieldPlan(TEXTS).batch(events), np.array([True, False, True, False, True]))
    counter.write()
    history.learn(history.version(1), counts)
    assert history.version(2).open() == {("body",): Dictionary.count(["a b", []])}
    assert not list(tmp_path.glob("counts-*"))


def test_a_stream_that_was_started_in_vain_may_begin_with_others(tmp_path: Path) -> None:
    first: Dictionaries = {("body",): Dictionary.count(["a"])}
    second: Dictionaries = {("title",): Dictionary.count(["b", "b c"])}
    assert WordHistory(tmp_path, first).version(1).open() == first
    assert WordHistory(tmp_path, second).version(1).open() == first
    assert WordHistory(tmp_path, second, has_begun=False).version(1).open() == second
