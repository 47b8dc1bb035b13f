"""Streams of events: from a source, past rules that may change, into sinks; checkpointed.

    source ──> found rows ──> throttle ──> alerts ──> sinks
                   └──> rejects

stream.py          the door: ts.stream, and the Stream that it gives
micro_batch.py     what happens to one micro-batch
match_columns.py   the columns of what is found, of alerts and of rejects
source.py          what a source is; folder_source.py, frame_source.py, kafka_source.py: those there are
schemes.py         sources and sinks by their URIs
match_task.py      in a worker: events to found rows
rule_version.py    the rules of a batch; rule_history.py: as they change
checkpoint.py      what is written down, so that a batch that is done again is done the same way

Begin with micro_batch.py.
"""
