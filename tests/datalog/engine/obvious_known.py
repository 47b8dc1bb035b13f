"""What holds, as `why` asks for it, by the obvious evaluator: a rank is the round of applying rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tocsin.datalog.language import Value
from tocsin.datalog.language.conjunctions import Tuple
from tocsin.datalog.language.syntax import CheckedProgram
from tocsin.datalog.meaning import applied


class ObviousKnown:
    """All tuples of a program, with ranks."""

    def __init__(
        self, program: CheckedProgram, facts: Mapping[str, Iterable[Tuple]], local: Value | None = None
    ) -> None:
        self._given = {(name, values) for name, tuples in facts.items() for values in tuples}
        self._ranks = dict.fromkeys(self._given, 0)
        self.contents: dict[str, set[Tuple]] = {name: set(facts.get(name, ())) for name in program.relations}
        self._circles = {name: stratum for stratum in program.strata for name in stratum}
        for stratum in program.strata:
            rules = [rule for rule in program.rules if any(head.relation in stratum for head in rule.heads)]
            rank = 0
            while True:
                rank += 1
                derived = [fact for rule in rules for fact in applied(rule, self.contents, local)]
                for name in stratum:
                    if program.relations[name].eqrel:
                        derived += self._mirrored_and_joined(name)
                new = {fact for fact in derived if fact[0] in stratum and fact not in self._ranks}
                if not new:
                    break
                self._ranks.update(dict.fromkeys(new, rank))
                for name, values in new:
                    self.contents[name].add(values)

    def _mirrored_and_joined(self, name: str) -> list[tuple[str, Tuple]]:
        pairs = self.contents[name]
        mirrored: list[tuple[str, Tuple]] = [(name, (right, left)) for left, right in pairs]
        return mirrored + [
            (name, (left, right)) for left, middle in pairs for start, right in pairs if middle == start
        ]

    def holds(self, relation: str, values: Tuple) -> bool:
        return values in self.contents[relation]

    def matching(self, relation: str, columns: Mapping[int, Value]) -> Iterator[Tuple]:
        for held in sorted(self.contents[relation]):
            if all(held[column] == value for column, value in columns.items()):
                yield held

    def rank(self, relation: str, values: Tuple) -> int:
        return self._ranks[relation, values]

    def circle(self, relation: str) -> frozenset[str]:
        return self._circles[relation]

    def is_given(self, relation: str, values: Tuple) -> bool:
        return (relation, values) in self._given
