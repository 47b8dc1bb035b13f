"""A graph from a JSON file.

    {
      "publishers": ["planet"],
      "intermediaries": ["northern"],
      "advertisers": ["acme"],
      "edges": [
        {"from": "planet", "to": "northern", "when": "gender = 'male' and category = 'sports'"},
        {"from": "northern", "to": "acme"}
      ]
    }

An edge without a condition sells every visit.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tocsin.errors import InputError
from tocsin_lab.booking.graph import Edge, Graph, Role, graph_of

_ROLES = {
    "publishers": Role.PUBLISHER,
    "intermediaries": Role.INTERMEDIARY,
    "advertisers": Role.ADVERTISER,
}


def read_graph(path: str | os.PathLike[str]) -> Graph:
    """Read and check a graph.

    Raises InputError for a file that is missing or not of this form, RuleError or RuleErrors for what
    is wrong with the graph in it.
    """
    path = Path(path)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON: {error}") from None
    if not isinstance(found, dict):
        raise InputError(f"{path}: expected an object with {', '.join(_ROLES)} and edges")
    unknown = sorted(set(found) - {*_ROLES, "edges"})
    if unknown:
        raise InputError(f"{path}: '{unknown[0]}' is not part of a graph: {', '.join(_ROLES)}, edges")
    roles: dict[str, Role] = {}
    for part, role in _ROLES.items():
        for name in _listed(found, part, path):
            if not isinstance(name, str) or not name:
                raise InputError(f"{path}: {part}: expected names, found {json.dumps(name)}")
            if name in roles:
                raise InputError(f"{path}: the node '{name}' is there twice")
            roles[name] = role
    edges = [_edge(each, number, path) for number, each in enumerate(_listed(found, "edges", path), 1)]
    return graph_of(roles, edges, str(path))


def _listed(found: dict[str, Any], part: str, path: Path) -> list[Any]:
    values = found.get(part, [])
    if not isinstance(values, list):
        raise InputError(f"{path}: {part}: expected a list")
    return values


def _edge(found: Any, number: int, path: Path) -> Edge:
    is_edge = isinstance(found, dict) and {"from", "to"} <= set(found) <= {"from", "to", "when"}
    if not is_edge or not all(isinstance(value, str) for value in found.values()):
        raise InputError(f"{path}: edge {number}: expected texts for from, to and, if there is one, when")
    return Edge(found["from"], found["to"], found.get("when", "true"))
