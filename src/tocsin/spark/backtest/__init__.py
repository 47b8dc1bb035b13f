"""An overview of rules over a history, made on Spark.

backtest.py        the door: a DataFrame or event files against rules, in one pass
merged_tables.py   what tasks count, and how Spark merges it into the overview's tables
spark_result.py    the overview, whose tables are DataFrames
"""
