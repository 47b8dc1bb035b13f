"""The aggregates of a rule: which variables are their own, and whether every variable of a rule has a value.

A variable within an aggregate is the rule's when it has a value outside of it; but one of the aggregate's
own value that its body binds is its own:

    p(x, n) :- q(x), n = sum y + x : { r(x, y) }.   two different x; y is the aggregate's
    p(x, n) :- q(x), n = sum y + x : { r(y, _) }.   one x
    p(x, n) :- q(x), n = sum y : { r(x, y) }.       one x

All others are the aggregate's own. Where such a name is used elsewhere in the rule too, it is renamed
here (to a name that nobody can write), so that afterwards equal names within a rule mean equal values.

A variable that only a min or max binds, a *witness*, gets the values that reach it:

    oldest(who) :- n = max age : { person(who, age) }.

says the same as

    oldest(who) :- n = max a : { person(_, a) }, person(who, age), age = n.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import count

from tocsin.datalog.language import syntax, tree_walk
from tocsin.datalog.language.conjunctions import Literal, alternatives_of, body_of, grounded
from tocsin.datalog.language.sources import Problems

OWN_MARK = "'"
"""What a name that was made has in it, and no name that can be written."""


Fresh = Callable[[str], str]
"""Makes a name that stands nowhere else in a rule, and tells which one it stands for."""


def written(name: str) -> str:
    """The name in the program that a name stands for."""
    return name.split(OWN_MARK)[0]


def aggregates_in(*nodes: tree_walk.Node) -> list[syntax.Aggregate]:
    """The aggregates within the parts, without those within other aggregates."""
    return [node for node in tree_walk.walk_outside_aggregates(*nodes) if isinstance(node, syntax.Aggregate)]


def has_disjunction(aggregate: syntax.Aggregate) -> bool:
    """Whether an aggregate's body has alternatives."""
    return any(isinstance(node, syntax.Disjunction) for node in tree_walk.walk(aggregate.body))


def shared_variables(
    aggregate: syntax.Aggregate, literals: Sequence[Literal], given: Collection[str]
) -> set[str]:
    """The variables of an aggregate that are the rule's.

    They have a value outside of it, and are not both bound by its body and part of its own value.
    """
    known = grounded(literals, given, lambda other, _known: other is not aggregate)
    known &= {variable.name for variable in tree_walk.variables_in(aggregate)}
    if aggregate.value is not None and not has_disjunction(aggregate):
        body = alternatives_of(aggregate.body)[0]
        own = grounded(body, ())
        known -= own & {variable.name for variable in tree_walk.variables_in(aggregate.value)}
    return known


def renaming(names: Mapping[str, str]) -> tree_walk.Rewriter:
    """Gives variables other names, those that have one."""
    return tree_walk.Putting(lambda each: replace(each, name=names.get(each.name, each.name)))


class Replacing(tree_walk.Rewriter):
    """Puts other arguments in the place of aggregates, by identity."""

    def __init__(self, arguments: Mapping[int, syntax.Argument]) -> None:
        self._arguments = arguments

    def aggregate(self, aggregate: syntax.Aggregate) -> syntax.Argument:
        """What stands in its place, or the aggregate itself."""
        return self._arguments.get(id(aggregate), aggregate)


def literal_with(rewriter: tree_walk.Rewriter, literal: Literal) -> Literal:
    """A literal's copy."""
    copy = rewriter.body(literal)
    if isinstance(copy, syntax.Conjunction | syntax.Disjunction):
        raise AssertionError("a literal stays one")
    return copy


def without_head_aggregates(rule: syntax.Rule) -> syntax.Rule:
    """The rule with each aggregate of its heads moved to its body: `h(x, n) :- b(x), n = count : ...`."""
    arguments = syntax.arguments_of(rule.heads)
    results = {
        id(aggregate): syntax.Variable(f"{aggregate.function}{OWN_MARK}h{number}", aggregate.place)
        for number, aggregate in enumerate(aggregates_in(*arguments))
    }
    if not results:
        return rule
    equations = [
        syntax.Comparison("=", results[id(aggregate)], aggregate, aggregate.place)
        for aggregate in aggregates_in(*arguments)
    ]
    heads = tuple(map(Replacing(results).atom, rule.heads))
    return syntax.Rule(heads, syntax.Conjunction((rule.body, *equations)), rule.place, rule.text)


def with_witnesses(
    literals: Sequence[Literal], heads: Sequence[syntax.Argument], fresh: Fresh
) -> list[Literal]:
    """The literals of a rule, and more where a variable of theirs, or of the heads, has no value without."""
    found = list(literals)
    place = 0
    while place < len(found):
        for aggregate in aggregates_in(found[place]):
            witnesses = _witnesses(aggregate, found, heads)
            if witnesses:
                found[place] = _exported(aggregate, witnesses, found, found[place], fresh)
        place += 1
    return found


def _witnesses(
    aggregate: syntax.Aggregate, literals: Sequence[Literal], heads: Sequence[syntax.Argument]
) -> set[str]:
    """The variables that have a value in the aggregate only, and are used outside of it."""
    if aggregate.function not in ("min", "max") or has_disjunction(aggregate):
        return set()
    known = grounded(literals, ())
    outside = {variable.name for variable in tree_walk.variables_outside(*literals, *heads)}
    within = grounded(alternatives_of(aggregate.body)[0], known)
    return (_own_level(aggregate) & outside & within) - known


def _exported(
    aggregate: syntax.Aggregate, witnesses: set[str], literals: list[Literal], literal: Literal, fresh: Fresh
) -> Literal:
    """The literal with a variable for the aggregate; what binds it and the witnesses joins the literals."""
    if aggregate.value is None:
        raise AssertionError("min and max have a value")
    own = _own_level(aggregate) - shared_variables(aggregate, literals, ())
    result = syntax.Variable(fresh("r"), aggregate.place)
    again = renaming({name: fresh(name) for name in own - witnesses})
    inner = renaming({name: fresh(name) for name in own})
    literals.extend(literal_with(again, part) for part in alternatives_of(aggregate.body)[0])
    literals.append(syntax.Comparison("=", again.argument(aggregate.value), result, aggregate.place))
    literals.append(syntax.Comparison("=", result, inner.copied(aggregate), aggregate.place))
    return literal_with(Replacing({id(aggregate): result}), literal)


def _own_level(aggregate: syntax.Aggregate) -> set[str]:
    """The variables of an aggregate that stand in no aggregate within it."""
    return {variable.name for variable in tree_walk.variables_outside(*tree_walk.parts_of(aggregate))}


class RuleScope:
    """One alternative of a rule: all names in it, and those that are made."""

    def __init__(self, heads: Sequence[syntax.Atom], literals: Sequence[Literal], problems: Problems) -> None:
        self._heads = tuple(heads)
        self._literals = list(literals)
        self._problems = problems
        self._numbers = count(1)
        self._blamed: set[str] = set()

    def _fresh(self, name: str) -> str:
        return f"{written(name)}{OWN_MARK}{next(self._numbers)}"

    def scoped(self) -> tuple[tuple[syntax.Atom, ...], list[Literal]]:
        """It with the own variables of aggregates renamed; notes what has no value."""
        self._check_blanks()
        arguments = syntax.arguments_of(self._heads)
        if not any(
            isinstance(node, syntax.Aggregate) for node in tree_walk.walk(*self._literals, *arguments)
        ):
            known = grounded(self._literals, ())
            self._blame_unknown([*self._literals, *arguments], known)
            return self._heads, self._literals
        self._literals = [self._named_result(literal) for literal in self._literals]
        self._literals = with_witnesses(self._literals, arguments, self._fresh)
        total = Counter(variable.name for variable in tree_walk.variables_in(*self._literals, *arguments))
        new = self._in_scope(self._literals, arguments, frozenset(), total)
        heads = tuple(new.atom(head) for head in self._heads)
        return heads, [literal_with(new, literal) for literal in self._literals]

    def _in_scope(
        self,
        literals: Sequence[Literal],
        others: Sequence[syntax.Argument],
        given: Collection[str],
        total: Counter[str],
    ) -> tree_walk.Rewriter:
        """What replaces each aggregate that stands in these parts, at any depth of operations.

        `others` are arguments that bind nothing (of heads, or an aggregate's value), `given` the names that
        have a value from further out, `total` how often each name stands in the whole rule.
        """
        aggregates = aggregates_in(*literals, *others)
        shared = {id(aggregate): shared_variables(aggregate, literals, given) for aggregate in aggregates}
        known = grounded(literals, given, lambda aggregate, known: shared[id(aggregate)] <= known)
        self._blame_unknown([*literals, *others], known)
        return Replacing({id(each): self._inside(each, shared[id(each)], total) for each in aggregates})

    def _inside(
        self, aggregate: syntax.Aggregate, shared: Collection[str], total: Counter[str]
    ) -> syntax.Aggregate:
        """The aggregate with its own names made its own, and those of the aggregates within it."""
        if has_disjunction(aggregate):
            self._problems.add(
                aggregate.place,
                "a disjunction within an aggregate is not supported: give it a relation with two rules",
            )
            return aggregate
        inside = Counter(variable.name for variable in tree_walk.variables_in(aggregate))
        own = {
            name: self._fresh(name) for name in inside if name not in shared and total[name] > inside[name]
        }
        renamed = renaming(own).copied(aggregate)
        total = total.copy()
        for name, made in own.items():
            total[made] = inside[name]
            total[name] -= inside[name]
        literals = alternatives_of(renamed.body)[0]
        value = () if renamed.value is None else (renamed.value,)
        new = self._in_scope(literals, value, shared, total)
        body = body_of([[literal_with(new, literal) for literal in literals]])
        own_value = None if renamed.value is None else new.argument(renamed.value)
        return syntax.Aggregate(renamed.function, own_value, body, renamed.place)

    def _named_result(self, literal: Literal) -> Literal:
        """`_ = max x : ...` asks whether there is a result at all: as a variable that is used nowhere."""
        if not isinstance(literal, syntax.Comparison) or literal.operator != "=":
            return literal
        left, right = literal.left, literal.right
        if isinstance(left, syntax.Anonymous) and isinstance(right, syntax.Aggregate):
            left = syntax.Variable(self._fresh("_"), left.place)
        elif isinstance(right, syntax.Anonymous) and isinstance(left, syntax.Aggregate):
            right = syntax.Variable(self._fresh("_"), right.place)
        return syntax.Comparison("=", left, right, literal.place)

    def _blame_unknown(self, nodes: Sequence[tree_walk.Node], known: Collection[str]) -> None:
        within = {variable.name for variable in tree_walk.variables_in(*aggregates_in(*nodes))}
        for variable in tree_walk.variables_outside(*nodes):
            name = written(variable.name)
            if variable.name in known or name in self._blamed:
                continue
            self._blamed.add(name)
            where = " outside of the aggregate" if variable.name in within else ""
            self._problems.add(
                variable.place,
                f"'{name}' has no value{where}: it must stand in a positive atom, or equal what has a value",
            )

    def _check_blanks(self) -> None:
        """A `_` stands as an argument of a body's atom, and nowhere else."""
        arguments = syntax.arguments_of(self._heads)
        for argument in arguments:
            if isinstance(argument, syntax.Anonymous):
                self._problems.add(argument.place, "'_' has no value in a head")
        for node in tree_walk.walk(*self._literals, *arguments):
            if isinstance(node, syntax.Operation):
                blanks = [part for part in node.operands if isinstance(part, syntax.Anonymous)]
            elif isinstance(node, syntax.Aggregate):
                blanks = [node.value] if isinstance(node.value, syntax.Anonymous) else []
            elif isinstance(node, syntax.Comparison):
                sides = (node.left, node.right)
                asks = node.operator == "=" and any(isinstance(side, syntax.Aggregate) for side in sides)
                blanks = [] if asks else [side for side in sides if isinstance(side, syntax.Anonymous)]
            else:
                continue
            for blank in blanks:
                self._problems.add(blank.place, "'_' has no value here: give it a name")
