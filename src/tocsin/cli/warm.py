"""`tocsin warm`: compile every kernel now, or take what another machine has compiled."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from tocsin.cli.console import progress, say
from tocsin.printable import number_of, printable

SUMMARY = "compile every kernel now"
DESCRIPTION = """\
Compiles every kernel that is not compiled yet, on all cores; otherwise each is compiled when it is first
needed. The machine code is kept, so this is done once. It is made for a common level of processors
(x86-64-v3), and runs on every machine that has that level.

--export packs it into one file, and --import takes such a file in, for the same Python, Numba and version of
tocsin. A damaged or foreign file is refused. What is in the file is run: import only what you would run as a
program."""
EXAMPLES = """\
examples:
  tocsin warm
  tocsin warm --export kernels.zip
  tocsin warm --import kernels.zip
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    files = parser.add_mutually_exclusive_group()
    files.add_argument("--export", metavar="FILE", type=Path, help="pack the machine code into a file")
    files.add_argument(
        "--import",
        metavar="FILE",
        type=Path,
        dest="source",
        help="take it from a file, which must be trusted",
    )


def run(arguments: argparse.Namespace) -> int:
    """Compile, and pack; or unpack."""
    if arguments.source:
        from tocsin.arrays.code_archive import import_code

        count = import_code(arguments.source)
        say(f"{number_of(count, 'kernel')} taken from {printable(str(arguments.source))}")
        return 0
    compile_all()
    if arguments.export:
        from tocsin.arrays.code_archive import export_code

        count = export_code(arguments.export)
        say(f"{number_of(count, 'kernel')} in {printable(str(arguments.export))}")
    return 0


def compile_all() -> None:
    """Compile in parallel, with a bar on a terminal and a message elsewhere."""
    from tocsin.parallel_warmup import warm_up_in_parallel

    say("Compiling the kernels for this machine (once)")
    started = time.perf_counter()
    with progress("Compiling", 100, shows_rest=True) as advance:
        count = warm_up_in_parallel(lambda done, total: advance(100 * done // total))
    say(f"{number_of(count, 'kernel')} compiled after {time.perf_counter() - started:.0f} s")
