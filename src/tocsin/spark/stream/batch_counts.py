"""What a batch counts in passing: events, matches, rejects, and which of the rules' fields were there.

A Spark accumulator brings it to the driver with the tasks' results, so that it costs no job. When a task
is done twice it may count twice. Nothing but messages depends on it, and whether there are rejects to look
for: that there are none is believed when a task has counted.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark import Accumulator, AccumulatorParam


@dataclass(slots=True)
class Tally:
    """Counts. `seen` has a bit for each of the fields of the rules, in the order of Version.fields.

    tasks     that have counted
    """

    tasks: int = 0
    events: int = 0
    matches: int = 0
    rejects: int = 0
    seen: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.tasks + other.tasks,
            self.events + other.events,
            self.matches + other.matches,
            self.rejects + other.rejects,
            self.seen | other.seen,
        )


class _TallyParam(AccumulatorParam[Tally]):
    def zero(self, value: Tally) -> Tally:  # noqa: ARG002  (Spark's)
        return Tally()

    def addInPlace(self, value1: Tally, value2: Tally) -> Tally:  # noqa: N802  (Spark's name)
        return value1 + value2


TallyAccumulator = Accumulator[Tally]

TALLY_PARAM = _TallyParam()
