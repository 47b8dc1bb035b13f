"""Standard output as a person or a program wants it: text, in colour on a terminal, or one JSON document."""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import sys
from datetime import date, datetime, timedelta
from enum import Enum
from typing import Any, TextIO

STYLES = {"bold": "1", "good": "32", "bad": "31", "odd": "33", "place": "36"}


def add_format_argument(parser: argparse.ArgumentParser) -> None:
    """The option --format."""
    parser.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="how the result is printed: text (default), for a person, or one JSON document, for a program",
    )


def print_json(value: object) -> None:
    """One JSON document on a line; what JSON has no number for is null."""
    print(json.dumps(_plain(value), ensure_ascii=False))


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Enum):
        return value.name.lower()
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: _plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value


def as_members(value: object) -> dict[str, Any]:
    """The fields of a named tuple or a dataclass, as JSON has them."""
    members: dict[str, Any] = _plain(value)
    return members


def is_coloured(stream: TextIO) -> bool:
    """Whether a stream is a terminal that shows colours, and its user wants them (NO_COLOR)."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def painted(text: str, style: str, stream: TextIO | None = None) -> str:
    """A text in one of STYLES where that is shown."""
    if not text or not is_coloured(stream or sys.stdout):
        return text
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m"
