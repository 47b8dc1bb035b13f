"""Programs over several relations on Spark: relations are DataFrames, rules are joins.

    evaluate        what users call: relations in, relations out
    planning        the program's components in order, and what there is to know of each
    running         one component after the other, each by the strategy that suits its size
    rounds          recursion: what is new in a round is joined with all that is there
    closing         transitive closures: components contracted, pairs written by all workers
    one_worker      whatever is small, by the engine that runs without Spark
    steps           one step of the normal form as a DataFrame:
      joining         joins, negation by anti-join, tests
      aggregating     groups
      batches         what Spark has no exact expression for, over Arrow batches in a worker
      arithmetic      its columns of numbers
    storing         what is worked out is kept, counted and looked at for failures in one job
    values          the program's values as Spark's
"""

from __future__ import annotations
