"""A stream in a process, to be killed: `python -m tests.spark.stream.killed_stream FOLDER [once]`.

It takes events from FOLDER/events and rules from FOLDER/rules.jsonl, and says `batch N` for each batch.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tests.spark.conftest import QUICK_START

import tocsin.spark as ts
from tocsin.errors import TocsinError
from tocsin.spark.stream.micro_batch import BatchReport


class Spoken:
    """A listener that says on standard output what happens."""

    def batch(self, report: BatchReport) -> None:
        print(f"batch {report.batch}", flush=True)

    def refused(self, errors: Sequence[TocsinError]) -> None:
        print("refused", *errors, flush=True)

    def warn(self, text: str) -> None:
        print("warning", text, flush=True)


def main(folder: Path, once: bool) -> None:
    session = ts.session("local[2,4]", config=QUICK_START)
    running = ts.stream(
        f"{folder / 'events'}?files=2",
        folder / "rules.jsonl",
        [str(folder / "alerts"), f"jsonl:{folder / 'lines'}"],
        once=once,
        session=session,
        listener=Spoken(),
    )
    running.wait()


if __name__ == "__main__":
    main(Path(sys.argv[1]), "once" in sys.argv)
