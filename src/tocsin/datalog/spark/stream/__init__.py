"""Programs over a stream of changes: ts.activate.

    changes ──> checked ──> routed to keys ──> engines ──> routed to tuples ──> counts ──> derived changes
                            └────────────── once for each level of the plan ─────────────┘

Read it in this order: `units` (what a plan is made of), `shared_variables` and `unit_planner` (how a program
is cut), `step_rows` and `plan_steps` (rows, and their way), `buckets` and `bucket_journal` (where keys and
tuples go, and how their state is kept), `bucket_contents` (what is done in a bucket, without Spark),
`change_reader`, `processors` and `activate` (the same on Spark).
"""
