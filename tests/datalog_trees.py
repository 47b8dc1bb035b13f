"""Hypothesis strategies for the trees of rules as the parser gives them: well formed, whatever they mean."""

from __future__ import annotations

from hypothesis import strategies as st

from tocsin.datalog.language import Type
from tocsin.datalog.language.clause_parser import can_be_negated, negative
from tocsin.datalog.language.functors import BINDING, CAST, SIGNS
from tocsin.datalog.language.printer import print_atom, print_body
from tocsin.datalog.language.syntax import (
    Aggregate,
    Anonymous,
    Argument,
    Atom,
    Body,
    Comparison,
    Conjunction,
    Constant,
    Disjunction,
    Negation,
    Operation,
    Positive,
    Rule,
    Truth,
    Variable,
)

names = st.sampled_from(["x", "y", "_z", "?v", "B9", "cat", "range", "input", "match"])
relations = st.sampled_from(["p", "q_1", "?r", "g.edge", "h.inner.r", "inline", "plan"])
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(
    ["\\", '"', "a\nb", "\t\a\b\f\r\v", "'", "//", "/*", "\x00"]
)
bare_constants = st.one_of(
    st.integers(-(2**64), 2**64).map(Constant),
    st.integers(0, 2**64 - 1).map(lambda value: Constant(value, type=Type.UNSIGNED)),
    st.floats(allow_nan=False, allow_infinity=False).map(
        lambda value: Constant(value + 0.0, type=Type.FLOAT)
    ),
    texts.map(lambda value: Constant(value, type=Type.SYMBOL)),
)
leaves: st.SearchStrategy[Argument] = st.one_of(
    names.map(Variable),
    st.just(Anonymous()),
    bare_constants,
    names.map(lambda name: Variable(name, located=True)),
    bare_constants.map(lambda each: Constant(each.value, type=each.type, located=True)),
)


def _negative(operand: Argument) -> Argument:
    """A sign before an operand, as the parser takes it: a number's sign becomes part of it."""
    if isinstance(operand, Constant) and can_be_negated(operand):
        return Constant(negative(operand.value), type=operand.type)
    return Operation("neg", (operand,))


def _operations(inner: st.SearchStrategy[Argument]) -> st.SearchStrategy[Argument]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        inner.map(_negative),
        st.builds(Operation, st.sampled_from(["bnot", "lnot"]), st.tuples(inner)),
        st.builds(Operation, st.sampled_from(sorted(BINDING)), st.tuples(inner, inner)),
        st.builds(Operation, st.sampled_from(["min", "max", "cat", "substr"]), several),
        st.builds(Operation, st.sampled_from(["strlen", "to_number"]), st.tuples(inner)),
        inner.map(lambda each: Operation(CAST, (each, Constant("T.U", type=Type.SYMBOL)))),
        st.builds(
            Aggregate, st.sampled_from(["sum", "min", "max", "mean"]), inner, _bodies(inner, nested=False)
        ),
        st.builds(Aggregate, st.just("count"), st.none(), _bodies(inner, nested=False)),
    )


def _atoms(inner: st.SearchStrategy[Argument]) -> st.SearchStrategy[Atom]:
    return st.builds(Atom, relations, st.lists(inner, max_size=3).map(tuple))


def _literals(inner: st.SearchStrategy[Argument]) -> st.SearchStrategy[Body]:
    return st.one_of(
        _atoms(inner).map(Positive),
        _atoms(inner).map(Negation),
        st.builds(Comparison, st.sampled_from(SIGNS), inner, inner),
        st.builds(Comparison, st.sampled_from(["match", "contains", "!match", "!contains"]), inner, inner),
        st.builds(Truth, st.booleans()),
    )


def _bodies(inner: st.SearchStrategy[Argument], nested: bool = True) -> st.SearchStrategy[Body]:
    """Literals joined by turns with `,` and `;`, never the same within itself."""
    literals = _literals(inner)
    conjunctions = st.lists(literals, min_size=2, max_size=3).map(tuple).map(Conjunction)
    either = st.lists(literals | conjunctions, min_size=2, max_size=3).map(tuple).map(Disjunction)
    if not nested:
        return literals | conjunctions
    both = st.lists(literals | either, min_size=2, max_size=3).map(tuple).map(Conjunction)
    return st.one_of(literals, conjunctions, either, both)


arguments = st.recursive(leaves, _operations, max_leaves=6)
bodies = _bodies(arguments)
facts = st.builds(Rule, st.tuples(_atoms(arguments)), st.just(Truth(True)), is_fact=st.just(True))
rules = facts | st.builds(Rule, st.lists(_atoms(arguments), min_size=1, max_size=2).map(tuple), bodies)


def print_rule(rule: Rule) -> str:
    """The text of a fact or a rule, on one line."""
    heads = ", ".join(map(print_atom, rule.heads))
    return f"{heads}." if rule.is_fact else f"{heads} :- {print_body(rule.body)}."
