"""The index that users hold: matched by many while one writer changes it.

index.py is the door, sharded_index.py the same for an index in shards. A reader picks up one snapshot.py and
relies on it; a writer adds to the ledger.py of uncompiled rules, which merge_policy.py and compaction.py turn
into layers.py, and now and then into one. explanation.py says why a rule matched.

Begin with index.py, then snapshot.py.
"""

from __future__ import annotations
