"""What is done in Python to a tuple: equations and tests on texts, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter

from tocsin.datalog.language import functors
from tocsin.datalog.language.arithmetic import LONGEST_RANGE, Range
from tocsin.datalog.language.functors import RANGE
from tocsin.datalog.language.syntax import Value
from tocsin.datalog.machine import normal_form as nf
from tocsin.errors import DerivationError

Values = Mapping[nf.Variable, Value]
Row = tuple[Value, ...]
Reading = Callable[[Sequence[Value]], Value]
"""Works an expression out from the values of variables, by their slots."""


def value_of(expression: nf.Expression, values: Values) -> Value:
    """What an expression comes to. Raises DerivationError when it has no value."""
    if isinstance(expression, nf.Call):
        operands = [value_of(operand, values) for operand in expression.operands]
        return functors.apply(expression.functor, expression.type, operands)
    return values[expression] if isinstance(expression, nf.Variable) else expression.value


WORKED = -1
"""What a map that tells of failures says of a tuple for which all has a value."""


class TextWork:
    """The function of a MapRule: from the tuple `takes` to the tuple `gives`, if the tests hold.

    A let or test without a value is an error only if all others hold that do not need it: `strlen(x) > 0`
    guards `to_number(x)`. Where the rest of a rule has a say in that too, `marked` are variables that may
    have no value, and every tuple has two columns more: WORKED and an empty text, or which of them have none,
    a bit each, and the reason; `instead` has what is then given for a variable.

    Variables have slots: those that are taken first, then those of the lets.
    """

    def __init__(
        self,
        takes: Sequence[nf.Variable],
        work: Sequence[nf.Let | nf.Test],
        gives: Sequence[nf.Term],
        source: nf.Source,
        marked: Sequence[nf.Variable] | None = None,
        instead: Values | None = None,
    ) -> None:
        self._takes = tuple(takes)
        self._work = tuple(work)
        self._terms = tuple(gives)
        self._source = source
        self._marked = marked
        self._instead = instead or {}
        lets = [part.variable for part in work if isinstance(part, nf.Let)]
        slots = {variable: slot for slot, variable in enumerate((*takes, *lets))}
        calls = [part.expression for part in work if isinstance(part, nf.Let)]
        self._has_ranges = any(isinstance(call, nf.Call) and call.functor == RANGE for call in calls)
        self._steps = [_step(part, slots) for part in work]
        self._constant_terms = [term for term in gives if isinstance(term, nf.Variable | nf.Constant)]
        self._gives = [_reading(term, slots) for term in gives if isinstance(term, nf.Variable | nf.Constant)]

    def __reduce__(self) -> tuple[object, ...]:
        """Pickled as it is made: what it makes of its parts has no name that another process could find."""
        parts = (self._takes, self._work, self._terms, self._source, self._marked, self._instead)
        return type(self), parts

    def __call__(self, row: Row) -> list[Row]:
        """The tuples that come of a tuple: one, or none; with ranges in the work, any number of them."""
        if self._has_ranges:
            return self._ways(row)
        values = list(row)
        try:
            for step in self._steps:
                if not step(values):
                    return []
        except DerivationError:
            return self._ways(row)
        given = tuple([read(values) for read in self._gives])
        return [given] if self._marked is None else [(*given, WORKED, "")]

    def _ways(self, row: Row) -> list[Row]:
        """The tuples of all ways to take a number from each range, without what needs a missing value."""
        found: list[Row] = []
        for each in self._assignments(0, dict(zip(self._takes, row, strict=True)), None):
            found.append(each)
            if len(found) > LONGEST_RANGE:
                reason = f"ranges give more than {LONGEST_RANGE:,} tuples, which is the limit"
                raise DerivationError(reason, rule=self._source.text)
        return found

    def _assignments(
        self, start: int, values: dict[nf.Variable, Value], failure: DerivationError | None
    ) -> Iterator[Row]:
        """What comes of the work from a place on; what needs a value that there is none of is left out."""
        for place, part in enumerate(self._work[start:], start):
            if not needed(part) <= values.keys():
                continue
            try:
                if isinstance(part, nf.Test):
                    left, right = value_of(part.left, values), value_of(part.right, values)
                    if not functors.holds(part.operator, left, right):
                        return
                    continue
                value = value_of(part.expression, values)
            except DerivationError as error:
                failure = failure or error
                continue
            if isinstance(value, Range):
                for number in value.numbers(self._source.text):
                    yield from self._assignments(place + 1, {**values, part.variable: number}, failure)
                return
            values[part.variable] = value
        yield self._told(values, failure)

    def _told(self, values: dict[nf.Variable, Value], failure: DerivationError | None) -> Row:
        """The tuple of an assignment; DerivationError where it has none, unless that is to be told."""
        if failure is not None and self._marked is None:
            raise DerivationError(failure.reason, rule=self._source.text)
        known = {**self._instead, **values}
        given = [value_of(term, known) for term in self._constant_terms]
        if self._marked is None:
            return tuple(given)
        if failure is None:
            return (*given, WORKED, "")
        bits = sum(1 << place for place, variable in enumerate(self._marked) if variable not in values)
        return (*given, bits, failure.reason)


def needed(part: nf.Let | nf.Test) -> set[nf.Variable]:
    """The variables that a piece of work takes."""
    if isinstance(part, nf.Let):
        return set(nf.variables_of(part.expression))
    return set(nf.variables_of(part.left, part.right))


def _step(part: nf.Let | nf.Test, slots: Mapping[nf.Variable, int]) -> Callable[[list[Value]], bool]:
    """A piece of work on the slots: a let fills the next one. Whether to go on."""
    if isinstance(part, nf.Let):
        read = _reading(part.expression, slots)

        def let(values: list[Value]) -> bool:
            values.append(read(values))
            return True

        return let
    left, right = _reading(part.left, slots), _reading(part.right, slots)
    holds = functors.COMPARISONS[part.operator].holds
    return lambda values: holds(left(values), right(values))


def _reading(expression: nf.Expression, slots: Mapping[nf.Variable, int]) -> Reading:
    if isinstance(expression, nf.Variable):
        return itemgetter(slots[expression])
    if isinstance(expression, nf.Constant):
        value = expression.value
        return lambda _values: value
    function = functors.FUNCTORS[expression.functor].meaning[expression.type]
    operands = [_reading(operand, slots) for operand in expression.operands]
    if len(operands) == 1:
        only = operands[0]
        return lambda values: function(only(values))
    if len(operands) == 2:
        first, second = operands
        return lambda values: function(first(values), second(values))
    return lambda values: function(*[operand(values) for operand in operands])
