"""How fast patterns are found in long texts: one pass with an automaton, beside pattern by pattern.

    python -m benchmarks.strings

One field holds command lines and addresses of web pages of about a thousand characters; 20,000 `ilike`
patterns ask about it, four fifths of them '%x%', and 2,000 regular expressions. Times are the processor
time of this one process, best of several. Before they count, all ways are held to one answer. Results
are printed and, when no option is given, written to benchmarks/results/strings.json.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import re2
from benchmarks.measuring import machine_facts, say, timed
from benchmarks.spine import DOCUMENTS
from benchmarks.tables import markdown, write_into

from tocsin.arrays.dtypes import Ints, Longs
from tocsin.arrays.jit import kernel
from tocsin.arrays.packed import starts, text_arrays
from tocsin.conditions.graph.pattern_arrays import compile_patterns, fold_table, like_codes
from tocsin.conditions.kernels.case_folding import fold_text, room_to_fold
from tocsin.conditions.kernels.like_match import (
    UNDECIDED,
    YES,
    begin_segments,
    like_by_segments,
    like_quickly,
)
from tocsin.conditions.kernels.pattern_search import Patterns
from tocsin.conditions.language.like_patterns import compile_like, fold, like_tokens
from tocsin.conditions.language.required_literals import required_literals
from tocsin.conditions.language.tree import Literal, Predicate, Test
from tocsin.conditions.matching.pattern_finder import PatternFinder
from tocsin.conditions.operators import canonical_predicate
from tocsin.events.kinds import Kind
from tocsin.syntax.regexes import compile_regex

RESULTS = Path(__file__).resolve().parent / "results" / "strings.json"
SEED = 2026


@dataclass
class Likes:
    """`ilike` patterns; times are seconds for a text."""

    patterns: int
    texts: int
    bytes_per_text: float
    found_per_text: float
    build_seconds: float
    index_bytes: int
    automaton: float
    automaton_one_text: float
    automaton_short_text: float
    pattern_by_pattern: float


@dataclass
class Expressions:
    """Regular expressions; times are seconds for a text."""

    expressions: int
    with_literals: int
    found_per_text: float
    build_seconds: float
    prefiltered: float
    one_by_one: float
    re2_filter: float


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="how fast patterns are found in long texts")
    parser.add_argument("--patterns", type=int, default=20_000, metavar="N")
    parser.add_argument("--expressions", type=int, default=2_000, metavar="N")
    parser.add_argument("--texts", type=int, default=2_000, metavar="N")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="repetitions of each measurement")
    options = parser.parse_args(arguments)
    world = World(random.Random(SEED))
    texts = [world.text() for _ in range(options.texts)]
    likes = measure_likes(world.patterns(options.patterns, texts), texts, options.repeat)
    expressions = measure_expressions(world.expressions(options.expressions, texts), texts, options.repeat)
    print(table(likes, expressions))
    if options == parser.parse_args([]):
        RESULTS.parent.mkdir(exist_ok=True)
        report = {"machine": machine_facts(), "likes": asdict(likes), "expressions": asdict(expressions)}
        RESULTS.write_text(json.dumps(report, indent=1) + "\n")
        write_into(DOCUMENTS, {"strings": table(likes, expressions)})
    return 0


# ---- Texts and patterns


FIRST = (
    "ad",
    "cmd",
    "con",
    "dll",
    "ex",
    "host",
    "key",
    "micro",
    "net",
    "power",
    "script",
    "shell",
    "sys",
    "win",
)
SYLLABLES = (*FIRST, *(first + second for first in "bdfgklmnprstvz" for second in "aeiou"))


class World:
    """Words, and texts and patterns made of them; frequent words are frequent in both."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._words = sorted({"".join(rng.choices(SYLLABLES, k=rng.randint(2, 5))) for _ in range(8_000)})
        rng.shuffle(self._words)

    def word(self) -> str:
        """A word; the first ones are the most frequent."""
        return self._words[int(len(self._words) * self._rng.random() ** 3)]

    def piece(self) -> str:
        """Some words as they stand beside each other in a command line or an address."""
        rng = self._rng
        size = rng.randint(1, 3)
        joint = rng.choice(["\\", "/", ".", " -", "=", "_", " "])
        words = joint.join(self.word() for _ in range(size))
        return words + rng.choice(["", "", ".exe", ".dll", f"={rng.randint(0, 999)}"])

    def text(self) -> str:
        """A command line or an address, of some thousand characters at most."""
        rng = self._rng
        start, joint = rng.choice(
            [("C:\\Windows\\", " "), ("cmd /c ", " -"), ("https://", "/"), ("/usr/bin/", " --")]
        )
        length = rng.choice([200, 1_000, 1_000, 2_000])
        text = start + self.piece()
        while len(text) < length:
            part = self.piece()
            text += joint + (part.upper() if rng.random() < 0.1 else part)
        return text + rng.choice(["", " Überprüfung", " 日本語"])

    def _needle(self, texts: Sequence[str], known: float) -> str:
        """With this probability a piece of some text, else one that perhaps no text has."""
        rng = self._rng
        if rng.random() < known:
            text = rng.choice(texts)
            start = rng.randrange(len(text) - 20)
            return text[start : start + rng.randint(8, 20)]
        return self.piece() + rng.choice("\\/ -.") + self.word()

    def patterns(self, count: int, texts: Sequence[str]) -> list[str]:
        """Four fifths '%x%'; the others begin, end, are in several segments or have a `_`."""
        made: set[str] = set()
        while len(made) < count:
            needle, other = (escaped(self._needle(texts, 0.02)) for _ in range(2))
            kind = self._rng.random()
            if kind < 0.8:
                made.add(f"%{needle}%")
            elif kind < 0.87:
                made.add(f"{needle}%")
            elif kind < 0.94:
                made.add(f"%{needle}")
            elif kind < 0.98:
                made.add(f"%{needle}%{other}%")
            else:
                made.add(f"%{needle}_{other[:4].rstrip(chr(92))}%")
        return sorted(made)

    def expressions(self, count: int, texts: Sequence[str]) -> list[str]:
        """As detection rules have them; one in fifty has no literal to look for."""
        rng = self._rng
        made: set[str] = set()
        while len(made) < count:
            one, other = (re2.escape(self._needle(texts, 0.2)) for _ in range(2))
            shapes = [
                rf"(?i){one}\s+.*{other}",
                rf"{one}[0-9]+\.(exe|dll)",
                rf"(?i)({one}|{other})$",
                rf"\b{one}\b",
                rf"(?i)^.*{one}.*$",
                rf"^[^ ]+ .*{one}=\w+",
            ]
            made.add(rng.choice(shapes) if rng.random() < 0.98 else rf"[0-9a-f]{{{rng.randint(30, 999)}}}")
        return sorted(made)


def escaped(text: str) -> str:
    for character in "\\%_":
        text = text.replace(character, f"\\{character}")
    return text


# ---- Measuring


def finder_of(test: Test, operands: Sequence[str]) -> PatternFinder:
    group = np.zeros(len(operands), np.int32)
    return PatternFinder(arrays_of(test, operands), group, list(operands).__getitem__)


def find(finder: PatternFinder, column: pa.Array) -> tuple[Longs, Ints]:
    return finder.find(np.zeros(len(column), np.int32), *text_arrays(column))


def arrays_of(test: Test, operands: Sequence[str]) -> Patterns:
    predicates = [
        canonical_predicate(Predicate(("s",), test, (Literal(Kind.STRING, operand),))) for operand in operands
    ]
    return compile_patterns(range(len(operands)), [0] * len(operands), predicates, 1)


def measure_likes(patterns: list[str], texts: list[str], repeat: int) -> Likes:
    say(f"{len(patterns):,} patterns, {len(texts):,} texts")
    finder_of(Test.ILIKE, patterns[:10])
    build = timed(lambda: finder_of(Test.ILIKE, patterns), min(repeat, 3)).best
    finder = finder_of(Test.ILIKE, patterns)
    column = pa.array(texts, pa.large_string())
    one_by_one = PatternByPattern(patterns)
    few = column.slice(0, 20)
    found_start, found_leaf = find(finder, column)
    ours = [
        sorted(found_leaf[found_start[text] : found_start[text + 1]].tolist()) for text in range(len(few))
    ]
    if ours != one_by_one.find(few):
        sys.exit("the automaton and the pattern-by-pattern kernel differ")
    judge = [compile_like(pattern, folded=True) for pattern in patterns]
    if ours[:3] != [[place for place, like in enumerate(judge) if like.matches(text)] for text in texts[:3]]:
        sys.exit("the automaton and the grammar differ")
    singles = [column.slice(number, 1) for number in range(min(200, len(column)))]
    short = pa.array(["cmd /c dir"], pa.large_string())
    return Likes(
        patterns=len(patterns),
        texts=len(texts),
        bytes_per_text=sum(len(text.encode()) for text in texts) / len(texts),
        found_per_text=len(found_leaf) / len(texts),
        build_seconds=build,
        index_bytes=sum(array.nbytes for array in arrays_of(Test.ILIKE, patterns)),
        automaton=timed(lambda: find(finder, column), repeat, len(texts)).best,
        automaton_one_text=timed(lambda: [find(finder, text) for text in singles], repeat, len(singles)).best,
        automaton_short_text=timed(lambda: [find(finder, short) for _ in range(200)], repeat, 200).best,
        pattern_by_pattern=timed(lambda: one_by_one.find(few), min(repeat, 3), len(few)).best,
    )


class PatternByPattern:
    """Every pattern asked of every folded text, in one compiled loop."""

    def __init__(self, patterns: Sequence[str]) -> None:
        codes = [like_codes(like_tokens(fold(pattern))) for pattern in patterns]
        self._start = starts([len(row) for row in codes], np.int64)
        self._code = np.array([code for row in codes for code in row], np.int16)

    def find(self, texts: pa.LargeStringArray) -> list[list[int]]:
        holds = ask_all(fold_table(), *text_arrays(texts), self._start, self._code)
        return [np.flatnonzero(row).tolist() for row in holds]


@kernel
def ask_all(table: Any, offset: Any, data: Any, pattern_start: Any, code: Any) -> Any:
    holds = np.zeros((offset.size - 1, pattern_start.size - 1), np.bool_)
    folded = np.empty(room_to_fold(data.size), np.uint8)
    endless = np.full(1, np.iinfo(np.int64).max)
    for text in range(offset.size - 1):
        size = fold_text(table, data[offset[text] : offset[text + 1]], folded)
        for place in range(pattern_start.size - 1):
            first, last = pattern_start[place], pattern_start[place + 1]
            answer = like_quickly(folded, 0, size, code, first, last, endless)
            if answer == UNDECIDED:
                segments = begin_segments(folded, 0, size, code, first, last)
                answer = like_by_segments(folded, code, segments, endless)
            holds[text, place] = answer == YES
    return holds


def measure_expressions(expressions: list[str], texts: list[str], repeat: int) -> Expressions:
    say(f"{len(expressions):,} expressions")
    build = timed(lambda: finder_of(Test.MATCHES, expressions), min(repeat, 3)).best
    finder = finder_of(Test.MATCHES, expressions)
    column = pa.array(texts, pa.large_string())
    found_start, found_leaf = find(finder, column)
    few = [text.encode() for text in texts[:40]]
    regexes = [compile_regex(expression) for expression in expressions]
    theirs = re2.Filter()
    quiet = re2.Options()
    quiet.never_capture = True
    for expression in expressions:
        theirs.Add(expression.encode(), quiet)
    theirs.Compile()

    def one_by_one() -> list[list[int]]:
        return [[place for place, regex in enumerate(regexes) if regex.search_utf8(text)] for text in few]

    ours = [
        sorted(found_leaf[found_start[text] : found_start[text + 1]].tolist()) for text in range(len(few))
    ]
    if not ours == one_by_one() == [theirs.Match(text) or [] for text in few]:
        sys.exit("the ways to find expressions differ")
    return Expressions(
        expressions=len(expressions),
        with_literals=sum(required_literals(expression) is not None for expression in expressions),
        found_per_text=len(found_leaf) / len(texts),
        build_seconds=build,
        prefiltered=timed(lambda: find(finder, column), repeat, len(texts)).best,
        one_by_one=timed(one_by_one, min(repeat, 3), len(few)).best,
        re2_filter=timed(lambda: [theirs.Match(text) for text in few], repeat, len(few)).best,
    )


# ---- Writing it down


def table(likes: Likes, expressions: Expressions) -> str:
    size = likes.bytes_per_text
    rows = [
        ("patterns on one field", [f"{likes.patterns:,}", f"{expressions.expressions:,}"]),
        ("found in a text", [f"{likes.found_per_text:.1f}", f"{expressions.found_per_text:.1f}"]),
        ("built in", [f"{likes.build_seconds:.2f} s", f"{expressions.build_seconds:.2f} s"]),
        (f"**a text of {size:,.0f} bytes**", [micro(likes.automaton), micro(expressions.prefiltered)]),
        ("that is", [speed(size, likes.automaton), speed(size, expressions.prefiltered)]),
        ("a text, one at a time", [micro(likes.automaton_one_text), ""]),
        ("a text of ten bytes, one at a time", [micro(likes.automaton_short_text), ""]),
        ("pattern by pattern", [micro(likes.pattern_by_pattern), micro(expressions.one_by_one)]),
        ("that is", [speed(size, likes.pattern_by_pattern), speed(size, expressions.one_by_one)]),
        (
            "one pass is faster by",
            [
                f"{likes.pattern_by_pattern / likes.automaton:,.0f} times",
                f"{expressions.one_by_one / expressions.prefiltered:,.0f} times",
            ],
        ),
        ("RE2's own Filter", ["", micro(expressions.re2_filter)]),
    ]
    return markdown(["", "ilike", "matches"], rows)


def micro(seconds: float) -> str:
    return f"{seconds * 1e6:,.1f} µs"


def speed(size: float, seconds: float) -> str:
    return f"{size / seconds / 1e6:,.3g} MB/s"


if __name__ == "__main__":
    sys.exit(main())
