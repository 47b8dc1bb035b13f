"""The table at the head of the README: tocsin beside what people use, as the other benchmarks measured it.

python -m benchmarks.peers.readme_table
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.tables import markdown, milliseconds, times, write_into

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"
README = ROOT / "README.md"
NAME = "beside-peers"


def main() -> None:
    write_into([README], {NAME: table()})


def table() -> str:
    """One row a peer and way of asking; no peer without matches that were the same."""
    head = ["the same rules, the same matches", "peer", "tocsin", "faster by"]
    return markdown(head, [*_python_loop(), *_a_tree(), *_lucene()])


def _row(what: str, peer: float, ours: float) -> tuple[str, list[str]]:
    return what, [milliseconds(peer), milliseconds(ours), f"**{times(peer, ours)}**"]


def _python_loop() -> list[tuple[str, list[str]]]:
    found = _results("spine.json")["workloads"][0]
    what = f"{found['rules']:,} campaigns: a Python loop over compiled conditions"
    loop = found["python_loop"]["best"]
    return [
        _row(f"{what}, a visit at a time", loop, found["single"]["best"]),
        _row(f"{what}, visits in blocks", loop, found["blocks"]["best"]),
    ]


def _a_tree() -> list[tuple[str, list[str]]]:
    found = next(iter(_results("peers.json")["workloads"].values()))
    what = f"{found['rules']:,} conditions: the a-tree crate (Rust)"
    return [
        _row(f"{what}, an event at a time", found["peer_event"], found["single"]),
        _row(f"{what}, events in blocks", found["peer_event"], found["blocks"]),
    ]


def _lucene() -> list[tuple[str, list[str]]]:
    found = _results("lucene.json")["sizes"][-1]
    what = f"{found['queries']:,} text queries: Lucene's monitor (Java), documents in blocks"
    return [_row(what, found["peer"], found["tocsin"])]


def _results(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / name).read_text())
    return found


if __name__ == "__main__":
    main()
