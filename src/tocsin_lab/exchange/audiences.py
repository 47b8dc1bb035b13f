"""The clauses that campaigns are put together from.

An advertiser hardly ever writes a condition from nothing: an agency has its audiences, its places and
its kinds of site, and uses them again. So each pool here is made once, and campaigns choose from it.
Every clause can stand as an operand of `and` and after `not`: it is one predicate or in parentheses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

import numpy as np

from tocsin_lab.exchange import world

Generator = np.random.Generator
Maker = str | Callable[[Generator], str]


def pool(rng: Generator, makers: Sequence[tuple[float, Maker]], size: int) -> list[str]:
    """`size` clauses; each maker, a function or the clause itself, is chosen by its weight."""
    weights = np.array([weight for weight, _ in makers])
    chosen = rng.choice(len(makers), size, p=weights / weights.sum())
    made = (makers[place][1] for place in chosen)
    return [maker if isinstance(maker, str) else maker(rng) for maker in made]


def audiences(rng: Generator, size: int) -> list[str]:
    """Who: one trait of a visitor, or two of them combined."""
    traits = pool(rng, _TRAITS, size)
    partners = rng.integers(0, size, size)
    shapes = rng.choice(4, size, p=[0.55, 0.25, 0.12, 0.08])
    formats = ("{0}", "({0} and {1})", "({0} or {1})", "({0} and not {1})")
    return [
        formats[shape].format(trait, traits[partner])
        for shape, trait, partner in zip(shapes, traits, partners, strict=True)
    ]


def places(rng: Generator, size: int) -> list[str]:
    """Where the visitor is."""
    return pool(rng, _PLACES, size)


def contexts(rng: Generator, size: int) -> list[str]:
    """On what kind of site."""
    return pool(rng, _CONTEXTS, size)


def equipment(rng: Generator, size: int) -> list[str]:
    """With what the visitor came."""
    return pool(rng, _EQUIPMENT, size)


def deliveries(rng: Generator, size: int) -> list[str]:
    """At what time and in what kind of slot."""
    return pool(rng, _DELIVERIES, size)


def texts(names: Sequence[str]) -> str:
    """Names as values of the rule language, separated by commas."""
    return ", ".join("'" + name.replace("'", "''") + "'" for name in names)


def one_of(rng: Generator, field: str, names: Sequence[str], most: int, skew: float = 1.0) -> str:
    """`field = 'a'` or `field in ('a', 'b')`, with up to `most` names."""
    chosen = world.draw_distinct(rng, names, int(rng.integers(1, most + 1)), skew)
    return f"{field} = {texts(chosen)}" if len(chosen) == 1 else f"{field} in ({texts(chosen)})"


def _age(rng: Generator) -> str:
    low, high = _AGE_BANDS[rng.integers(len(_AGE_BANDS))]
    return f"user.age between {low} and {high}" if high else f"user.age >= {low}"


def _age_and_gender(rng: Generator) -> str:
    return f"({_age(rng)} and user.gender = '{world.GENDERS[world.draw(rng, 1, 3, 3.0)[0]]}')"


def _interests(rng: Generator) -> str:
    return one_of(rng, "user.interests", world.INTERESTS, 4, 0.6)


def _interests_without(rng: Generator) -> str:
    return f"({_interests(rng)} and user.interests != '{world.draw_distinct(rng, world.INTERESTS, 1)[0]}')"


def _well_off(rng: Generator) -> str:
    return f"user.income_band >= {rng.integers(6, 10)}"


def _household(rng: Generator) -> str:
    return f"(user.household_size >= {rng.integers(3, 5)} and user.age not between 13 and 24)"


def _customers(rng: Generator) -> str:
    return f"(user.past_purchases >= {rng.integers(2, 6)} or user.member)"


def _lapsed(rng: Generator) -> str:
    since = world.WEEK_START - timedelta(days=int(rng.integers(5, 40)))
    moment = since.strftime("%Y-%m-%dT%H:%M:%SZ")
    return f"(user.last_visit < timestamp '{moment}' and user.past_purchases > 0)"


def _one_but_not_both(rng: Generator) -> str:
    return f"(user.member xor user.past_purchases > {rng.integers(2, 7)})"


def _abroad(rng: Generator) -> str:
    country = world.draw_distinct(rng, world.COUNTRIES, 1)[0]
    return f"(user.language = '{world.LANGUAGE_OF[country]}' and user.country != '{country}')"


def _country(rng: Generator) -> str:
    return one_of(rng, "user.country", world.COUNTRIES, 4)


def _regions(rng: Generator) -> str:
    country = world.draw_distinct(rng, world.COUNTRIES, 1)[0]
    names = [world.region(country, place) for place in range(world.REGIONS_OF_A_COUNTRY)]
    return one_of(rng, "user.region", names, 5)


def _big_cities(rng: Generator) -> str:
    country = world.draw_distinct(rng, world.COUNTRIES, 1)[0]
    return f"(user.country = '{country}' and user.city_tier <= {rng.integers(1, 4)})"


def _speakers(rng: Generator) -> str:
    country = world.draw_distinct(rng, world.COUNTRIES, 1)[0]
    return f"(user.country = '{country}' and user.language != '{world.LANGUAGE_OF[country]}')"


def _network(rng: Generator) -> str:
    octet, prefix = 20 + world.draw(rng, 1, len(world.COUNTRIES))[0], int(rng.integers(9, 13))
    second = int(rng.integers(0, 256)) >> (16 - prefix) << (16 - prefix)
    return f"cidr(ip, '{octet}.{second}.0.0/{prefix}')"


def _categories(rng: Generator) -> str:
    return one_of(rng, "site.category", world.CATEGORIES, 4, 0.5)


def _keywords(rng: Generator) -> str:
    return one_of(rng, "site.keywords", world.KEYWORDS, 5, 0.4)


def _keywords_safely(rng: Generator) -> str:
    unwanted = texts(world.draw_distinct(rng, world.KEYWORDS, 3))
    return f"({_keywords(rng)} and site.keywords not in ({unwanted}))"


def _domain(rng: Generator) -> str:
    if rng.random() < 0.5:
        return f"site.domain like '%.{world.draw_distinct(rng, world.CATEGORIES, 1)[0]}.example'"
    return f"site.domain like '{world.draw_distinct(rng, world.SITE_WORDS, 1)[0]}%'"


def _searched(rng: Generator) -> str:
    return f"referrer ilike '%{world.draw_distinct(rng, world.KEYWORDS, 1, 0.6)[0]}%'"


def _searched_exactly(rng: Generator) -> str:
    first, second = world.draw_distinct(rng, world.KEYWORDS, 2)
    return f"referrer matches '[?&]q=({first}|{second})'"


def _premium(rng: Generator) -> str:
    return f"(site.premium or site.quality > {rng.integers(16, 19) / 20})"


def _devices(rng: Generator) -> str:
    return one_of(rng, "device", world.DEVICES, 2, 0.8)


def _systems(rng: Generator) -> str:
    return f"(os = '{('android', 'ios')[rng.integers(2)]}' and os_version >= {rng.integers(12, 16)})"


def _browsers(rng: Generator) -> str:
    return one_of(rng, "browser", world.BROWSERS, 3)


def _connections(rng: Generator) -> str:
    return one_of(rng, "connection", world.CONNECTIONS, 2)


def _carriers(rng: Generator) -> str:
    return one_of(rng, "carrier", world.CARRIERS, 3)


def _hours(rng: Generator) -> str:
    first = int(rng.integers(6, 20))
    return f"hour between {first} and {first + int(rng.integers(2, 5))}"


def _evenings_of_working_days(rng: Generator) -> str:
    return f"(weekday <= 5 and hour >= {rng.integers(17, 21)})"


def _viewable(rng: Generator) -> str:
    return f"slot.viewability >= {rng.integers(10, 17) / 20}"


def _sizes(rng: Generator) -> str:
    return one_of(rng, "slot.size", world.SLOT_SIZES, 3)


def _positions(rng: Generator) -> str:
    return f"slot.position not in ({texts(world.draw_distinct(rng, world.SLOT_POSITIONS, 2))})"


_AGE_BANDS = (
    (18, 24), (25, 34), (35, 44), (45, 54), (55, 64), (18, 34), (25, 54), (30, 49), (65, 0), (21, 0), (16, 29)
)  # fmt: skip

_TRAITS = (
    (3.0, _age),
    (4.0, _age_and_gender),
    (8.0, _interests),
    (2.0, _interests_without),
    (1.5, _well_off),
    (1.5, _household),
    (1.5, _customers),
    (1.0, _lapsed),
    (0.5, "(user.last_visit is null and user.past_purchases = 0)"),
    (0.5, _one_but_not_both),
    (1.0, _abroad),
)
_PLACES = (
    (5.0, _country),
    (4.0, _regions),
    (2.5, _big_cities),
    (0.7, _speakers),
    (0.8, _network),
)
_CONTEXTS = (
    (5.0, _categories),
    (4.0, _keywords),
    (2.0, _keywords_safely),
    (1.5, _domain),
    (1.0, _searched),
    (0.3, _searched_exactly),
    (1.0, _premium),
)
_EQUIPMENT = (
    (4.0, _devices),
    (1.5, _systems),
    (1.0, _browsers),
    (1.0, _connections),
    (0.7, _carriers),
)
_DELIVERIES = (
    (2.0, _hours),
    (0.5, "weekday in (6, 7)"),
    (1.0, _evenings_of_working_days),
    (2.5, _viewable),
    (1.5, _sizes),
    (1.0, _positions),
    (0.5, "slot.video"),
)
