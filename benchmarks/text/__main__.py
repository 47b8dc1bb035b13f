"""Free text: every figure that docs/performance.md gives of it but that of Lucene, measured in one run.

    python -m benchmarks.text --arxiv FOLDER              everything
    python -m benchmarks.text --only mixed                some parts; the others keep their figures
    python -m benchmarks.text --arxiv FOLDER --quick      small sizes: tries the script, keeps nothing

FOLDER holds documents, standing queries and the matches that are known to be right (corpus.py). Each
part's figures are written to benchmarks/results/text.json as soon as it is done, and from there into the
documents that have a place for them. Times are processor time, all threads counted.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from benchmarks.measuring import machine_facts, say
from benchmarks.tables import write_into
from benchmarks.text.adding import adding
from benchmarks.text.corpus import Corpus, corpus_in
from benchmarks.text.matching import beside_baselines
from benchmarks.text.mixed import mixed
from benchmarks.text.selective import selective_indexing
from benchmarks.text.tables import tables

from tocsin.warmup import warm_up

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "text.json"
DOCUMENTS = (ROOT / "README.md", ROOT / "docs" / "performance.md")


@dataclass(frozen=True)
class Sizes:
    """How much of everything; `seconds` is how long each side is measured."""

    queries: tuple[int, ...] = (10_000, 100_000)
    added: int = 100_000
    interests: int = 20_000
    mixed_rules: int = 20_000
    mixed_events: int = 8_192
    seconds: float = 10


QUICK = Sizes((1_000,), 2_000, 1_000, 1_000, 1_024, 0.2)

NEEDS_CORPUS: dict[str, Callable[[Corpus, Sizes], Any]] = {
    "matching": lambda corpus, sizes: beside_baselines(corpus, sizes.queries, sizes.seconds),
    "adding": lambda corpus, sizes: adding(corpus, sizes.added),
    "selective": lambda corpus, sizes: selective_indexing(corpus, sizes.interests, sizes.seconds),
}
ALONE: dict[str, Callable[[Sizes], Any]] = {
    "mixed": lambda sizes: mixed(sizes.mixed_rules, sizes.mixed_events, sizes.seconds),
}


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    pa.set_cpu_count(1)
    warm_up()
    sizes = QUICK if options.quick else Sizes()
    corpus = corpus_in(options.arxiv) if options.arxiv else None
    results: dict[str, Any] = {}
    if RESULTS.exists() and not options.quick:
        results = json.loads(RESULTS.read_text())
    for name in options.only:
        say(name)
        start = time.perf_counter()
        if name in ALONE:
            figures = ALONE[name](sizes)
        else:
            assert corpus is not None
            figures = NEEDS_CORPUS[name](corpus, sizes)
        results[name] = {"machine": machine_facts(), "figures": figures}
        say(f"  done in {time.perf_counter() - start:.0f} s")
        if not options.quick:
            RESULTS.parent.mkdir(exist_ok=True)
            RESULTS.write_text(json.dumps(results, indent=1) + "\n")
            write_into(DOCUMENTS, tables(results))
    for text in tables(results).values():
        print(f"\n{text}")
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    names = [*NEEDS_CORPUS, *ALONE]
    parser = argparse.ArgumentParser("python -m benchmarks.text", description="how fast free text is")
    parser.add_argument("--arxiv", type=Path, metavar="FOLDER", help="documents, queries, expected matches")
    parser.add_argument("--only", metavar="PART,...", help=f"of {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="small sizes; nothing is written")
    options = parser.parse_args(arguments)
    if options.only is None:
        options.only = names if options.arxiv else list(ALONE)
        if options.arxiv is None:
            say(f"without --arxiv FOLDER only {', '.join(ALONE)} can be measured")
    else:
        options.only = options.only.split(",")
    if unknown := set(options.only) - set(names):
        parser.error(f"there is no part {', '.join(sorted(unknown))}: choose of {', '.join(names)}")
    if options.arxiv is None and (lacking := set(options.only) & set(NEEDS_CORPUS)):
        parser.error(f"--arxiv FOLDER is needed for {', '.join(sorted(lacking))}")
    return options


if __name__ == "__main__":
    sys.exit(main())
