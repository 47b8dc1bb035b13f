"""Visits: what is known about somebody who looks at a page. The paper took 2,000 from its logs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tocsin_lab.contracts.attributes import STANDARD, Attribute


class Visits(NamedTuple):
    """n visits, each of A attributes.

    value   int16[n, A]   a place among the attribute's values, or -1 when the visit does not tell it
    """

    attributes: tuple[Attribute, ...]
    value: NDArray[np.int16]

    @property
    def size(self) -> int:
        """The number of visits."""
        return len(self.value)


def make_visits(count: int, attributes: tuple[Attribute, ...] = STANDARD, seed: int = 1) -> Visits:
    """Visits that tell each attribute, and each value of it, by its share, whatever else they tell."""
    rng = np.random.default_rng([seed, 0])
    value = np.empty((count, len(attributes)), np.int16)
    for number, attribute in enumerate(attributes):
        edges = np.cumsum(list(attribute.values.values()))
        drawn = np.searchsorted(edges / edges[-1], rng.random(count), side="right")
        value[:, number] = np.where(rng.random(count) < attribute.known, drawn, -1)
    return Visits(attributes, value)


def table_of(visits: Visits) -> pa.Table:
    """A column for each attribute; null where a visit does not tell it."""
    columns = {}
    for attribute, value in zip(visits.attributes, visits.value.T, strict=True):
        places = pa.array(value, mask=value < 0)
        columns[attribute.name] = pa.array(list(attribute.values), pa.string()).take(places)
    return pa.table(columns)


def rows_of(visits: Visits) -> list[dict[str, Any]]:
    """Visits as events: only what they tell."""
    rows = table_of(visits).to_pylist()
    return [{name: value for name, value in row.items() if value is not None} for row in rows]
