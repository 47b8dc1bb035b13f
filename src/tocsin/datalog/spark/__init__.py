"""Programs on Spark: the same normal form that the activation index takes.

batch/    ts.evaluate: relations are DataFrames, rules are joins, recursion goes in rounds
stream/   ts.activate: facts come and go, and each micro-batch says what follows

Promised: the same tuples as without Spark; what cannot be cut into tasks goes to one worker, and
ts.explain_activation says so. Begin with batch/evaluate.py.
"""
