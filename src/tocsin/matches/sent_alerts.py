"""When alerts of which groups were last sent: files that are only ever added, and merged.

A group is a rule and a value of its dedup field, written as one text. Each batch of a stream leaves a file
for each task that sent something, a *run*; runs of many batches are merged into one from time to time:

    0000000012.00003.arrow           batch 12, task 3
    0000000000-0000000011.arrow      batches 0 to 11, merged

    hash       int64    sorted; equal for equal groups, and seldom for others
    group      text     once in a run
    sent       int64    the time of the last alert sent, in microseconds
    throttle   int64    how long it held others back
    written    int64    the time of the batch that sent it

A group may be in several runs. The last alert sent only ever gets later, so what holds is the greatest
`sent` of any run: nothing is lost or changed by reading a run twice, or beside one that it was merged into.
Runs are Arrow files, mapped into memory: looking up some groups reads only the pages that have them. A
large one is in several pieces, whose hashes follow one another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.arrays.dtypes import Longs
from tocsin.errors import InputError, TocsinError
from tocsin.matches.kernels.throttle_order import NEVER
from tocsin.storage import AS_USUAL, draft_of

_TIMES = dict.fromkeys(("sent", "throttle", "written"), pa.int64())
SCHEMA = pa.schema({"hash": pa.int64(), "group": pa.large_string(), **_TIMES})
NOTHING = pa.RecordBatch.from_pylist([], schema=SCHEMA)

GRACE = 86_400_000_000
"""A day in microseconds: how much longer than its throttle an alert is remembered."""

MOST_RUNS = 16
"""Batches whose runs are looked into one by one, before some of them are merged."""

MERGED_AT_ONCE = 1 << 20
"""Entries that are in memory together while runs are merged, about, and in a piece of the result."""

_NAME = re.compile(r"([0-9]{10})(?:\.[0-9]{5}|-([0-9]{10}))\.arrow")


class Stretch(NamedTuple):
    """Consecutive batches, and the runs that have all of theirs."""

    first: int
    last: int
    files: tuple[Path, ...]

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(file.stat().st_size for file in self.files)


def run_name(batch: int, part: int) -> str:
    """The name of the run that a task of a batch leaves."""
    return f"{batch:010d}.{part:05d}.arrow"


def runs_before(folder: Path, batch: int) -> list[Stretch]:
    """What the batches before this one have sent, the oldest first.

    Runs of this batch and later ones are of an attempt that is being made again, and are removed. So are
    runs that have been merged, where that was not finished.
    """
    found: dict[tuple[int, int, bool], list[Path]] = {}
    for file in sorted(folder.glob("*.arrow")):
        name = _NAME.fullmatch(file.name)
        if name is None:
            continue
        first, last = int(name[1]), int(name[2] or name[1])
        if first >= batch:
            file.unlink()
        elif last >= batch:
            raise TocsinError(f"{file}: what is known of throttles is of later batches than {batch}")
        else:
            found.setdefault((first, -last, name[2] is None), []).append(file)
    stretches: list[Stretch] = []
    for (first, minus_last, _), files in sorted(found.items()):
        if stretches and -minus_last <= stretches[-1].last:
            for file in files:
                file.unlink()
        else:
            stretches.append(Stretch(first, -minus_last, tuple(files)))
    return stretches


def write_run(folder: Path, name: str, pieces: Iterable[pa.RecordBatch]) -> None:
    """Write pieces whose hashes follow one another; the file has its name only when it is whole."""
    folder.mkdir(parents=True, exist_ok=True)
    with draft_of(folder / name, AS_USUAL) as draft, pa.ipc.new_file(str(draft), SCHEMA) as writer:
        for piece in pieces:
            writer.write_batch(piece)


def read_run(file: Path) -> list[pa.RecordBatch]:
    """The pieces of a run, mapped into memory."""
    try:
        with pa.memory_map(str(file)) as source:
            reader = pa.ipc.open_file(source)
            if reader.schema != SCHEMA:
                raise InputError(f"{file}: not a file of alerts that were sent")
            return [reader.get_batch(number) for number in range(reader.num_record_batches)]
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{file}: cannot be read: {error}") from error


def last_sent(pieces: Sequence[pa.RecordBatch], hashes: Longs, groups: pa.LargeStringArray) -> Longs:
    """When an alert of each group was last sent, by the pieces of runs; NEVER where none was."""
    last = np.full(len(hashes), NEVER)
    for piece in pieces:
        known = piece.column(0).to_numpy()
        at = np.searchsorted(known, hashes, "left")
        end = np.searchsorted(known, hashes, "right")
        rows = np.flatnonzero(at < end)
        while len(rows):
            same = pc.equal(piece.column(1).take(pa.array(at[rows])), groups.take(pa.array(rows)))
            hit = rows[same.to_numpy(zero_copy_only=False)]
            last[hit] = np.maximum(last[hit], piece.column(2).to_numpy()[at[hit]])
            at[rows] += 1  # another group may have the same hash
            rows = rows[at[rows] < end[rows]]
    return last


def merge_runs(folder: Path, stretches: Sequence[Stretch], now: int) -> list[Stretch]:
    """The same knowledge in fewer runs, when there are many; `now` is the time of the batch to come.

    What cannot hold back anything any more is left out of what is merged: its throttle and GRACE have
    passed since, both on the clock of batches and on that of alerts, which is the time of the latest one.
    """
    count = how_many_to_merge([stretch.size for stretch in stretches])
    if not count:
        return list(stretches)
    for left in folder.glob(".*.arrow.*"):
        left.unlink()
    kept, merged = list(stretches[:-count]), stretches[-count:]
    everything = [piece for stretch in stretches for file in stretch.files for piece in read_run(file)]
    clock = max((pc.max(piece.column(2)).as_py() for piece in everything if piece.num_rows), default=now)
    name = f"{merged[0].first:010d}-{merged[-1].last:010d}.arrow"
    pieces = [piece for stretch in merged for file in stretch.files for piece in read_run(file)]
    ranges = (_without_old(_latest(some), now, clock) for some in _hash_ranges(pieces))
    write_run(folder, name, (piece for piece in ranges if piece.num_rows))
    for stretch in merged:
        for file in stretch.files:
            file.unlink()
    return [*kept, Stretch(merged[0].first, merged[-1].last, (folder / name,))]


def how_many_to_merge(sizes: Sequence[int]) -> int:
    """How many of the newest runs are merged into one, given the sizes of all; 0 when none.

    An old run is merged again only when those after it have come to half its size, so that what is
    known is not written anew for a few alerts.
    """
    if len(sizes) <= MOST_RUNS:
        return 0
    count, total = MOST_RUNS // 2, sum(sizes[-(MOST_RUNS // 2) :])
    while count < len(sizes) and sizes[-count - 1] <= 2 * total:
        total += sizes[-count - 1]
        count += 1
    return count


def _hash_ranges(pieces: Sequence[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """The pieces cut at the same hashes, so that what has hashes of one range is small."""
    hashes = [piece.column(0).to_numpy() for piece in pieces]
    largest = max(hashes, key=len, default=np.zeros(0, np.int64))
    count = max(1, -(-sum(map(len, hashes)) // MERGED_AT_ONCE))
    cuts = largest[np.arange(1, count) * len(largest) // count]
    places = [[0, *np.searchsorted(some, cuts, "left").tolist(), len(some)] for some in hashes]
    for number in range(count):
        yield [
            piece.slice(at[number], at[number + 1] - at[number])
            for piece, at in zip(pieces, places, strict=True)
        ]


def _latest(pieces: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """The latest entry of each group, sorted by hash."""
    rows = pa.concat_batches([NOTHING, *pieces])
    codes = rows.column(1).dictionary_encode().indices.to_numpy()
    order = np.lexsort((rows.column(2).to_numpy(), codes, rows.column(0).to_numpy()))
    is_last = np.append(codes[order][1:] != codes[order][:-1], np.ones(min(1, len(order)), np.bool_))
    return rows.take(pa.array(order[is_last]))


def _without_old(entries: pa.RecordBatch, now: int, clock: int) -> pa.RecordBatch:
    held = entries.column(3).to_numpy() + GRACE
    old = (now - entries.column(4).to_numpy() >= held) & (clock - entries.column(2).to_numpy() >= held)
    return entries.filter(pa.array(~old)) if old.any() else entries
