"""`tocsin datalog`: a program over files of facts, run once."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tocsin.cli.console import progress, say, say_if_compiling_programs
from tocsin.cli.destinations import STANDARD, write_rejects
from tocsin.errors import InputError, UsageError
from tocsin.printable import number_of, printable

if TYPE_CHECKING:
    from tocsin.datalog.engine import BadLine, Engine, OnBadLine, Program
    from tocsin.datalog.language import Transfer, Value
    from tocsin.datalog.machine import Rows, TupleCode

SUMMARY = "run a Datalog program over files of facts"
DESCRIPTION = """\
Reads the facts of every .input relation of a program, works out what its rules derive from them, and
writes every .output relation, as Soufflé does: DIR/r.facts in, DIR/r.csv out, values between tabs. Sizes
that .printsize asks for are printed."""
EXAMPLES = """\
examples:
  tocsin datalog paths.dl --facts data --out results
  tocsin datalog paths.dl -F data -D -                    results on standard output
  tocsin datalog paths.dl -F data --why 'path(1, 3)'      and why does this one hold, or not?
  tocsin datalog paths.dl -F data -D results --spark      for more facts than this machine's memory holds
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("program", metavar="PROGRAM.dl", help="the program; - is standard input")
    parser.add_argument(
        "--facts", "-F", metavar="DIR", default=".", help="the folder of facts (default: this one)"
    )
    parser.add_argument(
        "--out",
        "-D",
        metavar="DIR",
        default=".",
        help="the folder of results, made if it is not there (default: this one); - is standard output",
    )
    parser.add_argument(
        "--local", metavar="ADDRESS", help="the address that located arguments (@x) are held to"
    )
    parser.add_argument(
        "--limit",
        type=int,
        metavar="N",
        help="stop when more than N tuples are derived (default: 20 million; with --spark 1,000 million)",
    )
    parser.add_argument(
        "--text-limit",
        type=int,
        metavar="BYTES",
        help="stop when the rules make more than so many bytes of texts (default: 1 GiB)",
    )
    parser.add_argument(
        "--unpacked-limit",
        type=int,
        metavar="BYTES",
        help="refuse a packed file of facts that holds more than so many bytes (default: 4 GiB)",
    )
    parser.add_argument(
        "--allow-outside",
        action="store_true",
        help="let the program name files outside of the folders of facts, of results and of the program",
    )
    parser.add_argument(
        "--why", metavar="TUPLE", help="tell how a tuple is derived, or what it lacks: 'path(1, 3)'"
    )
    parser.add_argument("--spark", action="store_true", help="work it out on Spark: for facts beyond memory")
    parser.add_argument("--skip-bad", action="store_true", help="leave out lines that are not tuples")
    parser.add_argument(
        "--rejects",
        metavar="FILE",
        help="where --skip-bad writes what it left out (default: beside the results, PROGRAM.rejects.jsonl)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Read, run, write."""
    from tocsin.datalog.engine import (
        DERIVED_LIMIT,
        Engine,
        Program,
        check_transfers,
        checked_limit,
        first_state,
        refuse,
    )
    from tocsin.datalog.language import TEXT_LIMIT, inputs, outputs, printed_sizes
    from tocsin.datalog.machine import Symbols
    from tocsin.storage import UNPACKED_LIMIT, files_at

    if arguments.spark and arguments.why is not None:
        raise UsageError("--why asks the engine that runs without Spark: leave out --spark")
    if arguments.rejects is not None and not arguments.skip_bad:
        raise UsageError("--rejects needs --skip-bad, as it is for what that leaves out")
    (path,) = files_at(arguments.program)
    program = Program.read(path, allow_outside=arguments.allow_outside)
    sources, targets = inputs(program.checked), outputs(program.checked)
    if arguments.out == STANDARD:
        targets = [target._replace(stream=True) for target in targets]
    asked = None if arguments.why is None else _asked(program, arguments.why)
    facts = Path(arguments.facts)
    if sources and not facts.is_dir() and not all(source.stream for source in sources):
        raise InputError(f"{facts}: there is no such folder")
    check_transfers(
        sources,
        targets,
        facts,
        Path(arguments.out),
        program=program.files,
        allow_outside=arguments.allow_outside,
    )
    limit = checked_limit(DERIVED_LIMIT if arguments.limit is None else arguments.limit)
    text_limit = TEXT_LIMIT if arguments.text_limit is None else arguments.text_limit
    text_limit = checked_limit(text_limit, "text_limit", "bytes")
    unpacked_limit = UNPACKED_LIMIT if arguments.unpacked_limit is None else arguments.unpacked_limit
    unpacked_limit = checked_limit(unpacked_limit, "unpacked_limit", "bytes")
    symbols = Symbols(limit=text_limit)
    rejected: list[BadLine] = []
    say_if_compiling_programs()
    on_bad = rejected.append if arguments.skip_bad else refuse

    def reject() -> None:
        if rejected:
            _write_rejects(arguments, rejected)

    if arguments.spark:
        from tocsin.cli.datalog_spark import run_on_spark

        run_on_spark(arguments, program, sources, targets, text_limit, unpacked_limit, on_bad, reject)
        return 0
    loaded = _read(program.codes(symbols), sources, facts, on_bad, unpacked_limit)
    reject()
    local = None if arguments.local is None else program.read_local(arguments.local)
    engine = Engine(first_state(program, local, limit, symbols, loaded))
    _write(engine, targets, Path(arguments.out))
    for relation in printed_sizes(program.checked):
        print(f"{relation}\t{engine.size(relation)}")
    if asked is not None:
        print(engine.why(*asked))
    return 0


def _asked(program: Program, written: str) -> tuple[str, tuple[Value, ...]]:
    """The tuple that is asked for, read as a fact of the program."""
    from tocsin.datalog.engine import facts_of

    known = len(program.checked.rules)
    extended = program.with_rules(f"{written.rstrip().removesuffix('.')}.").checked
    facts = facts_of(replace(extended, rules=extended.rules[known:]))
    if len(facts) != 1:
        raise UsageError(f"--why asks for one tuple, such as 'path(1, 3)', and not for {written}")
    return facts[0]


def _read(
    codes: dict[str, TupleCode],
    sources: list[Transfer],
    folder: Path,
    on_bad: OnBadLine,
    unpacked_limit: int,
) -> dict[str, Rows]:
    """The facts of all inputs; one relation may have several."""
    import numpy as np

    from tocsin.datalog.engine import read_facts

    read: dict[str, list[Rows]] = {}
    with progress("reading facts", len(sources)) as advance:
        for done, source in enumerate(sources, 1):
            rows = read_facts(source, folder, codes[source.relation], on_bad, unpacked_limit)
            read.setdefault(source.relation, []).append(rows)
            advance(done)
    return {name: np.concatenate(rows) for name, rows in read.items()}


def _write(engine: Engine, targets: list[Transfer], folder: Path) -> None:
    from tocsin.datalog.engine import print_result, result_path, write_result

    with progress("writing results", len(targets)) as advance:
        for done, target in enumerate(targets, 1):
            code, rows = engine.code(target.relation), engine.rows(target.relation)
            if target.stream:
                print_result(target, sys.stdout, code, rows)
            else:
                write_result(target, result_path(target, folder), code, rows)
            advance(done)


def _write_rejects(arguments: argparse.Namespace, rejected: list[BadLine]) -> None:
    stem = "program" if arguments.program == STANDARD else Path(arguments.program).stem
    default = f"{stem}.rejects.jsonl"
    folder = Path() if arguments.out == STANDARD else Path(arguments.out)
    path = folder / default if arguments.rejects is None else Path(arguments.rejects)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_rejects(path, (json.dumps(bad._asdict(), ensure_ascii=False) + "\n" for bad in rejected))
    say(f"{number_of(len(rejected), 'line')} left out: see {printable(str(path))}")
