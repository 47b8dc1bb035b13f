"""The benchmark's workload and its checks; its figures are nobody's to assert."""

from __future__ import annotations

import random

import pytest
from benchmarks import strings

from tocsin.conditions.language.like_patterns import like_problem
from tocsin.syntax import compile_regex


def test_the_workload_is_what_it_says():
    world = strings.World(random.Random(1))
    texts = [world.text() for _ in range(20)]
    patterns = world.patterns(500, texts)
    assert len(set(patterns)) == 500
    assert not any(like_problem(pattern) for pattern in patterns)
    inside = sum(pattern[0] == pattern[-1] == "%" for pattern in patterns)
    assert 0.75 < inside / 500 < 0.95
    for expression in world.expressions(100, texts):
        compile_regex(expression)


def test_a_small_run_prints_a_table_and_writes_nothing(capsys: pytest.CaptureFixture[str]):
    before = strings.RESULTS.read_text()
    assert strings.main(["--patterns", "60", "--expressions", "20", "--texts", "30", "--repeat", "1"]) == 0
    assert strings.RESULTS.read_text() == before
    assert "| patterns on one field | 60 | 20 |" in capsys.readouterr().out


def test_a_wrong_answer_ends_the_run(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(strings.PatternByPattern, "find", lambda *_: [[0]])
    with pytest.raises(SystemExit, match="the automaton and the pattern-by-pattern kernel differ"):
        strings.measure_likes(["%a%"], ["b"], 1)
