"""The demonstration's work on Spark. Of the visits and matches nothing comes back but counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import tocsin.spark as ts
from tocsin.spark.file_urls import to_read, to_write

TOP = 10


class CampaignCounts(NamedTuple):
    """All matches, the campaigns that have any, and the most matched campaigns as rows of
    rule, matches, name, when."""

    matches: int
    campaigns: int
    top: list[dict[str, Any]]


def start_spark() -> Any:
    """A session on this machine, without Spark's own progress bar."""
    return ts.session(app_name="tocsin demo", config={"spark.ui.showConsoleProgress": "false"})


def match_visits(spark: Any, folder: Path) -> None:
    """Match every visit with every campaign, and write the matches (visit, rule, score) to a folder."""
    visits = spark.read.parquet(to_read(folder / "visits"))
    found = ts.match(visits, folder / "campaigns.tocsin", keep=["visit"])
    found.write.mode("overwrite").parquet(to_write(folder / "matches"))


def count_matches(spark: Any, folder: Path) -> CampaignCounts:
    """Count the written matches by campaign."""
    found = spark.read.parquet(to_read(folder / "matches"))
    counts = found.groupBy("rule").count().withColumnRenamed("count", "matches").cache()
    campaigns = spark.read.parquet(to_read(folder / "campaigns.parquet")).withColumnRenamed("id", "rule")
    top = counts.orderBy(counts["matches"].desc(), counts["rule"]).limit(TOP)
    named = top.join(campaigns, "rule").select("rule", "matches", "name", "when")
    rows = [row.asDict() for row in named.collect()]
    total = counts.agg({"matches": "sum"}).collect()[0][0] or 0
    matched = counts.count()
    counts.unpersist()
    return CampaignCounts(total, matched, sorted(rows, key=lambda row: (-row["matches"], row["rule"])))
