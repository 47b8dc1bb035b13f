"""The closure of RG: implicit, with every pair written to Arrow, by semi-naive evaluation, and in DuckDB."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from benchmarks.datalog.one_by_one import table
from benchmarks.datalog.semi_naive import semi_naive
from benchmarks.measuring import say, timed

import tocsin
from tocsin.datalog.machine import ClosureGraph
from tocsin.datalog.machine.reachability import Reachability
from tocsin_lab.yield_index import Workload, directed_graph
from tocsin_lab.yield_index.yield_workloads import RG_SOURCES, RG_VERTICES

RECURSIVE = """
with recursive path(x, y) as (
    select c0, c1 from arc union select arc.c0, path.y from arc join path on arc.c1 = path.x
)
select x, y from path
"""


ARCS = {"RG1": 6_000, "RG2": 8_000, "RG3": 10_000, "RG4": 12_000, "RG5": 15_000}


def closures(factor: int, rounds: int) -> dict[str, dict[str, Any]]:
    """The graphs of the paper, or of every size so many times smaller."""
    found = {}
    for name, arcs in ARCS.items():
        say(name)
        graph = directed_graph(arcs // factor, RG_VERTICES // factor, RG_SOURCES // factor)
        found[name] = closure(graph, rounds)
    return found


def closure(workload: Workload, rounds: int) -> dict[str, Any]:
    """Seconds of each way to the closure of a graph; all must find as many pairs."""
    arcs = workload.relations["arc"]
    say(f"  a closure of {len(arcs):,} arcs")
    vertices = int(arcs.max()) + 1
    tails, heads = (np.ascontiguousarray(arcs[:, end], np.int32) for end in (0, 1))
    sorted_graph = Reachability(tails, heads, vertices)
    arrow = table(arcs)
    program = tocsin.Program.parse(workload.program)

    def from_sorted_arcs() -> Any:
        graph = Reachability(tails, heads, vertices)
        graph.forward = sorted_graph.forward
        return graph.closure

    def implicit() -> ClosureGraph:
        graph = ClosureGraph()
        graph.insert(arcs)
        _ = graph.now.closure
        return graph

    def written() -> pa.Table:
        pairs = implicit().pairs()
        return pa.table({"x": pairs[:, 0], "y": pairs[:, 1]})

    def program_started() -> Any:
        engine = program.start()
        engine.load("arc", arrow)
        return engine

    pairs = written().num_rows
    ways: dict[str, Callable[[], Any]] = {
        "components and sets": from_sorted_arcs,
        "implicit": implicit,
        "written": written,
        "program": program_started,
        "semi-naive": lambda: semi_naive(tails, heads, vertices),
    }
    if len(ways["semi-naive"]()[0]) != pairs or program_started().size("path") != pairs:
        sys.exit("the ways to a closure differ")
    recursive = duckdb_way(arrow, pairs)
    if recursive is not None:
        ways["duckdb"] = recursive
    seconds = {name: [timed(way, 1).best for _ in range(rounds)] for name, way in ways.items()}
    return {
        "arcs": len(arcs),
        "pairs": pairs,
        **{name: float(np.median(taken)) for name, taken in seconds.items()},
    }


def duckdb_way(arcs: pa.Table, pairs: int) -> Callable[[], pa.Table] | None:
    """DuckDB's recursive query on one thread, from a stored table to Arrow; None without DuckDB."""
    try:
        import duckdb
    except ImportError:
        say("  DuckDB is not installed: left out")
        return None
    connection = duckdb.connect(config={"threads": 1})
    connection.register("arcs", arcs)
    connection.execute("create table arc as select * from arcs")

    def recursive() -> pa.Table:
        return connection.execute(RECURSIVE).to_arrow_table()

    if recursive().num_rows != pairs:
        sys.exit("tocsin and DuckDB differ")
    return recursive
