"""A text query, from text to steps in postfix order: Appendix A of the TriggerMan paper.

    query   = term { ("|" | "," | nothing) term }        OR and ACCRUE bind alike, from left to right
    term    = factor { "&" factor }
    factor  = "(" query ")" | word | phrase | "!" word | "!" phrase

`!` stands only in an AND or ACCRUE group that also has an operand without it. Groups of one operation
within each other are one group, so that is judged when the whole query has been read. What is open at
each parenthesis lies on an explicit stack: depth costs memory and never recursion.
"""

from __future__ import annotations

from collections import deque

from tocsin.text.language.query import Group, Leaf, Operation, TextQuery
from tocsin.text.language.tokens import Problem, Token, TokenKind, tokenize

MOST_WORDS = 1000
"""Words of a phrase: looking for it costs its words times their occurrences in the document."""

_OPERATIONS = {"&": Operation.AND, "|": Operation.OR, ",": Operation.ACCRUE}


class QueryProblems(Exception):
    """A text is no query: what is wrong, by place in it."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(problems[0][1])
        self.problems = problems


def parse_query(text: str, *, any_gap: bool = False) -> TextQuery:
    """Read a query; with `any_gap` as tm_contains reads phrases. Raises QueryProblems."""
    tokens, problems = tokenize(text, any_gap)
    reader = _Reader(tokens)
    whole = reader.read()
    problems += reader.problems
    if whole is None or problems:
        raise QueryProblems(sorted(dict(reversed(problems)).items()))
    query, misplaced = _flattened(whole)
    if misplaced:
        raise QueryProblems(sorted(misplaced))
    return query


class _Operand:
    """A leaf at its place, or a group of operands; none of them is a group of the same operation."""

    __slots__ = ("leaf", "operands", "operation", "place")

    def __init__(
        self, place: int, leaf: Leaf | None = None, operation: Operation | None = None, *operands: _Operand
    ) -> None:
        self.place = place
        self.leaf = leaf
        self.operation = operation
        self.operands = deque(operands)


class _Level:
    """What is open within one parenthesis: the operands so far, and the operator before the next one.

    `loose` holds what stands before the last | or , and `tight` the term that is being read.
    """

    __slots__ = ("loose", "opened", "operation", "tight")

    def __init__(self, opened: int) -> None:
        self.opened = opened
        self.loose: _Operand | None = None
        self.operation = Operation.ACCRUE
        self.tight: _Operand | None = None

    def add(self, operand: _Operand) -> None:
        """Put a factor behind the last `&`, or begin a term with it."""
        self.tight = operand if self.tight is None else _joined(Operation.AND, self.tight, operand)

    def end_term(self) -> None:
        """The term is whole: join it to what stands before it."""
        if self.tight is not None:
            self.loose = self.tight if self.loose is None else _joined(self.operation, self.loose, self.tight)
        self.tight = None


def _joined(operation: Operation, left: _Operand, right: _Operand) -> _Operand:
    """The operands as one group; those that are groups of this operation become part of it.

    The fewer are put to the more, so that nesting costs no time beside that of reading.
    """
    first, second = (
        each if each.operation is operation else _Operand(each.place, None, operation, each)
        for each in (left, right)
    )
    if len(first.operands) >= len(second.operands):
        first.operands.extend(second.operands)
        return first
    second.operands.extendleft(reversed(first.operands))
    second.place = first.place
    return second


class _Reader:
    """Goes through the tokens once."""

    def __init__(self, tokens: list[Token]) -> None:
        self.problems: list[Problem] = []
        self._tokens = tokens
        self._level = _Level(-1)
        self._outer: list[_Level] = []

    def read(self) -> _Operand | None:
        """The whole query, or None when something is wrong."""
        at = 0
        wants_operand = True
        negation: int | None = None
        while True:
            token = self._tokens[at]
            kind = token.kind
            if wants_operand:
                if kind is TokenKind.LEAF:
                    self._add_leaf(token, negation)
                    wants_operand, negation = False, None
                elif kind is TokenKind.OPEN:
                    if negation is not None:
                        self.problems.append((negation, "a '!' stands only before a word or a phrase"))
                        return None
                    self._outer.append(self._level)
                    self._level = _Level(token.place)
                elif token.text == "!" and negation is None:
                    negation = token.place
                else:
                    self._expected("a word or a phrase", token)
                    return None
            elif kind is TokenKind.CLOSE:
                if not self._outer:
                    self.problems.append((token.place, "this ')' closes nothing: there is no '(' before it"))
                    return None
                self._close_level()
            elif kind is TokenKind.END:
                return self._end()
            else:
                wants_operand = True
                if kind is TokenKind.OPERATOR and token.text != "!":
                    self._join(_OPERATIONS[token.text])
                else:
                    self._join(Operation.ACCRUE)
                    continue
            at += 1

    def _add_leaf(self, token: Token, negation: int | None) -> None:
        leaf = token.leaf
        if leaf is not None and len(leaf.words) > MOST_WORDS:
            self.problems.append(
                (
                    token.place,
                    f"a phrase of {len(leaf.words):,} words: at most {MOST_WORDS:,} can be looked for",
                )
            )
        if leaf is not None and negation is not None:
            leaf = Leaf(leaf.words, leaf.gap, negated=True)
        self._level.add(_Operand(token.place if negation is None else negation, leaf))

    def _join(self, operation: Operation) -> None:
        if operation is not Operation.AND:
            self._level.end_term()
            self._level.operation = operation

    def _close_level(self) -> None:
        self._level.end_term()
        whole = self._level.loose
        self._level = self._outer.pop()
        if whole is not None:
            self._level.add(whole)

    def _end(self) -> _Operand | None:
        for level in [*self._outer[1:], self._level] if self._outer else []:
            self.problems.append((level.opened, "this '(' is never closed"))
        self._level.end_term()
        return self._level.loose

    def _expected(self, what: str, token: Token) -> None:
        if token.kind is TokenKind.END and len(self._tokens) == 1:
            self.problems.append((0, "the query is empty: expected a word or a phrase"))
            return
        found = "the end of the query" if token.kind is TokenKind.END else f"'{token.text}'"
        self.problems.append((token.place, f"expected {what}, found {found}"))


def _flattened(whole: _Operand) -> tuple[TextQuery, list[Problem]]:
    """The steps in postfix order, and negations that stand wrong."""
    steps: list[Leaf | Group] = []
    places: list[int] = []
    misplaced: list[Problem] = []
    if whole.leaf is not None and whole.leaf.negated:
        misplaced.append((whole.place, "a query cannot be only a negation: it asks for nothing"))
    todo: list[_Operand | tuple[Group, int]] = [whole]
    while todo:
        item = todo.pop()
        if isinstance(item, tuple):
            steps.append(item[0])
            places.append(item[1])
        elif item.leaf is not None:
            steps.append(item.leaf)
            places.append(item.place)
        elif item.operation is not None:
            misplaced += _misplaced(item.operation, item.operands)
            todo.append((Group(item.operation, len(item.operands)), item.place))
            todo.extend(reversed(item.operands))
    return TextQuery(tuple(steps), tuple(places)), misplaced


def _misplaced(operation: Operation, operands: deque[_Operand]) -> list[Problem]:
    negated = [each for each in operands if each.leaf is not None and each.leaf.negated]
    if operation is Operation.OR:
        return [
            (each.place, "a '!' cannot stand in an OR group: it would hold for nearly every text")
            for each in negated
        ]
    if len(negated) == len(operands):
        return [
            (negated[0].place, "a group cannot be only negations: one of its operands must stand without '!'")
        ]
    return []
