"""The text benchmark's workloads, baselines and checks; its figures are nobody's to assert."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from benchmarks.peers.lucene_monitor import compare, harness
from benchmarks.text import __main__ as command
from benchmarks.text import matching, mixed
from benchmarks.text.baselines import AUTOMATON_PACKAGE, ByAutomaton, ByDictionary, Together
from benchmarks.text.corpus import Corpus, corpus_in
from benchmarks.text.selective import THRESHOLDS, WORDS, interests
from benchmarks.text.tables import tables
from benchmarks.text.workload import more_queries

import tocsin
from tocsin.text import Group, TextQuery, judge, parse_query, print_query
from tocsin.text.settings import NoDictionary

DOCUMENTS = 60
MACHINE = {"cores": "2", "processor": "any", "python": "3", "numba": "1"}


def small_corpus(seed: int = 5) -> Corpus:
    """Documents of words that are frequent and rare, and queries of every shape that the baselines know."""
    rng = random.Random(seed)
    vocabulary = [
        f"{first}{second}{third}" for first in "abg" for second in "eio" for third in ("", "l", "lf")
    ]
    weights = [1 / (place + 1) for place in range(len(vocabulary))]
    documents = [" ".join(rng.choices(vocabulary, weights, k=rng.randrange(1, 40))) for _ in range(DOCUMENTS)]

    def word() -> str:
        return rng.choice([*vocabulary, "nowhere"])

    def phrase() -> str:
        words = rng.choice(documents).split()
        place = rng.randrange(len(words))
        return f'"{" ".join([*words[place : place + 3], word()][: rng.choice((2, 3))])}"'

    shapes = (
        lambda: f"({word()} & {word()})",
        lambda: f"({word()} & {word()} & !{word()})",
        lambda: f"{word()}",
        phrase,
        lambda: f"({word()} | {phrase()} | {word()})",
        lambda: f"({phrase()} & {word()} & !{phrase()})",
        lambda: f"({word()[:2]}* & {word()})",
        lambda: f"({word()[:2]}* | {word()})",
        lambda: f"(({word()} | {word()}) & ({word()} | {phrase()}))",
    )
    queries = list(dict.fromkeys(rng.choice(shapes)() for _ in range(300)))
    return Corpus(documents, queries, truth(documents, queries))


def truth(documents: list[str], queries: list[str]) -> list[list[int]]:
    read = [parse_query(query) for query in queries]
    return [
        [number for number, query in enumerate(read) if judge(query, [document], NoDictionary()).holds]
        for document in documents
    ]


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return small_corpus()


@pytest.fixture
def folder(corpus: Corpus, tmp_path: Path) -> Path:
    """The corpus as files, its queries with ids that are not their places."""
    rows = [json.dumps({"id": 1_000 + place, "query": query}) for place, query in enumerate(corpus.queries)]
    expected = [" ".join(str(1_000 + number) for number in numbers) for numbers in corpus.expected]
    for name, lines in (("docs.txt", corpus.documents), ("queries.jsonl", rows), ("expected.txt", expected)):
        with gzip.open(tmp_path / f"{name}.gz", "wt") as file:
            file.writelines(f"{line}\n" for line in lines)
    return tmp_path


def test_a_corpus_is_read_from_its_folder(corpus: Corpus, folder: Path):
    assert corpus_in(folder) == corpus


@pytest.mark.parametrize("baseline", [ByDictionary, ByAutomaton, Together])
def test_baselines_find_what_the_evaluator_finds(baseline: Any, corpus: Corpus):
    if baseline is ByAutomaton:
        pytest.importorskip(AUTOMATON_PACKAGE)
    made = baseline(corpus.queries, corpus.document_frequencies())
    assert [sorted(made.match(document)) for document in corpus.documents] == corpus.expected


def shape(query: TextQuery) -> str:
    return " ".join(
        f"{step.operation.value}{step.arity}"
        if isinstance(step, Group)
        else f"{'!' * step.negated}{len(step.words)}{'*' * step.words[0].is_prefix}"
        for step in query.steps
    )


def test_more_queries_are_distinct_and_of_the_same_kind(corpus: Corpus):
    count = len(corpus.queries) + 1_000
    queries = more_queries(corpus, count)
    assert queries[: len(corpus.queries)] == corpus.queries
    read = [parse_query(query) for query in queries]
    new = [print_query(query) for query in read[len(corpus.queries) :]]
    assert len(set(new)) == 1_000
    assert not set(new) & {print_query(query) for query in read[: len(corpus.queries)]}
    old_shapes = Counter(shape(query) for query in read[: len(corpus.queries)])
    new_shapes = Counter(shape(query) for query in read[len(corpus.queries) :])
    assert set(new_shapes) <= set(old_shapes)
    assert len(new_shapes) > 5
    assert more_queries(corpus, count) == queries
    assert more_queries(corpus, 5) == corpus.queries[:5]


def test_more_queries_match_as_much(corpus: Corpus):
    """With a vocabulary this small there are fewer distinct ones of the shapes that match most."""
    queries = more_queries(corpus, 1_000)[len(corpus.queries) :]
    found = sum(map(len, truth(corpus.documents, queries))) / len(queries)
    known = sum(map(len, corpus.expected)) / len(corpus.queries)
    assert 0.3 * known < found < 3 * known


@pytest.mark.parametrize("shared", [False, True])
def test_mixed_rules_hold_as_often_as_they_say(shared: bool):
    rules = mixed.mixed_rules(400, shared=shared)
    assert len(set(rules["when"].to_pylist())) == 400
    events = mixed.mixed_events(3_000)
    assert len(set(events["text"].to_pylist())) == 3_000
    has = [set(text.split()) for text in events["text"].to_pylist()]
    assert 0.4 < sum("usual3" in words for words in has) / 3_000 < 0.6
    assert sum("rare17" in words for words in has) < 20
    assert 0.4 < sum(value == "y" for value in events["b4"].to_pylist()) / 3_000 < 0.6
    assert sum(value == "v7" for value in events["c1"].to_pylist()) < 20
    usual = [text for text in rules["when"].to_pylist() if "usual" in text]
    assert len(usual) == 200
    assert all(text.startswith("c") for text in usual)
    assert (len({text.split("'")[3] for text in usual}) <= mixed.USUAL_WORDS) == shared


def test_interests_are_lists_with_thresholds(corpus: Corpus):
    documents = [f"{document} {' '.join(map(str, range(20)))}" for document in corpus.documents]
    made = interests(documents, 50)
    assert all(len(query.split(", ")) in WORDS for query, _ in made)
    assert {threshold for _, threshold in made} <= set(THRESHOLDS)


def test_a_wrong_match_ends_the_run(corpus: Corpus):
    found = [list(numbers) for numbers in corpus.expected]
    matching.check_expected(corpus, found, len(corpus.queries))
    found[0] = found[0][1:] if found[0] else [0]
    with pytest.raises(SystemExit, match="document 0: the matches are not the expected ones"):
        matching.check_expected(corpus, found, len(corpus.queries))


def test_every_part_that_needs_a_corpus_has_its_table(corpus: Corpus):
    long = Corpus(
        [f"{text} {' '.join(f'w{place}' for place in range(15))}" for text in corpus.documents],
        corpus.queries,
        corpus.expected,
    )
    long = Corpus(long.documents, long.queries, truth(long.documents, long.queries))
    sizes = command.Sizes((200,), 100, 50, 20, 20, 0)
    results = {
        name: {"machine": MACHINE, "figures": part(long, sizes)}
        for name, part in command.NEEDS_CORPUS.items()
    }
    assert results["matching"]["figures"][0]["candidates"] >= 0
    made = tables(results)
    assert "| standing queries | 200 |" in made["text-matching"]
    assert "100 text rules" in made["text-adding"]
    assert "| 50 lists of words | every word indexed | selective |" in made["text-selective"]


def test_the_mixed_part_has_its_table(monkeypatch: pytest.MonkeyPatch):
    """Without Spark: the optimiser guesses, and every way gives the same matches all the same."""
    monkeypatch.setattr(mixed, "_count_statistics", lambda *_: None)
    build = tocsin.build
    monkeypatch.setattr(tocsin, "build", lambda rules, history, access: build(rules, access=access))
    figures = mixed.mixed(20, 50, 0)
    made = tables({"mixed": {"machine": MACHINE, "figures": figures}})
    assert "| 20 rules | texts of their own | texts in common |" in made["text-mixed"]
    assert made["text-mixed"].count("**the optimiser is faster by**") == 2


def test_queries_for_lucene():
    assert harness.in_postfix('(a | "b c") & !d & e*') == "w:a\tp:b c\t|2\t!w:d\tx:e\t&3"


def test_lucene_is_skipped_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
):
    assert compare.main([]) == 0
    assert "skipped: ARXIV=FOLDER" in capsys.readouterr().err
    monkeypatch.setattr("shutil.which", lambda tool: None if tool == "mvn" else "/usr/bin/it")
    assert compare.main(["--arxiv", str(folder)]) == 0
    assert "skipped: there is no mvn here" in capsys.readouterr().err


def test_parts_that_need_documents_say_so(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        command.main(["--only", "adding"])
    assert "--arxiv FOLDER is needed for adding" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        command.main(["--only", "subtracting"])
    assert "there is no part subtracting" in capsys.readouterr().err
