"""tocsin on Spark: beside */spark/ the only part that imports pyspark.

    import tocsin.spark as ts

    spark = ts.session()
    ts.build(spark.read.parquet("rules"), "rules.tocsin")
    found = ts.match(spark.read.parquet("visits"), "rules.tocsin", keep=["id"])   # id, rule, score

Workers get a reference and fetch the index once (index_shipment.py), map it and keep it; they match Arrow
batches (match_worker.py, for DataFrames; file_matches.py, for event files). index_build/, backtest/,
statistics.py and stream/ do on many machines what other rooms do on one; postgres/ is a source of changes,
sinks/ where alerts go. Starting Spark: session.py, java.py, worker_daemon.py.

Importing it loads neither NumPy nor the kernels: the workers' daemon lives in this package too, and
has to choose its threads before they are there. Begin with match.py.
"""

from __future__ import annotations

from tocsin.errors import need_extra

need_extra("tocsin.spark", "spark", "pyspark", "pandas")

from tocsin.datalog.spark.batch.evaluate import evaluate
from tocsin.datalog.spark.stream.activate import activate, explain_activation
from tocsin.spark.backtest.backtest import backtest
from tocsin.spark.index_build.build import build
from tocsin.spark.match import match
from tocsin.spark.match_plan import explain_match
from tocsin.spark.postgres.data_source import PostgresChanges
from tocsin.spark.score_column import score, tm_score
from tocsin.spark.session import session
from tocsin.spark.statistics import statistics
from tocsin.spark.stream.stream import stream

__all__ = [
    "PostgresChanges",
    "activate",
    "backtest",
    "build",
    "evaluate",
    "explain_activation",
    "explain_match",
    "match",
    "score",
    "session",
    "statistics",
    "stream",
    "tm_score",
]
