"""The index that users hold: matched by many while one writer changes it.

index.py is the door for every engine; snapshot.py says what stands behind it: layered_snapshot.py, the shared
graph, sharded_snapshot.py, one in shards, or an engine of engines/. A writer adds to the ledger.py of
uncompiled rules, which merge_policy.py and compaction.py turn into layers.py, and now and then into one.
explanation.py says why a rule matched, rule_ids.py are the ids as a sequence, pickled_index.py takes an index
to other processes.

Begin with index.py, then snapshot.py.
"""

from __future__ import annotations
