"""Index accesses and tuple accesses, counted a second time: without the compiler, by who reads which array.

An index access is one search of a data index (its hash table is fetched) or one semantic entry followed (the
first tuple of an entry is looked up, or the next one found). A tuple access is one read of the row of a tuple
other than the one that comes or goes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from random import Random

import pytest

SCRIPT = """
import json, sys, warnings
warnings.simplefilter("ignore")
from tocsin.datalog.language.checker import check_program
from tocsin.datalog.machine.machine import Machine
from tocsin.datalog.machine.normaliser import normal_program
from tocsin.datalog.machine.symbols import Symbols
from tocsin.datalog.kernels import activation, data_index, layout, memory_table
assert not hasattr(activation.activate, "py_func"), "the compiler is on"

text, changes = json.load(sys.stdin)
machine = Machine(normal_program(check_program(text)), Symbols())
machine.settle()
store = machine._store
kinds = {}
for number in store.number_of.values():
    record = store.relation_record(number)
    kinds[int(record[layout.R_BASE]) + layout.ROWS] = ("rows", number, max(1, int(record[layout.R_ARITY])))
for index in range(len(store.links.members)):
    base = int(store.index_record(index)[layout.I_BASE])
    kinds[base + layout.HEADS], kinds[base + layout.PLACES] = ("heads",), ("places",)
for link in range(len(store.links.links)):
    kinds[int(store.link_record(link)[layout.L_BASE]) + layout.NEXTS] = ("nexts",)
counted = {"index": 0, "tuple": 0}

class Watched:
    def __init__(self, array, kind):
        self.array, self.kind, self.size, self.read = array, kind, array.size, set()
    def __getitem__(self, place):
        found = self.array[place]
        if self.kind[0] == "rows":
            control = store.memory.arrays[layout.CONTROL]
            here = self.kind[1], int(place) // self.kind[2]
            if here != (control[layout.ITEM_RELATION], control[layout.ITEM_TUPLE]) and not self.read:
                counted["tuple"] += 1
                self.read.add(here)
        elif self.kind[0] == "heads" or found:
            counted["index"] += 1
        return found

def watching(view, wanted):
    def watched(table, slot):
        array, kind = view(table, slot), kinds.get(int(slot))
        if kind is not None and kind[0] == "places":
            counted["index"] += 1
            return array
        return Watched(array, kind) if kind is not None and kind[0] in wanted else array
    return watched

activation.words = watching(memory_table.words, {"rows"})
activation.numbers = watching(memory_table.numbers, {"heads", "nexts"})
searching = watching(memory_table.numbers, set())
real_find = data_index.find_entry
def find_entry(*arguments):
    before, data_index.numbers = data_index.numbers, searching
    try:
        return real_find(*arguments)
    finally:
        data_index.numbers = before
data_index.find_entry = activation.find_entry = find_entry
real_head = activation._head
def _head(*arguments):
    before = counted["index"]
    found = real_head(*arguments)
    counted["index"] = before
    return found
activation._head = _head

steps = []
for relation, row, insert in changes:
    counted.update(index=0, tuple=0)
    machine.reset_stats()
    machine.change_one(machine.relation(relation), row, insert)
    stats = machine.stats()
    steps.append([stats["index_accesses"], counted["index"], stats["tuple_accesses"], counted["tuple"]])
json.dump(steps, sys.stdout)
"""

DECLARED = ".decl {}(x: number, y: number)"
UC = " ".join(map(DECLARED.format, ("near", "use", "request", "canuse")))
UC += " canuse(x, y) :- near(x, z), use(x, z), request(z, y)."
GUARDED = " ".join(map(DECLARED.format, ("near", "use", "request", "canuse")))
GUARDED += " canuse(x, y) :- near(x, z), request(z, y), x < y, !use(x, y)."


@pytest.mark.parametrize("text", [UC, GUARDED], ids=["joins", "negation and a test"])
def test_both_counts_agree(text: str) -> None:
    changes: list[tuple[str, tuple[int, int], bool]] = []
    chance = Random(1)
    for _ in range(120):
        relation = chance.choice(("near", "use", "request"))
        changes.append((relation, (chance.randrange(4), chance.randrange(4)), chance.random() < 0.7))
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=json.dumps([text, changes]),
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2_000:]
    steps = json.loads(ran.stdout)
    assert [step[0] for step in steps] == [step[1] for step in steps]
    assert [step[2] for step in steps] == [step[3] for step in steps]
    assert sum(step[0] for step in steps) > len(steps)
    assert sum(step[2] for step in steps) > 10
