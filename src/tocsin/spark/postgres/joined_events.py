"""In a worker: changes of rows to the alerts of triggers that compare rows, which no index takes.

Triggers over several tables need what these hold. All changes of a batch then come to one task, in the order
of their commits; that of the batch before may have been another worker's. What a worker holds of the tables
it keeps for its life, see mirrored_tables.py. Triggers that compare a row with what it was need nothing more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.conditions.live import Preparation
from tocsin.conditions.meaning import lookup
from tocsin.errors import EventError
from tocsin.events import FieldPlan, json_text
from tocsin.rules import DEDUP, OLD, THROTTLE, Trigger, dedup_text, parse_throttle, read_dedup
from tocsin.spark.postgres.change_events import (
    event_of,
    json_column,
    old_row_of,
    ordinal_of,
    place_of,
    read_change,
    text_of,
)
from tocsin.spark.postgres.mirrored_tables import Contents, placed
from tocsin.spark.postgres.postgres_address import TableName
from tocsin.spark.postgres.rules_by_table import RuleTables
from tocsin.spark.stream.alert_values import keys_of, times_of
from tocsin.spark.stream.match_columns import KEPT, Wanted
from tocsin.spark.stream.match_task import Finder, Rejected
from tocsin.spark.stream.rule_version import RuleVersion, read_triggers, rules_of
from tocsin.watches import Alert, Watch

TIME = pa.timestamp("us", tz="UTC")
AT_ONCE = 10_000
"""Alerts in a batch of found rows."""


class Fired(NamedTuple):
    """A change, the row that it is about, and an alert of it; `twin` counts alerts of the same trigger."""

    change: dict[str, Any]
    row: dict[str, Any]
    alert: Alert
    twin: int


@lru_cache(maxsize=1)
def held_contents(folder: str, tables: Sequence[TableName]) -> Contents:
    """What this process holds of the tables of a stream."""
    return Contents(Path(folder), tables)


@lru_cache(maxsize=2)
def held_watch(rules: RuleVersion, tables: Sequence[TableName]) -> Watch:
    """The triggers of a version that no index takes, over one table each: made once in a process."""
    watch = Watch(replace(Preparation.of(), base=rules.open().version.texts))
    watch.add(rules_of([placed(trigger, tables) for trigger in read_triggers(rules.triggers)]))
    return watch


class Joiner:
    """Changes past the triggers of one version that no index takes, in one task.

    `folder` is where the contents of the tables are; None when no trigger needs them.
    """

    def __init__(
        self, finder: Finder, tables: RuleTables, wanted: Wanted, folder: str | None, rules: RuleVersion
    ) -> None:
        self._finder = finder
        self._tables = tables
        self._wanted = wanted
        self._folder = folder
        self._listed = read_triggers(rules.triggers)
        self._rules = rules
        self._texts = rules.open().version.texts
        self._actions = {trigger.name: _Action(trigger) for trigger in self._listed}

    def found(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The found rows of all changes of a batch; with contents they come in the order of their commits."""
        changes = (change for batch in batches for change in batch.to_pylist())
        if self._folder is None:
            watch = held_watch(self._rules, self._tables.tables)
            kinds = {kind for trigger in self._listed if trigger.after for kind in trigger.after.kinds}
            seen = (
                change for change in changes if change["op"] in kinds and watch.is_watched(change["table"])
            )
            yield from self._found(seen, partial(_alerts_of, watch))
            return
        first = next(changes, None)
        if first is None:
            return
        contents = held_contents(self._folder, self._tables.tables)
        try:
            contents.weigh_by(self._texts)
            contents.go_to((first["lsn"], first["row"]))
            contents.save_if_worth_it(first["lsn"])
            contents.watch(self._listed)
            yield from self._found(chain((first,), changes), contents.apply)
        except BaseException:
            held_contents.cache_clear()  # it may have stopped half-way
            raise

    def _found(
        self, changes: Iterable[dict[str, Any]], told: Callable[[dict[str, Any]], Sequence[Alert]]
    ) -> Iterator[pa.RecordBatch]:
        fired: list[Fired] = []
        for change in changes:
            try:
                fired += _fired(change, told(change))
            except (ValueError, EventError) as error:
                yield from self._reject(change, str(error), self._is_told(change))
            if len(fired) >= AT_ONCE:
                yield from self._rows(fired)
                fired = []
        if fired:
            yield from self._rows(fired)

    def _is_told(self, change: dict[str, Any]) -> bool:
        """Whether rules of an index see a change that cannot be read for them either."""
        try:
            read_change(change, self._tables)
        except ValueError:
            return self._tables.sees(change["table"], change["op"])
        return False

    def _reject(self, change: dict[str, Any], reason: str, is_told: bool) -> Iterator[pa.RecordBatch]:
        """A change that is no event, unless it is told of already."""
        if not is_told:
            place, ordinal = place_of(change), ordinal_of(change)
            yield from self._finder.rejected([Rejected(place, ordinal, reason, text_of(change))])

    def _rows(self, fired: Sequence[Fired]) -> Iterator[pa.RecordBatch]:
        wanted, count = self._wanted, len(fired)
        key = pa.array([place_of(each.change) for each in fired], pa.string())
        time, bad = np.full(count, wanted.batch_time, np.int64), dict[int, str]()
        if wanted.key is not None:
            column = json_column(each.row.get(wanted.key[0]) for each in fired)
            key, bad = keys_of(column, wanted.key, count)
        if wanted.time is not None:
            cells = FieldPlan([wanted.time]).batch([each.row for each in fired])
            time, untimed = times_of(cells.columns.get(wanted.time), wanted.time, count)
            bad = untimed | bad
        for row, reason in sorted(bad.items()):
            change = fired[row].change
            yield from self._reject(change, reason, self._tables.sees(change["table"], change["op"]))
        good = [row for row in range(count) if row not in bad]
        self._finder.tally.matches += len(good)
        if not good:
            return
        taken = pa.array(good)
        some = [fired[row] for row in good]
        twins = [f"#{each.twin}" if each.twin else "" for each in some]
        keys = [f"{text}{twin}" for text, twin in zip(key.take(taken).to_pylist(), twins, strict=True)]
        actions = [self._actions[each.alert.rule] for each in some]
        yield self._finder.batch(
            len(good),
            {
                "key": pa.array(keys, pa.string()),
                "ordinal": pa.array([ordinal_of(each.change) for each in some], pa.string()),
                "rule": pa.array([each.alert.rule for each in some], pa.string()),
                "score": pa.array([each.alert.score for each in some], pa.float64()),
                "time": pa.array(time[good]).cast(TIME),
                "text": pa.array([each.alert.text for each in some], pa.string()),
                "throttle": pa.array([action.throttle for action in actions], pa.int64()),
                "dedup": pa.array(
                    [action.value(each.alert) for action, each in zip(actions, some, strict=True)],
                    pa.string(),
                ),
                "table": pa.array([each.change["table"] for each in some], pa.string()),
                "op": pa.array([each.change["op"] for each in some], pa.string()),
                "rows": pa.array([json_text(each.alert.rows) for each in some], pa.string()),
                **{
                    KEPT + name: json_column(each.row.get(name) for each in some).storage.cast(pa.string())
                    for name in wanted.keep
                },
            },
        )


class _Action:
    """How often a trigger may alert."""

    def __init__(self, trigger: Trigger) -> None:
        throttle, dedup = trigger.options.get(THROTTLE), trigger.options.get(DEDUP)
        self.throttle = None if throttle is None else parse_throttle(throttle)
        aliases = trigger.aliases
        path = None if dedup is None else read_dedup(str(dedup), aliases, trigger.old_of)[0]
        if path is not None and len(aliases) > 1:
            path = path[1:] if path[:2] == (trigger.old_of, OLD) else path
        elif path is not None and path[0] != OLD:
            path = (*aliases, *path)
        self._dedup = path

    def value(self, alert: Alert) -> str | None:
        """The value of the dedup field: its first name is an alias, or old."""
        if self._dedup is None:
            return None
        value = lookup(alert.rows, self._dedup)
        return None if value is None else dedup_text(json_text(value))


def _fired(change: dict[str, Any], alerts: Sequence[Alert]) -> Iterator[Fired]:
    """Alerts of one change; those of the same trigger are numbered by what their rows hold, so that the
    numbers do not depend on when the rows came."""
    if not alerts:
        return
    row = event_of(change)
    by_rule: defaultdict[str, list[Alert]] = defaultdict(list)
    for alert in alerts:
        by_rule[alert.rule].append(alert)
    for listed in by_rule.values():
        listed.sort(key=lambda alert: json_text(alert.rows))
        yield from (Fired(change, row, alert, twin) for twin, alert in enumerate(listed))


def _alerts_of(watch: Watch, change: dict[str, Any]) -> list[Alert]:
    """What triggers over one table say of a change."""
    return watch.told(change["op"], change["table"], event_of(change), old_row_of(change))
