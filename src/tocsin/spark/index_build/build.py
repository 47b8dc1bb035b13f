"""ts.build: an index of millions of rules, made by Spark."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from tocsin.errors import InputError
from tocsin.printable import number_of

if TYPE_CHECKING:
    from tocsin.conditions.live import Preparation
    from tocsin.history.statistics import History
    from tocsin.spark.index_build.jobs import Say
    from tocsin.text import Dictionary

PathLike = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Built:
    """What a build has made.

    rules        rules in the index
    predicates   distinct predicates, and
    nodes        distinct nodes above them, counted for each shard on its own
    shards       of the index: 1 when it is one file
    bytes        of all files together
    rejects      rows that are no rules; where they are is up to the caller
    seconds      by phase
    """

    path: str
    rules: int
    predicates: int
    nodes: int
    shards: int
    bytes: int
    rejects: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [
            f"rules         {self.rules:,}"
            + (f" ({number_of(self.rejects, 'reject')})" if self.rejects else ""),
            f"predicates    {self.predicates:,}",
            f"inner nodes   {self.nodes:,}",
            f"index         {self.path}, {self.bytes / 1e6:,.1f} MB"
            + (f" in {self.shards} shards" if self.shards > 1 else ""),
            "built in      "
            + ", ".join(f"{phase} {seconds:.1f} s" for phase, seconds in self.seconds.items()),
        ]
        return "\n".join(lines)


def build(
    rules: DataFrame,
    path: PathLike,
    *,
    shards: int | str | None = None,
    rejects: PathLike | None = None,
    history: History | PathLike | None = None,
    dictionaries: Mapping[str, Dictionary | PathLike] | None = None,
    stop_words: Iterable[str] = (),
    text_threshold: float = 0.0,
    access: str = "auto",
    organise: str = "auto",
) -> Built:
    """Build an index of the rules of a DataFrame, and write it to `path`; what tocsin.build does, on Spark.

    The DataFrame has the columns `id` (strings or integers) and `when` (conditions); others are kept as the
    rules' metadata. The rules are taken in the order of their ids, as texts, so the index does not depend
    on how the DataFrame is partitioned. It matches as tocsin.build's index of the same rules.

    A row that is no rule (its condition cannot be read, its id is missing or taken by a row before it) stops
    the build with RuleError, or RuleErrors that show the first few. With `rejects`, the path of a folder,
    such rows are left out and written there as Parquet: file, rule, line, column, reason, text.

    `shards` writes an index in shards: a folder that ts.match and tocsin.open take like a file.
    Rules that share parts are kept together, and no shard is much larger than another. A number says how
    many; "auto" makes as many as it takes to keep each below half a gibibyte.

    The folder that `path` is in must be one that the driver and all workers can write to. `history` and what
    follows are those of tocsin.build. With `shards`, organise="auto" chooses for each shard by itself.
    """
    from tocsin.conditions.live import Preparation

    preparation = Preparation.of(history, dictionaries, stop_words, text_threshold, access, organise)
    return build_index(rules, path, preparation, shards=shards, rejects=rejects)


def build_index(
    rules: DataFrame,
    path: PathLike,
    preparation: Preparation,
    *,
    shards: int | str | None = None,
    rejects: PathLike | None = None,
    say: Say = lambda _: None,
) -> Built:
    """Build as ts.build does. Rules may say where they are from (rule_frames.py); `say` hears it all."""
    from tocsin.conditions.blocks import Work, warm_up
    from tocsin.spark.index_build.index_writer import (
        check_rejects,
        check_shards,
        check_target,
        move_rejects,
        raise_rejects,
        write_index,
        write_shards,
    )
    from tocsin.spark.index_build.jobs import compare_predicates, read_blocks
    from tocsin.spark.index_build.rule_frames import check_frame, rule_rows

    check_frame(rules)
    target = Path(path).resolve()
    check_shards(shards)
    check_target(target, shards)
    if rejects is not None:
        check_rejects(Path(rejects), target)
    session = rules.sparkSession
    rows = rule_rows(rules, int(session.conf.get("spark.sql.shuffle.partitions") or 8))
    warm_up()
    clock = Clock()
    with working_folder(target) as folder:
        say("Reading rules")
        reports = read_blocks(rows, folder)
        if rejects is None:
            raise_rejects(folder, reports)
        clock.note("read")
        work = Work(folder, [report.file for report in reports if report.rules])
        predicates = sum(report.predicates for report in reports)
        say("Comparing predicates")
        compare_predicates(session, work, predicates)
        clock.note("compare")
        say("Writing the index")
        if shards is None:
            built = write_index(work, target, preparation)
        else:
            built = write_shards(session, work, target, shards, preparation)
        clock.note("write")
        if rejects is not None:
            move_rejects(folder, reports, Path(rejects), target)
    count = sum(report.rejects for report in reports)
    return replace(built, path=os.fspath(path), rejects=count, seconds=clock.seconds)


class Clock:
    """How long phases take, one after the other."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = time.perf_counter()

    def note(self, phase: str) -> None:
        """A phase is over."""
        now = time.perf_counter()
        self.seconds[phase] = now - self._since
        self._since = now


@contextlib.contextmanager
def working_folder(target: Path) -> Iterator[Path]:
    """A folder beside the target, which goes when the work is done or has failed."""
    folder = target.with_name(f".{target.name}.building-{uuid.uuid4().hex[:12]}")
    try:
        folder.mkdir(0o700)
    except OSError as error:
        raise InputError(f"cannot build in {target.parent}: {error.strerror}") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
