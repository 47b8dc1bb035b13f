"""The command `tocsin`: one file per command, and what all of them share.

Standard output is for the result alone; messages, warnings and progress go to standard error. Exit
codes: 0 done, 1 bad input, 2 bad usage. Importing this, and `--help`, load none of the libraries that
do the work: every command imports them when it runs. Begin with match.py; console.py and destinations.py
are what all of them share.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from tocsin.cli.console import complain, complain_of, leave_pandas_alone, nearest, showing_warnings
from tocsin.errors import TocsinError, UsageError
from tocsin.printable import printable
from tocsin.version import VERSION

DONE, BAD_INPUT, BAD_USAGE, INTERRUPTED = 0, 1, 2, 130

COMMANDS = "check build match stream explain calibrate score backtest statistics datalog verify warm bench"
"""In the order in which they are told of, each a file here."""

_EXAMPLES = """\
examples:
  tocsin check rules/                                     find every error in rule files
  tocsin build rules/ -o rules.tocsin                     make an index of them
  tocsin match rules.tocsin --events visits.jsonl         which rules does each event satisfy?
  tocsin stream rules/ --source visits/ --sink alerts/    and those that come from now on?
  tocsin explain rules/ --rule r1 --event '{"age": 31}'   and why, or why not?
  tocsin score 'a golf trophy' 'golf, trophy'             how well does a text fit a query?
  tocsin statistics --events visits/ -o history           count what past events hold
  tocsin backtest rules/ --events old.jsonl --rule r1     which threshold for its contains?
  tocsin datalog paths.dl --facts data --out results      run a Datalog program over files of facts
  tocsin verify rules.tocsin                              is a saved file whole and sound?
  tocsin warm                                             compile every kernel now, not when first needed
  tocsin bench --list                                     the papers' experiments, to be run here
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the result is the exit code."""
    for output in (sys.stdout, sys.stderr):
        if hasattr(output, "reconfigure"):
            output.reconfigure(errors="backslashreplace")
    try:
        arguments = parser().parse_args(argv)
        if argv is None and not (arguments.command == "stream" or getattr(arguments, "spark", False)):
            leave_pandas_alone()
        _check_standard_input(arguments)
        with showing_warnings():
            code: int = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else BAD_INPUT
    except BrokenPipeError:
        _forget_output()
        return DONE
    except KeyboardInterrupt:
        complain("interrupted")
        return INTERRUPTED
    except TocsinError as error:
        complain_of(error)
        return BAD_USAGE if isinstance(error, UsageError) else BAD_INPUT
    except MemoryError:
        complain("out of memory")
        return BAD_INPUT
    except OSError as error:
        complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        return BAD_INPUT


_OPTION = re.compile(r"--[a-z][a-z-]*")


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are printable; those of its commands are of the same class."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the usage, and end."""
        message = message.removeprefix("argument ")
        if message.startswith("the following arguments are required: RULES"):
            message += " (they stand first: options such as --events take all that follows)"
        complain(f"{printable(message)}\n{self.prog} --help tells how it is used")
        raise SystemExit(BAD_USAGE)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As ever, but what is no option or command is said before anything else, with the nearest one."""
        words = list(sys.argv[1:] if args is None else args)
        for word in words:
            if word == "--" or (self._subparsers is not None and not word.startswith("-")):
                break
            name = word.partition("=")[0]
            if _OPTION.fullmatch(name) and name not in self._option_string_actions:
                self.error(f"there is no option {name}{nearest(name, self._option_string_actions)}")
        return super().parse_known_args(words, namespace)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            known = list(action.choices)
            self.error(f"there is no command {value!r}{nearest(value, known)} (tocsin --help names them)")
        super()._check_value(action, value)


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    whole = _Parser(
        prog="tocsin",
        description="Tells which of millions of rules an event satisfies.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    whole.add_argument("--version", action="version", version=f"tocsin {VERSION}")
    commands = whole.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS.split():
        command = import_module(f"tocsin.cli.{name}")
        added = commands.add_parser(
            name,
            help=command.SUMMARY,
            description=command.DESCRIPTION,
            epilog=command.EXAMPLES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        command.add_arguments(added)
        added.set_defaults(run=command.run)
    return whole


def _check_standard_input(arguments: argparse.Namespace) -> None:
    """UsageError when standard input is to be two things: it can be read once."""
    given = [vars(arguments).get(name) for name in ("rules", "events", "compare", "event", "schema", "text")]
    words = [word for each in given for word in (each if isinstance(each, list) else [each])]
    if sum(word in ("-", "@-") for word in words) > 1:
        raise UsageError("- is standard input, which can be read only once: give it for one thing")


def _forget_output() -> None:
    """Whoever read standard output has gone (`| head`): nothing more is to be written, nor at the end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
