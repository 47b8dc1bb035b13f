"""A place in the tokens of a program, which are made as they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, TypeVar

from tocsin.datalog.language.outline import Named
from tocsin.datalog.language.syntax import Place
from tocsin.datalog.language.tokens import Token, TokenKind, describe, tokenize
from tocsin.syntax import Lines

T = TypeVar("T")

_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")


class Mistake(Exception):
    """Ends the reading of one statement; whoever reads the next one notes it."""

    def __init__(self, place: Place, reason: str) -> None:
        super().__init__(reason)
        self.place = place
        self.reason = reason


class Cursor:
    """Walks the tokens of a text from left to right and never beyond their END.

    Only the tokens of the statement at hand are kept: a program may hold a million facts.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = Lines(text)
        self.jump(1 if text.startswith("\ufeff") else 0)

    def jump(self, offset: int) -> None:
        """Go on at an offset, where a token or a blank begins."""
        self._coming = tokenize(self.text, offset)
        self._tokens = [next(self._coming)]
        self._position = 0
        self._brackets: dict[int, tuple[int, bool]] = {}
        self.token = self._tokens[0]
        self.previous: Token | None = None

    def forget(self) -> None:
        """Let go of the tokens that lie behind: a new statement starts here."""
        self.previous = None
        del self._tokens[: self._position]
        self._position = 0
        self._brackets.clear()

    def peek(self, ahead: int = 1) -> Token:
        """The token so many places ahead, or END."""
        wanted = self._position + ahead
        tokens = self._tokens
        while wanted >= len(tokens):
            if tokens[-1].kind is TokenKind.END:
                return tokens[-1]
            tokens.append(next(self._coming))
        return tokens[wanted]

    def advance(self) -> Token:
        """Step over the present token and return it."""
        passed = self.token
        if passed.kind is not TokenKind.END:
            self.token = self.peek()
            self._position += 1
            self.previous = passed
        return passed

    def at(self, *symbols: str) -> bool:
        """Whether the present token is one of these symbols."""
        return self.token.kind is TokenKind.SYMBOL and self.token.text in symbols

    def at_word(self, *words: str) -> bool:
        """Whether the present token is one of these words."""
        return self.token.kind is TokenKind.NAME and self.token.text in words

    def accept(self, symbol: str) -> bool:
        """Step over this symbol if it is here."""
        if not self.at(symbol):
            return False
        self.advance()
        return True

    def expect(self, symbol: str, what: str | None = None) -> Token:
        """Step over this symbol, which must be here; `what` names all that could be."""
        if not self.at(symbol):
            self.expected(what or f"'{symbol}'")
        return self.advance()

    def listed(self, read: Callable[[], T], between: str = ",") -> list[T]:
        """What is read here, and behind each such symbol that follows: for what does not nest."""
        found = [read()]
        while self.accept(between):
            found.append(read())
        return found

    def name(self, what: str) -> Named:
        """Step over a name, which must be here."""
        if self.token.kind is not TokenKind.NAME or self.token.text == "_":
            self.expected(what)
        token = self.advance()
        return Named(token.text, self.place(token))

    def qualified_name(self, what: str) -> Named:
        """Step over a name, or several that points join without blanks, which must be here."""
        first = self.name(what)
        parts = [first.name]
        while self._joins_names():
            self.advance()
            parts.append(self.advance().text)
        return Named(".".join(parts), first.place)

    def names_ahead(self) -> int:
        """How many tokens the qualified name takes that starts here."""
        count = 1
        while _joined(self.peek(count - 1), self.peek(count), self.peek(count + 1)):
            count += 2
        return count

    def behind_brackets(self, ahead: int = 0) -> tuple[int, bool]:
        """How far it is behind the brackets that open so far ahead, and whether a comma lies in them.

        Brackets that never close end at the END. What is found out about brackets within these is kept,
        so that no token of a statement is looked at twice.
        """
        start = self._position + ahead
        if start not in self._brackets:
            self._match_brackets(ahead)
        end, comma = self._brackets[start]
        return end - self._position, comma

    def _match_brackets(self, ahead: int) -> None:
        opened: list[tuple[int, bool]] = []
        while True:
            token = self.peek(ahead)
            at = self._position + ahead
            ahead += 1
            if token.kind is TokenKind.END:
                self._brackets.update((start, (at, comma)) for start, comma in opened)
                return
            if token.kind is not TokenKind.SYMBOL:
                continue
            if token.text in _OPENING:
                opened.append((at, False))
            elif token.text == ",":
                opened[-1] = (opened[-1][0], True)
            elif token.text in _CLOSING:
                start, comma = opened.pop()
                self._brackets[start] = (at + 1, comma)
                if not opened:
                    return

    def place(self, token: Token | None = None) -> Place:
        """Line and column of a token, or of the present one."""
        return self.place_of((token or self.token).offset)

    def place_of(self, offset: int) -> Place:
        """Line and column of an offset."""
        return Place(*self._lines.place(offset))

    def fail(self, reason: str, token: Token | None = None) -> NoReturn:
        """Give up this statement for a mistake at a token, or at the present one."""
        raise Mistake(self.place(token), reason)

    def expected(self, what: str) -> NoReturn:
        """Give up this statement: something else should stand here."""
        if self.token.kind is TokenKind.BAD:
            self.fail(self.token.value)
        after = "" if self.previous is None else f" after {describe(self.previous)}"
        self.fail(f"expected {what}{after}, found {describe(self.token)}")

    def skip_clause(self) -> None:
        """Step behind the point that ends this clause, or to the next directive or closing brace."""
        depth = 0
        while self.token.kind not in (TokenKind.END, TokenKind.DIRECTIVE):
            if self.at("{"):
                depth += 1
            elif self.at("}"):
                if depth == 0:
                    return
                depth -= 1
            elif self.at(".") and not self._joins_names():
                self.advance()
                return
            self.advance()

    def skip_directive(self) -> None:
        """Step to what may start a statement (a directive, a line's first word), or to a closing brace."""
        while self.token.kind not in (TokenKind.END, TokenKind.DIRECTIVE) and not self.at("}"):
            starts_line = self.previous is None or "\n" in self.text[self.previous.end : self.token.offset]
            if starts_line and self.token.kind in (TokenKind.NAME, TokenKind.BAD):
                return
            if self.at("{", "["):
                self.skip_brackets()
            else:
                self.advance()

    def skip_brackets(self) -> None:
        """Step behind the brackets that open here."""
        for _ in range(self.behind_brackets()[0]):
            self.advance()

    def _joins_names(self) -> bool:
        """Whether the present token is a point with a name right before it and another right behind it."""
        return self.previous is not None and _joined(self.previous, self.token, self.peek())


def _joined(before: Token, point: Token, after: Token) -> bool:
    are_names = before.kind is TokenKind.NAME and after.kind is TokenKind.NAME
    return point.text == "." and are_names and (before.end, after.offset) == (point.offset, point.end)
