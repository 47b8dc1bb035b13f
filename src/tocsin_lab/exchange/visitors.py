"""The events: visits to sites, each with who came, from where, with what, and what there is to sell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.arrays.dtypes import Doubles, Flags, Longs
from tocsin_lab.exchange import world

MICROS = 1_000_000

Codes = Longs


def visits(count: int, seed: int = 1) -> pa.Table:
    """`count` visits of one week in order of time; the same for the same count and seed.

    `visit` is the number of the row. The fields of user, site and slot are nested.
    """
    rng = np.random.default_rng((seed, 1))
    # The hours follow a day's curve: most visits in the evening, few at night.
    hour_of_day = rng.choice(24, size=count, p=_daily_curve())
    second = rng.integers(0, 7, count) * 86_400 + hour_of_day * 3_600 + rng.integers(0, 3_600, count)
    second.sort()
    country = world.draw(rng, count, len(world.COUNTRIES))
    columns = {
        "visit": pa.array(np.arange(count)),
        "time": _instants(second),
        "hour": pa.array((second // 3_600 % 24).astype(np.int16)),
        "weekday": pa.array((second // 86_400 + 1).astype(np.int16)),
        "user": _users(rng, country, second),
        "site": _sites(rng, count),
        "slot": _slots(rng, count),
        **_devices(rng, count),
        "ip": _addresses(rng, country),
        "referrer": _referrers(rng, count),
        "consent": _booleans(rng, count, chance=0.8, missing=0.02),
        "price_floor": _decimals(np.exp(rng.normal(-0.5, 0.8, count)), most=99.0),
    }
    return pa.table(columns)


def _users(rng: np.random.Generator, country: Codes, second: Codes) -> pa.StructArray:
    count = len(country)
    region = world.draw(rng, count, world.REGIONS_OF_A_COUNTRY)
    regions = [
        world.region(name, place) for name in world.COUNTRIES for place in range(world.REGIONS_OF_A_COUNTRY)
    ]
    own = np.array([world.LANGUAGES.index(world.LANGUAGE_OF[name]) for name in world.COUNTRIES])[country]
    foreign = world.draw(rng, count, len(world.LANGUAGES), 1.5)
    language = np.where(rng.random(count) < 0.85, own, foreign)
    age = np.clip(13 + rng.gamma(2.6, 10.5, count), 13, 95).astype(np.int16)
    ago = (rng.exponential(12 * 86_400, count) + 600).astype(np.int64)
    fields = {
        "country": _names(world.COUNTRIES, country),
        "region": _names(regions, country * world.REGIONS_OF_A_COUNTRY + region, _gaps(rng, count, 0.06)),
        "city_tier": pa.array((1 + world.draw(rng, count, 5)).astype(np.int16), mask=_gaps(rng, count, 0.06)),
        "language": _names(world.LANGUAGES, language),
        "age": pa.array(age, mask=_gaps(rng, count, 0.18)),
        "gender": _names(world.GENDERS, rng.choice(3, count, p=[0.49, 0.48, 0.03]), _gaps(rng, count, 0.12)),
        "income_band": pa.array(
            np.clip(rng.normal(5, 2.1, count), 1, 10).astype(np.int16), mask=_gaps(rng, count, 0.45)
        ),
        "household_size": pa.array(
            (1 + rng.poisson(1.3, count)).astype(np.int16), mask=_gaps(rng, count, 0.5)
        ),
        "member": _booleans(rng, count, chance=0.22, missing=0.05),
        "interests": _lists(rng, count, world.INTERESTS, most=8, gaps=_gaps(rng, count, 0.1)),
        "past_purchases": pa.array((rng.geometric(0.45, count) - 1).astype(np.int32)),
        "last_visit": _instants(second - ago, _gaps(rng, count, 0.3)),
    }
    return _struct(fields)


def _sites(rng: np.random.Generator, count: int) -> pa.StructArray:
    site = world.draw(rng, count, world.SITES, 0.8)
    quality = np.round(rng.beta(5, 2, world.SITES), 3)
    premium = np.arange(world.SITES) % 7 == 0
    fields = {
        "domain": _names([world.site_domain(place) for place in range(world.SITES)], site),
        "category": _names([world.site_category(place) for place in range(world.SITES)], site),
        "keywords": _lists(rng, count, world.KEYWORDS, most=10, gaps=_gaps(rng, count, 0.04)),
        "quality": pa.array(quality[site]),
        "premium": pa.array(premium[site]),
    }
    return _struct(fields)


def _slots(rng: np.random.Generator, count: int) -> pa.StructArray:
    size = world.draw(rng, count, len(world.SLOT_SIZES))
    fields = {
        "size": _names(world.SLOT_SIZES, size),
        "position": _names(world.SLOT_POSITIONS, world.draw(rng, count, len(world.SLOT_POSITIONS), 0.6)),
        "viewability": pa.array(np.round(rng.beta(4, 2.5, count), 2), mask=_gaps(rng, count, 0.1)),
        "video": pa.array((size == world.SLOT_SIZES.index("1920x1080")) | (rng.random(count) < 0.12)),
    }
    return _struct(fields)


def _devices(rng: np.random.Generator, count: int) -> dict[str, pa.Array]:
    device = rng.choice(len(world.DEVICES), count, p=[0.56, 0.31, 0.08, 0.05])
    names = sorted({name for systems in world.SYSTEMS_OF.values() for name in systems})
    system = np.zeros(count, np.int64)
    for place, name in enumerate(world.DEVICES):
        here = np.flatnonzero(device == place)
        choices = np.array([names.index(each) for each in world.SYSTEMS_OF[name]])
        system[here] = choices[world.draw(rng, len(here), len(choices), 1.4)]
    mobile = device == world.DEVICES.index("phone")
    connection = np.where(mobile, rng.choice(5, count, p=[0.45, 0.25, 0.22, 0.0, 0.08]), 0)
    connection = np.where(~mobile & (rng.random(count) < 0.4), world.CONNECTIONS.index("cable"), connection)
    return {
        "device": _names(world.DEVICES, device),
        "os": _names(names, system),
        "os_version": pa.array(rng.binomial(19, 0.72, count).astype(np.int16), mask=_gaps(rng, count, 0.05)),
        "browser": _names(world.BROWSERS, world.draw(rng, count, len(world.BROWSERS), 1.2)),
        "connection": _names(world.CONNECTIONS, connection, _gaps(rng, count, 0.08)),
        "carrier": _names(world.CARRIERS, world.draw(rng, count, len(world.CARRIERS)), ~mobile),
    }


def _addresses(rng: np.random.Generator, country: Codes) -> pa.Array:
    """IPv4 addresses whose first number tells the country, one in fifty an IPv6 address."""
    parts = [20 + country, *rng.integers(0, 256, (3, len(country)))]
    version_4 = pc.binary_join_element_wise(*(_texts(part) for part in parts), ".")
    version_6 = pc.binary_join_element_wise("2001:db8", _texts(parts[0]), _texts(parts[1]), ":1", ":")
    return pc.if_else(pa.array(rng.random(len(country)) < 0.02), version_6, version_4)


def _referrers(rng: np.random.Generator, count: int) -> pa.Array:
    """Where the visitor came from: a search for two keywords, another site, or nowhere."""
    engine, first, second, site = (
        _names(names, world.draw(rng, count, len(names)))
        for names in (
            world.SEARCHES,
            world.KEYWORDS,
            world.KEYWORDS,
            [world.site_domain(place) for place in range(world.SITES)],
        )
    )
    search = pc.binary_join_element_wise("https://", engine, ".example/?q=", first, "+", second, "")
    kind = rng.choice(3, count, p=[0.4, 0.3, 0.3])
    other = pc.if_else(pa.array(kind == 1), pc.binary_join_element_wise("https://", site, "/", ""), None)
    return pc.if_else(pa.array(kind == 0), search, other)


def _daily_curve() -> Doubles:
    hours = np.arange(24)
    curve = 0.15 + np.exp(-(((hours - 20) / 3.0) ** 2)) + 0.7 * np.exp(-(((hours - 12) / 4.0) ** 2))
    return np.asarray(curve / curve.sum())


def _gaps(rng: np.random.Generator, count: int, share: float) -> Flags:
    """Where a value is missing."""
    return rng.random(count) < share


def _names(names: Sequence[str], codes: Codes, gaps: Flags | None = None) -> pa.Array:
    return pa.array(names, pa.string()).take(pa.array(codes, mask=gaps))


def _texts(numbers: Codes) -> pa.Array:
    return pa.array(numbers).cast(pa.string())


def _booleans(rng: np.random.Generator, count: int, *, chance: float, missing: float) -> pa.Array:
    return pa.array(rng.random(count) < chance, mask=_gaps(rng, count, missing))


def _instants(second: Codes, gaps: Flags | None = None) -> pa.Array:
    """Seconds of the one week as timestamps."""
    start = int(world.WEEK_START.timestamp())
    return pa.array((second + start) * MICROS, mask=gaps).cast(pa.timestamp("us", "UTC"))


def _decimals(values: Doubles, *, most: float) -> pa.Array:
    """Values as decimals with two digits after the point, at least 0.01.

    Arrow has no cast from floats that rounds; a decimal is 16 bytes, of which these need the first 8.
    """
    words = np.zeros((len(values), 2), "<i8")
    words[:, 0] = np.clip(np.round(values * 100), 1, most * 100)
    return pa.Array.from_buffers(pa.decimal128(6, 2), len(values), [None, pa.py_buffer(words)])


def _lists(
    rng: np.random.Generator, count: int, names: Sequence[str], *, most: int, gaps: Flags
) -> pa.ListArray:
    """Lists of up to `most` different names, popular ones more often; some are empty."""
    drawn = world.draw(rng, count * most, len(names), 0.9).reshape(count, most)
    wanted = np.arange(most) < rng.integers(0, most + 1, count)[:, None]
    drawn = np.sort(np.where(wanted, drawn, -1), axis=1)
    kept = drawn >= 0
    kept[:, 1:] &= drawn[:, 1:] != drawn[:, :-1]
    offsets = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), _names(names, drawn[kept]), mask=pa.array(gaps))


def _struct(fields: dict[str, pa.Array]) -> pa.StructArray:
    return pa.StructArray.from_arrays(list(fields.values()), names=list(fields))
