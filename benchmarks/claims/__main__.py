from __future__ import annotations

from benchmarks.claims import write_claims

write_claims()
