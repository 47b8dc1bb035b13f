"""Literals of which every text that an RE2 expression matches has at least one.

    (?i)power(shell|cmd)\\s+-e     ->  powershell, powercmd   (folded)
    ^GET /[a-z]+\\.(php|asp)\\b    ->  GET /
    [0-9]+ | a*                   ->  none: nothing is required

Only texts that have one of them need be asked. The analysis reads RE2's syntax, not Python's, and
works with supersets: each part of an expression gets all strings that it may match, when they are few,
or else the literals that it requires. Assertions count as empty, classes as anything unless they are
small. What it does not know for sure, it gives up on, and then nothing is required. It is given
expressions that RE2 has accepted.

(?i) in RE2 and `ilike` do not fold all the same way (ẞ), but all that RE2 takes for an ASCII character
folds to that character; so under (?i) others count as anything, and the literals are sought in the
folded text.

RE2 has such a filter of its own (re2.Filter), which is not used here: it looks for its literals with an
RE2::Set, for which running out of memory is the same as finding nothing, and which is slow once there are
thousands of them; and each process would have to compile all expressions before the first text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from tocsin.conditions.language.like_patterns import fold

MOST_LITERALS = 32
LONGEST_RUN = 64
"""Characters after which a literal is not made longer: it will not get much rarer."""
LARGEST_CLASS = 8
MOST_COPIES = 4

_FLAGS = re.compile(r"\(\?([imsU]*)(?:-([imsU]+))?([:)])")
_NAMED = re.compile(r"\(\?P?<\w+>")
_REPETITION = re.compile(r"\{(0|[1-9][0-9]{0,3})(,(0|[1-9][0-9]{0,3})?)?\}")
_ALMOST_REPETITION = re.compile(r"\{[0-9,]*\}")
_HEX = re.compile(r"x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]+)\})")
_OCTAL = re.compile(r"0[0-7]{0,2}|[1-7][0-7]{1,2}")
_PROPERTY = re.compile(r"[pP](?:\{[^}]*\}|.)", re.DOTALL)
_CONTROL = {"a": "\a", "f": "\f", "t": "\t", "n": "\n", "r": "\r", "v": "\v"}


class Required(NamedTuple):
    """The literals, none of them empty; `folded`: they are folded, and stand in the folded text."""

    literals: frozenset[str]
    folded: bool


class _Part(NamedTuple):
    """What is known of a part: all strings it may match, if `exact`, and literals it requires."""

    exact: frozenset[str] | None
    required: frozenset[str] | None

    def requirement(self) -> frozenset[str] | None:
        """Literals that any match of this part has one of."""
        if self.exact is None:
            return self.required
        return self.exact if self.exact and "" not in self.exact else None


_ANYTHING = _Part(None, None)
_EMPTY = _Part(frozenset({""}), None)


class _GivenUp(Exception):
    """The expression has something that is not known here."""


@dataclass(slots=True)
class _Group:
    """An open parenthesis: the alternatives before, the parts of the present one, the (?i) outside."""

    outside: bool
    alternatives: list[_Part] = field(default_factory=list)
    parts: list[_Part] = field(default_factory=list)

    def next_alternative(self) -> None:
        self.alternatives.append(_sequence(self.parts))
        self.parts = []

    def whole(self) -> _Part:
        self.next_alternative()
        return _either(self.alternatives)


def required_literals(expression: str) -> Required | None:
    """Such literals, or None when there are none or they cannot be told."""
    reader = _Reader(expression)
    try:
        literals = reader.read().requirement()
    except _GivenUp:
        return None
    if literals is None:
        return None
    if reader.folded:
        literals = frozenset(fold(literal) for literal in literals)
    return Required(_without_longer(literals), reader.folded)


def _without_longer(literals: frozenset[str]) -> frozenset[str]:
    """Without those that contain another."""
    return frozenset(
        literal for literal in literals if not any(other in literal for other in literals if other != literal)
    )


def _better(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    """The literals that fewer texts will have: whose shortest is longer, or that are fewer."""
    if one is None or other is None:
        return other if one is None else one
    return max(one, other, key=lambda literals: (min(map(len, literals)), -len(literals)))


def _sequence(parts: Iterable[_Part]) -> _Part:
    """One part behind the other."""
    run = frozenset({""})  # what the parts since the last break may match
    best: frozenset[str] | None = None
    broken = False
    for part in parts:
        joins = part.exact is not None and max(map(len, run)) < LONGEST_RUN
        if joins and part.exact is not None and len(run) * len(part.exact) <= MOST_LITERALS:
            run = frozenset(before + after for before in run for after in part.exact)
            continue
        broken = True
        best = _better(best, _Part(run, None).requirement())
        best = _better(best, part.requirement())
        run = frozenset({""}) if part.exact is None else part.exact
    if not broken:
        return _Part(run, None)
    return _Part(None, _better(best, _Part(run, None).requirement()))


def _either(parts: list[_Part]) -> _Part:
    """One part or another."""
    if len(parts) == 1:
        return parts[0]
    exact: set[str] = set()
    required: set[str] = set()
    all_exact = all_required = True
    for part in parts:
        requirement = part.requirement()
        all_exact &= part.exact is not None
        all_required &= requirement is not None
        exact |= part.exact or frozenset()
        required |= requirement or frozenset()
    if all_exact and len(exact) <= MOST_LITERALS:
        return _Part(frozenset(exact), None)
    return _Part(None, frozenset(required) if all_required and len(required) <= MOST_LITERALS else None)


def _repeated(part: _Part, least: int, most: int | None) -> _Part:
    """So many times the part, or more; as one part, because RE2 lets another repetition follow."""
    if least > 0:
        copies = min(least, MOST_COPIES)
        return _sequence([part] * copies + [_ANYTHING] * (copies != most))
    if most == 1 and part.exact is not None:
        return _Part(part.exact | {""}, None)
    return _ANYTHING


class _Reader:
    """Reads an expression from left to right, with the open groups on a stack of its own."""

    def __init__(self, expression: str) -> None:
        self.text = expression
        self.at = 0
        self.folding = False
        self.folded = False
        self.groups = [_Group(False)]

    def read(self) -> _Part:
        """The whole expression."""
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == "(":
                self._open()
            elif character == ")":
                self._close()
            elif character == "|":
                self.at += 1
                self.groups[-1].next_alternative()
            elif character == "\\":
                self._escape()
            elif character == "[":
                self._add(self._class())
            elif character in "*+?" or _REPETITION.match(self.text, self.at):
                self._repetition()
            elif _ALMOST_REPETITION.match(self.text, self.at):
                raise _GivenUp
            else:
                self.at += 1
                self._add(
                    _ANYTHING if character == "." else _EMPTY if character in "^$" else self._plain(character)
                )
        if len(self.groups) != 1:
            raise _GivenUp
        return self.groups[0].whole()

    def _add(self, part: _Part) -> None:
        self.groups[-1].parts.append(part)

    def _plain(self, character: str) -> _Part:
        if not self.folding:
            return _Part(frozenset({character}), None)
        self.folded = True
        return _Part(frozenset({character.lower()}), None) if character.isascii() else _ANYTHING

    def _open(self) -> None:
        named = _NAMED.match(self.text, self.at)
        flags = _FLAGS.match(self.text, self.at)
        outside = self.folding
        if named is not None:
            self.at = named.end()
        elif flags is not None:
            self.at = flags.end()
            self.folding |= "i" in flags[1]
            self.folding &= "i" not in (flags[2] or "")
            if flags[3] == ")":
                return
        elif self.text.startswith("(?", self.at):
            raise _GivenUp
        else:
            self.at += 1
        self.groups.append(_Group(outside))

    def _close(self) -> None:
        if len(self.groups) == 1:
            raise _GivenUp
        self.at += 1
        group = self.groups.pop()
        self.folding = group.outside
        self._add(group.whole())

    def _repetition(self) -> None:
        counted = _REPETITION.match(self.text, self.at)
        if counted is not None:
            least = int(counted[1])
            most = least if counted[2] is None else int(counted[3]) if counted[3] else None
            self.at = counted.end()
        else:
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[self.text[self.at]]
            self.at += 1
        if self.text.startswith("?", self.at):
            self.at += 1
        parts = self.groups[-1].parts
        if not parts:
            raise _GivenUp
        parts[-1] = _repeated(parts[-1], least, most)

    def _escape(self) -> None:
        """What stands behind a backslash, outside of classes."""
        if self.text.startswith("\\Q", self.at):
            end = self.text.find("\\E", self.at + 2)
            quoted = self.text[self.at + 2 :] if end < 0 else self.text[self.at + 2 : end]
            self.at = len(self.text) if end < 0 else end + 2
            self.groups[-1].parts.extend(map(self._plain, quoted))
            return
        following = self.text[self.at + 1 : self.at + 2]
        if following in ("b", "B", "A", "z"):
            self.at += 2
            self._add(_EMPTY)
        elif following == "C":
            self.at += 2
            self._add(_ANYTHING)
        else:
            character = self._escaped_character()
            self._add(_ANYTHING if character is None else self._plain(character))

    def _escaped_character(self) -> str | None:
        """The character that an escape stands for, or None for one of several (a class)."""
        start = self.at + 1
        following = self.text[start : start + 1]
        hexadecimal = _HEX.match(self.text, start)
        octal = _OCTAL.match(self.text, start)
        several = _PROPERTY.match(self.text, start)
        if hexadecimal is not None:
            self.at = hexadecimal.end()
            return _character(int(hexadecimal[1] or hexadecimal[2], 16))
        if octal is not None:
            self.at = octal.end()
            return _character(int(octal[0], 8))
        if several is not None:
            self.at = several.end()
            return None
        self.at = start + 1
        if following in _CONTROL:
            return _CONTROL[following]
        if following in ("d", "D", "s", "S", "w", "W"):
            return None
        if following.isascii() and following and not following.isalnum():
            return following
        raise _GivenUp

    def _class(self) -> _Part:
        """Between brackets: its characters when they are few, else anything."""
        self.at += 1
        negated = self.text.startswith("^", self.at)
        self.at += negated
        characters: set[str] = set()
        few = not negated
        first = True
        while first or not self.text.startswith("]", self.at):
            first = False
            if self._passed_posix_class():
                few = False
                continue
            low = self._class_item()
            if low is None:
                few = False
                continue
            high: str | None = low
            if self.text.startswith("-", self.at) and not self.text.startswith("-]", self.at):
                self.at += 1
                high = self._class_item()
            if high is None:
                raise _GivenUp
            if ord(high) - ord(low) < LARGEST_CLASS:
                characters.update(map(chr, range(ord(low), ord(high) + 1)))
            else:
                few = False
        self.at += 1
        if not few or not 0 < len(characters) <= LARGEST_CLASS:
            return _ANYTHING
        parts = [self._plain(character) for character in sorted(characters)]
        return _either(parts)

    def _passed_posix_class(self) -> bool:
        """Whether a class like [:alpha:] stood here; then it is behind us."""
        end = self.text.find(":]", self.at + 2) if self.text.startswith("[:", self.at) else -1
        if end >= 0:
            self.at = end + 2
        return end >= 0

    def _class_item(self) -> str | None:
        """One character of a class, or None for several."""
        if self.at >= len(self.text):
            raise _GivenUp
        if self.text[self.at] == "\\":
            return self._escaped_character()
        self.at += 1
        return self.text[self.at - 1]


def _character(code: int) -> str:
    if 0xD800 <= code < 0xE000 or code > 0x10FFFF:
        raise _GivenUp  # no text has it
    return chr(code)
