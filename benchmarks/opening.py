"""What opening a saved index costs: its checksum, and the look at every offset and reference in it.

    python -m benchmarks.opening [--rules 100000 1000000]

The table goes into docs/performance.md.
"""

from __future__ import annotations

import argparse
import tempfile
from hashlib import blake2b
from pathlib import Path

from benchmarks.measuring import say, timed
from benchmarks.spine import DOCUMENTS
from benchmarks.tables import markdown, milliseconds, write_into

import tocsin
from tocsin.arrays.array_file import open_arrays
from tocsin.conditions.graph import index_of_arrays
from tocsin.conditions.graph.soundness import check_index
from tocsin_lab import abe_gen
from tocsin_lab.exchange import campaigns

_REPEAT = 5


def main() -> None:
    """Measure and write down."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rules", type=int, nargs="+", default=[100_000, 1_000_000])
    rows = []
    for count in parser.parse_args().rules:
        for name, rules in (
            ("advertising exchange", lambda count=count: campaigns(count)),
            ("random rules", lambda count=count: abe_gen.rules(abe_gen.Setting(expressions=count))),
        ):
            say(f"{count:,} rules, {name}")
            rows.append((f"{count:,} rules, {name}", _measured(tocsin.build(rules()))))
    head = ["", "bytes", "checksum (BLAKE2b)", "offsets and references", "of the checksum"]
    write_into(DOCUMENTS, {"opening": markdown(head, rows)})
    print(markdown(head, rows))


def _measured(index: tocsin.Index) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.tocsin"
        index.save(path)
        data = path.read_bytes()
        opened = index_of_arrays(str(path), *open_arrays(path))  # the pages are in memory then
        checksum = timed(lambda: blake2b(data, digest_size=16).digest(), _REPEAT).best
        sound = timed(lambda: check_index(str(path), opened), _REPEAT).best
        size = f"{len(data) / 1e6:,.0f} MB"
        return [size, milliseconds(checksum), milliseconds(sound), f"{sound / checksum:.2f}"]


if __name__ == "__main__":
    main()
