"""All tuples at once: loaded from Arrow with what they derive, their memory, and the same join in DuckDB."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from typing import Any

from benchmarks.datalog.one_by_one import HEAD, table
from benchmarks.measuring import say, timed

import tocsin
from tocsin_lab.yield_index import NO_INDEX, ConjunctiveRule, Workload, activate_all

JOIN = """
select distinct near.c0 as c0, request.c1 as c1
from near join use on near.c0 = use.c0 and near.c1 = use.c1 join request on near.c1 = request.c0
"""


def bulk(workload: Workload, rounds: int) -> dict[str, Any]:
    """Seconds to load everything and to have the answers, and the bytes that stay."""
    say(f"  {workload.tuples:,} tuples at once")
    tables = {name: table(rows) for name, rows in workload.relations.items()}
    program = tocsin.Program.parse(workload.program)

    def load() -> Any:
        engine = program.start()
        for name, each in tables.items():
            engine.load(name, each)
        return engine

    engine = load()
    answers = set(engine.query(HEAD))
    expected = activate_all(workload.rule, workload.relations, NO_INDEX).heads
    if answers != set(map(tuple, expected.tolist())):
        sys.exit("the answers after loading are wrong")
    stats = engine.stats()
    loaded = timed(load, rounds)
    return {
        "tuples": workload.tuples,
        "answers": len(answers),
        "seconds": loaded.median,
        "bytes": stats["bytes"],
        "constrained": constrained(workload),
        "duckdb": duckdb_seconds(tables, answers, rounds),
    }


def constrained(workload: Workload) -> int:
    """The tuples of each relation times the constraints on it, summed.

    A column that shares its variable with another atom, or holds a number, is under one constraint: what
    simplification leaves of x = y, y = z, x = z.
    """
    return sum(
        len(workload.relations[name]) * constraints_on(workload.rule, name) for name in workload.relations
    )


def constraints_on(rule: ConjunctiveRule, relation: str) -> int:
    """Columns of the relation's atoms that are compared with something."""
    return sum(
        len(rule.join_columns(atom)) + len(atom.constants) for atom in rule.body if atom.relation == relation
    )


def duckdb_seconds(
    tables: dict[str, Any], answers: set[tuple[int, ...]], rounds: int
) -> dict[str, float] | None:
    """DuckDB on one thread: seconds to store the tables, and to join them; None without DuckDB."""
    try:
        import duckdb
    except ImportError:
        say("  DuckDB is not installed: left out")
        return None
    connection = duckdb.connect(config={"threads": 1})
    for name, each in tables.items():
        connection.register(f"{name}_arrow", each)

    def store() -> None:
        for name in tables:
            connection.execute(f"create or replace table {name} as select * from {name}_arrow")

    def join() -> Any:
        return connection.execute(JOIN).to_arrow_table()

    store()
    found = join()
    if set(zip(*(column.to_pylist() for column in found.columns), strict=True)) != answers:
        sys.exit("tocsin and DuckDB differ")
    return {"store": _median(store, rounds), "join": _median(join, rounds)}


def _median(work: Callable[[], object], rounds: int) -> float:
    return statistics.median(timed(work, 1).best for _ in range(rounds))
