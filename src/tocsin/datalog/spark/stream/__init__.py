"""Programs over a stream of changes: ts.activate.

    changes ──> checked ──> routed to keys ──> engines ──> routed to tuples ──> counts ──> derived changes
                            └────────────── once for each level of the plan ─────────────┘

Read it in this order: `units` (what a plan is made of), `sharing` and `planning` (how a program is cut),
`steps` (the way of a row), `buckets` and `journal` (where keys and tuples go, and how their state is kept),
`keyed`, `counting` and `lifetimes` (what is done in a bucket, without Spark), `routing`, `processors` and
`activating` (the same on Spark).
"""
