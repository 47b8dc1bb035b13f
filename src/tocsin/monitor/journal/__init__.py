"""Journals: what a live engine or a watch holds, on disk before each change returns.

record_log.py   a folder with one file of records, each whole or not there; one writer at a time
facts.py        changes of an engine as records, and the state that records add up to
engine.py       an engine that keeps a journal
values.py       values of rows as bytes, and back
rows.py         the rows of a watch as records
"""
