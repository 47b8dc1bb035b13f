"""An extension of griffe: the columns in which docstrings name arguments and fields become lists of the site.

rules       a path, or whatever               - **`rules`** a path, or whatever `tocsin.build` takes
            `tocsin.build` takes              - **`events`** a file
events      a file
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension

_NAMED = re.compile(r"^(\w[\w.]*(?:, \w[\w.]*)*) {2,}(\S.*)$")
_CONTINUED = re.compile(r"^ {2,}(\S.*)$")


class DocstringLists(Extension):
    """Rewrites the docstring of everything that has one."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Called for each module, class, function and attribute."""
        if obj.docstring:
            obj.docstring.value = with_lists(obj.docstring.value)


def with_lists(text: str) -> str:
    """The text with lists in the place of columns."""
    shown: list[str] = []
    within = False
    for line in text.splitlines():
        if named := _NAMED.match(line):
            if not within:
                shown.append("")
            shown.append(f"- **`{named[1]}`** {named[2]}")
            within = True
        elif within and (continued := _CONTINUED.match(line)):
            shown.append(f"  {continued[1]}")
        else:
            if within:
                shown.append("")
            shown.append(line)
            within = False
    return "\n".join(shown)
