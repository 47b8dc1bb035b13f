"""What of a query is put into the trie filter, and that no match is lost by what is not."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import examples
from tests.text.kernels.planted import Planted, word_of
from tests.text_cases import documents, flat_queries, text_queries, word_weights

from tocsin.text import Operation, TextQuery, print_query
from tocsin.text.language.query import Word
from tocsin.text.meaning import Document, judge_document

IDFS = {"rare": 8.0, "scarce": 6.0, "usual": 2.0, "common": 1.0, "stop": 0.0}
INF = math.inf

Paths = list[tuple[str, bool]]


def paths_of(
    query: str, threshold: float = math.nan, idfs: dict[str, float] | None = None, *, selective: bool = True
) -> Paths:
    """The paths of a query, sorted: their words, and whether something is left to check."""
    some = Planted([query], IDFS if idfs is None else idfs, [threshold], selective=selective)
    paths = some.paths([0])
    assert paths.path_start.tolist() == [0, len(paths.to_check)]
    assert paths.term_start[-1] == len(paths.term)
    return sorted(
        (
            " ".join(word_of(some.terms, term) for term in paths.term[first:last]),
            bool(to_check),
        )
        for first, last, to_check in zip(
            paths.term_start[:-1], paths.term_start[1:], paths.to_check, strict=True
        )
    )


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("rare", [("rare", False)]),
        ('"common rare usual"', [("rare usual common", True)]),
        ('"rare usual rare"', [("rare usual", True)]),
        ("pre*", [("pre*", False)]),
        ("common & rare", [("rare common", False)]),
        ("common & pre* & rare & p*", [("rare common pre* p*", False)]),
        ("common & rare & common", [("rare common", False)]),
        ("common & !rare", [("common", True)]),
        ('common & "usual rare"', [("rare usual common", True)]),
        ("common | rare", [("common", False), ("rare", False)]),
        ('common | "usual rare"', [("common", False), ("rare usual", True)]),
        ("common, rare", [("common", False), ("rare", False)]),
        ("common, rare, !usual", [("common", True), ("rare", True)]),
        ("common | usual & rare", [("common", False), ("rare usual", False)]),
        ("common, usual & !rare", [("common", False), ("usual", True)]),
    ],
)
def test_basic_queries(query: str, paths: Paths):
    assert paths_of(query) == paths


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("common & (rare | scarce)", [("rare", True), ("scarce", True)]),
        ("rare & (common | usual)", [("rare", True)]),
        ("(common | usual) & (rare | scarce)", [("rare", True), ("scarce", True)]),
        ("(common | rare) & (usual, scarce)", [("scarce", True), ("usual", True)]),
        ("common & (rare | (usual & scarce))", [("rare", True), ("scarce usual", True)]),
        ("common | (usual & (rare | scarce))", [("common", False), ("rare", True), ("scarce", True)]),
        ("(common & (rare, stop)) | usual", [("common", True), ("usual", False)]),
        ("common & usual & !stop & (rare | pre*)", [("usual common", True)]),
    ],
)
def test_an_and_is_found_by_what_is_found_least_often(query: str, paths: Paths):
    assert paths_of(query) == paths


def test_a_threshold_leaves_only_the_score():
    assert paths_of("rare & usual", 0.3) == [("rare usual", False)]
    assert paths_of("rare, usual, !stop", 0.3) == [("rare", True), ("usual", True)]


@pytest.mark.parametrize(
    ("query", "threshold", "paths"),
    [
        ("stop | rare", 0.5, ["rare"]),
        ("stop | rare", 0.0, ["rare", "stop"]),
        ("stop | rare", math.nan, ["rare", "stop"]),
        ("stop", 0.5, []),
        ('"stop stop"', 0.5, []),
        ('"stop rare" | stop', 0.5, ["rare stop"]),
        ("stop | (stop & rare)", 0.5, ["rare stop"]),
        ("st* | stop", 0.5, ["st*"]),
        ("rare, scarce, usual, common", 1.0, ["common", "rare", "scarce", "usual"]),
        ("rare, scarce, usual, common", 1.001, ["rare", "scarce", "usual"]),
        ("rare, scarce, usual, common", math.sqrt(2), ["rare", "scarce", "usual"]),
        ("rare, scarce, usual, common", 1.5, ["rare", "scarce"]),
        ("rare, scarce, usual, common", math.sqrt(3), ["rare", "scarce"]),
        ("rare, scarce, usual, common", 2.0, ["rare"]),
        ("rare, scarce, usual, common", 2.001, []),
        ("rare, scarce, usual, common", 1e300, []),
        ("rare, scarce, stop, !common", 1.2, ["rare"]),
        ("rare, usual, usual", 1.2, ["rare", "usual"]),
        ("rare, usual, usual", 1.5, ["rare"]),
        ("common, c*, rare", 1.5, ["c*"]),
        ('"common rare", scarce', 1.2, ["rare common"]),
        ("rare, usual, (common & scarce)", 1.5, ["rare", "scarce common", "usual"]),
    ],
)
def test_selective_indexing(query: str, threshold: float, paths: list[str]):
    assert [path for path, _ in paths_of(query, threshold)] == paths


def test_selective_indexing_can_be_switched_off():
    every = ["common", "rare", "scarce", "stop", "usual"]
    written = "rare, scarce, usual, common, stop"
    assert [path for path, _ in paths_of(written, 1.9, selective=False)] == every


def test_a_query_of_any_depth():
    depth = 20_000
    query = "common & (usual | (" * depth + "rare" + "))" * depth
    assert paths_of(query) == [("common", True)]


def test_a_query_of_very_many_words():
    words = [f"w{number}" for number in range(10_000)]
    assert paths_of(", ".join(words), 90.0, {})[0][0] == "w0"
    assert len(paths_of(", ".join(words), 90.0, {})) == 10_000 - 8099
    assert paths_of(" & ".join(words), idfs={}) == [(" ".join(words), False)]


def is_found(document: Document, path: str) -> bool:
    return all(document.covered(Word(word.rstrip("*"), word.endswith("*"))) for word in path.split())


thresholds = st.sampled_from([math.nan, 0.0, 0.3, 0.7, 1.0, 1.1, math.sqrt(2), 1.5, math.sqrt(3), 1.9, 2.0])
queries = st.one_of(text_queries(), flat_queries((Operation.ACCRUE, Operation.OR)))


@settings(max_examples=examples(500))
@given(
    query=queries, threshold=thresholds, weights=word_weights(), texts=documents(), selective=st.booleans()
)
def test_every_match_is_found_by_a_path_and_where_a_certain_path_is_found_the_query_holds(
    query: TextQuery, threshold: float, weights, texts: list[str], selective: bool
):
    some = Planted([print_query(query)], {}, [threshold], selective=selective)
    for term in range(len(some.terms.group)):
        some.rarity[term] = -1.0 if some.terms.is_prefix[term] else weights.idf(some.word(term))
    paths = some.paths([0])
    document = Document(texts)
    verdict = judge_document(query, document, weights)
    holds = verdict.holds and not verdict.score < threshold
    found = [
        is_found(document, " ".join(map(some.word, paths.term[first:last])))
        for first, last in zip(paths.term_start[:-1], paths.term_start[1:], strict=True)
    ]
    assert any(found) or not holds
    assert verdict.holds or not any(
        found for found, to_check in zip(found, paths.to_check, strict=True) if not to_check
    )
