"""What a rule is: ids and conditions by the million, files of them, triggers, and what an alert carries.

rule_set.py holds rules as columns, with where each came from; rule_files.py reads .sql, .csv, .jsonl and
.parquet; triggers.py reads `create trigger`, and after_clause.py what fires one; joins/ are conditions that
compare rows; alert_texts.py and throttles.py are what rules say about their alerts, metadata_values.py
whether they are disabled.

Begin with rule_set.py.
"""

from __future__ import annotations
