"""What an experiment is, and what one run of it is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from tocsin_lab.experiments.kept_outcomes import Kept, NotKept
from tocsin_lab.experiments.outcome import Outcome, together
from tocsin_lab.experiments.progress import Progress, Silence


class Paper(Enum):
    """The papers whose experiments these are."""

    DEWEY = "Fontoura et al., SIGMOD 2010"
    ATREE = "Ji and Jacobsen, SIGMOD 2021"
    YIELD = "Qin et al., World Wide Web 2018"


@dataclass(frozen=True)
class Run:
    """One run. `scale` is a factor of the paper's own sizes; `engines` are those to be compared.

    The same scale and seed make the same workload. `shown` is given what there is so far when a part is done.
    """

    scale: float
    seed: int = 1
    engines: tuple[str, ...] = ()
    progress: Progress = field(default_factory=Silence)
    kept: Kept = field(default_factory=NotKept)
    shown: Callable[[Outcome], None] = lambda _: None
    _so_far: list[Outcome] = field(default_factory=list)

    def sized(self, of_the_paper: int, fewest: int = 100) -> int:
        """A size of the paper's at this run's scale."""
        return max(fewest, round(of_the_paper * self.scale))

    def part(self, name: str, steps: int, measure: Callable[[], Outcome]) -> Outcome:
        """One of several parts, which takes so many steps: measured, unless it was in a run before."""
        found = self.kept.find(name)
        if found is None:
            found = measure()
            self.kept.put(name, found)
        else:
            self.progress.skip(steps)
        self._so_far.append(found)
        self.shown(together(self._so_far))
        return found


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper that can be measured.

    name       what `tocsin bench` calls it: atree-table4
    paper      whose
    place      where in the paper: Table 4
    shows      one line
    size       what a scale of 1 means, such as "1,392,196 rules"
    scale      of a run that says nothing of it; takes a minute or a few on two cores
    lasts      about how long that takes
    engines    the engines that it compares; none when it is about something else
    measure    does it
    """

    name: str
    paper: Paper
    place: str
    shows: str
    size: str
    scale: float
    lasts: str
    engines: tuple[str, ...]
    measure: Callable[[Run], Outcome]
