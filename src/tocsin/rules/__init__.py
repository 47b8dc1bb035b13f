"""What a rule is: ids and conditions by the million, files of them, triggers, and what an alert carries.

rule_set.py holds rules as columns, with where each came from; rule_files.py reads .sql, .csv, .jsonl and
.parquet; triggers.py reads `create trigger`; joins/ are conditions over several tables; alert_texts.py and
throttles.py are what rules say about their alerts.

Begin with rule_set.py.
"""

from __future__ import annotations
