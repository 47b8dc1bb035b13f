"""The demonstration: `make demo`, or `python -m tocsin_lab.demo`.

An advertising exchange in miniature is made, its campaigns are built into an index, all visits are
matched with all campaigns on Spark, and a sample of the answers is checked. The files, in order of use:

    demo.py             says at once what is coming, and loads the rest
    demo_story.py       the story: each step with its time
    exchange/           makes campaigns and visits
    demo_job.py         matches and counts them on Spark
    sample_check.py     checks a sample, and finds a near miss
    loop_comparison.py  what a Python loop would have taken
    demo_report.py      shows what came out

The exit code is 1 when the check finds a difference.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tocsin.errors import TocsinError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tocsin_lab.demo", description="tocsin, shown at work")
    parser.add_argument("--campaigns", type=int, default=100_000, metavar="N")
    parser.add_argument("--visits", type=int, default=200_000, metavar="N")
    parser.add_argument("--folder", type=Path, default=Path("build/demo"), help="where its files go")
    options = parser.parse_args(arguments)
    if options.campaigns < 1 or options.visits < 1:
        parser.error("--campaigns and --visits are at least 1")
    print(
        f"An advertising exchange in miniature: {options.campaigns:,} campaigns, each a rule, and"
        f" {options.visits:,} visits,\neach an event. Which campaigns want which visits? (about two minutes;"
        " Ctrl-C ends it)\n",
        flush=True,
    )
    try:
        from tocsin_lab.demo_story import run  # takes a second or more, which nobody should spend in the dark

        verdict = run(options.campaigns, options.visits, options.folder)
    except (TocsinError, OSError) as error:
        print(f"the demonstration stopped: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nthe demonstration was stopped", file=sys.stderr)
        return 130
    return 1 if verdict.differences else 0


if __name__ == "__main__":
    sys.exit(main())
