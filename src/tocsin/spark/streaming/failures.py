"""Why Spark failed, in one line, out of what Java and Python say together."""

from __future__ import annotations

import re

_ERROR = re.compile(r"(?:Caused by: )?([\w.$]*(?:Exception|Error)\w*): (.+)")
_EMPTY_WORDS = (
    "StreamingQueryException",
    "SparkException",
    "Py4JException",
    "Py4JJavaError",
    "PythonException",
)


def reason_of(text: str) -> str:
    """The innermost error that says something: the last of those named that is not Spark's own wrapping."""
    found = []
    for line in text.splitlines():
        match = _ERROR.match(line.strip())
        if match is not None and not line.strip().startswith("at "):
            name = match[1].rpartition(".")[2]
            found.append((name not in _EMPTY_WORDS, f"{name}: {match[2].strip()}"))
    telling = [said for is_own, said in found if is_own] or [said for _, said in found]
    if telling:
        return telling[-1]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0] if lines else "no reason given"
