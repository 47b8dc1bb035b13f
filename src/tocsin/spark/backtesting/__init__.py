"""An overview of rules over a history, made on Spark.

backtest.py    the door: a DataFrame or event files against rules, in one pass
tasks.py       what runs in the workers
tables.py      what the tasks noted, merged by Spark into the overview's tables
result.py      the overview, whose tables are DataFrames
"""
