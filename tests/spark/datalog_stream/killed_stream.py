"""A process that activates a program over a folder of changes, until it has seen all or is killed.

python killed_stream.py PROGRAM FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

import tocsin.spark as ts
from tocsin import Program


def main(program: str, folder: str) -> None:
    spark = ts.session(
        "local[2]",
        config={
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.sql.shuffle.partitions": "3",
        },
    )
    schema = "op string, relation string, tuple array<string>, seq bigint"
    changes = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(f"{folder}/in")
    derived = ts.activate(Program.read(program), changes)
    stream = derived.writeStream.option("checkpointLocation", f"{folder}/checkpoint")
    stream.trigger(availableNow=True).start(f"{folder}/out").awaitTermination()
    Path(folder, "done").touch()


if __name__ == "__main__":
    main(*sys.argv[1:])
