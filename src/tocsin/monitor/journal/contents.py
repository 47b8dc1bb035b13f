"""What a journal holds, read without changing anything: for who asks whether it is whole."""

from __future__ import annotations

import os

from tocsin.counts import number_of
from tocsin.monitor.journal.facts import EngineState
from tocsin.monitor.journal.record_log import ENGINE, RecordLog
from tocsin.monitor.journal.rows import KeptRows


def journal_contents(folder: str | os.PathLike[str]) -> str:
    """Whose journal it is and how much is in it; JournalError names the place of what is wrong.

    A torn end is nothing wrong: it is what a crash leaves of a change that nobody was promised, and goes when
    the journal is next opened. One that is open for writing is not read.
    """
    log = RecordLog(folder, None, only_read=True)
    try:
        records = log.read()
        if log.kind == ENGINE:
            facts = sum(map(len, EngineState(str(log.file), records).given.values()))
            said = f"the journal of an engine with {number_of(facts, 'fact')}"
        else:
            rows = KeptRows(str(log.file), records).rows
            said = f"the journal of a watch with {number_of(len(rows), 'row')}"
        return f"{said}, and a torn end of {number_of(log.torn, 'byte')}" if log.torn else said
    finally:
        log.close()
