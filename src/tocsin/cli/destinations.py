"""Where results go: checked before the work starts, not after it; and the file of what was left out.

A file of rejects has JSON lines that say where each record stood and why it was left out:

    {"file": "rules.csv", "rule": "r7", "line": 8, "column": 5, "reason": "...", "text": "age >> 3"}
    {"file": "events.jsonl", "line": 42, "event": 41, "reason": "...", "text": "{\\"age\\": "}
"""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tocsin.errors import InputError, RuleError, UsageError
from tocsin.storage import shown

if TYPE_CHECKING:
    from tocsin.matches import ResultPlace


STANDARD = "-"
"""In the place of a file: standard input or output."""


def check_new_folder(path: Path) -> None:
    """Refuse a folder that holds something, or cannot be made."""
    if path.exists() and not path.is_dir():
        raise InputError(f"{path}: cannot be written: it is a file, and a folder is asked for")
    if path.is_dir() and any(path.iterdir()):
        raise InputError(f"{path}: cannot be written: the folder is not empty")
    if not path.parent.is_dir():
        raise InputError(f"{path}: cannot be written: there is no folder {path.parent}")


def check_destinations(paths: Iterable[str | Path], inputs: Sequence[str | Path]) -> None:
    """Refuse files that cannot be written, or that are among the files to be read."""
    for path in paths:
        if str(path) == STANDARD:
            raise UsageError("- is standard output, which gets the result alone: name a file for this")
        target = Path(path)
        if target.is_dir():
            raise InputError(f"{path}: cannot be written: it is a folder")
        if not target.parent.is_dir():
            raise InputError(f"{path}: cannot be written: there is no folder {target.parent}")
        if target.exists() and any(Path(each).exists() and target.samefile(each) for each in inputs):
            raise UsageError(f"{path} cannot be written: it is one of the files to be read")


def check_outside(path: Path, events: str | Path) -> None:
    """Refuse a folder in the folder that events are read from: the next run would take it for events."""
    if str(path) == STANDARD:
        raise UsageError("- is standard output, and this goes to a folder: name one")
    whole = Path(events).resolve()
    if whole.is_dir() and path.resolve().is_relative_to(whole):
        raise UsageError(f"{path} cannot be written: it is in {events}, where events are read from")


def publish(draft: Path, place: ResultPlace | None) -> None:
    """Put a result that is whole in its place; without one it goes to standard output."""
    from tocsin.storage import sync_file, sync_folder

    if place is None:
        with draft.open("rb") as result:
            shutil.copyfileobj(result, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    elif not place.is_folder:
        sync_file(draft)
        draft.replace(place.path)
        sync_folder(place.path.parent)
    else:
        target = place.path.resolve()  # what a link leads to is replaced, not the link
        try:
            if target.exists():
                shutil.copymode(target, draft)
            draft.replace(target)
            sync_folder(target.parent)
        except OSError as error:
            raise InputError(f"{place.path}: cannot be written: {error.strerror}") from error


@contextlib.contextmanager
def workspace(output: str | None) -> Iterator[str]:
    """A folder for parts and the unfinished result: beside the output, so that a move is enough."""
    place = None if output is None else Path(output).resolve().parent
    try:
        made = tempfile.TemporaryDirectory(dir=place, prefix=".tocsin-", ignore_cleanup_errors=True)
    except OSError as error:
        raise InputError(f"{output}: cannot be written: {error.strerror or error}") from error
    with made as folder:
        yield str(Path(folder).resolve())


WITHOUT_OUTPUT = "tocsin-rejects.jsonl"


def rule_line(error: RuleError, text: str) -> str:
    """A rule that was left out."""
    members = {
        "file": None if error.file is None else shown(error.file),
        "rule": error.rule,
        "line": error.line,
        "column": error.column,
        "reason": shown(error.reason),
        "text": text,
    }
    return json.dumps(members, ensure_ascii=False) + "\n"


def rejects_file(asked: str | None, output: str | None, skip_bad: bool) -> Path:
    """Where rejects go: where the user says, else beside the output."""
    if asked is not None and not skip_bad:
        raise UsageError("--rejects needs --skip-bad, as it is for what that leaves out")
    if asked is not None:
        if output is not None and Path(asked).absolute() == Path(output).absolute():
            raise UsageError("--rejects and --out name the same file")
        return Path(asked)
    return Path(WITHOUT_OUTPUT) if output is None else Path(output).with_suffix(".rejects.jsonl")


def write_rejects(path: Path, lines: Iterable[str]) -> None:
    """Write the lines, whole or not at all."""
    from tocsin.storage import AS_USUAL, draft_of

    with draft_of(path, AS_USUAL) as draft, draft.open("wb") as stream:
        for line in lines:
            stream.write(line.encode("utf-8", "backslashreplace"))
