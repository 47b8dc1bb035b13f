"""`why`: one derivation of a tuple, down to given facts, or which part of each rule is not satisfied.

It reads the program's own rules, so that users see what they wrote. Among relations that depend on one
another it goes only to tuples of lower rank, so that it comes to an end. Whether they do is for the machine
to say: it leaves out rules that never hold, and so a circle of the text may be none of the tuples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from tocsin.datalog.engine.assignment_search import Furthest, Known, Search, in_order
from tocsin.datalog.engine.assignment_search import Step as SearchStep
from tocsin.datalog.engine.derivations import Absence, Derivation, Fact, Observation, Obstacle, Step
from tocsin.datalog.language import conjunctions, syntax
from tocsin.datalog.language.printer import print_body
from tocsin.datalog.language.scopes import OWN_MARK, written
from tocsin.datalog.language.tree_walk import Putting
from tocsin.errors import DerivationError

_FUEL = 20_000
"""How many tuples the search for an obstacle looks at in one rule before it says what it found."""


class _Way(NamedTuple):
    """One alternative of a rule as a way to give a tuple of one of its heads, ready to be searched.

    What the head computes is an equation with a hidden variable, which the tuple gives a value. `reads` are
    the relations of its positive atoms.
    """

    rule: syntax.Rule
    head: tuple[str | syntax.Constant, ...]
    literals: tuple[conjunctions.Literal, ...]
    steps: tuple[SearchStep, ...]
    names: conjunctions.Names
    reads: frozenset[str]

    def start(self, values: conjunctions.Tuple) -> conjunctions.Binding | None:
        """What a tuple says about the variables; None when it cannot be the head."""
        binding: conjunctions.Binding = {}
        for part, value in zip(self.head, values, strict=True):
            known = part.value if isinstance(part, syntax.Constant) else binding.setdefault(part, value)
            if known != value:
                return None
        return binding


class Deriver:
    """Answers `why` for one program."""

    def __init__(self, program: syntax.CheckedProgram, local: syntax.Value | None = None) -> None:
        self._program = program
        self._local = local

    def why(self, known: Known, relation: str, values: conjunctions.Tuple) -> Derivation | Absence:
        """How a tuple is derived, or why it is not there."""
        fact = Fact(relation, values)
        search = Search(known, self._local)
        if not known.holds(relation, values):
            return self._absence(fact, search)
        steps: dict[Fact, Step] = {}
        waiting = [fact]
        while waiting:
            derived = waiting.pop()
            if derived not in steps:
                steps[derived] = self._step(derived, known, search)
                waiting += [premise for premise in steps[derived].premises if isinstance(premise, Fact)]
        return Derivation(fact, steps)

    @cached_property
    def _ways(self) -> dict[str, list[_Way]]:
        """Every way to give a tuple of a relation; what makes an equivalence of it among them."""
        rules = list(self._program.rules)
        for relation in self._program.relations.values():
            if relation.eqrel:
                rules += _equivalence_rules(relation.name)
        ways: dict[str, list[_Way]] = {}
        for rule in rules:
            for head in rule.heads:
                ways.setdefault(head.relation, []).extend(_ways(rule, head))
        return ways

    def _step(self, fact: Fact, known: Known, search: Search) -> Step:
        if known.is_given(*fact):
            return Step(None, ())
        circle = known.circle(fact.relation)
        for way in self._ways.get(fact.relation, ()):
            start = way.start(fact.values)
            if start is None:
                continue
            below = None if way.reads.isdisjoint(circle) else (circle, known.rank(*fact))
            for binding in search.solutions(way.steps, start, way.names, below):
                return Step(way.rule.text, tuple(_premises(way, binding, search)))
        raise DerivationError(f"{fact} is there, but no rule gives it")

    def _absence(self, fact: Fact, search: Search) -> Absence:
        obstacles = []
        for way in self._ways.get(fact.relation, ()):
            start = way.start(fact.values)
            if start is None:
                continue
            furthest = Furthest(_FUEL)
            for _ in search.solutions(way.steps, start, way.names, furthest=furthest):
                break
            if furthest.literal is not None and furthest.binding is not None:
                obstacles.append(_obstacle(way, furthest.literal, dict(furthest.binding)))
        return Absence(fact, tuple(obstacles))


def _ways(rule: syntax.Rule, head: syntax.Atom) -> Iterator[_Way]:
    """The alternatives of a rule as ways to give a tuple of one head."""
    parts: list[str | syntax.Constant] = []
    equations: list[conjunctions.Literal] = []
    for column, argument in enumerate(head.arguments):
        if isinstance(argument, syntax.Constant):
            parts.append(argument)
        elif isinstance(argument, syntax.Variable):
            parts.append(argument.name)
        else:
            computed = syntax.Variable(f"{conjunctions.HIDDEN}head {column}", type=argument.type)
            parts.append(computed.name)
            equations.append(syntax.Comparison("=", computed, argument))
    bound = [part for part in parts if isinstance(part, str)]
    for alternative in conjunctions.alternatives_of(rule.body):
        literals = (*alternative, *equations)
        names = conjunctions.level_names(*literals, *syntax.arguments_of(rule.heads))
        reads = frozenset(each.atom.relation for each in literals if isinstance(each, syntax.Positive))
        steps = tuple(in_order(literals, bound, names))
        yield _Way(rule, tuple(parts), literals, steps, names, reads)


def _premises(way: _Way, binding: conjunctions.Binding, search: Search) -> Iterator[Fact | Observation]:
    """What satisfies each literal of a body under an assignment."""
    for literal in way.literals:
        if isinstance(literal, syntax.Positive):
            yield _fact(literal, binding, way.names, search)
        elif isinstance(literal, syntax.Negation):
            yield Observation(f"{_filled(literal, binding)}  there is none")
        elif isinstance(literal, syntax.Comparison) and not _is_made(literal):
            yield Observation(_filled(literal, binding))


def _is_made(comparison: syntax.Comparison) -> bool:
    """Whether it only gives a value another name, one that the user never wrote: it would read `4 = 4`."""
    sides = (comparison.left, comparison.right)
    return (
        comparison.operator == "="
        and all(isinstance(side, syntax.Variable | syntax.Constant) for side in sides)
        and any(isinstance(side, syntax.Variable) and OWN_MARK in side.name for side in sides)
    )


def _fact(
    literal: syntax.Positive, binding: conjunctions.Binding, names: conjunctions.Names, search: Search
) -> Fact:
    """The tuple that a positive atom matched."""
    values: list[syntax.Value] = []
    for column, argument in enumerate(literal.atom.arguments):
        if isinstance(argument, syntax.Anonymous):
            values.append(binding[conjunctions.anonymous_name(literal, column)])
        else:
            values.append(search.value(argument, binding, names))
    return Fact(literal.atom.relation, tuple(values))


def _obstacle(way: _Way, literal: conjunctions.Literal, binding: conjunctions.Binding) -> Obstacle:
    made = (conjunctions.HIDDEN, ":", OWN_MARK)
    shown = {name: binding[name] for name in binding if not any(mark in name for mark in made)}
    text = _filled(literal, binding)
    if isinstance(literal, syntax.Positive):
        text = f"{text} has no partner"
    elif isinstance(literal, syntax.Negation):
        text = f"{text} does not hold: there is one"
    elif isinstance(literal, syntax.Comparison):
        text = f"{text} does not hold"
    return Obstacle(way.rule.text, text, shown)


def _filled(literal: conjunctions.Literal, binding: conjunctions.Binding) -> str:
    """The text of a literal with the values of its variables; others have the names that were written."""

    def filled(variable: syntax.Variable) -> syntax.Argument:
        if variable.name not in binding:
            return replace(variable, name=written(variable.name))
        return syntax.Constant(binding[variable.name], variable.place, variable.type)

    return print_body(Putting(filled).body(literal))


def _equivalence_rules(relation: str) -> list[syntax.Rule]:
    x, y, z = syntax.Variable("x"), syntax.Variable("y"), syntax.Variable("z")
    head = syntax.Atom(relation, (x, y))
    mirrored = syntax.Rule(
        (head,), syntax.Positive(syntax.Atom(relation, (y, x))), text=f"{relation} is symmetric (eqrel)"
    )
    through = syntax.Conjunction(
        (syntax.Positive(syntax.Atom(relation, (x, z))), syntax.Positive(syntax.Atom(relation, (z, y))))
    )
    return [mirrored, syntax.Rule((head,), through, text=f"{relation} is transitive (eqrel)")]
