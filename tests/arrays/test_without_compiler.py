"""The kernels as plain Python give what the compiled ones give: they rely on nothing that Numba adds."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from tocsin import build

RULES = [
    ("numbers", "a = 1 and b in (2, 3.5) or not (c < 4 or d between 5 and 6)"),
    ("texts", "s = 'x' xor (s like 'a%_' and s < 'm') xnor (t ilike '%B%' or t is null)"),
    ("others", "cidr(s, '10.0.0.0/8') or u > timestamp '2026-01-31T12:00:00Z' or v != true or s matches 'z'"),
    ("chain", "a = 1 xor b = 2 xor not c = 3 xnor a = 1 xor true"),
    ("constant", "(true xor false) and (c > 1 or false)"),
    ("again", "not (c < 4 or d between 5 and 6)"),
    ("wide", " or ".join(f"a = {number}" for number in range(60))),
    ("big", "a > 9007199254740992 and a != 9007199254740994"),
]
EVENTS: list[dict[str, object]] = [
    {"a": 1, "b": 2, "c": 5, "d": 9, "s": "abc", "t": "", "v": True},
    {"a": [1, 9007199254740993], "b": 3.5, "c": [3, 7], "d": 5.5, "s": "x", "t": "abc"},
    {"s": ["10.1.1.1", "z"], "u": "2026-01-31T12:00:00.5Z", "v": False, "c": []},
    {"a": -5, "b": -2.5, "c": 3, "d": None, "s": "", "t": "ABBA", "u": "soon"},
    {},
]

SCRIPT = """
import json, sys, warnings
warnings.simplefilter("ignore")
import pyarrow as pa
from tocsin.engines.build import build
from tocsin.events.python_events import FieldPlan
from tocsin.conditions.kernels import event_block
assert not hasattr(event_block.evaluate_block, "py_func"), "the compiler is on"
rules, events = json.load(sys.stdin)
index = build([tuple(rule) for rule in rules])
alone = [[match.rule for match in index.match(event)] for event in events]
found = index.version.match_cells(FieldPlan(index.fields).batch(events * 3))
json.dump([alone, found.rule.tolist(), found.per_event.tolist()], sys.stdout)
"""


def test_a_few_events_both_ways() -> None:
    index = build(RULES)
    compiled = [[match.rule for match in index.match(event)] for event in EVENTS]
    assert [rule for rules in compiled for rule in rules]
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=json.dumps([RULES, EVENTS]),
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2_000:]
    alone, rules, per_event = json.loads(ran.stdout)
    assert alone == compiled
    assert per_event == [len(found) for found in compiled] * 3
    names = [name for name, _ in RULES]
    assert [names[rule] for rule in rules] == [rule for found in compiled for rule in found] * 3
