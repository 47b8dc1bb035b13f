"""What a stream writes down, so that a batch that is done again is done the same way.

    CHECKPOINT/
      lock                      held by the process that runs the stream
      stream.json               what this stream is: a random id, source, sinks, key, time, kept fields
      spark/                    Spark's own: which offsets a batch has, and which batches are done
      batches/00000012.json     the version of the rules and the time of batch 12, written before it begins
      rules/                    the versions of the rules, see rule_history.py
      words/                    the versions of the dictionaries of a stream that learns, see word_history.py
      refused.jsonl             rules that were refused
      rejects/                  records that were no events, unless they are to go elsewhere
      source/  throttle/        what the source and the throttles keep

Every file is written beside its place and then moved there, so that a crash leaves it whole or not there.
It is on the disk before anything goes on that relies on it, so that this holds when the machine crashes too.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import re
import shutil
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from tocsin.errors import InputError, UsageError
from tocsin.storage import PRIVATE_FOLDER, draft_of, sync_file, sync_folder

FORMAT = 1
KEPT_BATCHES = 1_000
"""Records of batches that are kept; Spark can ask again only for the last."""

_NOTE = re.compile(r"([0-9]+)(?:\.compact)?")


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """What was decided about a batch: the version of its rules, and its time in microseconds since 1970.

    dictionary   the version of the dictionaries, of a stream that learns
    """

    batch: int
    version: int
    time: int
    dictionary: int | None = None


class Checkpoint:
    """The folder of one stream, which one process may use at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self.spark = self.folder / "spark"
        """Spark's own folder."""
        self.rules = self.folder / "rules"
        """Where versions of the rules are."""
        self.words = self.folder / "words"
        """Where versions of dictionaries are."""
        self._lock: IO[bytes] | None = None
        self._synced: dict[Path, set[Path]] = {}

    def open(self, identity: Mapping[str, Any]) -> str:
        """Begin or go on; the stream's id. UsageError when the checkpoint is another stream's.

        `identity` is what the stream is; a stream that goes on must be the same, once a batch was decided.
        """
        try:
            self.folder.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
            for part in ("spark", "batches", "rules", "source", "throttle"):
                (self.folder / part).mkdir(parents=True, exist_ok=True)
            self._take_lock()
        except OSError as error:
            raise InputError(f"{self.folder}: cannot be written to: {error.strerror}") from error
        try:
            stream = self._identified(identity)
            self._clear_empty_notes()
            return stream
        except BaseException:
            self.close()
            raise

    def _identified(self, identity: Mapping[str, Any]) -> str:
        """The stream's id, with what the stream is written down."""
        path = self.folder / "stream.json"
        known = read_json(path)
        if known is not None and known.get("format") != FORMAT:
            raise InputError(f"{path}: written by another release, whose checkpoints cannot be read here")
        stream = uuid.uuid4().hex if known is None else str(known["stream"])
        wanted = json.loads(json.dumps(identity))
        differing = [name for name, value in wanted.items() if (known or {}).get(name) != value]
        if known is not None and differing:
            self._check_may_change(known, wanted, differing)
        if known is None or differing:
            write_json(path, {"format": FORMAT, "stream": stream, **identity})
        return stream

    def _clear_empty_notes(self) -> None:
        """Take away the notes of Spark's that a crash of the machine has left empty: Spark would not start.

        They are of a batch that was not begun (`_sync_plans`): its offsets go too, and Spark makes it anew. A
        batch that is not noted as done is done again.
        """
        last = self.last_record()
        first_new = 0 if last is None else last.batch + 1
        new = [note for folder in self._planning() for note in _notes(folder, first_new)]
        empty = [note for note in new if not note.stat().st_size]
        offsets = [note for note in new if empty and note.parent.name == "offsets"]
        undone = [note for note in _notes(self.spark / "commits") if not note.stat().st_size]
        for note in {*empty, *offsets, *undone}:
            note.unlink()
            note.with_name(f".{note.name}.crc").unlink(missing_ok=True)

    def _planning(self) -> list[Path]:
        """The folders where Spark notes which events a batch has."""
        return [self.spark / "offsets", *self.spark.glob("sources/*")]

    def _check_may_change(
        self, known: Mapping[str, Any], wanted: Mapping[str, Any], differing: Sequence[str]
    ) -> None:
        """A stream that was started in vain, before any batch was decided, may still become another one.

        What Spark noted of another source is cleared away. What a source itself keeps stands for something
        outside, such as a slot of a server, and so cannot be.
        """
        has_new_source = "source" in differing
        if self.last_record() is not None or (has_new_source and any((self.folder / "source").iterdir())):
            name = differing[0]
            raise UsageError(
                f"{self.folder} is the checkpoint of a stream with another {name}:"
                f" {_shown(known.get(name))}, not {_shown(wanted[name])};"
                " to begin anew, give another checkpoint"
            )
        if has_new_source:
            shutil.rmtree(self.spark)
            self.spark.mkdir()

    def close(self) -> None:
        """Let others use it."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _take_lock(self) -> None:
        lock = (self.folder / "lock").open("wb")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            raise UsageError(f"{self.folder}: a stream is running on this checkpoint already") from None
        except OSError:
            pass  # a file system that knows no locks
        self._lock = lock

    # ---- Batches

    def record(self, batch: int) -> BatchRecord | None:
        """What was decided about a batch before; None when it is new."""
        known = read_json(self._batch_path(batch))
        return None if known is None else BatchRecord(**known)

    def decide(self, record: BatchRecord) -> None:
        """Write down what was decided about a new batch, before anything is done with it."""
        self._sync_plans()
        write_json(self._batch_path(record.batch), asdict(record))
        self._batch_path(record.batch - KEPT_BATCHES).unlink(missing_ok=True)

    def _sync_plans(self) -> None:
        """See to it that Spark's notes of which events a batch has outlive a crash of the machine.

        Spark leaves that to the system. If its note of a batch were lost and what is done here were not, the
        next events would come as a batch of the same number, and be taken for done.
        """
        if not self._synced:
            with contextlib.suppress(FileNotFoundError):
                sync_file(self.spark / "metadata")
            sync_folder(self.spark)
            sync_folder(self.spark / "sources")
        for folder in self._planning():
            found = set(_notes(folder))
            new = found - self._synced.get(folder, set())
            for note in new:
                with contextlib.suppress(FileNotFoundError):  # Spark takes away what is old
                    sync_file(note)
            if new:
                sync_folder(folder)
            self._synced[folder] = found

    def last_record(self) -> BatchRecord | None:
        """What was decided about the newest batch."""
        numbers = [int(path.stem) for path in (self.folder / "batches").glob("[0-9]*.json")]
        return self.record(max(numbers)) if numbers else None

    def is_done(self, batch: int) -> bool:
        """Whether Spark has noted that a batch is done for good."""
        return (self.spark / "commits" / str(batch)).exists()

    def _batch_path(self, batch: int) -> Path:
        return self.folder / "batches" / f"{batch:08d}.json"


def _notes(folder: Path, first: int = 0) -> list[Path]:
    """Spark's notes in a folder, which are named by their numbers: those from the first on."""
    found = [(file, _NOTE.fullmatch(file.name)) for file in folder.iterdir()] if folder.is_dir() else []
    return [file for file, name in found if name is not None and int(name[1]) >= first]


def read_json(path: Path) -> dict[str, Any] | None:
    """What a file holds; None when there is none. InputError when it is damaged."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        found: dict[str, Any] = json.loads(text)
    except ValueError as error:
        raise InputError(f"{path}: is damaged: {error}") from error
    return found


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a file, whole or not at all, so that it outlives a crash of the machine."""
    write_whole(path, json.dumps(value, ensure_ascii=False).encode())


def write_whole(path: Path, data: bytes) -> None:
    """The same of any bytes. InputError when it cannot be written."""
    try:
        with draft_of(path) as draft:
            draft.write_bytes(data)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error


def _shown(value: object) -> str:
    return "none" if value is None else json.dumps(value, ensure_ascii=False)
