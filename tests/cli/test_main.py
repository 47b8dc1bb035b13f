"""What all commands share: help, versions, exit codes, streams, and how quickly help comes."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

import pytest
from tests.cli.running import EVENTS, RULES, Command

from tocsin.cli import parser
from tocsin.cli.console import progress
from tocsin.version import VERSION

COMMANDS = (
    "check",
    "build",
    "match",
    "explain",
    "calibrate",
    "score",
    "backtest",
    "statistics",
    "verify",
    "bench",
)


def test_version(tocsin: Command) -> None:
    assert tocsin("--version") == (0, f"tocsin {VERSION}\n", "")


def test_help_names_the_commands(tocsin: Command) -> None:
    ran = tocsin("--help")
    assert ran.code == 0
    assert all(command in ran.out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_has_an_example_that_its_parser_takes(tocsin: Command, command: str) -> None:
    ran = tocsin(command, "--help")
    assert ran.code == 0
    examples = [line.strip() for line in ran.out.splitlines() if line.startswith("  tocsin ")]
    assert examples
    for example in examples:
        assert parser().parse_args(shlex.split(example)[1:]).command == command


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["matches"],
        ["match", "rules.csv"],
        ["check", "rules.csv", "--no-such-option"],
        ["build", "rules.csv"],
        ["explain", "rules.csv", "--rule"],
        ["match", "rules.csv", "--eve", "e.jsonl"],
    ],
)
def test_bad_usage_is_exit_code_2(tocsin: Command, arguments: list[str]) -> None:
    ran = tocsin(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert "--help tells how it is used" in ran.err


def test_importing_and_help_load_no_heavy_library() -> None:
    heavy = "{'numba', 'numpy', 'pyarrow', 'pyspark', 'pandas', 'rich', 'matplotlib'}"
    code = (
        "import sys, tocsin.cli; tocsin.cli.main(['--help']);"
        f"sys.stderr.write(str({heavy} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ran.stderr == "set()"


def test_an_interruption_is_exit_code_130(tocsin: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(arguments: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("tocsin.cli.check.run", interrupted)
    assert tocsin("check", "rules.csv") == (130, "", "tocsin: interrupted\n")


def test_an_operating_system_error_is_a_message(tocsin: Command) -> None:
    ran = tocsin("explain", "rules.csv", "--rule", "x", "--event", "@nothing.json")
    assert ran == (1, "", "tocsin: nothing.json: No such file or directory\n")


def test_a_module_run_as_a_program(tocsin: Command) -> None:
    tocsin.file("rules.csv", RULES)
    tocsin.file("events.jsonl", EVENTS)
    command = [sys.executable, "-m", "tocsin", "match", "rules.csv", "--events", "events.jsonl", "--no-spark"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0
    assert len(ran.stdout.splitlines()) == 4
    assert "4 matches" in ran.stderr


def test_a_reader_that_goes_away_is_no_error(tocsin: Command) -> None:
    tocsin.file("rules.csv", "id,when\n" + "".join(f"r{number},true\n" for number in range(2_000)))
    tocsin.file("events.jsonl", '{"a": 1}\n' * 100)
    command = [sys.executable, "-m", "tocsin", "match", "rules.csv", "--events", "events.jsonl", "--no-spark"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read().decode()
    assert process.returncode == 0
    assert "Traceback" not in said
    assert "Broken pipe" not in said


def test_progress_is_shown_on_a_terminal_only(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("Working", 2) as advance:
        advance(2)
    assert capsys.readouterr() == ("", "")
    reading, writing = os.openpty()
    code = "from tocsin.cli.console import progress\nwith progress('Working', 2) as advance: advance(1)"
    environment = {**os.environ, "TERM": "xterm"}
    subprocess.run([sys.executable, "-c", code], stderr=writing, timeout=60, check=True, env=environment)
    shown = os.read(reading, 100_000).decode()
    os.close(writing)
    os.close(reading)
    assert "Working" in shown
