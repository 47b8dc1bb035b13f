"""Programs over several relations on Spark: relations are DataFrames, rules are joins.

evaluate             what users call: relations in, relations out
evaluation_run       one component of the program after the other, each by what suits its size
component_plan       the components in order, and what was decided of each
semi_naive           recursion: what is new in a round is joined with all that is there
transitive_closure   transitive closures: pairs written by workers that know all arcs
one_worker           whatever is small, by the engine that runs without Spark
step_frames          one step of the normal form as a DataFrame; an aggregate: groups
join_rule            a rule: joins, negation by anti-join, tests
worker_batches       what Spark has no exact expression for, over Arrow batches in a worker
stored_frames        what is worked out is kept, counted and looked at for failures in one job
value_columns        the program's values as Spark's
fact_frames          files of facts as DataFrames, for the command line
result_frames        DataFrames as the files that the command line writes

Begin with evaluate and evaluation_run.
"""
