"""The figures of the Datalog benchmark as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.tables import machine_note, markdown, milliseconds, times


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """By the names of their places in the documents."""
    note = machine_note(results["machine"]).replace("best of several", "median of several rounds")
    names = list(results["data"])
    each = list(results["data"].values())
    return {
        "datalog-one-by-one": f"{_one_by_one(names, [part['one by one'] for part in each])}\n\n{note}",
        "datalog-bulk": f"{_bulk(names, [part['bulk'] for part in each])}\n\n{note}",
        "datalog-closure": f"{_closure(results['closures'])}\n\n{note}",
        "datalog-changes": f"{_changes_read(results['changes read'])}\n\n{note}",
        "datalog-deletions": f"{_deletions(results['deletions'])}\n\n{note.replace('median', 'best')}",
    }


def _one_by_one(names: Sequence[str], parts: Sequence[Mapping[str, Any]]) -> str:
    def micro(name: str) -> list[str]:
        return [f"{part[name] * 1e6:.2f} µs" for part in parts]

    def ratio(above: str, below: str) -> list[str]:
        return [f"{part[above] / part[below]:.1f}" for part in parts]

    rows = [
        ("tuples that arrive one by one", [f"{part['arriving']:,}" for part in parts]),
        ("tuples derived from them", [f"{part['new']:,}" for part in parts]),
        ("**an insert**, what it derives included", micro("insert")),
        ("the same by hand", micro("hand insert")),
        ("times the time by hand", ratio("insert", "hand insert")),
        ("**a delete**", micro("delete")),
        ("the same by hand", micro("hand delete")),
        ("times the time of an insert", ratio("delete", "insert")),
    ]
    return markdown(["", *names], rows)


def _bulk(names: Sequence[str], parts: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        ("tuples", [f"{part['tuples']:,}" for part in parts]),
        ("tuples derived", [f"{part['answers']:,}" for part in parts]),
        ("**loaded, all derived**", [milliseconds(part["seconds"]) for part in parts]),
        ("**tuples a second**", [f"{part['tuples'] / part['seconds']:,.0f}" for part in parts]),
        ("memory", [f"{part['bytes'] / 1e6:.1f} MB" for part in parts]),
        (
            "**bytes for a tuple and a constraint on it**",
            [f"{part['bytes'] / part['constrained']:.0f}" for part in parts],
        ),
    ]
    if all(part["duckdb"] for part in parts):
        rows += [
            ("DuckDB, tables stored", [milliseconds(part["duckdb"]["store"]) for part in parts]),
            ("DuckDB, the join", [milliseconds(part["duckdb"]["join"]) for part in parts]),
        ]
    return markdown(["", *names], rows)


def _closure(found: Mapping[str, Mapping[str, Any]]) -> str:
    parts = list(found.values())

    def taken(name: str) -> list[str]:
        return [milliseconds(part[name]) for part in parts]

    def faster(slower: str, than: str) -> list[str]:
        return [times(part[slower], part[than]) for part in parts]

    rows = [
        ("arcs", [f"{part['arcs']:,}" for part in parts]),
        ("pairs", [f"{part['pairs']:,}" for part in parts]),
        ("components and what they reach, from sorted arcs", taken("components and sets")),
        ("**implicit closure**, from arcs as they come", taken("implicit")),
        ("**every pair in Arrow**, from arcs as they come", taken("written")),
        ("a program: started, arcs loaded", taken("program")),
        ("semi-naive evaluation in Numba", taken("semi-naive")),
        (
            "times the components and what they reach (the paper: 1,506 to 4,115)",
            faster("semi-naive", "components and sets"),
        ),
        ("times the implicit closure", faster("semi-naive", "implicit")),
    ]
    if all("duckdb" in part for part in parts):
        rows += [
            ("DuckDB, the recursive query to Arrow", taken("duckdb")),
            ("times every pair in Arrow", faster("duckdb", "written")),
        ]
    return markdown(["", *found], rows)


def _changes_read(found: Mapping[str, Mapping[str, Any]]) -> str:
    parts = list(found.values())
    rows = [
        ("arcs", [f"{part['arcs']:,}" for part in parts]),
        ("pairs that come or go with an arc", [f"{part['pairs']:.1f}" for part in parts]),
        ("**a change of the implicit closure**, read", [milliseconds(part["implicit"]) for part in parts]),
        ("a change of the closure written out, read", [milliseconds(part["written out"]) for part in parts]),
    ]
    return markdown(["", *found], rows)


def _deletions(found: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        (
            f"{part['rule']}, {part['graph']}",
            [
                f"{part['pairs']:,}",
                milliseconds(part["load"]),
                milliseconds(part["one"]),
                f"{part['one'] / part['load']:.2f}",
                milliseconds(part["tenth"]),
                f"{part['tenth'] / part['load']:.2f}",
            ],
        )
        for part in found
    ]
    head = ["", "pairs", "load", "one arc goes", "of the load", "a tenth goes", "of the load"]
    return markdown(head, rows)
