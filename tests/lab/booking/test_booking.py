"""Booking: paths, composed conditions, and every mistake by its place."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tocsin
from tocsin.conditions.language import parse_condition
from tocsin.conditions.meaning import matches
from tocsin.errors import each_error
from tocsin_lab.booking import Edge, Graph, Role, book, graph_of, read_graph

EXAMPLE = Path(__file__).parents[3] / "examples" / "ad-exchange"

ELIGIBLE = {
    1: ["fans", "fans-tonight", "scooters"],
    2: [],
    3: ["fans"],
    4: ["scooters"],
    5: ["savings"],
    6: [],
    7: ["boots", "season-ticket"],
    8: [],
}
"""Worked out by hand from the example's files."""

ROLES = {
    "p": Role.PUBLISHER,
    "q": Role.PUBLISHER,
    "x": Role.INTERMEDIARY,
    "y": Role.INTERMEDIARY,
    "z": Role.INTERMEDIARY,
    "a": Role.ADVERTISER,
    "b": Role.ADVERTISER,
}


def campaign(**changes: Any) -> dict[str, Any]:
    return {"id": "c", "publisher": "p", "advertiser": "a", "when": "n = 1", **changes}


def booked(graph: Graph, *campaigns: dict[str, Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = book(graph, tocsin.Rules.of(table(campaigns))).to_pylist()
    return rows


def table(campaigns: tuple[dict[str, Any], ...]) -> Any:

    names = dict.fromkeys(name for each in campaigns for name in each)
    return pa.table({name: [each.get(name) for each in campaigns] for name in names})


def problems(error: tocsin.RuleError) -> list[str]:
    return [each.summary() for each in each_error(error)]


def visits() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (EXAMPLE / "visits.jsonl").read_text().splitlines()]


def test_the_example():
    rules = book(read_graph(EXAMPLE / "graph.json"), tocsin.read_rules(EXAMPLE / "campaigns.jsonl"))
    index = tocsin.build(rules)
    assert {
        visit["visit"]: sorted(match.rule for match in index.match(visit)) for visit in visits()
    } == ELIGIBLE


def test_the_papers_edge_and_campaign():
    graph = read_graph(EXAMPLE / "graph.json")
    fans = book(graph, tocsin.read_rules(EXAMPLE / "campaigns.jsonl")).to_pylist()[0]
    assert fans["path"] == ["planet", "northern", "acme"]
    assert fans["when"] == (
        "publisher = 'planet'"
        " and (gender = 'male' and category = 'sports' or gender = 'female' and category not in ('finance'))"
        " and (age = 4 and interest = 'NFL' or age = 5 and interest = 'NBA')"
    )


GRAPH = graph_of(
    ROLES,
    [
        Edge("p", "x", "i = 1 or j = 2"),
        Edge("x", "y"),
        Edge("y", "a", "k = 3 -- the last edge"),
        Edge("p", "z", "l = 4"),
        Edge("z", "x"),
        Edge("x", "b", "m = 5"),
        Edge("q", "b"),
    ],
)


def test_the_shortest_path_is_taken():
    (row,) = booked(GRAPH, campaign())
    assert row["path"] == ["p", "x", "y", "a"]
    assert row["when"] == "publisher = 'p' and (i = 1 or j = 2) and (k = 3) and (n = 1)"


@pytest.mark.parametrize("path", [["p", "z", "x", "y", "a"], "p > z > x>y > a"])
def test_a_given_path_is_taken(path: object):
    (row,) = booked(GRAPH, campaign(path=path))
    assert row["path"] == ["p", "z", "x", "y", "a"]
    assert row["when"] == "publisher = 'p' and (l = 4) and (k = 3) and (n = 1)"


def test_of_two_shortest_paths_the_one_given_first():
    edges = [Edge("p", "y"), Edge("p", "x"), Edge("x", "a"), Edge("y", "a")]
    assert graph_of(ROLES, edges).shortest_paths("p")["a"] == ("p", "y", "a")


def test_conditions_that_always_hold_are_left_out():
    (row,) = booked(GRAPH, campaign(publisher="q", advertiser="b", when="true"))
    assert row["when"] == "publisher = 'q'"


def test_names_and_conditions_may_hold_anything():
    graph = graph_of({"o'clock": Role.PUBLISHER, "a": Role.ADVERTISER}, [Edge("o'clock", "a")])
    rows = booked(graph, campaign(publisher="o'clock", when="n = 1 or m = 2 -- either"))
    assert rows[0]["when"] == "publisher = 'o''clock' and (n = 1 or m = 2)"


def test_campaigns_from_a_trigger_file(tmp_path: Path):
    (tmp_path / "campaigns.sql").write_text(
        "create trigger c with (publisher = 'p', advertiser = 'b', path = 'p > x > b')"
        " from visits as v when v.n = 1;"
    )
    (row,) = book(GRAPH, tocsin.read_rules(tmp_path / "campaigns.sql")).to_pylist()
    assert row["when"] == "publisher = 'p' and (i = 1 or j = 2) and (m = 5) and (n = 1)"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"publisher": None}, "the campaign names no publisher"),
        ({"publisher": "x"}, "there is no publisher 'x'"),
        ({"advertiser": "nobody"}, "there is no advertiser 'nobody'"),
        ({"publisher": "q"}, "there is no path from 'q' to 'a'"),
        ({"path": ["p", "x", "b"]}, "the campaign's path does not lead from 'p' to 'a'"),
        ({"path": []}, "the campaign's path does not lead from 'p' to 'a'"),
        ({"path": ["p", "y", "a"]}, "the campaign's path has no edge from 'p' to 'y'"),
        ({"path": 7}, "the campaign's path is not a list of names"),
        ({"when": "n = "}, "expected a value after '=', found the end"),
    ],
)
def test_a_campaign_that_cannot_be_booked(changes: dict[str, Any], reason: str):
    with pytest.raises(tocsin.RuleError) as caught:
        booked(GRAPH, campaign(**changes))
    assert caught.value.reason == reason
    assert caught.value.rule == "c"
    assert caught.value.line == 1


def test_all_campaigns_that_cannot_be_booked_are_reported(tmp_path: Path):
    lines = [campaign(when="n ="), campaign(id="d"), campaign(id="e", publisher="q")]
    (tmp_path / "campaigns.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    with pytest.raises(tocsin.RuleErrors) as caught:
        book(GRAPH, tocsin.read_rules(tmp_path / "campaigns.jsonl"))
    assert problems(caught.value) == [
        f"{tmp_path}/campaigns.jsonl:1:4: expected a value after '=', found the end (rule c)",
        f"{tmp_path}/campaigns.jsonl:3: there is no path from 'q' to 'a' (rule e)",
    ]


def test_everything_that_is_wrong_with_a_graph_is_reported():
    edges = [
        Edge("p", "nobody"),
        Edge("a", "x"),
        Edge("x", "p"),
        Edge("p", "x", "i = and j >"),
        Edge("x", "y"),
        Edge("x", "y", "i = 1"),
    ]
    with pytest.raises(tocsin.RuleErrors) as caught:
        graph_of(ROLES, edges, "graph.json")
    assert problems(caught.value) == [
        "graph.json: edge p -> nobody: there is no node 'nobody'",
        "graph.json: edge a -> x: 'a' is an advertiser and sells nothing",
        "graph.json: edge x -> p: 'p' is a publisher and buys nothing",
        "graph.json: edge p -> x: expected a value after '=', found 'and'",
        "graph.json: edge p -> x: expected a value after '>', found the end",
        "graph.json: edge x -> y: the edge is there twice: join their conditions by 'or'",
    ]
    assert "i = and j >\n        ^" in str(caught.value)


def test_a_circle_is_refused():
    edges = [Edge("p", "x"), Edge("x", "y"), Edge("y", "z"), Edge("z", "x"), Edge("z", "a")]
    with pytest.raises(tocsin.RuleError, match="sold in a circle: x -> y -> z -> x"):
        graph_of(ROLES, edges)
    with pytest.raises(tocsin.RuleError, match="sold in a circle: x -> x"):
        graph_of(ROLES, [Edge("x", "x")])


def test_a_long_chain_is_no_circle():
    names = [f"i{number}" for number in range(20_000)]
    roles = {"p": Role.PUBLISHER, **dict.fromkeys(names, Role.INTERMEDIARY)}
    edges = [Edge(*pair) for pair in zip(["p", *names], names, strict=False)]
    assert len(graph_of(roles, edges).edges) == 20_000


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[1]", "expected an object with publishers, intermediaries, advertisers and edges"),
        ("{", "not JSON"),
        ('{"publisher": ["p"]}', "'publisher' is not part of a graph"),
        ('{"publishers": "p"}', "publishers: expected a list"),
        ('{"publishers": [7]}', "publishers: expected names, found 7"),
        ('{"publishers": ["p"], "advertisers": ["p"]}', "the node 'p' is there twice"),
        ('{"edges": [{"from": "p"}]}', "edge 1: expected texts for from, to and, if there is one, when"),
        ('{"edges": [{"from": "p", "to": 7}]}', "edge 1: expected texts"),
    ],
)
def test_a_file_that_holds_no_graph(tmp_path: Path, text: str, reason: str):
    (tmp_path / "graph.json").write_text(text)
    with pytest.raises(tocsin.InputError, match=reason):
        read_graph(tmp_path / "graph.json")


def test_no_file(tmp_path: Path):
    with pytest.raises(tocsin.InputError, match="cannot be read"):
        read_graph(tmp_path / "graph.json")


FIELDS = ("i", "j", "k")
CONDITIONS = st.sampled_from(
    ["true", "i = 1", "j != 2", "not (i = 1 and k = 1)", "i = 1 or j = 1", "i = 1 xor k = 2"]
)
NAMES = list(ROLES)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Edges go from lower to higher places of a list, so that there is no circle."""
    edges = []
    for seller in range(5):
        for buyer in range(seller + 1, 7):
            allowed = ROLES[NAMES[buyer]] is not Role.PUBLISHER and seller < 5
            if allowed and draw(st.booleans()):
                edges.append(Edge(NAMES[seller], NAMES[buyer], draw(CONDITIONS)))
    return graph_of(ROLES, edges)


@given(graphs(), CONDITIONS, st.lists(st.sampled_from([None, 1, 2]), min_size=3, max_size=3))
def test_a_campaign_matches_when_all_along_its_path_does(graph: Graph, own: str, values: list[int | None]):
    path = graph.shortest_paths("p").get("a")
    if path is None:
        with pytest.raises(tocsin.RuleError, match="there is no path"):
            booked(graph, campaign(when=own))
        return
    (row,) = booked(graph, campaign(when=own))
    visit = {name: value for name, value in zip(FIELDS, values, strict=True) if value is not None}
    edges = pairwise(path)
    parts = [own, *(edge.when for pair in edges for edge in graph.edges if (edge.seller, edge.buyer) == pair)]
    expected = all(matches(parse_condition(part), visit) for part in parts)
    whole = parse_condition(row["when"])
    assert matches(whole, {**visit, "publisher": "p"}) is expected
    assert not matches(whole, {**visit, "publisher": "q"})
