"""The rules of a stream as they change: looked at before each new batch, numbered, kept in the checkpoint.

    rules/00000003-9f2c....tocsin    the index of version 3, a folder when it is in shards
    rules/00000003.json              what is known of it
    rules/00000004-77ab....changes   version 4 is that of 3 and a few changes
    rules/00000004.json

A look costs a stat of each file. Only when one of them differs the rules are read; when they cannot be taken
they are refused, once, with all their errors, and the version before goes on.

A version of a few changes among many rules is saved as these changes (see rule_version.py): compiling
everything anew would hold up the stream.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b, file_digest
from pathlib import Path

from tocsin.conditions.graph import is_sharded, list_of_shards
from tocsin.conditions.live import Preparation
from tocsin.errors import IndexFileError, InputError, RuleError, TocsinError, UsageError, each_error
from tocsin.rules import THROTTLE, Rules, Trigger, read_rules
from tocsin.rules.rule_files import rule_files
from tocsin.saved import is_saved
from tocsin.spark.stream import rule_version
from tocsin.spark.stream.checkpoint import read_json, write_json, write_whole
from tocsin.spark.stream.rule_actions import RuleActions
from tocsin.spark.stream.rule_changes import Operation, built_of, difference, operations
from tocsin.spark.stream.rule_version import RuleVersion

KEPT_VERSIONS = 1_000
"""Versions of which it is still known what they were."""
KEPT_INDEXES = 3
"""Versions whose rules are kept: that of the batch that may have to be done again is one of the last two."""
MOST_CHANGES = 1_000
FEWEST_RULES = 5_000
"""With fewer rules than this a version is always an index of its own."""

_OF_VERSIONS = (rule_version.WHOLE, rule_version.IN_SHARDS, ".changes", ".triggers")

Stamp = tuple[tuple[str, int, int, int], ...]


@dataclass(frozen=True, slots=True)
class VersionRecord:
    """What is known of a version.

    digest    of the files that it was read from (RuleFiles.digest)
    base      its index in the folder of rules, a file or a folder of shards; perhaps an earlier version's
    changes   the file of the operations that lead from there to it
    named     see RuleVersion
    rules     how many there are
    taken     when it was taken up
    triggers  the file of its triggers that no index takes
    texts     the fields that free text asks
    """

    version: int
    digest: str
    base: str
    changes: str | None
    named: list[str]
    throttles: bool
    rules: int
    taken: str
    triggers: str | None = None
    texts: list[list[str]] = field(default_factory=list)


class RuleFiles:
    """Where the rules are: files and folders of them, or a saved index."""

    def __init__(self, paths: Sequence[str], preparation: Preparation) -> None:
        self.paths = [str(Path(path).absolute()) for path in paths]
        self.preparation = preparation
        self._settings = preparation.digest()

    def stamp(self) -> Stamp:
        """Differs when a file was written, moved, added or taken away. InputError when there is none."""
        found = []
        for file in self._files():
            try:
                known = Path(file).stat()
            except OSError as error:
                raise InputError(f"{file}: cannot be read: {error.strerror}") from error
            found.append((str(file), known.st_mtime_ns, known.st_size, known.st_ino))
        return tuple(found)

    def digest(self) -> str:
        """Of what the files hold, and of the settings that they are built with; a saved index has its own."""
        whole = blake2b(digest_size=16)
        if self.saved_index() is None:
            whole.update(self._settings.encode())
        for file in self._files():
            try:
                with Path(file).open("rb") as opened:
                    content = file_digest(opened, lambda: blake2b(digest_size=16))
            except OSError as error:
                raise InputError(f"{file}: cannot be read: {error.strerror}") from error
            whole.update(json.dumps([str(file), content.hexdigest()]).encode())
        return whole.hexdigest()

    def saved_index(self) -> str | None:
        """The path of the saved index, whole or in shards, when the rules are one."""
        (first, *others) = self.paths
        if not others:
            return first if is_sharded(first) or (Path(first).is_file() and is_saved(first)) else None
        for path in self.paths:
            if is_sharded(path):
                raise UsageError(f"{path} is a saved index, which a stream takes alone")
        return None

    def read(self) -> Rules:
        """The rules of the files; what is wrong with them is in `rejected`."""
        return read_rules(*self.paths, skip_bad=True)

    def _files(self) -> list[str]:
        saved = self.saved_index()
        if saved is not None:
            return [str(list_of_shards(saved))] if is_sharded(saved) else [saved]
        return [str(file) for path in self.paths for file in rule_files(path)]


class RuleWatch:
    """The versions of the rules that a stream has had, and the one that it has now."""

    def __init__(
        self,
        files: RuleFiles,
        folder: Path,
        check: Callable[[RuleVersion], object],
        refused: Callable[[Sequence[TocsinError]], None],
        *,
        joins: Callable[[Trigger], bool] = lambda _: False,
    ) -> None:
        self._joins = joins
        self._files = files
        self._folder = folder
        self._check = check
        self._refused = refused
        self._stamp: Stamp | str | None = None
        self._read: Rules | None = None
        self._pending: dict[str, Operation] = {}
        self._purged = 0
        numbers = [int(path.stem) for path in folder.glob("[0-9]*.json")]
        self.latest: VersionRecord | None = None
        self.latest = self.record(max(numbers)) if numbers else None

    def start(self) -> RuleVersion:
        """The version to begin with; raises what is wrong with the rules, unless a version is there."""
        if self.latest is None:
            self._stamp = self._files.stamp()
            self._take_up(self._files.digest())
        return self.current()

    def current(self) -> RuleVersion:
        """The version for a new batch: looks whether the rules have changed."""
        try:
            stamp: Stamp | str = self._files.stamp()
        except TocsinError as error:
            stamp = str(error)
        if stamp != self._stamp:
            self._stamp = stamp
            self._look_again()
        if self.latest is None:
            raise InputError("there are no rules to begin with")
        return self._version(self.latest)

    def _look_again(self) -> None:
        """Take up the rules, if they are others and can be taken."""
        try:
            digest = self._files.digest()
            if self.latest is None or digest != self.latest.digest:
                self._take_up(digest)
        except RuleError as error:
            self._refused(each_error(error))
        except TocsinError as error:
            self._refused([error])

    def version(self, number: int) -> RuleVersion:
        """A version that a batch was begun with."""
        return self._version(self.record(number))

    def has_throttles(self, number: int) -> bool:
        """Whether any rule of a version has a throttle."""
        return self.record(number).throttles

    def record(self, number: int) -> VersionRecord:
        """What is known of a version."""
        if self.latest is not None and self.latest.version == number:
            return self.latest
        known = read_json(self._folder / f"{number:08d}.json")
        if known is None:
            raise InputError(f"{self._folder}: version {number} of the rules is not there any more")
        return VersionRecord(**known)

    def purge(self, needed: int) -> None:
        """Remove what no batch can need: versions before `needed`, but for the last few."""
        if self._purged == needed:
            return
        self._purged = needed
        records = {int(path.stem): path for path in self._folder.glob("[0-9]*.json")}
        newest = max(records, default=0)
        kept = [number for number in records if number >= needed or number > newest - KEPT_INDEXES]
        used = set()
        for number in kept:
            known = self.record(number)
            used |= {known.base, known.changes, known.triggers}
        for path in self._folder.iterdir():
            if path.suffix in _OF_VERSIONS and path.name not in used and path.name[0] != ".":
                rule_version.remove(path)
        for number, path in records.items():
            if number <= newest - KEPT_VERSIONS and number < needed:
                path.unlink(missing_ok=True)

    # ---- Taking up

    def _take_up(self, digest: str) -> None:
        """Make the rules of the files the next version; raises what is wrong with them."""
        number = 1 if self.latest is None else self.latest.version + 1
        saved = self._files.saved_index()
        if saved is not None:
            self._take_up_saved(number, digest, Path(saved))
            return
        rules = self._files.read()
        digest = self._digest_of_read(digest)
        rules, triggers = rule_version.set_aside(rules, self._joins)
        changed = self._changes_to(rules)
        if changed is None or self.latest is None:
            index = built_of(rules, rules, self._files.preparation)
            draft = rule_version.draft_path(self._folder, number)
            index.save(draft)
            self._settle(number, digest, rule_version.settle(draft, number), None, triggers)
            self._pending = {}
        else:
            lines = "".join(json.dumps(change, ensure_ascii=False) + "\n" for change in changed.values())
            name = self._written(number, lines, ".changes")
            self._settle(number, digest, self.latest.base, name, triggers)
            self._pending = changed
        self._read = rules

    def _take_up_saved(self, number: int, digest: str, saved: Path) -> None:
        """Make a saved index the next version: as it is now, if it is written anew meanwhile."""
        try:
            base = rule_version.copy_saved(saved, self._folder, number)
        except (InputError, IndexFileError):
            self._stamp = self._files.stamp()
            now = self._files.digest()
            if now == digest:
                raise
            self._take_up_saved(number, now, saved)
            return
        self._settle(number, self._digest_of_read(digest), base, None)
        self._read = None

    def _digest_of_read(self, digest: str) -> str:
        """The digest of what was just read, given that of before; of nothing when files have changed since.

        Nobody can tell then what was read, and they may change back: the next look takes them up again.
        """
        try:
            is_certain = self._files.stamp() == self._stamp
        except TocsinError:
            is_certain = False
        return digest if is_certain else ""

    def _settle(
        self, number: int, digest: str, base: str, changes: str | None, triggers: Sequence[Trigger] = ()
    ) -> None:
        path = None if changes is None else str(self._folder / changes)
        index = RuleVersion(number, str(self._folder / base), path).open()
        actions = RuleActions.of(index.version)
        taken = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        throttles = actions.throttles.any or any(THROTTLE in trigger.options for trigger in triggers)
        count = len(index) + len(triggers)
        lines = rule_version.triggers_text(triggers)
        joined = self._written(number, lines, ".triggers") if triggers else None
        texts = [list(path) for path in index.version.text_fields]
        record = VersionRecord(
            number, digest, base, changes, list(actions.named()), throttles, count, taken, joined, texts
        )
        self._check(self._version(record))
        write_json(self._folder / f"{number:08d}.json", asdict(record))
        self.latest = record

    def _written(self, number: int, lines: str, ending: str) -> str:
        """Write lines to a file of a version; its name, which holds their digest."""
        name = f"{number:08d}-{blake2b(lines.encode(), digest_size=16).hexdigest()}{ending}"
        write_whole(self._folder / name, lines.encode())
        return name

    def _changes_to(self, rules: Rules) -> dict[str, Operation] | None:
        """The operations that lead from the base to these rules, by id; None when an index is better."""
        if self._read is None or self.latest is None or len(rules) < FEWEST_RULES:
            return None
        changed = difference(self._read, rules)
        if changed is None or len(changed) + len(self._pending) > MOST_CHANGES:
            return None
        base = RuleVersion(self.latest.version, str(self._folder / self.latest.base)).open()
        if base.shards:
            return None
        return operations(base, self._pending, rules, changed, self._files.preparation)

    # ---- What is there

    def _version(self, record: VersionRecord) -> RuleVersion:
        changes = None if record.changes is None else str(self._folder / record.changes)
        triggers = None if record.triggers is None else str(self._folder / record.triggers)
        texts = tuple(map(tuple, record.texts))
        return RuleVersion(
            record.version, str(self._folder / record.base), changes, tuple(record.named), triggers, texts
        )
