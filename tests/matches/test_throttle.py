from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin.errors import InputError, TocsinError
from tocsin.matches import (
    Alerts,
    Throttling,
    merge_runs,
    read_run,
    run_name,
    runs_before,
    sent_alerts,
    write_run,
)
from tocsin.matches.sent_alerts import GRACE, MOST_RUNS, SCHEMA, how_many_to_merge, last_sent


class Case(NamedTuple):
    """An alert with a throttle; `order` is its place in the source."""

    group: str
    time: int
    throttle: int
    order: int


def obvious(batches: Iterable[Sequence[Case]]) -> list[set[int]]:
    """The places of the alerts that are sent, batch by batch."""
    last: dict[str, int] = {}
    answer = []
    for batch in batches:
        sent = set()
        for case in sorted(batch, key=lambda case: (case.time, case.order)):
            if case.group not in last or case.time - last[case.group] >= case.throttle:
                last[case.group] = case.time
                sent.add(case.order)
        answer.append(sent)
    return answer


def hash_of(group: str) -> int:
    """One that different groups often share."""
    return len(group) % 3 - 1


def run_task(folder: Path, batch: int, part: int, cases: Sequence[Case], portion: int, now: int) -> set[int]:
    """What a task of a stream does with the alerts that are its own."""
    ordered = sorted(cases, key=lambda case: (hash_of(case.group), case.group, case.time, case.order))
    before = [
        piece
        for stretch in runs_before_without_removing(folder, batch)
        for file in stretch.files
        for piece in read_run(file)
    ]
    throttling = Throttling(before, now)
    sent: set[int] = set()
    for at in range(0, len(ordered), portion):
        some = ordered[at : at + portion]
        mask = throttling.decide(
            Alerts(
                np.array([hash_of(case.group) for case in some], np.int64),
                pa.array([case.group for case in some], pa.large_string()),
                np.array([case.time for case in some], np.int64),
                np.array([case.throttle for case in some], np.int64),
            )
        )
        sent |= {case.order for case, was_sent in zip(some, mask.tolist(), strict=True) if was_sent}
    entries = throttling.entries()
    if entries.num_rows:
        write_run(folder, run_name(batch, part), [entries])
    return sent


def runs_before_without_removing(folder: Path, batch: int) -> list[sent_alerts.Stretch]:
    files = {file.name: file.read_bytes() for file in folder.glob("*")}
    found = runs_before(folder, batch)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return found


@st.composite
def streams(draw: st.DrawFn) -> list[list[Case]]:
    groups = ["\0a", '"x"\0a', '"y"\0a', "1\0bb", "2\0bb", "null\0c"]
    lengths = draw(st.lists(st.sampled_from([1, 5, 20]), min_size=1, max_size=3))
    batches = []
    order = itertools.count()
    for number in range(draw(st.integers(1, 8))):
        length = lengths[number % len(lengths)]  # a rule's throttle may change with its version
        found = draw(st.lists(st.tuples(st.sampled_from(groups), st.integers(0, 60)), max_size=25))
        batches.append([Case(group, time, length, next(order)) for group, time in found])
    return batches


@settings(max_examples=150, deadline=None)
@given(streams(), st.data())
def test_any_batches_on_any_tasks_with_crashes(batches: list[list[Case]], data: st.DataObject) -> None:
    expected = obvious(batches)
    most_runs, sent_alerts.MOST_RUNS = sent_alerts.MOST_RUNS, data.draw(st.sampled_from([2, 3, 16]))
    at_once, sent_alerts.MERGED_AT_ONCE = (
        sent_alerts.MERGED_AT_ONCE,
        data.draw(st.sampled_from([1, 3, 1 << 20])),
    )
    try:
        with TemporaryDirectory() as name:
            folder = Path(name)
            for batch, cases in enumerate(batches):
                for attempt in range(data.draw(st.integers(1, 3), label="attempts")):
                    merge_runs(folder, runs_before(folder, batch), now=batch)
                    tasks = data.draw(st.integers(1, 3), label="tasks")
                    sent: set[int] = set()
                    for task in range(tasks):
                        own = [case for case in cases if hash_of(case.group) % tasks == task]
                        portion = data.draw(st.integers(1, 30), label="portion")
                        sent |= run_task(folder, batch, task, own, portion, now=batch)
                        if attempt == 0 and data.draw(st.booleans(), label="killed"):
                            break
                    else:
                        assert sent == expected[batch]
                if sent != expected[batch]:
                    merge_runs(folder, runs_before(folder, batch), now=batch)
                    assert run_task(folder, batch, 0, cases, 10, now=batch) == expected[batch]
    finally:
        sent_alerts.MOST_RUNS, sent_alerts.MERGED_AT_ONCE = most_runs, at_once


def entries(groups: dict[str, tuple[int, int, int]]) -> pa.RecordBatch:
    rows: list[dict[str, Any]] = [
        {"hash": hash_of(group), "group": group, "sent": sent, "throttle": throttle, "written": written}
        for group, (sent, throttle, written) in groups.items()
    ]
    return pa.RecordBatch.from_pylist(sorted(rows, key=lambda row: row["hash"]), schema=SCHEMA)


def known(folder: Path, batch: int) -> dict[str, int]:
    """The last alert sent of every group, by looking into the files."""
    found: dict[str, int] = {}
    for stretch in runs_before(folder, batch):
        for file in stretch.files:
            for piece in read_run(file):
                for row in piece.to_pylist():
                    found[row["group"]] = max(row["sent"], found.get(row["group"], row["sent"]))
    return found


def test_a_merge_that_was_not_finished(tmp_path: Path) -> None:
    for batch in range(4):
        write_run(tmp_path, run_name(batch, 0), [entries({"a": (batch, 1, 0), f"b{batch}": (batch, 1, 0)})])
    expected = known(tmp_path, 4)
    write_run(tmp_path, "0000000001-0000000003.arrow", [entries({g: (s, 1, 0) for g, s in expected.items()})])
    assert known(tmp_path, 4) == expected
    left = sorted(file.name for file in tmp_path.iterdir())
    assert left == ["0000000000.00000.arrow", "0000000001-0000000003.arrow"]


def test_a_batch_that_is_done_again_does_not_see_itself(tmp_path: Path) -> None:
    write_run(tmp_path, run_name(6, 0), [entries({"a": (1, 1, 0)})])
    write_run(tmp_path, run_name(7, 0), [entries({"a": (5, 1, 0)})])
    assert known(tmp_path, 7) == {"a": 1}
    assert [file.name for file in tmp_path.iterdir()] == [run_name(6, 0)]


def test_a_folder_of_another_time_is_refused(tmp_path: Path) -> None:
    write_run(tmp_path, "0000000003-0000000009.arrow", [entries({"a": (1, 1, 0)})])
    with pytest.raises(TocsinError, match="later batches than 7"):
        runs_before(tmp_path, 7)


def test_a_damaged_run_is_refused(tmp_path: Path) -> None:
    file = tmp_path / run_name(0, 0)
    file.write_bytes(b"ARROW1 and nothing")
    with pytest.raises(InputError, match="cannot be read"):
        read_run(file)
    with pa.OSFile(str(file), "wb") as out, pa.ipc.new_file(out, pa.schema([("x", pa.int64())])):
        pass
    with pytest.raises(InputError, match="not a file of alerts"):
        read_run(file)


def test_what_is_long_past_is_forgotten(tmp_path: Path) -> None:
    """On both clocks: that of batches, and that of alerts."""
    for batch in range(MOST_RUNS):
        write_run(tmp_path, run_name(batch, 0), [entries({f"filler{batch}": (3 * GRACE, 1, 3 * GRACE)})])
    last = MOST_RUNS
    groups = {
        "past": (0, 5, 0),
        "long throttle": (0, 4 * GRACE, 0),
        "written lately": (0, 5, 3 * GRACE),
        "sent lately": (3 * GRACE, 5, 0),
        "edge": (2 * GRACE - 5, 5, 0),
        "within": (2 * GRACE - 4, 5, 0),
    }
    write_run(tmp_path, run_name(last, 0), [entries(groups)])
    merge_runs(tmp_path, runs_before(tmp_path, last + 1), now=3 * GRACE)
    left = {group for group in known(tmp_path, last + 1) if not group.startswith("filler")}
    assert left == {"long throttle", "written lately", "sent lately", "within"}
    assert len(list(tmp_path.iterdir())) == 1


def test_few_alerts_do_not_rewrite_what_is_known() -> None:
    sizes: list[int] = [10_000_000]
    written = 0
    for _ in range(2000):
        sizes.append(1000)
        count = how_many_to_merge(sizes)
        if count:
            written += sum(sizes[-count:])
            sizes[-count:] = [sum(sizes[-count:])]
        assert len(sizes) <= MOST_RUNS
    assert sizes[0] == 10_000_000
    assert written < 2000 * 1000 * 12


def test_a_group_is_found_by_its_text() -> None:
    pieces = [entries({"a": (1, 1, 0), "b": (2, 1, 0), "cc": (3, 1, 0)}), entries({"d": (9, 1, 0)})]
    groups = ["b", "a", "d", "e", "cc", "ee"]
    hashes = np.array([hash_of(group) for group in groups], np.int64)
    found = last_sent(pieces, hashes, pa.array(groups, pa.large_string()))
    never = np.iinfo(np.int64).min
    assert found.tolist() == [2, 1, 9, never, 3, never]
