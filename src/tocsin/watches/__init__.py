"""Triggers over one or several tables, live: tocsin.watch. (The room has another name than its door.)

watch.py              the door: changes of tables in, alerts out
watched_trigger.py    a trigger as it is watched: its positions, selections, keys and filters
selections.py         which triggers a row enters, through one shared index a table
joins.py              which rows go with it, through the activation index of datalog/
join_keys.py          values as words that are equal when the values are
table_contents.py     the rows of a table
row_journal.py        the rows on disk before each change returns
alerts.py             what comes out; alert_files.py: into files

Begin with watch.py.
"""
