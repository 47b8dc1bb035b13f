"""Compile every kernel before it is needed, or load it from the cache."""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import numpy as np
import pyarrow as pa

from tocsin.arrays.jit import is_cached
from tocsin.conditions.blocks import warm_up as warm_up_blocks
from tocsin.conditions.kernels import seldom_first
from tocsin.datalog.engine import warm_up as warm_up_programs
from tocsin.engines import ENGINES
from tocsin.engines.build import build
from tocsin.events import MANY_COLUMNS, compile_loops, read_together
from tocsin.history.statistics import warm_up as warm_up_statistics
from tocsin.matches import FEW_LINES, JsonLines, MatchedEvents, pick_sent
from tocsin.text.score import score

_RULES = (
    ("numbers", "a = 1 and b in (2, 3.5) and not (c < 4 or d between 5 and 6)"),
    ("texts", "s = 'x' xor (s like 'a%_' and s < 'm') xnor (t ilike '%b%' or t is null)"),
    ("words", "contains(t, '\"b c\", d*, !e', 0.1) and v = true and contains(s, 'x | y & z', boolean)"),
    ("scored", "v = true or contains(t, 'x', 2)"),
    ("others", "cidr(s, '10.0.0.0/8') or u > timestamp '2026-01-31T12:00:00Z' or v != true or s matches 'z'"),
)

_NESTED = (
    ("nested", "a = 1 and (b = 2 or (c < 3 and (d = 4 or not e = 5)))"),
    ("other", "a = 1 and (b = 2 or c < 3) and not d = 4"),
    ("either", "a = 1 xor b = 2"),
)
_EVENT: dict[str, Any] = {
    "a": 1,
    "b": 2.5,
    "c": 5,
    "d": 6,
    "s": "abc",
    "t": "b c \u00e9",
    "u": datetime(2026, 1, 31, tzinfo=UTC),
    "v": True,
}


def is_warm() -> bool:
    """Whether this machine has the kernel that warm_up comes to last."""
    return is_cached(seldom_first)


def warm_up() -> None:
    """Match a few events each way, count, throttle and learn, so that nobody waits for a compiler."""
    index = build(_RULES)
    index.insert("later", "a = 1")
    index.delete("numbers")
    index.match(_EVENT)
    events = pa.Table.from_pylist([_EVENT, _EVENT])
    index.match_table(events)
    index.match_table(events, count=True)
    wide = pa.table({f"x{number}": [1, 2] for number in range(MANY_COLUMNS)})
    read_together(wide, {(name,): place for place, name in enumerate(wide.column_names)})
    matched = MatchedEvents(np.arange(1), np.array([0, FEW_LINES]), np.zeros(FEW_LINES, np.int32), None, {})
    JsonLines(BytesIO(), pa.array(["r"]), []).write(matched)
    none = np.zeros(0, np.int64)
    pick_sent(none, none, none, none, np.zeros(0, np.bool_))
    build(_RULES, sample=events, organise="full")
    compile_loops()


def warm_up_all() -> None:
    """What warm_up does, and programs, builds in blocks, statistics, scores and every engine."""
    warm_up()
    warm_up_programs()
    warm_up_blocks()
    warm_up_statistics()
    score("b c", '"b c", d')
    events = pa.Table.from_pylist([_EVENT, _EVENT])
    for engine in ENGINES:
        index = build(_NESTED, engine)
        index.match(_EVENT)
        index.match_table(events)
        index.match_table(events, count=True)
