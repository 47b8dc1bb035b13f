"""A rule as its body atoms: all that the compared index structures need to know of a program."""

from __future__ import annotations

from typing import NamedTuple

Term = str | int
"""A variable by its name, or a number."""


class Atom(NamedTuple):
    """A relation with a term for each column."""

    relation: str
    terms: tuple[Term, ...]

    @property
    def constants(self) -> tuple[tuple[int, int], ...]:
        """Columns that must hold a number, with that number."""
        return tuple((column, term) for column, term in enumerate(self.terms) if isinstance(term, int))

    def __str__(self) -> str:
        return f"{self.relation}({', '.join(map(str, self.terms))})"


class ConjunctiveRule(NamedTuple):
    """`head :- body.`, with positive atoms alone."""

    head: Atom
    body: tuple[Atom, ...]

    def join_columns(self, atom: Atom) -> tuple[int, ...]:
        """The columns of a body atom that share a variable with another body atom."""
        others = [each for each in self.body if each is not atom]
        return tuple(
            column
            for column, term in enumerate(atom.terms)
            if isinstance(term, str) and any(term in other.terms for other in others)
        )

    @property
    def relations(self) -> dict[str, int]:
        """The relations of the body, each with its number of columns."""
        return {atom.relation: len(atom.terms) for atom in self.body}

    def __str__(self) -> str:
        return f"{self.head} :- {', '.join(map(str, self.body))}."


def program_text(*rules: ConjunctiveRule) -> str:
    """The rules as a program over numbers: relations without a rule are input, the others output."""
    heads = {rule.head.relation: len(rule.head.terms) for rule in rules}
    arities = {name: arity for rule in rules for name, arity in rule.relations.items()} | heads
    lines = [
        f".decl {name}({', '.join(f'c{column}: number' for column in range(arity))})"
        for name, arity in arities.items()
    ]
    lines += [f".{'output' if name in heads else 'input'} {name}" for name in arities]
    return "\n".join([*lines, *map(str, rules), ""])
