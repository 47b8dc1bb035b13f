"""The file of rejects: what was left out, as JSON lines that say where it stood and why.

{"file": "rules.csv", "rule": "r7", "line": 8, "column": 5, "reason": "...", "text": "age >> 3"}
{"file": "events.jsonl", "event": 41, "reason": "...", "text": "{\\"age\\": "}
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

from tocsin.errors import RuleError, UsageError

WITHOUT_OUTPUT = "tocsin-rejects.jsonl"


def rule_line(error: RuleError, text: str) -> str:
    """A rule that was left out."""
    members = {
        "file": error.file,
        "rule": error.rule,
        "line": error.line,
        "column": error.column,
        "reason": error.reason,
        "text": text,
    }
    return json.dumps(members, ensure_ascii=False) + "\n"


def rejects_file(asked: str | None, output: str | None, skip_bad: bool) -> Path:
    """Where rejects go: where the user says, else beside the output."""
    if asked is not None and not skip_bad:
        raise UsageError("--rejects is for what --skip-bad leaves out: give both")
    if asked is not None:
        if output is not None and Path(asked).absolute() == Path(output).absolute():
            raise UsageError("--rejects and --out name the same file")
        return Path(asked)
    return Path(WITHOUT_OUTPUT) if output is None else Path(output).with_suffix(".rejects.jsonl")


def write_rejects(path: Path, lines: Iterable[str], files: Iterable[Path] = ()) -> None:
    """Write the lines, and those of the files, whole or not at all."""
    from tocsin.storage.drafts import AS_USUAL, draft_of

    with draft_of(path, AS_USUAL) as draft, draft.open("wb") as stream:
        for line in lines:
            stream.write(line.encode("utf-8", "backslashreplace"))
        for file in files:
            with file.open("rb") as rejected:
                shutil.copyfileobj(rejected, stream)
