"""Campaigns booked through an advertising exchange, as in the first paper's introduction (section 1.1).

    publisher ──(condition)──> intermediary ──(condition)──> advertiser

An edge says that one node sells its visits to another, those visits that satisfy the edge's condition.
A campaign that an advertiser books with a publisher is eligible for a visit to this publisher that
satisfies the campaign's own condition and that of every edge on the path between the two:

    graph = read_graph("graph.json")
    index = tocsin.build(book(graph, tocsin.read_rules("campaigns.jsonl")))
    index.match({"publisher": "planet", "gender": "male", ...})

The files, in reading order:

    graph         nodes, edges, and what must hold of them
    graph_files   a graph from JSON
    campaigns     from campaigns to the rules that are matched
"""

from __future__ import annotations

from tocsin_lab.booking.campaigns import book
from tocsin_lab.booking.graph import Edge, Graph, Role, graph_of
from tocsin_lab.booking.graph_files import read_graph

__all__ = ["Edge", "Graph", "Role", "book", "graph_of", "read_graph"]
