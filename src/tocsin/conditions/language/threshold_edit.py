"""The threshold of a `contains`, put into the text of a condition and nothing else changed."""

from __future__ import annotations

from tocsin.conditions.language.tokens import Token, TokenKind, tokenize
from tocsin.errors import UsageError


def threshold_text(threshold: float) -> str:
    """A threshold as conditions write numbers; UsageError when it cannot be one."""
    if not 0 <= threshold < float("inf"):
        raise UsageError(f"a threshold is a number from 0 on, not {threshold}")
    return repr(float(threshold)).removesuffix(".0")


def with_threshold(condition: str, place: int, threshold: str) -> str:
    """The condition with this threshold in the `contains` whose name stands at an offset.

    It takes the place of `boolean` or of another threshold, or is put behind the query.
    """
    tokens = [token for token in tokenize(condition) if token.offset >= place]
    query = next(number for number, token in enumerate(tokens) if token.kind is TokenKind.STRING)
    if _is_comma(tokens[query + 1]):
        written = tokens[query + 2]
        return condition[: written.offset] + threshold + condition[written.end :]
    end = tokens[query].end
    return f"{condition[:end]}, {threshold}{condition[end:]}"


def _is_comma(token: Token) -> bool:
    return token.kind is TokenKind.SYMBOL and token.value == ","
