"""Which relations of a program are transitive closures: these need not be written out.

    path(x, y) :- arc(x, y).                            base: the arcs
    path(x, y) :- arc(x, z), path(z, y).                right-linear
    path(x, y) :- path(x, z), arc(z, y).                left-linear
    path(x, y) :- path(x, z), path(z, y).               non-linear
    path(x, y) :- path(y, x).                           mirrored: every arc also leads back

A body that leads from the head's first variable to its second, atom by atom, is a *chain*; each atom is a
*link*: a relation, followed forward or backward. The recursive rules of a relation p must all be
chains of arcs and of p. Then p holds nothing but the closure of its arcs. It holds all of it if p is
non-linear, whatever its arcs are; or if it is linear and every arc is a link that the linear rules (all
left-linear, or all right-linear) go on with. Other rules that are chains of these add nothing.

A fact given to p is one more arc when p is non-linear. In a linear p it is not: p is left as it is then.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from tocsin.datalog.machine import normal_form as nf


class Link(NamedTuple):
    """A step of a chain: from the first column of a relation to its second, or backward."""

    relation: str
    forward: bool


Chain = tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class _Closure:
    """What a relation is the closure of: the arcs that its base rules give, and perhaps these backward."""

    head: nf.Relation
    base: tuple[nf.Step, ...]
    links: frozenset[Link]
    mirrored: bool
    takes_facts: bool
    source: nf.Source | None

    @property
    def only_arc(self) -> str | None:
        """The relation whose tuples are the arcs as they stand, if there is one."""
        if self.mirrored or self.takes_facts or len(self.base) != 1:
            return None
        return next((link.relation for link in self.links if link.forward), None)


def closure_steps(program: nf.NormalProgram, loadable: Collection[str] = ()) -> nf.NormalProgram:
    """The same program, with a ClosureRule for every relation that is one and that no other rule looks at.

    `loadable` are the relations that the user may give facts to; the program's own facts count anyway.
    """
    steps_of: dict[str, list[nf.Step]] = {}
    readers: dict[str, set[str]] = {}
    for step in program.steps:
        steps_of.setdefault(nf.head_of(step), []).append(step)
        for name in nf.reads(step):
            readers.setdefault(name, set()).add(nf.head_of(step))
    given = {*loadable, *(name for name, _ in program.facts)}
    closures = {}
    for relation in program.relations:
        if readers.get(relation.name) == {relation.name}:
            closure = _as_closure(relation, steps_of.get(relation.name, ()), relation.name in given)
            if closure is not None:
                closures[relation.name] = closure
    return _with_closures(program, closures)


def _as_closure(relation: nf.Relation, steps: Sequence[nf.Step], takes_facts: bool) -> _Closure | None:
    """The closure that a relation is, or None."""
    if len(relation.types) != 2 or relation.types[0] is not relation.types[1]:
        return None
    itself = Link(relation.name, True)
    base, chains, reflexive, source = [], [], False, None
    for step in steps:
        if relation.name not in nf.reads(step):
            base.append(step)
            continue
        chain = chain_of(step)
        if chain is not None:
            chains.append(chain)
        elif _is_reflexive(step):
            reflexive = True
        else:
            return None
        source = source or step.source
    mirrored = (_backward(itself),) in chains
    plain = [chain_of(step) or () for step in base]
    links = frozenset(chain[0] for chain in plain if len(chain) == 1)
    arcs = links | set(map(_backward, links)) if mirrored else links
    following = {itself, _backward(itself)} if mirrored else {itself}
    if (reflexive and not mirrored) or any(not arcs | following >= set(chain) for chain in chains):
        return None
    all_plain = all(len(chain) == 1 for chain in plain) and not takes_facts
    is_non_linear = any(len(chain) == 2 and following.issuperset(chain) for chain in chains)
    if not is_non_linear and not (all_plain and _goes_on(chains, arcs, following)):
        return None
    return _Closure(relation, tuple(base), links, mirrored, takes_facts, source)


def _goes_on(chains: Iterable[Chain], arcs: Collection[Link], itself: set[Link]) -> bool:
    """Whether every path gets longer by any arc: at its front, or at its end."""
    pairs = [chain for chain in chains if len(chain) == 2]
    at_front = {chain[0] for chain in pairs if chain[1] in itself}
    at_end = {chain[1] for chain in pairs if chain[0] in itself}
    return bool(arcs) and (at_front.issuperset(arcs) or at_end.issuperset(arcs))


def chain_of(step: nf.Step) -> Chain | None:
    """The links from the head's first variable to its second, or None when the step is no chain."""
    if not isinstance(step, nf.JoinRule) or step.negated or step.lets or step.tests or not step.body:
        return None
    atoms_at: dict[nf.Term, list[nf.Atom]] = {}
    for atom in (step.head, *step.body):
        if len(atom.terms) != 2 or atom.terms[0] == atom.terms[1]:
            return None
        for term in atom.terms:
            if not isinstance(term, nf.Variable):
                return None
            if atom is not step.head:
                atoms_at.setdefault(term, []).append(atom)
    at, last = step.head.terms
    chain: list[Link] = []
    while atoms_at.get(at):
        (atom, *others) = atoms_at.pop(at)
        if others:
            return None
        forward = atom.terms[0] == at
        at = atom.terms[1] if forward else atom.terms[0]
        atoms_at[at].remove(atom)
        chain.append(Link(atom.relation, forward))
    return tuple(chain) if at == last and len(chain) == len(step.body) else None


def _is_reflexive(step: nf.Step) -> bool:
    """p(x, x) :- p(x, _), or p(_, x): adds nothing where every arc also leads back."""
    if not isinstance(step, nf.JoinRule) or step.negated or step.lets or step.tests or len(step.body) != 1:
        return False
    first, second = step.head.terms
    return first == second and isinstance(first, nf.Variable) and first in step.body[0].terms


def _backward(link: Link) -> Link:
    return Link(link.relation, not link.forward)


def _with_closures(program: nf.NormalProgram, closures: dict[str, _Closure]) -> nf.NormalProgram:
    """The program with what these relations are in the place of their rules."""
    relations = list(program.relations)
    steps = [step for step in program.steps if nf.head_of(step) not in closures]
    facts_of: dict[str, str] = {}
    names = {relation.name for relation in relations}
    for name, closure in closures.items():
        arc = closure.only_arc
        pool = None
        if arc is None:
            arc = pool = _unused(f"{nf.MADE}arcs of {name}", names)
            relations.append(nf.Relation(arc, closure.head.types))
            if closure.mirrored:
                pool = _unused(f"{nf.MADE}one way of {name}", names)
                relations.append(nf.Relation(pool, closure.head.types))
                x, y = nf.Variable(0), nf.Variable(1)
                body = (nf.Atom(pool, (x, y)),)  # gives each arc as it is and turned round
                for terms in ((x, y), (y, x)):
                    steps.append(nf.JoinRule(nf.Atom(arc, terms), body, source=closure.source))
            steps.extend(_giving(step, pool) for step in closure.base)
            facts_of[name] = pool
        steps.append(nf.ClosureRule(name, arc, pool if closure.takes_facts else None, closure.source))
    facts = tuple((facts_of.get(name, name), row) for name, row in program.facts)
    return nf.NormalProgram(tuple(relations), tuple(steps), facts)


def _unused(wanted: str, names: set[str]) -> str:
    """A name that no relation has, which from now on is taken."""
    name = wanted
    while name in names:
        name = f"{nf.MADE}{name}"
    names.add(name)
    return name


def _giving(step: nf.Step, head: str) -> nf.Step:
    """The step with another relation as its head."""
    if isinstance(step, nf.JoinRule):
        return replace(step, head=step.head._replace(relation=head))
    return replace(step, head=head)
