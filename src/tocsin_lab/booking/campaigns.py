"""Booking: a campaign's condition joined with those of the edges that its visits come along.

publisher = 'planet' and (edge) and (edge) and (campaign)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import pyarrow as pa

from tocsin.conditions.language import Literal, parse_condition, print_condition, print_literal
from tocsin.errors import RuleError, each_error, raise_all
from tocsin.events import Kind
from tocsin.rules import Rule, Rules
from tocsin_lab.booking.graph import Graph, Role

SCHEMA = pa.schema(
    [
        ("id", pa.large_string()),
        ("when", pa.large_string()),
        ("publisher", pa.large_string()),
        ("advertiser", pa.large_string()),
        ("path", pa.list_(pa.large_string())),
    ]
)


class _CannotBook(Exception):
    """Why a campaign cannot be booked."""


def book(graph: Graph, campaigns: object) -> pa.Table:
    """The rules that say for which visits campaigns are eligible: a table for tocsin.build.

    A campaign has an id, a condition (when), a publisher, an advertiser and, if it is not to be a
    shortest one, a path: the names of the nodes from the publisher to the advertiser, in a list or in
    a text with `>` between them. Campaigns are what tocsin.build takes as rules with these columns:
    what read_rules gives, or a table.

    A visit names its publisher in the field `publisher`. Raises RuleError or RuleErrors for campaigns
    that cannot be booked, each with its place and the reason.
    """
    rules = Rules.of(campaigns)
    booked: list[dict[str, object]] = []
    errors: list[RuleError] = []
    shortest_paths = cache(graph.shortest_paths)
    conditions_along = cache(lambda path: [graph.conditions[edge] for edge in pairwise(path)])
    for row, campaign in enumerate(rules):
        try:
            own = print_condition(parse_condition(campaign.when, rules.aliases.get(row)))
        except RuleError as error:
            errors.extend(each_error(rules.error(row, error)))
            continue
        try:
            publisher = _node(graph, campaign, Role.PUBLISHER)
            advertiser = _node(graph, campaign, Role.ADVERTISER)
            path = _given_path(graph, campaign, publisher, advertiser)
            if path is None:
                path = shortest_paths(publisher).get(advertiser)
            if path is None:
                raise _CannotBook(f"there is no path from '{publisher}' to '{advertiser}'")
        except _CannotBook as error:
            errors.append(RuleError(str(error), rule=campaign.id, file=campaign.file, line=campaign.line))
            continue
        booked.append(
            {
                "id": campaign.id,
                "when": _composed(publisher, [*conditions_along(path), own]),
                "publisher": publisher,
                "advertiser": advertiser,
                "path": list(path),
            }
        )
    raise_all(errors)
    return pa.Table.from_pylist(booked, SCHEMA)


def _composed(publisher: str, conditions: Sequence[str]) -> str:
    """That a visit is one to this publisher and satisfies all conditions; those that always hold are left
    out."""
    asked = f"publisher = {print_literal(Literal(Kind.STRING, publisher))}"
    return " and ".join([asked, *(f"({when})" for when in conditions if when != "true")])


def _node(graph: Graph, campaign: Rule, role: Role) -> str:
    """The node that a campaign names for a role."""
    name = campaign.metadata.get(role.value)
    if not isinstance(name, str):
        raise _CannotBook(f"the campaign names no {role.value}")
    if graph.roles.get(name) is not role:
        raise _CannotBook(f"there is no {role.value} '{name}'")
    return name


def _given_path(graph: Graph, campaign: Rule, publisher: str, advertiser: str) -> tuple[str, ...] | None:
    """The path that a campaign asks for, checked; None when it leaves that open."""
    given = campaign.metadata.get("path")
    if given is None:
        return None
    nodes = [part.strip() for part in given.split(">")] if isinstance(given, str) else given
    if not isinstance(nodes, list) or not all(isinstance(node, str) for node in nodes):
        raise _CannotBook("the campaign's path is not a list of names")
    path = tuple(nodes)
    if path[:1] != (publisher,) or path[-1:] != (advertiser,):
        raise _CannotBook(f"the campaign's path does not lead from '{publisher}' to '{advertiser}'")
    for seller, buyer in pairwise(path):
        if (seller, buyer) not in graph.conditions:
            raise _CannotBook(f"the campaign's path has no edge from '{seller}' to '{buyer}'")
    return path
