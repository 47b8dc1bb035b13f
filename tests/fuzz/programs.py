"""Programs: refused with places, or run to what the obvious evaluator derives."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.datalog.engine.judged import LIMIT, contents, obvious_engine
from tests.datalog_errors import DECLARED
from tests.fuzz.condition_texts import check_message

from tocsin import Engine, Program
from tocsin.errors import RuleError, TocsinError

ROOT = Path(__file__).parents[2]
WORDS = tuple(
    word.encode()
    for word in (
        *(
            ":-",
            ".",
            ",",
            ";",
            "!",
            "(",
            ")",
            "{",
            "}",
            "_",
            "@x",
            "=",
            "!=",
            "<",
            "<=",
            ">",
            ">=",
            "/",
            "%",
            "^",
        ),
        *(
            "count : {",
            "min x : {",
            "max x : {",
            "sum x : {",
            "mean x : {",
            "range(0, 3)",
            "to_number(x)",
            "cat(x, y)",
        ),
        *(
            ".decl",
            ".input",
            ".output",
            ".type",
            ".comp",
            ".init",
            "eqrel",
            "number",
            "symbol",
            "float",
            "unsigned",
        ),
        *(
            "true",
            "false",
            "nil",
            "as(x, number)",
            "substr(x, 0, 1)",
            '"a"',
            "0xff",
            "1.5",
            "-1",
            "9" * 20,
            "x",
            "y",
        ),
        *("p(x, y)", "q(x)", "e(x, y)", "!e(y, x)", "p(1, 2).", "// c\n", "/*", "*/", "#", "\x1b[2J", "é"),
    )
)


def corpus() -> list[bytes]:
    """The checker's good programs, and the examples."""
    good = (ROOT / "tests/datalog/language/good_programs.txt").read_text().split("\n\n")
    programs = [DECLARED + program for program in good if not program.startswith("#")]
    return [
        *(program.encode() for program in programs),
        *(path.read_bytes() for path in ROOT.glob("examples/*/*.dl")),
    ]


def check(data: bytes) -> None:
    """One program, without facts but its own."""
    text = data.decode(errors="ignore")
    try:
        program = Program.parse(text)
    except RuleError as error:
        check_message(error)
        return
    if _MAKES_MUCH.search(text):
        return
    assert _outcome(lambda: program.start(limit=LIMIT)) == _outcome(lambda: obvious_engine(program))


def _outcome(start: Callable[[], Engine]) -> dict[str, list[Any]] | type[TocsinError]:
    try:
        return contents(start())
    except TocsinError as error:
        check_message(error)
        return type(error)


_MAKES_MUCH = re.compile(r"range|cat|\^")
