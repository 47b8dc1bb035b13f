"""A slow judge of the normal form: it does what each step says, over and over, until nothing is new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tocsin.datalog.language import Value, functors
from tocsin.datalog.language.conjunctions import Tuple
from tocsin.datalog.language.strata import components_in_order
from tocsin.datalog.machine import Atom, JoinRule, NormalProgram, Variable
from tocsin.datalog.machine.normal_form import (
    AggregateRule,
    Anything,
    Call,
    Constant,
    Expression,
    Failing,
    MapRule,
    Step,
    head_of,
    reads,
)
from tocsin.datalog.meaning import Contents
from tocsin.errors import DerivationError

Binding = dict[int, Value]


def run(program: NormalProgram, facts: Mapping[str, Iterable[Tuple]]) -> Contents:
    """All that holds, made relations included. Fails when a step would have to wait for its own results."""
    contents: Contents = {relation.name: set() for relation in program.relations}
    for name, held in program.facts:
        contents[name].add(held)
    for name, tuples in facts.items():
        contents[name].update(tuples)
    heads = {
        name: {origin for step in program.steps if head_of(step) == name for origin in reads(step)}
        for name in contents
    }
    for component in components_in_order(heads):
        steps = [step for step in program.steps if head_of(step) in component]
        for step in steps:
            assert not waits_for(step) & component, f"not stratified: {step}"
        before = -1
        while before != (now := sum(len(contents[name]) for name in component)):
            before = now
            for step in steps:
                contents[head_of(step)].update(list(results(step, contents)))
    check_types(program, contents)
    return contents


def check_types(program: NormalProgram, contents: Contents) -> None:
    """Every value is of its column's type."""
    kinds = {"number": int, "unsigned": int, "float": float, "symbol": str}
    for relation in program.relations:
        for held in contents[relation.name]:
            assert [type(value) for value in held] == [kinds[each.value] for each in relation.types], (
                relation,
                held,
            )


def waits_for(step: Step) -> set[str]:
    """The relations that must be complete before a step can be worked out."""
    if isinstance(step, JoinRule):
        return {atom.relation for atom in step.negated}
    return {step.origin} if isinstance(step, AggregateRule) else set()


def results(step: Step, contents: Contents) -> Iterator[Tuple]:
    """What a step gives at the moment."""
    if isinstance(step, JoinRule):
        yield from joined(step, contents)
    elif isinstance(step, MapRule):
        text = step.source.text if step.source else None
        for held in contents[step.origin]:
            try:
                yield from step.function(held)
            except DerivationError as error:
                raise DerivationError(error.reason, rule=error.rule or text) from None
    elif isinstance(step, AggregateRule):
        yield from aggregated(step, contents[step.origin])
    else:
        raise NotImplementedError(step)


def aggregated(step: AggregateRule, origin: Iterable[Tuple]) -> Iterator[Tuple]:
    groups: dict[Tuple, list[Value]] = {}
    for held in origin:
        value = 0 if step.function == "count" else held[step.group]
        groups.setdefault(held[: step.group], []).append(value)
    for group, values in groups.items():
        result = functors.aggregate(step.function, step.type, values)
        assert result is not None
        yield (*group, result)


def joined(rule: JoinRule, contents: Contents) -> Iterator[Tuple]:
    bindings: list[Binding] = [{}]
    for atom in rule.body:
        found = [matched(atom, held, binding) for binding in bindings for held in contents[atom.relation]]
        bindings = [binding for binding in found if binding is not None]
    for binding in bindings:
        if satisfied(rule, binding, contents):
            yield tuple(term_value(term, binding) for term in rule.head.terms)


def satisfied(rule: JoinRule, binding: Binding, contents: Contents) -> bool:
    """Whether lets, tests and negated atoms hold; a let without a value is an error if all else holds.

    Unless the rule says otherwise of it.
    """
    failure: DerivationError | None = None
    for let in rule.lets:
        try:
            value = value_of(let.expression, binding)
            if binding.setdefault(let.variable.number, value) != value:
                return False
        except DerivationError as error:
            failure = failure or error
        except KeyError:
            assert failure is not None, "a variable is not bound"
    for test in rule.tests:
        try:
            if not functors.holds(test.operator, value_of(test.left, binding), value_of(test.right, binding)):
                return False
        except DerivationError as error:
            failure = failure or error
        except KeyError:
            assert failure is not None, "a variable is not bound"
    for atom in rule.negated:
        numbers = {term.number for term in atom.terms if isinstance(term, Variable)}
        if not numbers <= binding.keys():
            assert failure is not None, "a variable is not bound"
        elif any(matched(atom, held, binding) is not None for held in contents[atom.relation]):
            return False
    if failure is not None and rule.failing is Failing.AN_ERROR:
        raise failure
    return (failure is not None) == (rule.failing is Failing.THE_HEAD)


def matched(atom: Atom, held: Tuple, binding: Binding) -> Binding | None:
    assert len(atom.terms) == len(held), (atom, held)
    extended = dict(binding)
    for term, value in zip(atom.terms, held, strict=True):
        if isinstance(term, Constant) and term.value != value:
            return None
        if isinstance(term, Variable) and extended.setdefault(term.number, value) != value:
            return None
    return extended


def term_value(term: object, binding: Binding) -> Value:
    assert not isinstance(term, Anything)
    return term.value if isinstance(term, Constant) else binding[term.number]  # type: ignore[attr-defined]


def value_of(expression: Expression, binding: Binding) -> Value:
    if isinstance(expression, Call):
        assert functors.is_arithmetic(expression.functor, expression.type), expression
        operands = [value_of(operand, binding) for operand in expression.operands]
        return functors.apply(expression.functor, expression.type, operands)
    return term_value(expression, binding)


def text_of(program: NormalProgram) -> list[str]:
    """Each step and fact on a line; maps as `head <- origin`."""
    lines = []
    for step in program.steps:
        if isinstance(step, JoinRule):
            lines.append(_Names().rule(step))
        elif isinstance(step, AggregateRule):
            lines.append(f"{step.head} = {step.function} of {step.origin} by {step.group}")
        elif isinstance(step, MapRule):
            lines.append(f"{step.head} <- {step.origin}")
    return lines + [f"{name}{values}" for name, values in program.facts]


class _Names:
    """The text of a rule, with its variables as a, b, c ... in the order in which they occur."""

    def __init__(self) -> None:
        self._names: dict[Variable, str] = {}

    def rule(self, rule: JoinRule) -> str:
        head = self._atom(rule.head)
        parts = [self._atom(atom) for atom in rule.body]
        parts += [f"!{self._atom(atom)}" for atom in rule.negated]
        parts += [f"{self._text(let.variable)} := {self._text(let.expression)}" for let in rule.lets]
        parts += [f"{self._text(test.left)} {test.operator} {self._text(test.right)}" for test in rule.tests]
        said = {Failing.AN_ERROR: "", Failing.NOTHING: " or nothing", Failing.THE_HEAD: " has no value"}
        return f"{head} :- {', '.join(parts)}{said[rule.failing]}"

    def _atom(self, atom: Atom) -> str:
        return f"{atom.relation}({', '.join(map(self._text, atom.terms))})"

    def _text(self, part: Expression | Anything) -> str:
        if isinstance(part, Call):
            return f"{part.functor}({', '.join(map(self._text, part.operands))})"
        if isinstance(part, Variable):
            return self._names.setdefault(part, "abcdefghijklmnopqrstuvwxyz"[len(self._names)])
        return "_" if isinstance(part, Anything) else repr(part.value)
