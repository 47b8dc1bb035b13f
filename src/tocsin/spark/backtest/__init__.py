"""An overview of rules over a history, made on Spark.

backtest.py    the door: a DataFrame or event files against rules, in one pass
tally_task.py       what runs in the workers
merged_tables.py      what the tasks noted, merged by Spark into the overview's tables
spark_result.py      the overview, whose tables are DataFrames
"""
