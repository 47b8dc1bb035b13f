"""The same rights on Spark: a folder of changes in, what follows from them out.

python examples/access/stream.py
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from pyspark.sql import DataFrame

import tocsin
import tocsin.spark as ts

HERE = Path(__file__).parent


def main() -> None:
    """Let the changes of a morning arrive, a file at a time."""
    spark = ts.session("local[2]")
    program = tocsin.Program.read(HERE / "access.dl")
    with tempfile.TemporaryDirectory() as folder:
        arriving = Path(folder, "arriving")
        arriving.mkdir()
        changes = spark.readStream.schema(
            "op string, relation string, tuple array<string>, seq bigint, at timestamp"
        ).json(str(arriving))
        derived = ts.activate(program, changes, ttl={"near": "30 minutes"}, time="at")
        query = (
            derived.writeStream.foreachBatch(show)
            .option("checkpointLocation", f"{folder}/checkpoint")
            .start()
        )
        for file in sorted((HERE / "changes").iterdir()):
            print(file.name)
            shutil.copy(file, arriving)
            query.processAllAvailable()
        query.stop()


def show(derived: DataFrame, batch: int) -> None:  # noqa: ARG001
    """What came and what went; without a seq it is what expired."""
    for row in derived.orderBy("seq", "relation", "op", "tuple").collect():
        seq = "expired" if row.seq is None else f"seq {row.seq}"
        print(f"  {seq}: {row.op} {row.relation}({', '.join(row.tuple)})")


if __name__ == "__main__":
    main()
