"""The index that users hold: matched by many while one writer changes it.

index.py is the door for every engine; snapshot.py says what stands behind it: layered_snapshot.py, the shared
graph, sharded_snapshot.py, one in shards, or an engine of engines/. A writer adds to the ledger.py of
uncompiled rules, which merge_policy.py and compaction.py turn into layers.py, and now and then into one.
explanation.py says why a rule matched, rule_ids.py are the ids as a sequence, pickled_index.py takes an index
to other processes.

Begin with index.py, then snapshot.py. Other rooms come in by the names below.
"""

from typing import TYPE_CHECKING

from tocsin.door import door

if TYPE_CHECKING:
    from tocsin.conditions.live.build_settings import Preparation
    from tocsin.conditions.live.change_requests import Change
    from tocsin.conditions.live.explanation import Explanation, explain_rule
    from tocsin.conditions.live.index import Index, open_file
    from tocsin.conditions.live.index_statistics import Statistics, bytes_for_matching, statistics_of
    from tocsin.conditions.live.layers import Layer
    from tocsin.conditions.live.pickled_index import SavedFile
    from tocsin.conditions.live.sharded_index import open_shards
    from tocsin.conditions.live.snapshot import Snapshot
else:
    __getattr__ = door(__name__)
