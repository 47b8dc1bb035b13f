"""Draws docs/architecture.svg: the ways through the house, and which room imports which.

    python docs/architecture.py

The matrix is counted from the imports of src/; the ways are the list of stations below, each of which has to
be a file. A test draws it anew and compares.
"""

from __future__ import annotations

import ast
from collections import Counter
from html import escape
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
DRAWING = ROOT / "docs" / "architecture.svg"

ROOMS = {  # from the cellar up, each with its colour
    "errors": "#9aa3ad",
    "syntax": "#9aa3ad",
    "storage": "#8c7b6b",
    "arrays": "#8c7b6b",
    "tables": "#8c7b6b",
    "events": "#3f8f5f",
    "text": "#b8862b",
    "conditions": "#3b6fb6",
    "rules": "#7a5aa8",
    "datalog": "#b4495a",
    "engines": "#5a7fa0",
    "matches": "#4a9a9a",
    "history": "#7d8a3c",
    "watches": "#a8608f",
    "spark": "#c9622e",
    "tocsin_lab": "#9aa3ad",
    "cli": "#4d5560",
}
BESIDE = {
    "printable": "errors",
    "version": "errors",
    "fork_locks": "storage",
    "saved": "engines",
    "warmup": "matches",
}
"""Files that lie beside the rooms, counted with the one whose floor they are on."""


class Station(NamedTuple):
    """A file below src/tocsin, and what happens there."""

    file: str
    what: str


WAYS = {
    "A rule": [
        Station("rules/rule_files.py", "files: ids and conditions"),
        Station("conditions/graph/condition_reader.py", "texts to steps"),
        Station("conditions/graph/predicate_table.py", "each predicate once"),
        Station("conditions/kernels/shared_graph.py", "each expression once"),
        Station("conditions/kernels/planes.py", "what has to be worked out"),
        Station("conditions/live/index.py", "what users hold"),
        Station("conditions/graph/index_file.py", "one mapped file"),
    ],
    "An event": [
        Station("conditions/live/index.py", "match(event)"),
        Station("conditions/matching/event_reader.py", "fields that rules name"),
        Station("conditions/kernels/literal_bitmap.py", "which leaves hold"),
        Station("conditions/kernels/single_event.py", "what follows from them"),
        Station("conditions/matching/results.py", "rules and scores"),
    ],
    "A table": [
        Station("events/arrow_tables.py", "columns that rules name"),
        Station("events/cells.py", "cells, field by field"),
        Station("conditions/matching/resolver.py", "cells meet leaves"),
        Station("conditions/kernels/leaf_planes.py", "which leaves hold"),
        Station("conditions/kernels/event_block.py", "children, then parents"),
        Station("conditions/kernels/match_lists.py", "the rules that matched"),
        Station("conditions/matching/results.py", "a table of matches"),
    ],
    "A text": [
        Station("text/query_arrays.py", "queries to steps"),
        Station("text/kernels/terms.py", "words numbered"),
        Station("text/trie_filter.py", "filed under rare words"),
        Station("text/kernels/tokenizer.py", "a document cut once"),
        Station("text/kernels/trie_search.py", "queries that may hold"),
        Station("text/kernels/verdicts.py", "those that do"),
        Station("text/kernels/rule_queries.py", "and how well"),
    ],
    "A fact": [
        Station("datalog/language/parser.py", "a program to a tree"),
        Station("datalog/machine/normaliser.py", "to four kinds of step"),
        Station("datalog/machine/planner.py", "a plan for each atom"),
        Station("datalog/engine/engine.py", "a fact comes or goes"),
        Station("datalog/kernels/fixpoint.py", "until nothing changes"),
        Station("datalog/kernels/activation.py", "each rule it activates"),
        Station("datalog/engine/changes.py", "what became so"),
    ],
}

SVG = "http://www.w3.org/2000/svg"
WIDE, HIGH, GAP, LEFT, TOP = 152, 50, 14, 84, 34
CELL, NAMES = 44, 96


def main() -> None:
    """Write the drawing."""
    DRAWING.write_text(drawing(), encoding="utf-8")


def drawing() -> str:
    """The ways above, the matrix below."""
    width = LEFT + 7 * WIDE + 6 * GAP + 16
    ways_end = TOP + len(WAYS) * (HIGH + 26)
    height = ways_end + 110 + len(ROOMS) * 22
    parts = [
        f'<svg xmlns="{SVG}" width="{width}" height="{height}" font-family="sans-serif">',
        "<title>The ways through tocsin, and which room imports which</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        _text(16, 20, "The ways through the house", size=14, bold=True),
    ]
    for row, (name, stations) in enumerate(WAYS.items()):
        parts += _way(name, stations, TOP + 10 + row * (HIGH + 26))
    parts += _matrix(ways_end + 30)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _way(name: str, stations: list[Station], y: int) -> list[str]:
    parts = [_text(16, y + 30, name, bold=True)]
    for place, station in enumerate(stations):
        if not (ROOT / "src/tocsin" / station.file).is_file():
            raise FileNotFoundError(f"{name} is said to pass {station.file}, which is not there")
        room, _, file = station.file.partition("/")
        x = LEFT + place * (WIDE + GAP)
        if place:
            arrow = f"M{x - GAP} {y + HIGH // 2}h{GAP - 5}m-5 -4l5 4l-5 4"
            parts.append(f'<path d="{arrow}" fill="none" stroke="#4d5560"/>')
        parts += [
            _box(x, y, WIDE, HIGH, f'fill="#ffffff" stroke="{ROOMS[room]}"'),
            _box(x, y, 4, HIGH, f'fill="{ROOMS[room]}"'),
            _text(x + 12, y + 16, room, colour=ROOMS[room], size=10, bold=True),
            _text(x + 12, y + 30, file.rpartition("/")[2], size=11, mono=True),
            _text(x + 12, y + 43, station.what, colour="#4d5560", size=10),
        ]
    return parts


def _matrix(y: int) -> list[str]:
    """Rooms by rooms: how many import statements of the row's files name the column's room.

    The contract in pyproject.toml is finer: it knows the floors of a room.
    """
    counts = imports_by_room()
    parts = [
        _text(16, y, "Which room imports which", size=14, bold=True),
        _text(250, y, "import statements of the row that name the column", colour="#4d5560"),
        _text(
            16,
            y + 62 + len(ROOMS) * 22,
            "Framed: the other room stands between two floors of this one (the contract in pyproject.toml).",
            colour="#4d5560",
            size=11,
        ),
    ]
    first = y + 24
    for column, room in enumerate(ROOMS):
        x = NAMES + 16 + column * CELL + CELL // 2
        parts.append(_text(x, first + 6, room, colour=ROOMS[room], size=8, middle=True))
    for row, room in enumerate(ROOMS):
        top = first + 14 + row * 22
        parts.append(_text(16, top + 15, room, colour=ROOMS[room], bold=True))
        for column, other in enumerate(ROOMS):
            count = counts[room, other]
            x = NAMES + 16 + column * CELL
            if column <= row:
                opacity = 0.22 + min(count, 120) / 200
                filled = f'fill="{ROOMS[other]}" fill-opacity="{opacity:.2f}"' if count else 'fill="#f4f5f6"'
                parts.append(_box(x, top, CELL - 2, 20, filled))
            elif count:
                parts.append(_box(x, top, CELL - 2, 20, f'fill="none" stroke="{ROOMS[other]}"'))
            if count:
                parts.append(_text(x + CELL // 2 - 1, top + 14, f"{count}", size=11, middle=True))
    return parts


def imports_by_room() -> Counter[tuple[str, str]]:
    """Import statements by the room of the file and the room they name."""
    counts: Counter[tuple[str, str]] = Counter()
    for file in sorted((ROOT / "src").rglob("*.py")):
        parts = file.relative_to(ROOT / "src").with_suffix("").parts
        if parts[0] == "tocsin" and parts[1] in ("__init__", "__main__"):
            continue  # the street door: it names all of them
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                other = node.module.split(".")
                if other[0] in ("tocsin", "tocsin_lab") and other != ["tocsin"]:
                    counts[_room(parts), _room(other)] += 1
    return counts


def _room(parts: tuple[str, ...] | list[str]) -> str:
    room = parts[0] if parts[0] == "tocsin_lab" else parts[1]
    return BESIDE.get(room, room)


def _text(
    x: int,
    y: int,
    text: str,
    *,
    colour: str = "#1f252b",
    size: int = 12,
    bold: bool = False,
    mono: bool = False,
    middle: bool = False,
) -> str:
    weight = ' font-weight="600"' if bold else ""
    family = ' font-family="ui-monospace, monospace"' if mono else ""
    anchor = ' text-anchor="middle"' if middle else ""
    look = f'fill="{colour}" font-size="{size}"{weight}{family}{anchor}'
    return f'<text x="{x}" y="{y}" {look}>{escape(text)}</text>'


def _box(x: int, y: int, width: int, height: int, look: str) -> str:
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" {look}/>'


if __name__ == "__main__":
    main()
