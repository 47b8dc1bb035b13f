"""Triggers over one or several tables, live: tocsin.watch.

watch.py        the door: changes of tables in, alerts out
triggers.py     a trigger as it is watched: its positions, selections, keys and filters
selections.py   which triggers a row enters, through one shared index a table
joining.py      which rows go with it, through the activation index
keys.py         values as words that are equal when the values are
contents.py     the rows of a table
alerts.py       what comes out
"""
