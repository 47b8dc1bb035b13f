"""`tocsin verify`: whether what was saved can be opened, and if not, what is wrong with it."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path

from tocsin.cli.console import complain_of
from tocsin.cli.output import add_format_argument, painted, print_json
from tocsin.errors import TocsinError
from tocsin.printable import printable
from tocsin.storage import files_at, shown

SUMMARY = "find out whether saved files are whole and sound"
DESCRIPTION = """\
Reads saved files through and says of each what it holds, or what is wrong with it: its checksum, and every
offset, reference and count in it. Takes indexes, whole or in shards, saved engines of Datalog programs,
dictionaries, folders of statistics, and journals. Nothing is changed. Exit code 0 when all are sound,
else 1."""
EXAMPLES = """\
examples:
  tocsin verify rules.tocsin
  tocsin verify indexes/*.tocsin history/ words.parquet
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("saved", nargs="+", metavar="FILE_OR_FOLDER", help="what was saved")
    add_format_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Look at each of them."""
    found: list[dict[str, object]] = []
    is_text = arguments.format == "text"
    for name in (each for path in arguments.saved for each in files_at(path)):
        try:
            holds = _what_it_is(Path(name))
        except TocsinError as error:
            found.append({"path": shown(name), "ok": False, "error": shown(str(error))})
            if is_text:
                complain_of(error)
            continue
        found.append({"path": shown(name), "ok": True, "holds": holds})
        if is_text:
            print(f"{printable(shown(name))}: {painted('OK', 'good')}: {holds}", flush=True)
    if not is_text:
        print_json(found)
    return 0 if all(each["ok"] for each in found) else 1


def _what_it_is(path: Path) -> str:
    from tocsin.history.statistics import NAME as CONTENTS
    from tocsin.printable import number_of
    from tocsin.saved import open_saved
    from tocsin.storage import holds_journal

    if (path / CONTENTS).is_file():
        from tocsin.history.statistics import History

        history = History.open(path)
        for field in history.fields:
            history.field(field)
        for field in history.text_fields:
            history.sketches(field)
        return f"statistics of {number_of(history.rows, 'event')}"
    if holds_journal(path):
        return _journal_contents(path)
    if _begins_as_parquet(path):
        from tocsin.text import Dictionary

        return f"a dictionary of {number_of(len(Dictionary.open(path)), 'word')}"
    opened = open_saved(path)
    if hasattr(opened, "program"):
        return f"an engine of {number_of(len(list(opened)), 'relation')}"
    suited = "" if opened.engine == type(opened).engine else f" for the engine {opened.engine}"
    return f"an index of {number_of(len(opened), 'rule')}{suited}"


def _begins_as_parquet(path: Path) -> bool:
    with contextlib.suppress(OSError), path.open("rb") as file:
        return file.read(4) == b"PAR1"
    return False


def _journal_contents(folder: Path) -> str:
    """Whose journal it is and how much is in it; JournalError names the place of what is wrong.

    A torn end is nothing wrong: it is what a crash leaves of a change that nobody was promised, and goes when
    the journal is next opened. One that is open for writing is not read.
    """
    from tocsin.datalog.engine import JournalState
    from tocsin.printable import number_of
    from tocsin.storage import ENGINE, RecordLog
    from tocsin.watches import KeptRows

    log = RecordLog(folder, None, only_read=True)
    try:
        records = log.read()
        if log.kind == ENGINE:
            facts = sum(map(len, JournalState(str(log.file), records).given.values()))
            said = f"the journal of an engine with {number_of(facts, 'fact')}"
        else:
            rows = KeptRows(str(log.file), records).rows
            said = f"the journal of a watch with {number_of(len(rows), 'row')}"
        return f"{said}, and a torn end of {number_of(log.torn, 'byte')}" if log.torn else said
    finally:
        log.close()
