"""What can be chosen about contracts: section 5.1 of the first paper, and what it leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tocsin.errors import UsageError
from tocsin_lab.contracts.attributes import STANDARD, Attribute


@dataclass(frozen=True)
class ContractSetting:
    """Contracts as trees of AND and OR in turn, an AND at the top, with conjunctions as leaves.

    min_depth   a node above this depth has children; the top is at depth 0
    max_depth   a node at this depth is a leaf
    children    the chances of so many children; of 0, that a node between the two depths is a leaf. The
                paper gives no chance to 0, and so all its leaves are at the same depth
    sizes       the chances of so many predicates in a conjunction: the paper's c_i, which it does not
                print
    not_in      the chance that a predicate asks for none of its values. The paper allows these
                predicates, but does not say that its contracts had any
    attributes  what predicates ask for
    """

    contracts: int = 200_000
    min_depth: int = 1
    max_depth: int = 2
    children: Mapping[int, float] = field(default_factory=lambda: {2: 0.7, 3: 0.2, 1: 0.05, 4: 0.05})
    sizes: Mapping[int, float] = field(default_factory=lambda: {1: 0.65, 2: 0.22, 3: 0.09, 4: 0.04})
    not_in: float = 0.0
    attributes: tuple[Attribute, ...] = STANDARD
    seed: int = 1

    def __post_init__(self) -> None:
        if self.contracts < 1 or not 0 <= self.min_depth <= self.max_depth:
            raise UsageError("contracts need to be one at least, and depths from 0 on, min before max")
        for chances, least in ((self.children, 0), (self.sizes, 1)):
            if min(chances, default=-1) < least or min(chances.values()) < 0 or sum(chances.values()) <= 0:
                raise UsageError(f"expected counts from {least} on with their chances, not {dict(chances)}")
        if self.min_depth > 0 and not any(self.children[count] > 0 for count in self.children if count):
            raise UsageError("a tree of some depth needs a chance of having children")
        if not 0 <= self.not_in <= 1:
            raise UsageError("the chance of 'not in' is between 0 and 1")
        if sum(attribute.asked > 0 for attribute in self.attributes) < max(self.sizes):
            raise UsageError(f"a conjunction of {max(self.sizes)} predicates needs as many attributes")
