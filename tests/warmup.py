"""Compile the kernels that the tests need: `python -m tests.warmup`, which `make fast` runs first.

Compiled code is cached, so that it takes a while once. Without this each process of the tests would compile
for itself what the others are compiling at the same time.
"""

from __future__ import annotations

import pyarrow as pa

from tocsin import build
from tocsin.datalog.engine import warm_up as warm_up_programs
from tocsin.engines import ENGINES
from tocsin.warmup import warm_up

RULES = [
    ("nested", "a = 1 and (b = 2 or (c < 3 and (d = 4 or not e = 5)))"),
    ("other", "a = 1 and (b = 2 or c < 3) and not d = 4"),
    ("either", "a = 1 xor b = 2"),
]
EVENT = {"a": 1, "b": 2, "c": 2, "d": 5, "e": 6}


def main() -> None:
    """What everybody needs, and then every engine on one event, on a table and on counts."""
    warm_up()
    warm_up_programs()
    events = pa.Table.from_pylist([EVENT, EVENT])
    for engine in ENGINES:
        index = build(RULES, engine)
        index.match(EVENT)
        index.match_table(events)
        index.match_table(events, count=True)


if __name__ == "__main__":
    main()
