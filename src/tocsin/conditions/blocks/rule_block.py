"""One block of rules, read: its good rules as arrays, and why the others are none.

    rules ── read ── those that can be: ids, texts, metadata, steps
                └── the block's distinct predicates, in the order of the rules

A block depends on its own rules alone, and numbers everything as it comes in their order, whatever way the
reader took. So however rules are cut into blocks, what comes first in a block comes first in all of them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tocsin.arrays.array_file import open_arrays, save_arrays
from tocsin.arrays.dtypes import Bytes, Flags, Ints, Longs
from tocsin.arrays.packed import Texts, joined, joined_starts, some_spans, text_arrays
from tocsin.conditions.graph.compiled_index import metadata_stream, without_aliases
from tocsin.conditions.graph.condition_reader import Steps, read_rules
from tocsin.conditions.graph.predicate_table import PredicateTable, some_rows
from tocsin.conditions.kernels.predicate_parser import TEXTS
from tocsin.errors import RuleError
from tocsin.rules import Rules

_KIND = "block of rules"


class Block(NamedTuple):
    """Good rules, in order.

    rule_id      the ids
    rule_text    the conditions as written
    metadata     uint8[...]   the rules' other columns, as an Arrow stream; empty when there are none
    step_start   int64[n+1]   the conditions as postfix steps (see kernels.skeleton):
    step         int32[...]   a step >= 0 is 2 * predicate, and one more for its negation
    table        the distinct predicates, numbered by where they first stand
    """

    rule_id: Texts
    rule_text: Texts
    metadata: Bytes
    step_start: Longs
    step: Ints
    table: PredicateTable

    @property
    def rules(self) -> int:
        """How many rules it has."""
        return len(self.step_start) - 1

    def with_text(self) -> Flags:
        """Which rules hold free text."""
        is_text = np.zeros(len(self.step), np.int64)
        at = np.flatnonzero(self.step >= 0)
        is_text[at] = self.table.kind[self.step[at] >> 1] == TEXTS
        before = np.concatenate(([0], np.cumsum(is_text)))
        return np.asarray(before[self.step_start[1:]] > before[self.step_start[:-1]])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, whole or not at all."""
        said = {"kind": _KIND, "paths": [list(path) for path in self.table.paths]}
        save_arrays(path, said, list(_named_arrays(self)))

    @staticmethod
    def open(path: str | os.PathLike[str]) -> Block:
        """Map what was saved, without reading it through."""
        header, arrays = open_arrays(path, verify=False)
        table = {field: arrays[f"table.{field}"] for field in PredicateTable._fields if field != "paths"}
        return Block(
            Texts(arrays["rule_id.start"], arrays["rule_id.data"]),
            Texts(arrays["rule_text.start"], arrays["rule_text.data"]),
            arrays["metadata"],
            arrays["step_start"],
            arrays["step"],
            PredicateTable(paths=[tuple(path) for path in header["paths"]], **table),
        )


def _named_arrays(block: Block) -> list[tuple[str, NDArray[Any]]]:
    table = block.table._asdict()
    del table["paths"]
    return [
        ("rule_id.start", block.rule_id.start),
        ("rule_id.data", block.rule_id.data),
        ("rule_text.start", block.rule_text.start),
        ("rule_text.data", block.rule_text.data),
        ("metadata", block.metadata),
        ("step_start", block.step_start),
        ("step", block.step),
        *((f"table.{field}", array) for field, array in table.items()),
    ]


def read_block(rules: Rules) -> tuple[Block, list[tuple[int, RuleError]]]:
    """Read rules with different ids. Those that cannot be read are left out, and given by row with why."""
    reading = read_rules(rules)
    errors = [(row, rules.error(row, error)) for row, error in reading.errors]
    if errors:
        bad = np.unique(np.array([row for row, _ in errors], np.int64))
        rules = rules.take(np.delete(np.arange(len(rules)), bad))
    step_start, step = _in_order(reading.parts)
    table, step = _as_they_come(reading.table, step)
    block = Block(
        Texts(*text_arrays(rules.ids)),
        without_aliases(Texts(*text_arrays(rules.whens)), rules.aliases),
        metadata_stream(rules.metadata),
        step_start,
        step,
        table,
    )
    return block, errors


def _in_order(parts: Sequence[Steps]) -> tuple[Longs, Ints]:
    """The steps of all conditions, in the conditions' order."""
    number = joined([part.number for part in parts], np.int64)
    start = joined_starts([part.start for part in parts])
    step = joined([_own_references(part) for part in parts], np.int32)
    if len(parts) == 1:
        return start, step
    left, which = some_spans(start, np.argsort(number))
    return left, step[which]


def _own_references(part: Steps) -> Ints:
    """Steps where predicates are given by number and sign, and not by their place in `ref`."""
    step = part.step.copy()
    at = step >= 0
    step[at] = part.ref[step[at]] - 2
    return step


def _as_they_come(table: PredicateTable, step: Ints) -> tuple[PredicateTable, Ints]:
    """Number the predicates by where they first stand in the steps; those that stand nowhere are left out."""
    at = np.flatnonzero(step >= 0)
    leaf = step[at] >> 1
    first = np.full(len(table.field), len(at), np.int64)
    first[leaf[::-1]] = np.arange(len(at) - 1, -1, -1)
    used = np.flatnonzero(first < len(at))
    order = used[np.argsort(first[used])]
    if len(order) == len(first) and (order == np.arange(len(order))).all():
        return table, step
    number = np.full(len(first), -1, np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    step = step.copy()
    step[at] = 2 * number[leaf] + (step[at] & 1)
    return some_rows(table, order), step
