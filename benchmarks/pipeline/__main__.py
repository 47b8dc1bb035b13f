"""The figures of the pipeline on Spark, one after the other, each in a process of its own.

python -m benchmarks.pipeline                    all of them, and into the documents
python -m benchmarks.pipeline --quick            small sizes: tries the scripts, keeps nothing
python -m benchmarks.pipeline --only latency     some of them
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measuring import say

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ("matching", "memory", "latency", "build", "datalog", "activation")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.pipeline", description="the pipeline on Spark"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes; nothing is written")
    parser.add_argument("--only", nargs="+", choices=FIGURES, default=FIGURES, help="which figures")
    options = parser.parse_args(arguments)
    for figure in options.only:
        say(f"== {figure}")
        command = [sys.executable, "-m", f"benchmarks.pipeline.{figure}", *["--quick"] * options.quick]
        subprocess.run(command, check=True, cwd=ROOT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
