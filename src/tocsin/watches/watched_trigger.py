"""A trigger as it is watched: cut into what is asked of each of its tables, and of joined rows.

The aliases of a trigger are its *positions*, from 0 in the order of `from`. A rule without a table has one
position, which a row of any table can take.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tocsin.conditions.language import TEXT_TESTS, Path, Predicate, parse_condition, print_condition
from tocsin.rules import (
    DEDUP,
    INSERT,
    OLD,
    After,
    AlertPart,
    FieldPart,
    JoinedCondition,
    Rules,
    Split,
    Trigger,
    read_alert,
    read_dedup,
    split,
    text_predicates,
)
from tocsin.watches.join_keys import KeyField

Shape = tuple[tuple[int, ...], ...]
"""Which equalities each position takes part in. Triggers of one shape are joined by one rule."""


@dataclass(frozen=True, slots=True)
class Position:
    """One of a trigger's tables.

    alias       its name in the trigger; None in a rule without a table
    table       the table's name; None when rows of any table fit
    selection   the condition on its rows, without the alias; None when every row fits
    keys        its side of each equality that it takes part in
    asked       fields that filters, the alert's text and `update of` name
    asks_old    whether its rows are asked with the row before the change in them: see rules/after_clause.py
    """

    alias: str | None
    table: str | None
    selection: str | None
    keys: tuple[KeyField, ...] = ()
    asked: tuple[Path, ...] = ()
    asks_old: bool = False

    @property
    def key(self) -> str:
        """What its fields begin with in filters."""
        return self.alias or ""


@dataclass(frozen=True, slots=True)
class Watched:
    """A trigger.

    after       the kinds of change that fire it
    event       the position whose changes do; None when those of any position do
    shape       the equalities of each position
    filters     what is asked of joined rows
    texts       every predicate over free text, when some stand in filters: only together they give a score
    documents   the fields that free text asks
    alert       the parts of the alert's text, if it has one
    """

    rule: str
    positions: tuple[Position, ...]
    after: After
    event: int | None
    shape: Shape = ((),)
    filters: tuple[JoinedCondition, ...] = ()
    texts: tuple[Predicate, ...] = ()
    alert: tuple[AlertPart, ...] | None = None
    documents: tuple[Path, ...] = ()

    def fires_on(self, change: str, position: int) -> bool:
        """Whether such a change of a row in this position fires the trigger."""
        return change in self.after.kinds and self.event in (None, position)

    @property
    def text_position(self) -> Position | None:
        """The one whose rows free text asks; None when there is no free text."""
        return self.positions[self.event or 0] if self.documents else None

    def remembers(self, position: int) -> bool:
        """Whether rows in this position can be partners of later ones."""
        return len(self.positions) > 1 and position != self.event


def watched(rules: Rules, row: int, disabled: bool = False) -> Watched:
    """The rule of this row, whose condition is known to be right. A disabled one has no positions."""
    name, trigger = rules.ids[row].as_py(), rules.triggers.get(row)
    if disabled:
        return Watched(name, (), After(()), None)
    if trigger is None:
        when = rules.whens[row].as_py()
        asked = (each.field for each in parse_condition(when).predicates() if each.test in TEXT_TESTS)
        documents = tuple(dict.fromkeys(asked))
        return Watched(name, (Position(None, None, when),), After((INSERT,)), None, documents=documents)
    parts = None
    if trigger.alert is not None:
        parts = tuple(read_alert(trigger.alert, trigger.aliases, trigger.old_of)[0])
    condition = trigger.joined(rules.whens[row].as_py())
    apart = split(condition)
    positions = [_position(table.alias, table.name, apart, parts) for table in trigger.sources]
    positions = positions or [_position(None, None, apart, parts)]
    event = None
    if trigger.after is not None:
        event = [position.alias for position in positions].index(trigger.after.alias)
        positions[event] = _with_old(positions[event], trigger, condition)
    return Watched(
        name,
        tuple(positions),
        trigger.after or After((INSERT,)),
        event,
        tuple(_equalities_of(position.key, apart) for position in positions),
        apart.filters,
        _texts_of_filters(condition, apart),
        parts,
        tuple(dict.fromkeys(each.field for each in text_predicates(condition))),
    )


def _position(
    alias: str | None, table: str | None, apart: Split, parts: Sequence[AlertPart] | None
) -> Position:
    key = alias or ""
    chosen = apart.selections.get(key)
    keys = [
        KeyField(path[1:], side)
        for number in _equalities_of(key, apart)
        for side, path in enumerate((apart.equalities[number].left, apart.equalities[number].right))
        if path[0] == key
    ]
    asked = [path[1:] for each in apart.filters for path in each.fields() if path[0] == key]
    asked += [part.path for part in parts or () if isinstance(part, FieldPart) and part.alias == alias]
    selection = None if chosen is None else print_condition(chosen)
    return Position(alias, table, selection, tuple(keys), tuple(dict.fromkeys(asked)))


def _with_old(position: Position, trigger: Trigger, condition: JoinedCondition) -> Position:
    """The position of the event table, of which updates may ask for the row before as well."""
    after, dedup = trigger.after, trigger.options.get(DEDUP)
    if after is None or trigger.old_of is None:
        return position
    changed = [path for field in after.fields for path in (field, (OLD, *field))]
    asked = tuple(dict.fromkeys([*position.asked, *changed]))
    named = [path[1:] for path in condition.fields() if path[0] == position.key]
    path = None if dedup is None else read_dedup(dedup, trigger.aliases, trigger.old_of)[0]
    if path is not None:
        named.append(path if len(trigger.aliases) < 2 else path[1:] if path[0] == position.key else ())
    asks_old = any(path[:1] == (OLD,) for path in (*asked, *named))
    return replace(position, asked=asked, asks_old=asks_old)


def _equalities_of(alias: str, apart: Split) -> tuple[int, ...]:
    return tuple(number for number, equality in enumerate(apart.equalities) if alias in equality.aliases)


def _texts_of_filters(condition: JoinedCondition, apart: Split) -> tuple[Predicate, ...]:
    in_filters = any(
        isinstance(step, Predicate) and step.test in TEXT_TESTS
        for each in apart.filters
        for step in each.steps
    )
    return tuple(text_predicates(condition)) if in_filters else ()
