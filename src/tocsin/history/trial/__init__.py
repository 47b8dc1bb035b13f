"""One rule tried on a history.

tried_rule.py      the rule, and which of its `contains` a threshold can be found for
event_run.py       what it finds in events of one kind
joined_run.py      what a trigger over several tables finds in their rows
test_run.py        what was found, best first, and what each threshold gives; ranking_page.py: as a page
printed_scores.py  scores that can be used as thresholds as they are printed
why_never.py       why it never matched
event_days.py      the day of each event

Begin with tried_rule.py. Other rooms come in by the names below.
"""

from typing import TYPE_CHECKING

from tocsin.door import door

if TYPE_CHECKING:
    from tocsin.history.trial.printed_scores import cut_off
    from tocsin.history.trial.test_run import TestRun
else:
    __getattr__ = door(__name__)
