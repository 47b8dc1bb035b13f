"""A version of the rules, as workers open it: a saved index in the checkpoint, and perhaps changes to it.

A change of a few rules among many is not worth an index of its own. Such a version names the index of an
earlier one, its *base*, and a file with the operations that lead from there to here:

    rules/00000003-9f2c.tocsin       version 3: an index
    rules/00000004-77ab.changes      version 4: that index, and JSON lines ["replace", "r7", "age > 21"]
    rules/00000005-c3d1.shards/      version 5: an index in shards, to which changes are never made
    rules/00000005-51b0.triggers     its triggers that no index takes: JSON lines
                                     {"name": ..., "when": ..., "tables": [...], ...}
    rules/.00000006.draft            what is being copied; of no account

Indexes are copied there and not linked: a stream maps them, and a file that someone writes into would change
under it. All names hold a digest of the content, so what a process has opened under a name stays right.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tocsin.arrays.array_file import index_digest
from tocsin.conditions.graph import is_sharded, read_shards, write_shard_list
from tocsin.conditions.live import Index
from tocsin.errors import IndexFileError, InputError, TocsinError
from tocsin.rules import After, Rules, Table, Trigger, metadata_of_rows
from tocsin.saved import open_rules
from tocsin.storage import sync_file, sync_folder

KEPT_OPEN = 4
"""Versions that a process holds open: that of this batch, and some before it."""
WHOLE, IN_SHARDS = ".tocsin", ".shards"


@dataclass(frozen=True, slots=True)
class RuleVersion:
    """Which rules a batch is matched with. Small, and made to be pickled.

    number    counts up from 1
    base      the path of a saved index, whole or in shards
    changes   the path of the operations that lead from there to this version; None when there are none
    named     the top-level fields that alerts' texts and dedup fields look at
    triggers  the path of the triggers that no index takes; None when there are none
    texts     the fields that free text asks, which a stream that learns counts the words of
    """

    number: int
    base: str
    changes: str | None = None
    named: tuple[str, ...] = ()
    triggers: str | None = None
    texts: tuple[tuple[str, ...], ...] = ()

    def open(self) -> Index:
        """The rules, in a worker or in the driver; opened once, and not to be changed by anybody."""
        return _opened(self.base, self.changes)


@lru_cache(maxsize=KEPT_OPEN)
def _opened(base: str, changes: str | None) -> Index:
    if not Path(base).exists():
        raise TocsinError(f"the rules are not to be seen from this machine: there is no {base}")
    index = open_rules(base, verify=False)
    if changes is not None:
        with Path(changes).open(encoding="utf-8") as lines:
            index.apply([json.loads(line) for line in lines])
    return index


# ---- Saved indexes in the folder of rules: whole or not there


def draft_path(folder: Path, number: int) -> Path:
    """Where a version is written before it has its name; what a crash has left there is taken away."""
    draft = folder / f".{number:08d}.draft"
    remove(draft)
    return draft


def copy_saved(saved: Path, folder: Path, number: int) -> str:
    """Copy a saved index, whole or in shards, and verify the copy; its name in the folder.

    IndexFileError when it is damaged, InputError when it cannot be copied. Either may be raised when it is
    written anew meanwhile.
    """
    draft = draft_path(folder, number)
    try:
        if is_sharded(saved):
            _copy_shards(saved, draft)
        else:
            _copy_file(saved, draft)
    except OSError as error:
        remove(draft)
        raise InputError(f"{saved}: cannot be copied: {error.strerror}") from error
    try:
        open_rules(draft)
    except IndexFileError:
        remove(draft)
        open_rules(saved)  # says the same of the file by the name that the user knows
        raise IndexFileError(f"{saved} was changed while it was being read") from None
    return settle(draft, number)


def settle(draft: Path, number: int) -> str:
    """Give what is written its name, in one step."""
    if is_sharded(draft):
        digests = [shard.digest for shard in read_shards(draft)]
        name = f"{number:08d}-{blake2b(' '.join(digests).encode(), digest_size=16).hexdigest()}{IN_SHARDS}"
        remove(draft.with_name(name))  # left by a stream that ended before it took the version up
    else:
        name = f"{number:08d}-{index_digest(draft)}{WHOLE}"
    draft.replace(draft.with_name(name))
    sync_folder(draft.parent)
    return name


def remove(path: Path) -> None:
    """Take away a file or a folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _copy_shards(saved: Path, draft: Path) -> None:
    shards = read_shards(saved)
    draft.mkdir()
    for shard in shards:
        _copy_file(saved / shard.file, draft / shard.file)
    write_shard_list(draft, shards)
    sync_folder(draft)


def _copy_file(source: Path, target: Path) -> None:
    """Copy a file onto the disk: workers open it without reading it through."""
    shutil.copyfile(source, target)
    sync_file(target)


# ---- Triggers that no index takes: only a source of changes can do anything with them


def set_aside(rules: Rules, takes: Callable[[Trigger], bool]) -> tuple[Rules, list[Trigger]]:
    """The rules for an index, and the triggers that are not for one, of those that a source takes."""
    aside = [row for row, trigger in sorted(rules.triggers.items()) if trigger.refusal and takes(trigger)]
    if not aside:
        return rules, []
    others = np.delete(np.arange(len(rules)), aside)
    return rules.take(others), [rules.triggers[row] for row in aside]


def triggers_text(triggers: Sequence[Trigger]) -> str:
    """What `read_triggers` reads."""
    return "".join(json.dumps(asdict(trigger), ensure_ascii=False) + "\n" for trigger in triggers)


def read_triggers(path: str | None) -> list[Trigger]:
    """The triggers of a file; none when there is no file."""
    if path is None:
        return []
    with Path(path).open(encoding="utf-8") as lines:
        return [_trigger(json.loads(line)) for line in lines]


def rules_of(triggers: Sequence[Trigger]) -> Rules:
    """Triggers as rules that can be watched."""
    return Rules(
        pa.array([trigger.name for trigger in triggers], pa.large_string()),
        pa.array([trigger.when for trigger in triggers], pa.large_string()),
        lines=np.array([trigger.line for trigger in triggers], np.int64),
        triggers=dict(enumerate(triggers)),
        metadata=metadata_of_rows([trigger.metadata() for trigger in triggers]),
    )


def _trigger(members: dict[str, Any]) -> Trigger:
    after = members["after"]
    return Trigger(
        **{
            **members,
            "tables": tuple(Table(**table) for table in members["tables"]),
            "after": after
            and After(tuple(after["kinds"]), after["alias"], tuple(map(tuple, after["fields"]))),
        }
    )
