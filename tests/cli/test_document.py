"""docs/command-line.md names every command and option, and its commands work."""

from __future__ import annotations

import argparse

import pytest
from tests.cli.documents import DOCUMENT, ROOT, is_on_spark, shell_commands
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
    titles = [
        line.removeprefix("## ") for line in DOCUMENT.read_text().splitlines() if line.startswith("## ")
    ]
    assert titles[: len(parsers())] == list(parsers())


def test_the_commands_work(tocsin: Command) -> None:
    (tocsin.folder / "examples").symlink_to(ROOT / "examples")
    commands = [words for words in shell_commands() if not is_on_spark(words)]
    assert commands
    for program, *arguments in commands:
        assert program == "tocsin"
        ran = tocsin(*arguments)
        assert ran.code == 0, ran.err
