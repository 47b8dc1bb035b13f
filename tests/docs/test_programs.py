"""Every program of docs/programs.md gives what the document says.

datalog     a program; its lines `//= relation: tuples` state contents
error       a program, a line of dashes, and its errors
python, console     run by test_documents.py
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import tocsin
from tocsin.datalog.language.functors import AGGREGATES, BINDING, CALLED, UNARY

DOCUMENT = (Path(__file__).parents[2] / "docs" / "programs.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)
PROGRAMS = [body for kind, body in BLOCKS if kind == "datalog"]
ERRORS = [body for kind, body in BLOCKS if kind == "error"]
PROSE = re.sub(r"^```.*?^```$", "", DOCUMENT, flags=re.MULTILINE | re.DOTALL)
STATED = re.compile(r"^//= ([\w.]+): (.*)$", re.MULTILINE)


def test_every_block_is_checked() -> None:
    assert {kind for kind, _ in BLOCKS} == {"datalog", "error", "python", "console"}


@pytest.mark.parametrize("text", PROGRAMS)
def test_program(text: str) -> None:
    engine = tocsin.Program.parse(text).start()
    stated = STATED.findall(text)
    assert stated
    for relation, tuples in stated:
        assert engine.query(relation) == list(ast.literal_eval(f"[{tuples.replace(') (', '), (')}]"))


@pytest.mark.parametrize("body", ERRORS)
def test_error(body: str) -> None:
    text, _, expected = body.partition("----\n")
    with pytest.raises(tocsin.RuleError) as caught:
        tocsin.Program.parse(text)
    assert str(caught.value) == expected.rstrip("\n")


@pytest.mark.parametrize("word", sorted({*CALLED, *AGGREGATES, *(BINDING.keys() | UNARY.keys())}))
def test_every_functor_and_operator_is_named(word: str) -> None:
    assert any(word in code for code in re.findall(r"`([^`]+)`", PROSE))
