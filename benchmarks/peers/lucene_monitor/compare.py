"""tocsin and Lucene's monitor on the same documents and standing queries.

    python -m benchmarks.peers.lucene_monitor.compare --arxiv FOLDER
    python -m benchmarks.peers.lucene_monitor.compare --arxiv FOLDER --quick    short: keeps nothing

Built by Maven when this is run; where there is none, or no Java compiler, the comparison is skipped and
says so. The monitor gets the words of a document parted by spaces, as they are in the folder, and the best
of several set-ups: how it chooses the terms to index, how many documents it matches at once. Both sides
start with the text of documents and must find the same. Times are the processor time of all threads.
Results go to benchmarks/results/lucene.json and into the documents that have a place for them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from benchmarks.measuring import machine_facts, say
from benchmarks.peers.lucene_monitor import harness
from benchmarks.tables import markdown, milliseconds, times, write_into
from benchmarks.text.corpus import Corpus, corpus_in
from benchmarks.text.matching import Ours, check_expected
from benchmarks.text.repeating import seconds_of
from benchmarks.text.tables import repeated_note
from benchmarks.text.workload import more_queries

from tocsin.warmup import warm_up

ROOT = Path(__file__).resolve().parents[3]
RESULTS = ROOT / "benchmarks" / "results" / "lucene.json"
DOCUMENTS = (ROOT / "README.md", ROOT / "docs" / "performance.md")
SIZES = (10_000, 100_000)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.peers.lucene_monitor.compare")
    parser.add_argument("--arxiv", type=Path, metavar="FOLDER", help="documents, queries, expected matches")
    parser.add_argument("--quick", action="store_true", help="few queries, short; nothing is written")
    options = parser.parse_args(arguments)
    if options.arxiv is None:
        say("Lucene's monitor is skipped: ARXIV=FOLDER names the documents and queries")
        return 0
    if reason := harness.reason_to_skip():
        say(f"Lucene's monitor is skipped: {reason}")
        return 0
    say("Lucene's monitor is built by Maven")
    if reason := harness.build():
        say(f"Lucene's monitor is skipped: {reason}")
        return 0
    pa.set_cpu_count(1)
    warm_up()
    corpus = corpus_in(options.arxiv)
    results: dict[str, Any] = {"machine": machine_facts(), "sizes": []}
    for size in (1_000,) if options.quick else SIZES:
        results["sizes"].append(compare(corpus, size, seconds=1 if options.quick else 10))
        if not options.quick:
            RESULTS.parent.mkdir(exist_ok=True)
            RESULTS.write_text(json.dumps(results, indent=1) + "\n")
            write_into(DOCUMENTS, {"lucene": table(results)})
    print(table(results))
    return 0


def compare(corpus: Corpus, size: int, seconds: float) -> dict[str, Any]:
    """The same queries through both, each for so many seconds when warm."""
    queries = more_queries(corpus, size)
    documents = corpus.documents
    say(f"{size:,} queries in Lucene's monitor")
    peer = harness.run(documents, queries, warm_up=seconds, measured=seconds)
    say(f"{size:,} queries in tocsin")
    ours = Ours(queries, documents)
    found = ours.matches()
    check_expected(corpus, found, size)
    if found != peer.matches:
        sys.exit(f"{size:,} queries: tocsin and Lucene's monitor differ")
    return {
        "queries": size,
        "matches": sum(map(len, found)) / len(documents),
        "set_up": peer.set_up,
        "peer": peer.seconds,
        "peer_register": peer.register,
        "tocsin": seconds_of(ours.run, seconds) / len(documents),
    }


def table(results: dict[str, Any]) -> str:
    found = results["sizes"]
    rows = [
        ("matches a document", [f"{each['matches']:,.1f}" for each in found]),
        ("Lucene's monitor, a document", [milliseconds(each["peer"]) for each in found]),
        ("tocsin, a document", [milliseconds(each["tocsin"]) for each in found]),
        ("**tocsin is faster by**", [times(each["peer"], each["tocsin"]) for each in found]),
        ("the monitor's best set-up", [each["set_up"] for each in found]),
    ]
    head = ["standing queries", *(f"{each['queries']:,}" for each in found)]
    return f"{markdown(head, rows)}\n\n{repeated_note(results['machine'])}"


if __name__ == "__main__":
    sys.exit(main())
