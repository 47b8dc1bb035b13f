"""What a process and all that it started take: processor time and memory, as the kernel counts them.

Memory is the proportional set size: a page that several processes map counts once, shared out among them.
So a mapped index counts once, however many workers map it.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
_CHILDREN_AFTER_PARENT = 1  # places in /proc/PID/stat behind the name of the command
_USER, _SYSTEM, _USER_OF_CHILDREN, _SYSTEM_OF_CHILDREN = 11, 12, 13, 14


def family(root: int | None = None) -> list[int]:
    """A process and all that descend from it, by default this one."""
    parents = {int(each.name): _stat(each) for each in Path("/proc").iterdir() if each.name.isdigit()}
    found = [os.getpid() if root is None else root]
    for known in found:
        found += [
            number
            for number, stat in parents.items()
            if stat and int(stat[_CHILDREN_AFTER_PARENT]) == known and number not in found
        ]
    return found


def processor_seconds() -> float:
    """User and system time of this process and its family so far, those included that have ended."""
    total = 0
    for number in family():
        stat = _stat(Path("/proc", str(number)))
        places = (_USER, _SYSTEM, _USER_OF_CHILDREN, _SYSTEM_OF_CHILDREN)
        total += sum(int(stat[place]) for place in places) if stat else 0
    return total / TICKS


def memory_bytes() -> int:
    """The proportional set sizes of this process and its family, added up."""
    return sum(map(_pss, family()))


@dataclass
class Peak:
    """The most memory that was seen, and how often somebody looked."""

    bytes: int = 0
    looks: int = 0


@contextlib.contextmanager
def peak_memory(seconds_between_looks: float = 0.5) -> Iterator[Peak]:
    """Look at the memory of the family again and again until the block is done."""
    peak = Peak()
    done = threading.Event()

    def watch() -> None:
        while True:
            peak.bytes = max(peak.bytes, memory_bytes())
            peak.looks += 1
            if done.wait(seconds_between_looks):
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        done.set()
        watcher.join()


@dataclass
class Spent:
    """What a piece of work took."""

    seconds: float = 0.0
    processor: float = 0.0


@contextlib.contextmanager
def spending() -> Iterator[Spent]:
    """Clock and processor time of the family while the block runs."""
    spent = Spent()
    clock, processor = time.perf_counter(), processor_seconds()
    yield spent
    spent.seconds = time.perf_counter() - clock
    spent.processor = processor_seconds() - processor


def _stat(process: Path) -> list[str]:
    """What follows the command's name in /proc/PID/stat; nothing when the process has ended."""
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _pss(number: int) -> int:
    try:
        text = Path("/proc", str(number), "smaps_rollup").read_text()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in text.splitlines() if line.startswith("Pss:"))
