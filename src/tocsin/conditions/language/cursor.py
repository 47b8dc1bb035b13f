"""A place in a list of tokens, and the problems met on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tocsin.conditions.language.tokens import Token, TokenKind, describe
from tocsin.syntax import Problem


class Cursor:
    """Walks tokens from left to right and never beyond their END.

    At most one problem is kept for each place, the first: a mistake is reported once however many
    parts of a parser stumble over it.
    """

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._position = 0
        self._problems: dict[int, str] = {}
        self.token = tokens[0]

    @property
    def problems(self) -> list[Problem]:
        """What went wrong so far, by place."""
        return sorted(self._problems.items())

    @property
    def failed(self) -> bool:
        """Whether anything went wrong so far."""
        return bool(self._problems)

    @property
    def previous(self) -> Token | None:
        """The token before the present one."""
        return self._tokens[self._position - 1] if self._position else None

    @property
    def next(self) -> Token:
        """The token after the present one."""
        return self._tokens[min(self._position + 1, len(self._tokens) - 1)]

    def advance(self) -> Token:
        """Step over the present token and return it."""
        passed = self.token
        if passed.kind is not TokenKind.END:
            self._position += 1
            self.token = self._tokens[self._position]
        return passed

    def at_end(self) -> bool:
        """Whether no token is left."""
        return self.token.kind is TokenKind.END

    def at_symbol(self, symbol: str) -> bool:
        """Whether the present token is this symbol."""
        return self.token.value == symbol and self.token.kind is TokenKind.SYMBOL

    def at_keyword(self, word: str) -> bool:
        """Whether the present token is this reserved word."""
        return self.token.value == word and self.token.kind is TokenKind.KEYWORD

    def at_word(self, word: str) -> bool:
        """Whether the present token is this word, unquoted, which is not a reserved one."""
        return self.token.kind is TokenKind.NAME and self.token.value.lower() == word

    def problem(self, offset: int, reason: str) -> None:
        """Report a mistake at an offset."""
        self._problems.setdefault(offset, reason)

    def expected(self, what: str, hint: str = "") -> None:
        """Report that the present token is not what should stand here."""
        token = self.token
        if token.kind is TokenKind.BAD:
            self.problem(token.offset, token.value)
            return
        previous = self.previous
        after = f" after {describe(previous)}" if previous is not None else ""
        found = f", found {describe(token)}"
        self.problem(token.offset, f"expected {what}{after}{found}" + (f": {hint}" if hint else ""))

    def skip_until(self, stop: Callable[[Token], bool] | None = None) -> None:
        """Step to the next token at this depth of parentheses that is a stop, a closing parenthesis or END.

        BAD tokens on the way are reported; everything else is passed in silence.
        """
        depth = 0
        while not self.at_end():
            if depth == 0 and (self.at_symbol(")") or (stop is not None and stop(self.token))):
                return
            if self.token.kind is TokenKind.BAD:
                self.problem(self.token.offset, self.token.value)
            elif self.at_symbol("("):
                depth += 1
            elif self.at_symbol(")"):
                depth -= 1
            self.advance()
