"""Random rules and events in the default setting of the A-Tree paper (Ji and Jacobsen, 2021, Table 3).

1,000 fields of 100 values each, both chosen by Zipf's law with exponent 0.6; rules of depth 3 whose
connectives are 40% and, 40% or, 10% not, 5% xor and 5% xnor, put together from predicates and
subexpressions that other rules use too; events of 20 fields. The last digit of a field's number is
its kind: 0-5 an integer, 6-7 a string, 8 a Boolean, 9 a list of integers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tocsin.grammar.tree import Path

FIELDS = 1_000
VALUES = 100
PAIRS_OF_AN_EVENT = 20
SKEW = 0.6
MOST_CHILDREN = 6

LISTED: frozenset[Path] = frozenset((f"d{number}",) for number in range(9, FIELDS, 10))
"""The fields that hold lists."""


def random_rules(count: int, seed: int = 1) -> pa.Table:
    """`count` rules: id, when; the same for the same count and seed."""
    rng = np.random.default_rng((seed, 3))
    predicates = _predicates(rng, max(4, count // 2))
    lower = _combinations(rng, predicates, max(4, count // 2))
    whens = _combinations(rng, lower, count)
    return pa.table(
        {"id": pa.array([f"r{number}" for number in range(1, count + 1)]), "when": pa.array(whens)}
    )


def random_events(count: int, seed: int = 1) -> list[dict[str, object]]:
    """`count` events of 20 fields."""
    rng = np.random.default_rng((seed, 4))
    return [
        {
            f"d{number}": _value(rng, int(number))
            for number in set(_zipf(rng, FIELDS, PAIRS_OF_AN_EVENT).tolist())
        }
        for _ in range(count)
    ]


def _zipf(rng: np.random.Generator, ranks: int, size: int) -> NDArray[np.int64]:
    weights = np.cumsum(np.arange(1, ranks + 1, dtype=np.float64) ** -SKEW)
    return np.asarray(np.searchsorted(weights, rng.random(size) * weights[-1], side="right"))


def _value(rng: np.random.Generator, number: int) -> object:
    value = int(_zipf(rng, VALUES, 1)[0])
    kind = number % 10
    if kind <= 5:
        return value
    if kind <= 7:
        return f"v{value}"
    return bool(rng.integers(2)) if kind == 8 else _zipf(rng, VALUES, int(rng.integers(1, 4))).tolist()


def _predicates(rng: np.random.Generator, count: int) -> list[str]:
    numbers, values = _zipf(rng, FIELDS, count), _zipf(rng, VALUES, 5 * count).reshape(count, 5)
    operators = rng.choice(7, count, p=[0.45, 0.25, 0.06, 0.06, 0.06, 0.06, 0.06])
    sizes = rng.integers(1, 6, count)
    return [
        _predicate(number, how, drawn[:size])
        for number, how, drawn, size in zip(
            numbers.tolist(), operators.tolist(), values.tolist(), sizes.tolist(), strict=True
        )
    ]


def _predicate(number: int, how: int, values: Sequence[int]) -> str:
    kind = number % 10
    if kind == 8:
        return f"d{number}" if values[0] % 2 else f"not d{number}"
    texts = [f"'v{value}'" if kind in (6, 7) else str(value) for value in values]
    if how == 1 or how == 6:
        return f"d{number} {'in' if how == 1 else 'not in'} ({', '.join(texts)})"
    symbol = "=" if how == 0 or kind in (6, 7) else ("<", "<=", ">", ">=")[how - 2]
    return f"d{number} {symbol} {texts[0]}"


def _combinations(rng: np.random.Generator, parts: Sequence[str], count: int) -> list[str]:
    """`count` expressions over parts that are drawn by Zipf's law, each in parentheses."""
    connectives = rng.choice(5, count, p=[0.4, 0.4, 0.1, 0.05, 0.05])
    sizes = rng.integers(2, MOST_CHILDREN + 1, count)
    drawn = _zipf(rng, len(parts), MOST_CHILDREN * count).reshape(count, MOST_CHILDREN)
    return [
        _combined(how, [parts[place] for place in places[:size]])
        for how, places, size in zip(connectives.tolist(), drawn.tolist(), sizes.tolist(), strict=True)
    ]


def _combined(how: int, parts: Sequence[str]) -> str:
    if how == 2:
        return f"(not {parts[0]})"
    if how >= 3:
        return f"({parts[0]} {'xor' if how == 3 else 'xnor'} {parts[1]})"
    return f"({(' and ' if how == 0 else ' or ').join(parts)})"
