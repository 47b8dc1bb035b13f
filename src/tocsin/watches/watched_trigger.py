"""A trigger as it is watched: cut into what is asked of each of its tables, and of joined rows.

The aliases of a trigger are its *positions*, from 0 in the order of `from`. A rule without a table has one
position, which a row of any table can take.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tocsin.conditions.language.parser import parse_condition
from tocsin.conditions.language.printer import print_condition
from tocsin.conditions.language.tree import TEXT_TESTS, Path, Predicate
from tocsin.rules.alert_texts import AlertPart, FieldPart, read_alert
from tocsin.rules.joins.parser import parse_joined
from tocsin.rules.joins.splitter import Split, split, text_predicates
from tocsin.rules.joins.tree import JoinedCondition
from tocsin.rules.rule_set import Rules
from tocsin.watches.join_keys import KeyField

INSERT, UPDATE, DELETE = "insert", "update", "delete"

Shape = tuple[tuple[int, ...], ...]
"""Which equalities each position takes part in. Triggers of one shape are joined by one rule."""


@dataclass(frozen=True, slots=True)
class Position:
    """One of a trigger's tables.

    alias       its name in the trigger; None in a rule without a table
    table       the table's name; None when rows of any table fit
    selection   the condition on its rows, without the alias; None when every row fits
    keys        its side of each equality that it takes part in
    asked       fields that filters and the alert's text name
    """

    alias: str | None
    table: str | None
    selection: str | None
    keys: tuple[KeyField, ...] = ()
    asked: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Watched:
    """A trigger.

    change      the kind of change that fires it
    event       the position whose changes do; None when those of any position do
    shape       the equalities of each position
    filters     what is asked of joined rows
    texts       every predicate over free text, when some stand in filters: only together they give a score
    alert       the parts of the alert's text, if it has one
    """

    rule: str
    positions: tuple[Position, ...]
    change: str
    event: int | None
    shape: Shape = ((),)
    filters: tuple[JoinedCondition, ...] = ()
    texts: tuple[Predicate, ...] = ()
    alert: tuple[AlertPart, ...] | None = None

    def fires_on(self, change: str, position: int) -> bool:
        """Whether such a change of a row in this position fires the trigger."""
        return change == self.change and self.event in (None, position)

    def remembers(self, position: int) -> bool:
        """Whether rows in this position can be partners of later ones."""
        return len(self.positions) > 1 and position != self.event


def watched(rules: Rules, row: int) -> Watched:
    """The rule of this row, whose condition is known to be right."""
    name, when = rules.ids[row].as_py(), rules.whens[row].as_py()
    trigger = rules.triggers.get(row)
    if trigger is None:
        return Watched(name, (Position(None, None, when),), INSERT, None)
    parts = None if trigger.alert is None else tuple(read_alert(trigger.alert, trigger.aliases)[0])
    change, event = INSERT, None
    if trigger.after is not None:
        change, event = trigger.after.kind, trigger.aliases.index(trigger.after.alias)
    if len(trigger.tables) < 2:
        alias = trigger.alias
        table = trigger.tables[0].name if trigger.tables else alias
        bare = when if alias is None else print_condition(parse_condition(when, alias))
        position = Position(alias, table, bare, asked=_named(alias, (), parts))
        return Watched(name, (position,), change, event, alert=parts)
    condition = parse_joined(when, trigger.aliases)
    apart = split(condition)
    texts = _texts_of_filters(condition, apart)
    return Watched(
        name,
        tuple(_position(table.alias, table.name, apart, parts) for table in trigger.tables),
        change,
        event,
        tuple(_equalities_of(table.alias, apart) for table in trigger.tables),
        apart.filters,
        texts,
        parts,
    )


def _position(alias: str, table: str, apart: Split, parts: Sequence[AlertPart] | None) -> Position:
    chosen = apart.selections.get(alias)
    keys = [
        KeyField(path[1:], side)
        for number in _equalities_of(alias, apart)
        for side, path in enumerate((apart.equalities[number].left, apart.equalities[number].right))
        if path[0] == alias
    ]
    selection = None if chosen is None else print_condition(chosen)
    return Position(alias, table, selection, tuple(keys), _named(alias, apart.filters, parts))


def _equalities_of(alias: str, apart: Split) -> tuple[int, ...]:
    return tuple(number for number, equality in enumerate(apart.equalities) if alias in equality.aliases)


def _named(
    alias: str | None, filters: Sequence[JoinedCondition], parts: Sequence[AlertPart] | None
) -> tuple[Path, ...]:
    """The fields of an alias that filters and the alert's text name."""
    paths = [path[1:] for each in filters for path in each.fields() if path[0] == alias]
    paths += [part.path for part in parts or () if isinstance(part, FieldPart) and part.alias == alias]
    return tuple(dict.fromkeys(paths))


def _texts_of_filters(condition: JoinedCondition, apart: Split) -> tuple[Predicate, ...]:
    in_filters = any(
        isinstance(step, Predicate) and step.test in TEXT_TESTS
        for each in apart.filters
        for step in each.steps
    )
    return tuple(text_predicates(condition)) if in_filters else ()
