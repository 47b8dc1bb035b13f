"""Figures as Markdown, and documents with a place for them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path


def markdown(head: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' + ' ---: |' * (len(head) - 1)}"]
    lines += [f"| {' | '.join((name, *values))} |" for name, values in rows]
    return "\n".join(lines)


def milliseconds(seconds: float) -> str:
    """Three digits that count."""
    value = seconds * 1_000
    return f"{value:,.0f} ms" if value >= 100 else f"{value:.3g} ms"


def times(slower: float, faster: float) -> str:
    """How many times faster."""
    ratio = slower / faster
    return f"{ratio:,.0f} times" if ratio >= 10 else f"{ratio:.1f} times"


def percent(share: float) -> str:
    return f"{100 * share:.2g} %"


def machine_note(facts: Mapping[str, str]) -> str:
    """What times were measured on."""
    return (
        f"Processor time on one core of {facts['cores']} ({facts['processor']}), best of several; "
        f"Python {facts['python']}, Numba {facts['numba']}."
    )


def write_into(documents: Sequence[Path], generated: Mapping[str, str]) -> None:
    """Put each text where a document has marks of its name."""
    for document in documents:
        text = document.read_text()
        for name, table in generated.items():
            text = with_generated(text, name, table)
        document.write_text(text)


def with_generated(text: str, name: str, generated: str) -> str:
    """The text with what stands between the marks of this name replaced; unchanged without marks."""
    start, end = f"<!-- generated: {name} -->", f"<!-- end: {name} -->"
    pattern = re.compile(f"({re.escape(start)}\n).*?({re.escape(end)})", re.DOTALL)
    return pattern.sub(lambda found: f"{found[1]}{generated}\n{found[2]}", text)
