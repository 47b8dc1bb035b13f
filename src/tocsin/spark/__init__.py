"""tocsin on Spark: the only part that imports pyspark.

    import tocsin.spark as ts

    spark = ts.session()
    ts.build(spark.read.parquet("rules"), "rules.tocsin")
    found = ts.match(spark.read.parquet("visits"), "rules.tocsin", keep=["id"])   # id, rule, score

Importing it loads neither NumPy nor the kernels: the workers' daemon lives in this package too, and
has to choose its threads before they are there.
"""

from __future__ import annotations

from tocsin.spark.activation.activating import activate
from tocsin.spark.activation.explaining import explain_activation
from tocsin.spark.backtesting.backtest import backtest
from tocsin.spark.building.build import build
from tocsin.spark.evaluation.evaluate import evaluate
from tocsin.spark.match import match
from tocsin.spark.match_plan import explain_match
from tocsin.spark.postgres.reader import PostgresChanges
from tocsin.spark.scores import score, tm_score
from tocsin.spark.session import session
from tocsin.spark.statistics import statistics
from tocsin.spark.streaming.stream import stream

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
