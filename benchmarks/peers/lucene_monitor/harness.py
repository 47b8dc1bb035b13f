"""Lucene's monitor as a program of its own: built by Maven, given documents and queries as files."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tocsin.text import Group, Leaf, Operation, parse_query

HERE = Path(__file__).parent
JAVA_OPTIONS = ("-Xmx4g", "-XX:+UseSerialGC")
"""The collector that uses the least processor time."""


class Peer(NamedTuple):
    """What the monitor found, and the processor time of all its threads."""

    matches: list[list[int]]
    seconds: float
    """for a document"""
    register: float
    """for all queries"""
    set_up: str


def reason_to_skip() -> str | None:
    """Why the peer cannot be had here, if so."""
    missing = [tool for tool in ("mvn", "javac", "java") if shutil.which(tool) is None]
    return f"there is no {' and no '.join(missing)} here" if missing else None


def build() -> str | None:
    """Fetch Lucene and compile the program; what went wrong, if anything."""
    done = subprocess.run(
        ["mvn", "--quiet", "--batch-mode", "compile"],
        cwd=HERE,
        text=True,
        stdout=subprocess.PIPE,
        check=False,
    )
    errors = [line for line in done.stdout.splitlines() if "ERROR" in line]
    return errors[0] if done.returncode and errors else None


def run(documents: Sequence[str], queries: Sequence[str], *, warm_up: float, measured: float) -> Peer:
    """Match the documents again and again for `measured` seconds, after `warm_up` seconds of it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder / "documents.txt", documents)
        _write(folder / "queries.txt", [in_postfix(query) for query in queries])
        classes = os.pathsep.join([str(HERE / "target" / "classes"), str(HERE / "target" / "lib" / "*")])
        command = ["java", *JAVA_OPTIONS, "-cp", classes, "MonitorPeer", name, str(warm_up), str(measured)]
        answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        lines = (folder / "matches.txt").read_text().split("\n")[:-1]
    told = dict(line.split("=", 1) for line in answer.splitlines())
    return Peer(
        [sorted(int(number) for number in line.split()) for line in lines],
        float(told["seconds"]) / int(told["passes"]) / len(documents),
        float(told["register"]),
        f"presearcher {told['presearcher']}, {told['batch']} documents at once",
    )


def in_postfix(query: str) -> str:
    """A query as the program reads it."""
    return "\t".join(_step(step) for step in parse_query(query).steps)


def _step(step: Leaf | Group) -> str:
    if isinstance(step, Group):
        assert step.operation is not Operation.ACCRUE
        return f"{step.operation.value}{step.arity}"
    kind = "p" if len(step.words) > 1 else "x" if step.words[0].is_prefix else "w"
    return f"{'!' * step.negated}{kind}:{' '.join(word.text for word in step.words)}"


def _write(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
