"""Which campaigns are eligible for which visits: from an exchange's graph to the answer, on Spark.

python examples/ad-exchange/eligible.py [FOLDER]      FOLDER holds graph.json, campaigns.jsonl, visits.jsonl
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import functions as columns

import tocsin
import tocsin.spark as ts
from tocsin_lab.booking import book, read_graph


def main(arguments: Sequence[str]) -> int:
    """Book the campaigns, match the visits, print both; the exit code."""
    folder = Path(arguments[0]) if arguments else Path(__file__).parent
    try:
        booked = book(read_graph(folder / "graph.json"), tocsin.read_rules(folder / "campaigns.jsonl"))
    except tocsin.TocsinError as error:
        print(error, file=sys.stderr)
        return 1
    for campaign in booked.to_pylist():
        print(f"{campaign['id']}: {' -> '.join(campaign['path'])}\n    {campaign['when']}")

    spark = ts.session(app_name="ad exchange")
    visits = spark.read.json((folder / "visits.jsonl").resolve().as_uri())
    found = ts.match(visits, tocsin.build(booked), keep=["visit"])
    eligible = (
        visits.join(found, "visit", "left")
        .groupBy("visit", "publisher")
        .agg(columns.array_join(columns.array_sort(columns.collect_list("rule")), ", ").alias("eligible"))
        .orderBy("visit")
    )
    eligible.show(truncate=False)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
