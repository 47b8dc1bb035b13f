"""What visits and campaigns draw from: names with their popularity.

A name's place in its tuple is its rank, and popularity falls with the rank, as it does in the world.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache

import numpy as np

from tocsin.arrays.dtypes import Doubles, Longs


def words(text: str) -> tuple[str, ...]:
    """The words of a text."""
    return tuple(text.split())


COUNTRIES = words("US DE GB FR BR IN ES IT NL PL CA MX JP SE AU CH AT BE PT DK NO FI IE CZ")
REGIONS_OF_A_COUNTRY = 12
LANGUAGE_OF = {
    **dict.fromkeys(("US", "GB", "CA", "AU", "IE", "IN"), "en"),
    **dict.fromkeys(("DE", "AT", "CH"), "de"),
    **dict.fromkeys(("ES", "MX"), "es"),
    **dict.fromkeys(("BR", "PT"), "pt"),
    **dict.fromkeys(("NL", "BE"), "nl"),
    "FR": "fr",
    "IT": "it",
    "PL": "pl",
    "JP": "ja",
    "SE": "sv",
    "DK": "da",
    "NO": "nb",
    "FI": "fi",
    "CZ": "cs",
}
LANGUAGES = tuple(dict.fromkeys(LANGUAGE_OF.values()))
GENDERS = ("f", "m", "x")

INTERESTS = words(
    """football music travel cooking films gaming fitness fashion cars photography gardening reading
    running cycling hiking baking dogs cats television podcasts finance investing politics science
    history art theatre dance skiing swimming yoga tennis golf sailing fishing camping motorbikes
    furniture decorating crafts knitting chess wine coffee tea vegan barbecue astronomy robotics
    programming phones cameras watches jewellery perfume skincare parenting weddings property
    volunteering languages"""
)
KEYWORDS = words(
    """news weather sale review price best cheap free guide recipe holiday flight hotel beach city
    match goal league transfer score election market shares mortgage loan insurance savings tax
    health doctor diet sleep workout shoes dress jacket bag trend style phone laptop tablet camera
    battery screen game console level release trailer actor series album concert ticket festival
    garden plant tool paint kitchen sofa lamp baby school toy birthday puppy kitten engine electric
    hybrid tyre charging road bike trail mountain lake snow summer winter museum gallery book author
    poem job career salary course exam language startup invention rocket planet climate forest ocean
    energy solar wind rain storm train bus ferry bridge tower castle village farm market-hall bread
    cheese chocolate salad soup grill"""
)
CATEGORIES = words(
    """news sport entertainment shopping games video finance food travel health technology fashion
    cars home science education music weather jobs property family pets religion law poetry"""
)
SITE_WORDS = ("daily", "planet", "world", "my", "the", "best", "local", "open", "club", "hub", "zone", "post")
SITES = 400

DEVICES = ("phone", "desktop", "tablet", "tv")
SYSTEMS_OF = {
    "phone": ("android", "ios"),
    "desktop": ("windows", "macos", "linux"),
    "tablet": ("ios", "android"),
    "tv": ("tizen", "android", "tvos"),
}
BROWSERS = ("chrome", "safari", "edge", "firefox", "samsung", "opera")
CONNECTIONS = ("wifi", "4g", "5g", "cable", "3g")
CARRIERS = ("aurora", "bluebell", "crescent", "delta", "ember", "falcon", "granite", "harbour")
SLOT_SIZES = ("300x250", "728x90", "320x50", "160x600", "970x250", "300x600", "1920x1080", "120x600")
SLOT_POSITIONS = ("top", "inline", "side", "bottom", "overlay")
SEARCHES = ("search", "find", "seek", "ask")

WEEK_START = datetime(2026, 3, 2, tzinfo=UTC)
"""The Monday on which the visits of the one week begin."""


@cache
def popularity(count: int, skew: float = 1.0) -> Doubles:
    """The chances of `count` ranks by Zipf's law: 1 / (rank + 1) ** skew, made to sum to 1; not to be
    written to."""
    weights = 1.0 / np.arange(2, count + 2, dtype=np.float64) ** skew
    return np.asarray(weights / weights.sum())


def draw(rng: np.random.Generator, size: int, count: int, skew: float = 1.0) -> Longs:
    """Places among `count` ranked names, popular ones more often."""
    edges = np.cumsum(popularity(count, skew))
    return np.minimum(np.searchsorted(edges, rng.random(size), side="right"), count - 1)


def draw_distinct(rng: np.random.Generator, names: Sequence[str], count: int, skew: float = 1.0) -> list[str]:
    """A few different names, popular ones more often."""
    places = rng.choice(len(names), size=count, replace=False, p=popularity(len(names), skew))
    return [names[place] for place in places]


def region(country: str, place: int) -> str:
    """The code of a country's region."""
    return f"{country}-{place + 1:02d}"


def site_domain(place: int) -> str:
    """The domain of a site; the site's category is its second-level name."""
    word = SITE_WORDS[place // len(CATEGORIES) % len(SITE_WORDS)]
    return f"{word}{place}.{site_category(place)}.example"


def site_category(place: int) -> str:
    """The category of a site."""
    return CATEGORIES[place % len(CATEGORIES)]
