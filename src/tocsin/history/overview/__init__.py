"""An overview of rules over a history: how often each holds, when, how well, on which events, and why not.

    events ──> tally ──> partials ──> merged by rule ──> rules, over time, samples ──> page, Parquet, terminal
               (here, or in Spark's tasks)

time_buckets.py       stretches of time of a width that suits the history
score_codes.py        scores to three digits, and quantiles of them
samples.py            some events of every rule, chosen by a hash of what rules see of them
value_summaries.py        what events hold in the fields that rules name
satisfiability.py     which truths a condition can have, given that; and what stands in the way
tally.py              what one task notes; task_tally.py: as one table, which adds up
rule_tables.py        what tasks noted, as tables by rule
overview_result.py    the tables, and the little of them that is shown
overview.py           all of it in this process
page.py, plots.py     one self-contained HTML page

Begin with overview.py, then tally.py. Other rooms come in by the names below.
"""

from typing import TYPE_CHECKING

from tocsin.door import door

if TYPE_CHECKING:
    from tocsin.history.overview.overview import DEFAULT_SAMPLES, index_of, run_overview, settings_for
    from tocsin.history.overview.overview_result import DECADES, Digest, HitCounts, Overview, Summary
    from tocsin.history.overview.overview_result import check_target, check_top, folder_of_tables, summary_of
    from tocsin.history.overview.rule_tables import OVER_TIME, RULES, SAMPLES, SCORES, times_table
    from tocsin.history.overview.tally import Tally, TallySettings
    from tocsin.history.overview.time_buckets import MONDAY
else:
    __getattr__ = door(__name__)
