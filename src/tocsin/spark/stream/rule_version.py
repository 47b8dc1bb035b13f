"""A version of the rules, as workers open it: a saved index in the checkpoint, and perhaps changes to it.

A change of a few rules among many is not worth an index of its own. Such a version names the index of an
earlier one, its *base*, and a file with the operations that lead from there to here:

    rules/00000003-9f2c.tocsin       version 3: an index
    rules/00000004-77ab.changes      version 4: that index, and JSON lines ["replace", "r7", "age > 21"]
    rules/00000005-c3d1.parts/       version 5: an index in parts, to which changes are never made

All names hold a digest of the content, so what a process has opened under a name stays right. Importing
this module loads neither NumPy nor the kernels.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from tocsin.errors import TocsinError

if TYPE_CHECKING:
    from tocsin.conditions.live.sharded_index import RuleIndex

KEPT_OPEN = 4
"""Versions that a process holds open: that of this batch, and some before it."""


@dataclass(frozen=True, slots=True)
class RuleVersion:
    """Which rules a batch is matched with. Small, and made to be pickled.

    number    counts up from 1
    base      the path of a saved index, whole or in parts
    changes   the path of the operations that lead from there to this version; None when there are none
    named     the top-level fields that alerts' texts and dedup fields look at
    triggers  the path of the triggers over several tables, which cannot be in an index; see
              joined_triggers.py. None when there are none
    """

    number: int
    base: str
    changes: str | None = None
    named: tuple[str, ...] = ()
    triggers: str | None = None

    def open(self) -> RuleIndex:
        """The rules, in a worker or in the driver; opened once, and not to be changed by anybody."""
        return _opened(self.base, self.changes)


@lru_cache(maxsize=KEPT_OPEN)
def _opened(base: str, changes: str | None) -> RuleIndex:
    from tocsin.saved import open_rules

    if not Path(base).exists():
        raise TocsinError(f"the rules are not to be seen from this machine: there is no {base}")
    index = open_rules(base, verify=False)
    if changes is not None:
        with Path(changes).open(encoding="utf-8") as lines:
            index.apply([json.loads(line) for line in lines])
    return index
