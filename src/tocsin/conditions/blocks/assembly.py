"""All blocks become one index, piece by piece: columns are read from files, and rules are never objects.

    blocks ── predicates that are the first of their kind ── one table
          ├── conditions ─────────────────────────────────── shared in one graph, and the root of every rule
          └── conditions with free text ──────────────────── planned and shared together at the end

A block is open only while something is taken from it: pages that are mapped count as memory too. Going
through the blocks in order, everything gets the number that it has where all rules are read one after
the other.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Bytes, Ints, Longs
from tocsin.arrays.packed import Texts, joined_starts, some_spans
from tocsin.conditions.blocks.build_folder import BITS, Work, find_firsts
from tocsin.conditions.blocks.rule_block import Block
from tocsin.conditions.blocks.rule_rows import read_rows
from tocsin.conditions.graph.compiled_index import CompiledIndex, WrittenRules, compile_reading
from tocsin.conditions.graph.condition_reader import Reading, Steps
from tocsin.conditions.graph.predicate_table import PredicateTable, joined_tables, some_rows
from tocsin.conditions.graph.shared_graph import share_beside
from tocsin.conditions.kernels.shared_nodes import SharedNodes, no_nodes
from tocsin.conditions.planner.planner import Planner
from tocsin.text import TextBase

_LOWER = (1 << BITS) - 1


class Assembled(NamedTuple):
    """The conditions of all blocks.

    table    the distinct predicates
    nodes    the graph of all conditions without free text
    root     int32[n]   their references; -1 for a rule with free text,
    parts               which is here, block by block
    """

    table: PredicateTable
    nodes: SharedNodes
    root: Ints
    parts: list[Steps]


def assemble(work: Work) -> Assembled:
    """Put the blocks' predicates and conditions together."""
    leaf_number, table = _leaves_of(work)
    nodes = no_nodes(len(table.field))
    roots: list[Ints] = [np.empty(0, np.int32)]
    parts: list[Steps] = []
    rules = 0
    for at in range(work.count):
        block = work.block(at)
        with_text = block.with_text()
        root = np.full(block.rules, -1, np.int32)
        plain = _conditions(block, np.flatnonzero(~with_text), leaf_number[at])
        nodes = share_beside(nodes, root, [plain])
        roots.append(root)
        if with_text.any():
            texts = _conditions(block, np.flatnonzero(with_text), leaf_number[at])
            parts.append(texts._replace(number=rules + texts.number))
        rules += block.rules
    return Assembled(table, nodes, np.concatenate(roots), parts)


def compile_blocks(work: Work, base: TextBase | None = None, planner: Planner | None = None) -> CompiledIndex:
    """The index of all blocks. Its texts are mapped from the work's folder: save it before that goes."""
    whole = assemble(work)
    reading, shared = Reading(whole.parts, whole.table, []), (whole.nodes, whole.root)
    return compile_reading(written_rules(work), reading, base, planner, shared=shared)


def written_rules(work: Work) -> WrittenRules:
    """Ids, conditions and metadata of all blocks, one after the other."""
    return WrittenRules(
        _texts_in_file(work, "rule_id", lambda block: block.rule_id),
        _texts_in_file(work, "rule_text", lambda block: block.rule_text),
        _mapped(work.folder / "metadata", lambda file: _write_metadata(work, file)),
    )


def _leaves_of(work: Work) -> tuple[list[Ints], PredicateTable]:
    """For each block the numbers that its predicates have in all, and the table of these."""
    numbers: list[Ints] = []
    tables: list[PredicateTable] = []
    count = 0
    for at in range(work.count):
        block = work.block(at)
        first = work.first_places(at, len(block.table.field))
        own = np.flatnonzero(first >> BITS == at)
        number = np.empty(len(first), np.int32)
        number[own] = np.arange(count, count + len(own), dtype=np.int32)
        numbers.append(number)
        others = np.flatnonzero(first >> BITS != at)
        for known in np.unique(first[others] >> BITS).tolist():
            of_block = others[first[others] >> BITS == known]
            number[of_block] = numbers[known][first[of_block] & _LOWER]
        tables.append(some_rows(block.table, own))
        count += len(own)
    return numbers, joined_tables(tables)


def _conditions(block: Block, rows: Longs, leaf_number: Ints) -> Steps:
    """Some conditions of a block, over predicates as all blocks number them."""
    ref = np.repeat(2 * leaf_number + 2, 2)
    ref[1::2] += 1
    step_start, which = some_spans(block.step_start, rows)
    return Steps(rows, step_start, block.step[which], ref)


def _texts_in_file(work: Work, name: str, texts_of: Callable[[Block], Texts]) -> Texts:
    """Texts of all blocks one after the other, their bytes mapped from a new file."""
    start: list[Longs] = []

    def write(file: BinaryIO) -> None:
        for at in range(work.count):
            texts = texts_of(work.block(at))
            texts.data.tofile(file)
            start.append(texts.start.copy())

    data = _mapped(work.folder / name, write)
    return Texts(joined_starts(start), data)


def _write_metadata(work: Work, file: BinaryIO) -> None:
    """One Arrow stream of all blocks' metadata, a batch at a time; nothing when there is none."""
    batches = _metadata_batches(work)
    first = next(batches, None)
    if first is None:
        return
    with pa.ipc.new_stream(file, first.schema) as stream:
        stream.write_batch(first)
        for batch in batches:
            stream.write_batch(batch)


def _metadata_batches(work: Work) -> Iterator[pa.RecordBatch]:
    for at in range(work.count):
        stream = work.block(at).metadata
        if len(stream):
            yield from pa.ipc.open_stream(pa.py_buffer(stream))


def _mapped(path: Path, write: Callable[[BinaryIO], None]) -> Bytes:
    """A new file of bytes, mapped."""
    with path.open("wb") as file:
        write(file)
    if not path.stat().st_size:
        return np.empty(0, np.uint8)
    return np.asarray(np.memmap(path, np.uint8, "c"))


def warm_up() -> None:
    """Compile the kernels of blocks before tasks need them, or load them: a small block goes all the way."""
    rows = pa.table({"id": ["1", "2"], "when": ["a = 1 and (b = 2 xor c = 3)", "contains(t, 'x') and a = 1"]})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        block = read_rows(rows).block
        block.save(folder / "block")
        work = Work(folder, ["block"])
        find_firsts(*work.keys(0))
        assemble(work)
