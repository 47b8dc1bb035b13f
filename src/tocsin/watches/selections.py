"""Which positions of which triggers the rows of a table enter: one match in one shared index tells all.

Every selection over a table, of whatever trigger and alias, is a rule of the table's index. Positions without
a selection are entered by every row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from tocsin.conditions.graph import compile_rules
from tocsin.conditions.language import Path
from tocsin.conditions.live import Index, Preparation, Snapshot
from tocsin.conditions.matching import Matches
from tocsin.rules import Rules
from tocsin.text import Dictionary
from tocsin.watches.joins import Place
from tocsin.watches.watched_trigger import Watched


class Selections:
    """The selections over one table."""

    def __init__(self, preparation: Preparation) -> None:
        self._preparation = preparation
        self._index: Index | None = None
        self._weighed: Snapshot | None = None
        self._version: int | None = None
        self._has_text = False
        self._of_name: dict[str, Place] = {}
        self._always: dict[Place, None] = {}

    def __len__(self) -> int:
        return len(self._of_name) + len(self._always)

    def add(self, triggers: Mapping[int, Watched], places: Sequence[Place]) -> None:
        """Add positions of triggers."""
        names: list[str] = []
        whens: list[str] = []
        for place in places:
            selection = triggers[place.trigger].positions[place.position].selection
            if selection is None:
                self._always[place] = None
            else:
                names.append(_name(place))
                whens.append(selection)
                self._of_name[names[-1]] = place
        self._version = None
        if self._index is not None:
            self._index.apply([("insert", *pair) for pair in zip(names, whens, strict=True)])
        elif names:
            rules = Rules(
                pa.array(names, pa.large_string()),
                pa.array(whens, pa.large_string()),
                lines=np.arange(len(names), dtype=np.int64),
            )
            base, planner = self._preparation.base, self._preparation.planner
            self._index = Index(compile_rules(rules, base=base, planner=planner))

    def remove(self, places: Sequence[Place]) -> None:
        """Take positions away."""
        self._version = None
        for place in places:
            if place in self._always:
                del self._always[place]
            elif self._index is not None:
                self._index.delete(_name(place))
                del self._of_name[_name(place)]

    def weigh(self, version: int, dictionaries: Mapping[Path, Dictionary]) -> None:
        """Go by these dictionaries from now on, which are this version of what a watch has learnt."""
        if self._index is None or self._version == version:
            return
        if self._version is None or self._weighed is None:
            self._weighed = self._index.version
            self._has_text = bool(self._weighed.text_fields)
        self._version = version
        if self._has_text:
            self._weighed = self._weighed.reweighed(dictionaries)

    def entered(self, row: Mapping[str, object]) -> list[tuple[Place, float | None]]:
        """The positions that a row enters, with the score of the free text in their selections.

        EventError when the row cannot be read.
        """
        found: list[tuple[Place, float | None]] = [(place, None) for place in self._always]
        if self._weighed is not None and self._version is not None:
            numbers, scores = self._weighed.match_event(row)
            matches = Matches(numbers, self._weighed.names, scores)
            found += [(self._of_name[match.rule], match.score) for match in matches]
        elif self._index is not None:
            found += [(self._of_name[match.rule], match.score) for match in self._index.match(row)]
        return found


def _name(place: Place) -> str:
    return f"{place.trigger}/{place.position}"
