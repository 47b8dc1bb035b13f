"""The common level of processors that machine code is made for when it is to run on other machines too.

What this machine compiles for itself may use all that its processor has. What `tocsin warm` and a wheel
hold is compiled for the level, and runs as fast (docs/performance.md).
"""

from __future__ import annotations

import platform
from functools import cache
from typing import NamedTuple

from llvmlite.binding import get_host_cpu_features


class Level(NamedTuple):
    """A level as LLVM names it, and its features as LLVM takes them."""

    name: str
    features: str


_V3 = (
    "+avx,+avx2,+bmi,+bmi2,+cmov,+cx16,+cx8,+f16c,+fma,+fxsr,+lzcnt,+mmx,+movbe,+popcnt,+sahf,"
    "+sse,+sse2,+sse3,+sse4.1,+sse4.2,+ssse3,+xsave"
)
_LEVELS = {"x86_64": Level("x86-64-v3", _V3)}


def common_level() -> Level | None:
    """The level for this kind of machine; none where each machine compiles for itself."""
    return _LEVELS.get(platform.machine())


@cache
def has_level() -> bool:
    """Whether this processor can run what is compiled for the level."""
    level = common_level()
    if level is None:
        return False
    features = get_host_cpu_features()
    return all(features.get(feature[1:], False) for feature in level.features.split(","))
