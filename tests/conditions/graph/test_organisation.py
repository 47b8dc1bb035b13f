"""Nodes put together from each other say what they said, as briefly as they can, and stay so."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import make_event, make_rule_set
from tests.conditions.live.small_layers import shrink
from tests.conftest import examples
from tests.strategies import events, rule_sets

import tocsin
from tocsin import Index, IndexFileError, Rules, UsageError
from tocsin.arrays.dtypes import Ints
from tocsin.conditions.graph import (
    CompiledIndex,
    Reading,
    compile_rules,
    open_index,
    organisation,
    read_conditions,
    save_index,
)
from tocsin.conditions.graph.likelihood import Likelihood
from tocsin.conditions.graph.organisation import FEW, Organisation, organised
from tocsin.conditions.graph.shared_graph import lay_out, share_beside
from tocsin.conditions.kernels.reorganisation import count_uses, cover_nodes, list_covers
from tocsin.conditions.kernels.shared_nodes import NODES, SharedNodes, no_nodes
from tocsin.conditions.language import parse_condition, print_condition
from tocsin.conditions.matching import Matcher
from tocsin.conditions.meaning import Truth, condition_truth, matches, predicate_truth
from tocsin.conditions.planner import Planner
from tocsin.events import FieldPlan
from tocsin_lab import abe_gen
from tocsin_lab.atree.nested_conjunctions import NestedSetting, nested_rules

PREDICATES = ("a = 1", "a = 2", "b = 1", "b in (2, 3)", "c < 2", "not c < 1", "l = 1", "l != 1", "d is null")
EVENTS = st.fixed_dictionaries(
    {},
    optional={name: st.sampled_from([0, 1, 2, 3, None]) for name in "abcd"}
    | {"l": st.lists(st.sampled_from([1, 2]), max_size=2)},
)


@st.composite
def nested_texts(draw: st.DrawFn, most: int = 14) -> list[str]:
    """Conditions made of few parts, so that most contain others; each may be a part of those after it."""
    stock = list(PREDICATES)
    made = []
    for _ in range(draw(st.integers(1, most))):
        parts = draw(st.lists(st.integers(0, len(stock) - 1), min_size=2, max_size=6))
        word = draw(st.sampled_from([" and ", " and ", " or ", " or ", " xor "]))
        text = word.join(stock[part] for part in (parts[:2] if word == " xor " else parts))
        text = f"not ({text})" if draw(st.integers(0, 4)) == 0 else f"({text})"
        made.append(text)
        if len(text) < 400:
            stock.append(text)
    return made


def read(texts: list[str]) -> Reading:
    return read_conditions(pa.array(texts, pa.large_string()), {})


def shared(reading: Reading, leaves: int, conditions: int) -> tuple[SharedNodes, Ints]:
    """One graph of all conditions, and the reference of each."""
    root = np.full(conditions, -1, np.int32)
    return share_beside(no_nodes(leaves), root, reading.parts), root


def children(nodes: SharedNodes, node: int) -> list[int]:
    begin, end = nodes.child_start[node : node + 2].tolist()
    return list(map(int, nodes.child[begin:end]))


def truths_of(nodes: SharedNodes, leaf_truth: list[Truth]) -> list[int]:
    """The truth of every node, by the definition of the graph."""
    truth = [1, *map(int, leaf_truth)]
    for node in range(len(truth), int(nodes.size[NODES])):
        refs = children(nodes, node)
        assert refs == sorted(set(refs))
        assert len(refs) >= 2
        assert all(ref >> 1 < node for ref in refs), "children come before parents"
        truth.append(min(-truth[ref >> 1] if ref & 1 else truth[ref >> 1] for ref in refs))
    return truth


def check_truth(texts: list[str], event: dict[str, Any]) -> None:
    """By nodes, by planes and by mates everything is what the conditions mean."""
    reading = read(texts)
    leaves = len(reading.predicates)
    nodes, root, _ = organised(*shared(reading, leaves, len(texts)), leaves, "full")
    leaf_truth = [predicate_truth(each, event) for each in reading.predicates]
    truth = truths_of(nodes, leaf_truth)
    even = np.full(leaves, 0.5)
    graph = lay_out(nodes, np.arange(leaves, dtype=np.int32), root, Likelihood(even, even))
    plane = [*(each is Truth.TRUE for each in leaf_truth)]
    plane += [leaf_truth[leaf] is Truth.FALSE for leaf in graph.false_leaf.tolist()]
    for inner, is_and in enumerate(graph.is_and.tolist()):
        held = [plane[child] for child in graph.child[slice(*graph.child_start[inner : inner + 2])].tolist()]
        plane.append(all(held) if is_and else any(held))
    plane += [True, False]
    for text, ref, place in zip(texts, root.tolist(), graph.root.tolist(), strict=True):
        expected = condition_truth(parse_condition(text), event)
        assert (-truth[ref >> 1] if ref & 1 else truth[ref >> 1]) == expected
        assert plane[place] is (expected is Truth.TRUE)
    for node in np.flatnonzero(nodes.mate >= 0).tolist():
        mate = int(nodes.mate[node])
        assert truth[node] == (-truth[mate >> 1] if mate & 1 else truth[mate >> 1])


@given(nested_texts(), EVENTS)
@settings(max_examples=examples(150))
def test_rules_that_contain_each_other(texts: list[str], event: dict[str, Any]) -> None:
    check_truth(texts, event)


@given(rule_sets(), events())
@settings(max_examples=examples(60))
def test_any_rules(rules: Any, event: dict[str, Any]) -> None:
    check_truth([print_condition(condition) for _, condition in rules], event)


def test_seeded_rule_sets() -> None:
    rng = random.Random(7)
    for _ in range(15):
        rules = make_rule_set(rng, 40)
        check_truth([print_condition(condition) for _, condition in rules], make_event(rng))


@given(nested_texts(most=20))
@settings(max_examples=examples(100))
def test_every_node_is_put_together_as_far_as_it_can_be(texts: list[str]) -> None:
    """No cover is needless, and none that is left out would spare an edge."""
    reading = read(texts)
    leaves = len(reading.table.field)
    nodes, root = shared(reading, leaves, len(texts))
    count = int(nodes.size[NODES])
    sign = organisation._signs(nodes, root, leaves)
    uses = count_uses(nodes, np.flatnonzero(sign).astype(np.int32))
    start, child = cover_nodes(nodes, list_covers(nodes, sign, uses, 2), np.arange(count, dtype=np.int32))
    said = [set(children(nodes, node)) for node in range(count)]
    for node, whole in enumerate(said):
        refs = child[start[node] : start[node + 1]].tolist()
        covers = [said[ref >> 1] for ref in refs if ref not in whole]
        alone = whole & set(refs)
        assert len(refs) == len(set(refs))
        assert alone.union(*covers) == whole
        for ref in set(refs) - whole:
            assert ref & 1 == 0
            assert sign[node] & ~sign[ref >> 1] == 0, "a plane is added"
        for cover in covers:
            assert 2 <= len(cover) < len(whole)
            others = set().union(*(other for other in covers if other is not cover))
            assert not cover <= others, "needless"
        for other in np.flatnonzero(sign).tolist():
            if sign[node] and said[other] < whole and sign[node] & ~sign[other] == 0:
                assert len(said[other] & alone) < 2, "left out"


@pytest.mark.parametrize("joined", [" and ", " or "])
@pytest.mark.parametrize("order", [1, -1])
def test_a_rule_inside_another_is_its_child_whichever_comes_first(joined: str, order: int) -> None:
    parts = ["a = 1", "b = 2", "c = 3"]
    rules = [("inner", joined.join(parts[:2])), ("outer", joined.join(parts))][::order]
    stats = tocsin.build(rules, organise="full").stats()
    assert (stats.edges, stats.organisations[0].spared) == (4, 1)
    assert tocsin.build(rules, organise="unique").stats().edges == 5


def test_no_plane_is_added() -> None:
    """One is asked where it is true, the other where it is false: they share nothing."""
    rules = [("inner", "a = 1 and b = 2"), ("outer", "not (a = 1 and b = 2 and c = 3)")]
    full, unique = (tocsin.build(rules, organise=each).stats() for each in ("full", "unique"))
    assert (full.nodes, full.edges) == (unique.nodes, unique.edges)


@pytest.mark.parametrize("wide_first", [True, False])
def test_a_condition_wider_than_any_other(wide_first: bool) -> None:
    wide = " or ".join(f"a = {number}" for number in range(3_000))
    parts = [f"a = {number} or a = {number + 1} or a = {number + 7}" for number in range(0, 3_000, 50)]
    texts = [wide, *parts] if wide_first else [*parts, wide]
    index = tocsin.build([(str(place), text) for place, text in enumerate(texts)], organise="full")
    assert index.stats().edges == 3_000 + 60 * 3 - 60 * 2
    for value in (100, 107, 51, 3_000):
        expected = [str(place) for place, text in enumerate(texts) if f"a = {value} " in f"{text} "]
        assert [match.rule for match in index.match({"a": value})] == expected


def test_many_conditions_each_within_the_next() -> None:
    """As deep as there are conditions, and in time that does not grow with the cube of them."""
    texts = [" and ".join(f"f{field} = 1" for field in range(count)) for count in range(2, 802)]
    index = tocsin.build([(str(place), text) for place, text in enumerate(texts)], organise="full")
    stats = index.stats()
    assert (stats.edges, len(stats.levels)) == (2 * 800, 800)
    event: dict[str, Any] = {f"f{field}": 1 for field in range(801)} | {"f500": 0}
    assert len(index.match(event)) == 499


# ---- Indexes


def build(texts: list[str], organise: str) -> CompiledIndex:
    rules = Rules.of([(str(place), text) for place, text in enumerate(texts)])
    return compile_rules(rules, planner=Planner(organise=organise))


def check_matches(compiled: CompiledIndex, texts: list[str], given_events: list[dict[str, Any]]) -> None:
    """One by one and in a block the matches are what the conditions mean."""
    matcher = Matcher(compiled)
    found = matcher.match_batch(FieldPlan(matcher.fields).batch(given_events))
    first = 0
    for event, count in zip(given_events, found.per_event.tolist(), strict=True):
        expected = [place for place, text in enumerate(texts) if matches(parse_condition(text), event)]
        assert found.rule[first : first + count].tolist() == expected
        assert [int(match.rule) for match in Index(compiled).match(event)] == expected
        first += count


@given(nested_texts(), st.lists(EVENTS, min_size=1, max_size=5))
@settings(max_examples=examples(80))
def test_matches_are_what_the_rules_mean(texts: list[str], given_events: list[dict[str, Any]]) -> None:
    check_matches(build(texts, "full"), texts, given_events)


@given(nested_texts(), st.lists(EVENTS, min_size=1, max_size=4))
@settings(max_examples=examples(30))
def test_a_sample_puts_covers_in_order_too(texts: list[str], given_events: list[dict[str, Any]]) -> None:
    index = tocsin.build(list(zip(map(str, range(len(texts))), texts, strict=True)), sample=given_events)
    full = tocsin.build(index_rules(index), sample=given_events, organise="full")
    for event in given_events:
        assert list(full.match(event)) == list(index.match(event))


def index_rules(index: Index) -> list[tuple[str, str]]:
    return [(name, index.rule(name).when) for name in index.ids.to_pylist()]


def test_free_text_is_deferred_beside_covers() -> None:
    """Conjuncts that are asked last are in no node, and what is left of their rules has covers."""
    whens = [
        "a = 1 and b = 2",
        "a = 1 and b = 2 and contains(t, 'golf')",
        "a = 1 and b = 2 and c = 3 and contains(t, 'golf, tennis')",
        "a = 1 and b = 2 and c = 3 and d = 4",
    ]
    rules = [(str(place), when) for place, when in enumerate(whens)]
    unique, full = (tocsin.build(rules, organise=each) for each in ("unique", "full"))
    assert full.stats().edges < unique.stats().edges
    for text in ("golf", "tennis", "chess", None):
        for last in (4, 5):
            event = {"a": 1, "b": 2, "c": 3, "d": last, "t": text}
            assert list(full.match(event)) == list(unique.match(event))


# ---- It stays with the index


def graph_arrays(compiled: CompiledIndex) -> list[list[Any]]:
    return [array.tolist() for array in (*compiled.graph, *compiled.links)]


@pytest.mark.parametrize("organise", ["auto", "full", "unique"])
@pytest.mark.parametrize("seed", range(4))
def test_after_any_changes_a_compaction_is_a_fresh_build(
    organise: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    shrink(monkeypatch)
    monkeypatch.setattr(organisation, "FEW", 20)
    rng = random.Random(seed)
    stock = nested_rules(NestedSetting(rules=400, fields=12, longest=8, seed=seed))["when"].to_pylist()
    index = tocsin.build([(str(place), text) for place, text in enumerate(stock[:100])], organise=organise)
    model = dict(index_rules(index))
    for place in range(100, 300):
        if rng.random() < 0.4 and model:
            gone = rng.choice(list(model))
            index.delete(gone)
            del model[gone]
        index.insert(str(place), stock[place])
        model[str(place)] = stock[place]
        if place % 50 == 0:
            event = {f"a{field}": rng.randrange(4) for field in range(12)}
            expected = [name for name, text in model.items() if matches(parse_condition(text), event)]
            assert [match.rule for match in index.match(event)] == expected
            layers = index.version.layers
            chosen = layers[0].compiled.organisation.chosen
            assert {each.compiled.organisation.chosen for each in layers} == {chosen}
    index.compact()
    found = index.version.layers[0].compiled
    fresh = tocsin.build(index_rules(index), organise=organise).version.layers[0].compiled
    assert found.organisation == fresh.organisation
    assert found.organisation.asked == organise
    assert graph_arrays(found) == graph_arrays(fresh)


@pytest.mark.parametrize("organise", ["auto", "full", "unique"])
def test_a_file_keeps_it(organise: str, tmp_path: Path) -> None:
    setting = NestedSetting(rules=600)
    index = tocsin.build(nested_rules(setting), organise=organise)
    index.save(tmp_path / "rules.tocsin")
    opened = tocsin.open(tmp_path / "rules.tocsin")
    assert opened.stats().organisations == index.stats().organisations
    opened.insert("more", "a1 = 1 and a2 = 2 and a3 = 3")
    opened.compact()
    assert opened.stats().organisations[0].asked == organise
    assert opened.stats().organisations[0].chosen == ("unique" if organise == "unique" else "full")


@pytest.mark.parametrize(
    "said",
    [
        None,
        {},
        {"asked": "auto"},
        {"asked": "auto", "chosen": "auto"},
        {"asked": "best", "chosen": "full"},
        {"asked": "unique", "chosen": "full"},
        {"asked": ["full"], "chosen": "full"},
        {"asked": "full", "chosen": "full", "spared": -1},
        {"asked": "full", "chosen": "full", "spared": True},
        {"asked": "full", "chosen": "full", "estimate": 0.5},
        {"asked": "auto", "chosen": "full", "estimate": 2.0},
        {"asked": "auto", "chosen": "full", "estimate": "much"},
        {"asked": "full", "chosen": "full", "more": 1},
    ],
)
def test_a_header_that_makes_no_sense_is_refused(said: object) -> None:
    with pytest.raises(IndexFileError, match="its header has no organisation"):
        Organisation.of_header("f", said)


def test_an_opened_file_with_covers_is_sound(tmp_path: Path) -> None:
    """Soundness checks know nothing of covers, and find nothing wrong with them."""
    texts = nested_rules(NestedSetting(rules=300, fields=10, longest=6))["when"].to_pylist()
    save_index(build(texts, "full"), tmp_path / "f")
    check_matches(open_index(tmp_path / "f"), texts, [{f"a{field}": 1 for field in range(10)}])


# ---- What auto chooses


def chosen(rules: pa.Table) -> Organisation:
    return compile_rules(Rules.of(rules), planner=Planner()).organisation


def test_auto_is_full_where_conjunctions_contain_each_other() -> None:
    found = chosen(nested_rules(NestedSetting(rules=6_000)))
    assert found.chosen == "full"
    assert found.estimate is not None
    exact = build(nested_rules(NestedSetting(rules=6_000))["when"].to_pylist(), "full")
    edges = len(exact.graph.child)
    assert found.spared == exact.organisation.spared
    assert found.estimate == pytest.approx(found.spared / (found.spared + edges), abs=0.02)
    assert str(found).startswith(f"full, {found.spared:,} edges fewer: covers take an estimated 7")


def test_auto_is_unique_where_they_do_not() -> None:
    found = chosen(abe_gen.rules(abe_gen.Setting(expressions=3_000)))
    assert (found.chosen, found.spared) == ("unique", 0)
    assert found.estimate is not None
    assert str(found).startswith("unique nodes: covers take only an estimated")


def test_auto_leaves_few_rules_alone() -> None:
    texts = nested_rules(NestedSetting(rules=FEW - 1))["when"].to_pylist()
    assert build(texts, "auto").organisation == Organisation("auto", "unique")
    assert "too few" in str(build([], "auto").organisation)


def test_stats_say_it() -> None:
    rules = [("r", "a = 1 and b = 2")]
    assert "organised     unique nodes: as asked" in str(tocsin.build(rules, organise="unique").stats())
    assert "organised     full: as asked" in str(tocsin.build(rules, organise="full").stats())
    assert "organised" not in str(tocsin.build(rules, engine="bop").stats())


def test_what_cannot_be_asked_for() -> None:
    with pytest.raises(UsageError, match="'best': choose one of auto, unique, full"):
        tocsin.build([], organise="best")
    with pytest.raises(UsageError, match="the engine bop has no graph to organise"):
        tocsin.build([], "bop", organise="full")


def test_levels_of_one_conjunction_after_the_other() -> None:
    stats = tocsin.build(nested_rules(NestedSetting(rules=500, longest=6)), organise="full").stats()
    assert len(stats.levels) <= 5
    assert all(before > 0 for before, _ in pairwise(stats.levels))
