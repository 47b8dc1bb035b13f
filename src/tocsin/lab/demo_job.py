"""The demonstration's work on Spark. Of the visits and matches nothing comes back but counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import tocsin.spark as ts

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
    visits = spark.read.parquet(_location(folder / "visits"))
    found = ts.match(visits, folder / "campaigns.tocsin", keep=["visit"])
    found.write.mode("overwrite").parquet(_location(folder / "matches"))


def count_matches(spark: Any, folder: Path) -> CampaignCounts:
    """Count the written matches by campaign."""
    found = spark.read.parquet(_location(folder / "matches"))
    counts = found.groupBy("rule").count().withColumnRenamed("count", "matches").cache()
    campaigns = spark.read.parquet(_location(folder / "campaigns.parquet")).withColumnRenamed("id", "rule")
    top = counts.orderBy(counts["matches"].desc(), counts["rule"]).limit(TOP)
    named = top.join(campaigns, "rule").select("rule", "matches", "name", "when")
    rows = [row.asDict() for row in named.collect()]
    total = counts.agg({"matches": "sum"}).collect()[0][0] or 0
    matched = counts.count()
    counts.unpersist()
    return CampaignCounts(total, matched, sorted(rows, key=lambda row: (-row["matches"], row["rule"])))


def _location(path: Path) -> str:
    """A path as Spark wants it, wherever its default file system is."""
    return path.resolve().as_uri()
