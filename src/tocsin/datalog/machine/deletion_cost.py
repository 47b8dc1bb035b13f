"""How much of a program's recursive relations is overturned when many facts go at once.

Taking a tuple of a recursive relation away costs about what deriving it did, and where tuples have many
derivations, much that goes comes back. How many go is not known before they are followed, but can be told
roughly: of a closure over chains or trees, a pair stands on as many arcs as there are pairs for each arc;
where there are more ways from here to there, more pairs lose the one that they were found by. So of D tuples
over F facts, D * (D / F) / F go with a fact; with many facts half as many for each, because they share some,
or all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence


class DeletionCost:
    """What taking facts away costs, beside a start anew, by the recursions of a program.

    `components` are its relations, each behind all that it needs.
    """

    def __init__(
        self,
        needs: Mapping[str, Collection[str]],
        components: Sequence[frozenset[str]],
        recursive: Collection[str],
    ) -> None:
        ground: dict[str, frozenset[str]] = {}
        self._recursions: list[tuple[frozenset[str], frozenset[str]]] = []
        """Relations that need each other, and all that they stand on, themselves among it."""
        for component in components:
            below = {need for name in component for need in needs[name]} - component
            stands_on = component.union(*(ground[need] for need in below))
            ground.update(dict.fromkeys(component, stands_on))
            if not component.isdisjoint(recursive):
                self._recursions.append((component, stands_on))
        self._worked_out = {
            name for name in ground if name in recursive or ground[name].isdisjoint(recursive)
        }

    def exceeds_rebuild(
        self, live: Callable[[str], int], facts: Callable[[str], int], going: Mapping[str, int]
    ) -> bool:
        """Whether three quarters of what is worked out anew, facts and all, go when so many facts go.

        What stands on recursive relations and is not recursive counts for neither: it goes with them.
        """
        gone = 0.0
        for relations, ground in self._recursions:
            leaving = sum(count for name, count in going.items() if name in ground)
            if leaving:
                tuples = sum(map(live, relations))
                gone += min(tuples, leaving / 2 * (tuples / max(sum(map(facts, ground)), leaving)) ** 2)
        return gone > 0 and 4 * gone >= 3 * sum(map(live, self._worked_out))
