"""docs/command-line.md names every command and option, and shows what commands really print."""

from __future__ import annotations

import argparse

import pytest
from tests.cli.documents import DOCUMENT, shown_commands, shown_files
from tests.cli.running import Command

from tocsin.cli import parser


def parsers() -> dict[str, argparse.ArgumentParser]:
    (commands,) = (each for each in parser()._actions if isinstance(each, argparse._SubParsersAction))
    return dict(commands.choices)


def section(command: str) -> str:
    text = DOCUMENT.read_text()
    assert f"\n## {command}\n" in text
    return text.split(f"\n## {command}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize("command", parsers())
def test_every_option_is_documented(command: str) -> None:
    for action in parsers()[command]._actions:
        if not isinstance(action, argparse._HelpAction):
            names = action.option_strings or [str(action.metavar)]
            assert all(name in section(command) for name in names), names


def test_no_command_is_documented_that_does_not_exist() -> None:
    assert {shown.words[0] for shown in shown_commands()} == {"tocsin"}
    assert {shown.words[1] for shown in shown_commands()} == parsers().keys()


def test_the_commands_print_what_is_shown(tocsin: Command) -> None:
    for name, text in shown_files().items():
        tocsin.file(name, text)
    for shown in shown_commands():
        if not shown.on_spark:
            ran = tocsin(*shown.words[1:])
            assert ran.out == shown.out, shown.words
            assert ran.code == (1 if shown.words[1] == "check" and shown.out else 0), ran.err
