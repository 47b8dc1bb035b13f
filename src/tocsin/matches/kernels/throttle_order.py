"""Which of many alerts in a row are sent, when those of one group must be some time apart."""

from __future__ import annotations

import numpy as np

from tocsin.arrays.dtypes import Flags, Longs
from tocsin.arrays.jit import kernel

NEVER = np.iinfo(np.int64).min
"""In the place of a time: nothing was sent yet."""


@kernel
def pick_sent(group: Longs, time: Longs, throttle: Longs, last: Longs, sent: Flags) -> None:
    """Mark the alerts that are sent, each at least its throttle after the last one of its group.

    `last` has the time of each group's last alert sent, and goes on with those that are sent here.
    """
    for row in range(len(group)):
        before = last[group[row]]
        if before == NEVER or time[row] - before >= throttle[row]:
            sent[row] = True
            last[group[row]] = time[row]
