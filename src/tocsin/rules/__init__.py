"""What a rule is: ids and conditions by the million, files of them, triggers, and what an alert carries.

rule_set.py holds rules as columns, with where each came from; rule_files.py reads .sql, .csv, .jsonl and
.parquet; triggers.py reads `create trigger`, and after_clause.py what fires one; joins/ are conditions that
compare rows; alert_texts.py and throttles.py are what rules say about their alerts, metadata_values.py
whether they are disabled.

Begin with rule_set.py. Other rooms come in by the names below.
"""

from typing import TYPE_CHECKING

from tocsin.door import door

if TYPE_CHECKING:
    from tocsin.rules.after_clause import AFTER, DELETE, INSERT, OLD, UPDATE, After, event_with, of_one_row
    from tocsin.rules.after_clause import read_after
    from tocsin.rules.alert_texts import ALERT, ALIAS, AlertPart, FieldPart, ScorePart, aliases_in, read_alert
    from tocsin.rules.joins.meaning import joined_truth, joined_truths
    from tocsin.rules.joins.printer import as_written, print_joined, print_joined_leaf
    from tocsin.rules.joins.splitter import Split, split, text_predicates
    from tocsin.rules.joins.tree import Comparison, JoinedCondition
    from tocsin.rules.metadata_values import given_values, is_disabled, read_enabled
    from tocsin.rules.rule_columns import RuleColumns, check_names, columns_of_table, pair_problem
    from tocsin.rules.rule_edit import check_rewritable, rewritten
    from tocsin.rules.rule_files import read_file, read_rules
    from tocsin.rules.rule_metadata import MOST_COLUMNS, common_schema, concat_metadata, in_common
    from tocsin.rules.rule_metadata import metadata_of_rows, misread_metadata
    from tocsin.rules.rule_set import Rule, RuleSource, Rules, rules_grid
    from tocsin.rules.throttles import DEDUP, THROTTLE, Throttles, dedup_text, parse_throttle, read_dedup
    from tocsin.rules.throttles import read_throttles
    from tocsin.rules.triggers import Table, Trigger
else:
    __getattr__ = door(__name__)
