"""Triggers over one or several tables, live: tocsin.watch. (The room has another name than its door.)

watch.py              the door: changes of tables in, alerts out
watched_trigger.py    a trigger as it is watched: its positions, selections, keys and filters
selections.py         which triggers a row enters, through one shared index a table
joins.py              which rows go with it, through the activation index of datalog/
join_keys.py          values as words that are equal when the values are
table_contents.py     the rows of a table
row_journal.py        the rows on disk before each change returns
alerts.py             what comes out; alert_files.py: into files

Begin with watch.py. Other rooms come in by the names below.
"""

from typing import TYPE_CHECKING

from tocsin.door import door

if TYPE_CHECKING:
    from tocsin.watches.alert_files import AlertLines, AlertTable, alert_writer
    from tocsin.watches.alerts import TOO_DEEP, Alert, alert_text
    from tocsin.watches.joins import Joins, Place, entry_of
    from tocsin.watches.row_journal import KeptRows
    from tocsin.watches.table_contents import Row, differ, kept_row
    from tocsin.watches.trigger_plan import TriggerPlan, plan_trigger
    from tocsin.watches.watch import Watch
    from tocsin.watches.watched_trigger import Watched, watched
else:
    __getattr__ = door(__name__)
