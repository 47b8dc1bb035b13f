"""What the papers claim, and whether it holds here: the table at the top of docs/experiments.md.

    python -m benchmarks.claims

Every figure is read out of the generated tables of docs/experiments.md and docs/performance.md, and whether
a claim holds is decided by the condition that stands beside it: so when an experiment is run again, at
whatever size, the table follows. benchmarks/experiments.py ends with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.claims import atree, dewey, triggerman, yield_index
from benchmarks.claims.claim import blocks_of, claims_table
from benchmarks.spine import ROOT
from benchmarks.tables import write_into

DOCUMENTS = (ROOT / "docs" / "experiments.md", ROOT / "docs" / "performance.md")
PAPERS = (dewey, atree, triggerman, yield_index)
NAME = "claims"


def table(texts: Sequence[str]) -> str:
    """The table of all claims, by what these documents have between their marks."""
    return claims_table([each for paper in PAPERS for each in paper.claim.made], blocks_of(texts))


def write_claims() -> None:
    write_into(DOCUMENTS[:1], {NAME: table([path.read_text() for path in DOCUMENTS])})
