"""The rules: campaigns, each with the condition under which it bids for a visit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from tocsin.arrays.dtypes import Longs
from tocsin_lab.exchange import audiences, world

AGENCIES = 120
AUDIENCES_OF_AN_AGENCY = 60
PLACES, CONTEXTS, EQUIPMENT, DELIVERIES = 1_500, 2_500, 300, 500

_SHAPES = (
    # How an audience is put together from an agency's own, and how often.
    (0.42, "{0}"),
    (0.22, "({0} or {1})"),
    (0.18, "{0} and not {1}"),
    (0.10, "{0} and ({1} or {2})"),
    (0.06, "({0} or {1} or {2})"),
    (0.02, "({0} xor {1})"),
)
_FIRST_NAMES = world.words(
    """Alder Birch Cedar Dune Elm Fjord Grove Heath Isle Juniper Kestrel Linden Meadow North Oak Pine
    Quarry River Stone Thorn Umber Vale Willow Yarrow"""
)
_SECOND_NAMES = world.words(
    "Bikes Bank Travel Foods Motors Mobile Fashion Home Games Books Airways Coffee Sports Health"
)
_OFFERS = (
    "spring sale", "new arrivals", "members only", "last chance", "free delivery", "summer preview",
    "come back", "brand", "app launch", "two for one", "gift ideas", "weekend deals",
)  # fmt: skip


def campaigns(count: int, seed: int = 1) -> pa.Table:
    """`count` campaigns: id, when, advertiser, name, bid; the same for the same count and seed.

    An agency's campaigns share its audiences, and all share places, kinds of site and terms of
    delivery, so that most of a condition's parts stand in other conditions too.
    """
    rng = np.random.default_rng((seed, 2))
    advertiser = world.draw(rng, count, len(_FIRST_NAMES) * len(_SECOND_NAMES), 0.7)
    names = [f"{first} {second}" for first in _FIRST_NAMES for second in _SECOND_NAMES]
    offer = rng.integers(0, len(_OFFERS), count)
    # Bids are in steps of five cents.
    cents = 5 * np.clip(np.round(np.exp(rng.normal(0.0, 0.8, count)) * 20), 1, 1_000).astype(np.int64)
    return pa.table(
        {
            "id": pa.array([f"c{number:06d}" for number in range(1, count + 1)], pa.string()),
            "when": pa.array(_conditions(rng, advertiser, cents), pa.string()),
            "advertiser": pa.array(names).take(pa.array(advertiser)),
            "name": pa.array(
                [
                    f"{names[who]}: {_OFFERS[what]}"
                    for who, what in zip(advertiser.tolist(), offer.tolist(), strict=True)
                ]
            ),
            "bid": pa.array(cents / 100),
        }
    )


def _conditions(rng: np.random.Generator, advertiser: Longs, cents: Longs) -> list[str]:
    count = len(advertiser)
    parts = [
        _chosen(rng, audiences.places(rng, PLACES), count, share=0.99),
        _audiences(rng, advertiser % AGENCIES),
        _chosen(rng, audiences.contexts(rng, CONTEXTS), count, share=0.95),
        _chosen(rng, audiences.equipment(rng, EQUIPMENT), count, share=0.75),
        _chosen(rng, audiences.deliveries(rng, DELIVERIES), count, share=0.9),
        _chosen(rng, ["consent"], count, share=0.5),
        [f"price_floor <= {each / 100:.2f}" for each in cents.tolist()],
    ]
    return [" and ".join(filter(None, clauses)) for clauses in zip(*parts, strict=True)]


def _chosen(rng: np.random.Generator, pool: Sequence[str], count: int, *, share: float) -> list[str]:
    """For each campaign a clause of the pool, or nothing for those that do not ask."""
    drawn = world.draw(rng, count, len(pool), 0.5)
    asked = rng.random(count) < share
    return [
        pool[place] if wanted else "" for place, wanted in zip(drawn.tolist(), asked.tolist(), strict=True)
    ]


def _audiences(rng: np.random.Generator, agency: Longs) -> list[str]:
    """For each campaign up to three of its agency's audiences, combined."""
    pool = audiences.audiences(rng, AGENCIES * AUDIENCES_OF_AN_AGENCY)
    shape = rng.choice(len(_SHAPES), len(agency), p=[weight for weight, _ in _SHAPES])
    drawn = world.draw(rng, 3 * len(agency), AUDIENCES_OF_AN_AGENCY, 0.8).reshape(3, -1)
    drawn[1:] += drawn[1:] == drawn[0]  # an audience is not combined with itself ...
    drawn[2] += 2 * (drawn[2] == drawn[1])
    drawn = agency * AUDIENCES_OF_AN_AGENCY + drawn % AUDIENCES_OF_AN_AGENCY
    return [
        _SHAPES[how][1].format(pool[first], pool[second], pool[third])
        for how, first, second, third in zip(shape.tolist(), *drawn.tolist(), strict=True)
    ]
