"""The four rules of section 6.2 with tuples for them: UC, CF, RT and RG.

The paper draws tuples at random from so many values and says no more of them. Here the tuples of a
relation differ, and the same size and seed give the same ones. With the paper's 500,000 values of UC and
100,000 persons of CF hardly any tuples meet: fewer values make the dense variants.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tocsin.arrays.dtypes import Longs
from tocsin.errors import UsageError
from tocsin_lab.yield_index.joins import different
from tocsin_lab.yield_index.rule_atoms import Atom, ConjunctiveRule, program_text

Rows = Longs
"""Tuples of a relation, one a row."""

UC_VALUES, UC_DENSE_VALUES = 500_000, 2_000
CF_PERSONS, CF_DENSE_PERSONS, CITIES, FLIGHTS = 100_000, 2_000, 1_000, 100
RT_NODES, RT_ADDRESSES = 20_000, 20
RG_VERTICES, RG_SOURCES = 3_000, 200
TOM = 0
"""The person whose flights CF asks for."""
HERE = 0
"""The address whose tuples RT uses where location is a constraint."""


@dataclass(frozen=True)
class Workload:
    """Rules, and the tuples of their input relations. `live` is the relation of which tuples arrive."""

    name: str
    rules: tuple[ConjunctiveRule, ...]
    relations: Mapping[str, Rows]
    live: str

    @property
    def rule(self) -> ConjunctiveRule:
        """The rule, where there is one."""
        (rule,) = self.rules
        return rule

    @property
    def program(self) -> str:
        """The rules as a program."""
        return program_text(*self.rules)

    @property
    def tuples(self) -> int:
        """Those of all relations."""
        return sum(len(rows) for rows in self.relations.values())

    def halves(self) -> tuple[Rows, Rows]:
        """The first and the second half of the relation of which tuples arrive."""
        rows = self.relations[self.live]
        return rows[: len(rows) // 2], rows[len(rows) // 2 :]


CAN_USE = ConjunctiveRule(
    Atom("canuse", ("x", "y")),
    (Atom("near", ("x", "z")), Atom("use", ("x", "z")), Atom("request", ("z", "y"))),
)
RESERVE = ConjunctiveRule(
    Atom("reserve", (TOM, "y")),
    (
        Atom("friend", (TOM, "x")),
        Atom("city", (TOM, "c")),
        Atom("city", ("x", "c")),
        Atom("ticket", ("x", "y")),
    ),
)
ROUTE = ConjunctiveRule(Atom("path", ("x", "y")), (Atom("link", ("x", "y")), Atom("located", ("x",))))
ROUTE_HERE = ConjunctiveRule(
    Atom("path", ("x", "y")), (Atom("link", ("x", "y")), Atom("located", ("x", HERE)))
)
REACH = (
    ConjunctiveRule(Atom("path", ("x", "y")), (Atom("arc", ("x", "y")),)),
    ConjunctiveRule(Atom("path", ("x", "y")), (Atom("arc", ("x", "z")), Atom("path", ("z", "y")))),
)


def can_use(tuples: int, values: int = UC_VALUES, seed: int = 1) -> Workload:
    """UC: persons near devices that they may use and that request channels; `tuples` in each relation."""
    rng = np.random.default_rng([seed, 1])
    relations = {name: distinct_rows(rng, tuples, values, values) for name in ("near", "use", "request")}
    return Workload("UC", (CAN_USE,), relations, "near")


def flights(tuples: int, persons: int = CF_PERSONS, seed: int = 1) -> Workload:
    """CF: flights of friends of Tom's who live in a city where he lives; `tuples` in each relation."""
    rng = np.random.default_rng([seed, 2])
    relations = {
        "friend": distinct_rows(rng, tuples, persons, persons),
        "city": distinct_rows(rng, tuples, persons, CITIES),
        "ticket": distinct_rows(rng, tuples, persons, FLIGHTS),
    }
    return Workload("CF", (RESERVE,), relations, "friend")


def routing(tuples: int, nodes: int = RT_NODES, seed: int = 1) -> Workload:
    """RT as it is printed: links of nodes that are located.

    A relation of one column has no more tuples than there are nodes: of `tuples` draws, those that differ.
    """
    rng = np.random.default_rng([seed, 3])
    located = rng.permutation(different(rng.integers(nodes, size=tuples)))[:, np.newaxis]
    relations = {"link": distinct_rows(rng, tuples, nodes, nodes), "located": located}
    return Workload("RT", (ROUTE,), relations, "link")


def stored_at(tuples: int, nodes: int = RT_NODES, seed: int = 1) -> Workload:
    """RT with the constant constraint that section 6.3.3 says it has: nodes are located at addresses, and
    those of one address are asked for.
    """
    rng = np.random.default_rng([seed, 4])
    relations = {
        "link": distinct_rows(rng, tuples, nodes, nodes),
        "located": distinct_rows(rng, tuples, nodes, RT_ADDRESSES),
    }
    return Workload("RT@", (ROUTE_HERE,), relations, "link")


def directed_graph(
    arcs: int, vertices: int = RG_VERTICES, sources: int = RG_SOURCES, seed: int = 1
) -> Workload:
    """RG: arcs that start at some of the vertices and end at any."""
    rng = np.random.default_rng([seed, 5])
    chosen = rng.permutation(vertices)[:sources]
    rows = distinct_rows(rng, arcs, sources, vertices)
    rows[:, 0] = chosen[rows[:, 0]]
    return Workload("RG", REACH, {"arc": rows}, "arc")


def distinct_rows(rng: np.random.Generator, count: int, *values: int) -> Rows:
    """So many different rows in random order; each column's numbers are below its number of values."""
    possible = int(np.prod(values, dtype=object))
    if count > possible:
        raise UsageError(f"{count:,} different tuples of {possible:,} possible ones cannot be drawn")
    codes = np.empty(0, np.int64)
    if count > possible // 2:
        codes = np.arange(possible)
    while len(codes) < count:
        more = rng.integers(possible, size=count - len(codes) + 16)
        codes = different(np.concatenate([codes, more]))
    picked = rng.permutation(codes)[:count]
    return np.column_stack(np.unravel_index(picked, values)).astype(np.int64)
