"""Rules with an equality and a text, one of which is the better way in.

    half of them    b3 = 'y' and contains(text, 'rare417')          half of the events, and one in a thousand
    the others      c2 = 'v88' and contains(text, 'usual4')         one in a thousand, and half of the events

Whoever indexes always the equality, or always the text, looks at half of half the rules for every event.
"""

from __future__ import annotations

import random

import pyarrow as pa

SEED = 2026

EVEN_FIELDS = 10
"""Fields b0 ... of two values, each of half the events."""

RARE_FIELDS = 5
"""Fields c0 ... of a thousand values."""

RARITY = 1_000

USUAL_WORDS = 10
"""Words usual0 ... of half the documents."""

RARE_WORDS = 5
"""Words rare0 ... in a document, each of one document in a thousand."""

FILLING_WORDS = 10
"""Words in a document that no rule asks for."""


def mixed_rules(count: int, seed: int = SEED) -> pa.Table:
    """Half of the rules best found by their text, half by their equality, in a random order."""
    rng = random.Random(seed)
    conditions: dict[str, None] = {}
    while len(conditions) < count // 2:
        equality = f"b{rng.randrange(EVEN_FIELDS)} = '{rng.choice('ny')}'"
        conditions[f"{equality} and {_contains(f'rare{rng.randrange(RARE_WORDS * RARITY)}')}"] = None
    while len(conditions) < count:
        equality = f"c{rng.randrange(RARE_FIELDS)} = 'v{rng.randrange(RARITY)}'"
        conditions[f"{equality} and {_contains(f'usual{rng.randrange(USUAL_WORDS)}')}"] = None
    when = list(conditions)
    rng.shuffle(when)
    return pa.table({"id": [f"r{number}" for number in range(count)], "when": when})


def mixed_events(count: int, seed: int = SEED) -> pa.Table:
    """Events as the rules expect them; no two documents are the same."""
    rng = random.Random(seed)
    columns = {f"b{field}": rng.choices("ny", k=count) for field in range(EVEN_FIELDS)}
    for field in range(RARE_FIELDS):
        columns[f"c{field}"] = [f"v{rng.randrange(RARITY)}" for _ in range(count)]
    columns["text"] = [_document(rng, number) for number in range(count)]
    return pa.table(columns)


def _contains(query: str) -> str:
    return f"contains(text, '{query}', boolean)"


def _document(rng: random.Random, number: int) -> str:
    words = [f"usual{word}" for word in range(USUAL_WORDS) if rng.random() < 0.5]
    words += [f"rare{word * RARITY + rng.randrange(RARITY)}" for word in range(RARE_WORDS)]
    words += [f"filling{rng.randrange(100)}" for _ in range(FILLING_WORDS - 1)]
    words.append(f"document{number}")
    rng.shuffle(words)
    return " ".join(words)
