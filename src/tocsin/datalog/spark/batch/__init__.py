"""Programs over several relations on Spark: relations are DataFrames, rules are joins.

    evaluate        what users call: relations in, relations out
    running         one component of the program after the other, each by the strategy that suits its size
    planning        the components in order, and what was decided of each
    rounds          recursion: what is new in a round is joined with all that is there
    closing         transitive closures: pairs written by workers that know all arcs (splitting, reaching)
    one_worker      whatever is small, by the engine that runs without Spark (finishing)
    steps           one step of the normal form as a DataFrame
    joining         a rule: joins, negation by anti-join, tests
    aggregating     an aggregate: groups
    batches         what Spark has no exact expression for, over Arrow batches in a worker (arithmetic)
    storing         what is worked out is kept, counted and looked at for failures in one job
    values          the program's values as Spark's
    fact_files      files of facts as DataFrames, for the command line
    result_files    DataFrames as the files that the command line writes

The files in parentheses have what their neighbour needs in a worker, or beside it.
"""

from __future__ import annotations
