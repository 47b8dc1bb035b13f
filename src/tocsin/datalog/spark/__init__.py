"""Programs on Spark: batch/ over DataFrames, stream/ over changes."""

from __future__ import annotations
