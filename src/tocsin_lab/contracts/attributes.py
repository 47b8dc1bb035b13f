"""What visits tell and contracts ask for. The paper took these statistics from an exchange and prints
none, so these are ours: what display advertising commonly targets, in the proportions of a busy site.

Contracts ask broadly (one country, half of the ages), which the paper's selectivities ask for: with
trees as it describes them, Table 3 comes about when close to half of all conjunctions hold in a visit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tocsin.errors import UsageError
from tocsin_lab.exchange.world import CATEGORIES, INTERESTS, words

Target = tuple[str, ...]


@dataclass(frozen=True)
class Attribute:
    """One attribute of a visit.

    asked      how often contracts ask for it, beside the others: the paper's a_i
    known      the share of visits that tell it
    values     the shares of its values among these
    targets    what contracts ask for, some of the values, and how often: the paper's p_i
    """

    name: str
    asked: float
    known: float
    values: Mapping[str, float]
    targets: Mapping[Target, float]

    def __post_init__(self) -> None:
        strange = {value for target in self.targets for value in target} - set(self.values)
        if strange:
            raise UsageError(f"a target of {self.name} has '{min(strange)}', which is none of its values")
        if not 0 <= self.known <= 1 or self.asked < 0 or not self.values or not self.targets:
            raise UsageError(f"{self.name}: expected values, targets, and shares from 0 on")


def _named(name: str, asked: float, known: float, values: str, targets: str) -> Attribute:
    """From short texts: "male 52, female 48" and "male 2, female 1, male+female 1"."""
    shares = {value: float(share) for value, share in (part.split() for part in values.split(", "))}
    wanted = {
        tuple(target.split("+")): float(share)
        for target, share in (part.split() for part in targets.split(", "))
    }
    return Attribute(name, asked, known, shares, wanted)


def _ranked(
    name: str, asked: float, known: float, *, values: tuple[str, ...], targets: int, widest: int, seed: int
) -> Attribute:
    """Many values and many targets, both popular by Zipf's law; a target has up to `widest` values."""
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, len(values) + 1)
    wanted: dict[Target, float] = {}
    while len(wanted) < targets:
        width = rng.integers(1, widest + 1)
        drawn = np.sort(rng.choice(len(values), width, replace=False, p=share / share.sum()))
        wanted.setdefault(tuple(values[place] for place in drawn), 1 / (len(wanted) + 1))
    return Attribute(name, asked, known, dict(zip(values, share.tolist(), strict=True)), wanted)


_STATES = words(
    """CA TX FL NY PA IL OH GA NC MI NJ VA WA AZ MA TN IN MO MD WI CO MN SC AL LA KY OR OK CT UT IA NV AR
    MS KS NM NE WV ID HI NH ME MT RI DE SD ND AK VT WY"""
)

STANDARD = (
    _named(
        "country",
        0.30,
        0.98,
        "US 82, CA 6, GB 5, DE 3, FR 2, MX 2",
        "US 70, US+CA 15, US+CA+GB 8, GB 3, DE+FR 2, MX 2",
    ),
    _named(
        "age",
        0.26,
        0.85,
        "13-17 6, 18-24 17, 25-34 24, 35-44 20, 45-54 16, 55-64 10, 65-99 7",
        "18-24+25-34+35-44+45-54+55-64+65-99 25, 25-34+35-44+45-54 25, 18-24+25-34+35-44 20, "
        "18-24+25-34 12, 35-44+45-54+55-64 10, 55-64+65-99 5, 13-17+18-24 3",
    ),
    _named("gender", 0.20, 0.85, "male 52, female 48", "male 2, female 1"),
    _named("language", 0.14, 0.99, "en 84, es 8, fr 5, de 3", "en 80, en+es 12, es 5, fr+de 3"),
    _named(
        "device",
        0.14,
        1.0,
        "desktop 70, phone 22, tablet 8",
        "desktop 60, phone+tablet 25, desktop+tablet 15",
    ),
    _named(
        "daypart",
        0.12,
        1.0,
        "night 8, morning 22, noon 20, afternoon 24, evening 26",
        "morning+noon+afternoon+evening 50, noon+afternoon+evening 25, evening 15, morning 10",
    ),
    _named(
        "weekday",
        0.08,
        1.0,
        "mon 15, tue 15, wed 15, thu 15, fri 14, sat 13, sun 13",
        "mon+tue+wed+thu+fri 70, sat+sun 20, fri+sat+sun 10",
    ),
    _named(
        "browser",
        0.05,
        1.0,
        "explorer 55, firefox 25, chrome 12, safari 6, opera 2",
        "explorer+firefox+chrome+safari 60, explorer 20, firefox+chrome 15, safari 5",
    ),
    _named(
        "connection",
        0.05,
        0.9,
        "cable 60, dsl 20, mobile 15, modem 5",
        "cable+dsl 75, mobile 15, cable+dsl+mobile 10",
    ),
    _named("fold", 0.10, 1.0, "above 65, below 35", "above 90, below 10"),
    _named(
        "income",
        0.05,
        0.5,
        "low 25, middle 45, high 22, top 8",
        "middle+high+top 50, high+top 30, top 10, low+middle 10",
    ),
    _ranked("state", 0.10, 0.95, values=_STATES, targets=150, widest=20, seed=1),
    _ranked("category", 0.14, 1.0, values=CATEGORIES, targets=120, widest=12, seed=2),
    _ranked("interest", 0.12, 0.8, values=INTERESTS, targets=200, widest=20, seed=3),
)
"""What contracts and visits are made of, unless a setting says otherwise."""
