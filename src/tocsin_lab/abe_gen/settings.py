"""What can be chosen about a workload. The defaults are those of the paper's Table 3 and section 6.2."""

from __future__ import annotations

from dataclasses import dataclass

from tocsin.errors import UsageError


@dataclass(frozen=True)
class Mix:
    """What predicates ask, in shares of those on integers; the paper does not say, so this is ours.

    Ranges are <, <=, > and >= alike. On strings a range becomes an equality, on lists of integers
    everything but none-of becomes one-of, and a Boolean field is asked for true or for false. Lists
    of values hold two to five of them.
    """

    equal: float
    one_of: float
    ranges: float
    none_of: float


@dataclass(frozen=True)
class Dimensions:
    """The fields d0, d1, ... of a workload, and what its events look like.

    The last digit of a field's number is its kind: 0-5 an integer, 6-7 a string, 8 a Boolean, 9 a
    list of one to three integers. Predicates and events choose fields by Zipf's law, and values too.
    """

    count: int
    cardinality: int
    zipf: float
    event_size: int
    mix: Mix

    def __post_init__(self) -> None:
        if min(self.count, self.cardinality, self.event_size) < 1:
            raise UsageError("a workload needs at least one dimension, one value and one pair an event")
        if self.event_size > self.count:
            raise UsageError(f"an event of {self.event_size} pairs needs as many dimensions")


@dataclass(frozen=True)
class Setting:
    """Random expressions, `depth` levels deep: predicates are level 1, the rules' roots the highest.

    operators        shares of and, or, not, xor, xnor
    children         of and, or: on average, from 2 to 2 * children - 2 alike
    zipf             how unevenly the parts of a pool are used; 0 makes every subexpression anew
    uses_...         how often a predicate or a subexpression is used over all the expanded rules, on
                     average: as the paper measured, and what it leaves open about its pools
    pools_for        make the pools as for so many expressions instead: of a workload that grows, the
                     parts stay the same and are used more and more

    With the defaults about 2 to 3 % of the rules match an event.
    """

    expressions: int = 1_000_000
    operators: tuple[float, float, float, float, float] = (0.4, 0.4, 0.1, 0.05, 0.05)
    depth: int = 3
    children: int = 4
    zipf: float = 0.6
    dimensions: Dimensions = Dimensions(
        1_000, 100, 0.6, 20, Mix(equal=0.36, one_of=0.45, ranges=0.16, none_of=0.03)
    )
    uses_of_predicate: float = 18.35
    uses_of_subexpression: float = 4.33
    pools_for: int | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        if self.expressions < 1 or self.depth < 1 or self.children < 2:
            raise UsageError("a workload needs an expression, a depth of 1 and 2 children")
        if abs(sum(self.operators) - 1) > 1e-9:
            raise UsageError("the shares of the operators add up to 1")


@dataclass(frozen=True)
class AdsSetting:
    """Expressions like the paper's advertisements: deep, long and mostly shared.

    A rule is an `and` of one or two predicates and an `or`, the `or` one of eleven or twelve
    predicates and an `and`, and so on down to level 2; so it has one subexpression on every level,
    and at most 56 predicates. The paper tells how often level 1 and level 9 are shared; between
    them the uses fall by one factor from level to level.

    deepest_share    rules of the full depth; the other depths share the rest evenly, which makes 48
                     predicates a rule
    """

    expressions: int = 1_392_196
    depth: int = 9
    deepest_share: float = 0.872
    uses_at_first_level: float = 68.76
    uses_at_last_level: float = 2.88
    zipf: float = 0.75
    dimensions: Dimensions = Dimensions(
        122, 1_000, 0.6, 20, Mix(equal=0.47, one_of=0.4, ranges=0.1, none_of=0.03)
    )
    seed: int = 1

    def __post_init__(self) -> None:
        if self.expressions < 1 or self.depth < 3:
            raise UsageError("a workload like advertisements needs an expression and a depth of 3")

    def uses(self, level: int) -> float:
        """How often a node of this level is used over all the expanded rules, on average."""
        fall = self.uses_at_last_level / self.uses_at_first_level
        return float(self.uses_at_first_level * fall ** ((level - 1) / (self.depth - 1)))


Workload = Setting | AdsSetting
