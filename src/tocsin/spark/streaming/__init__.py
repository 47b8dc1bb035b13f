"""Streams of events: from a source, past rules that may change, into sinks; checkpointed.

    source ──> found rows ──> throttle ──> alerts ──> sinks
                   └──> rejects

stream.py       the door: ts.stream, and the Stream that it gives
batches.py      what happens to one micro-batch
found_rows.py   the columns of what is found, of alerts and of rejects
source.py       what a source is; folder_source, table_source, kafka_source: those there are
finding.py      in a worker: events to found rows
sink.py         what a sink is; sinks/: those there are
rule_versions.py, rule_watching.py   the rules as they change
checkpoint.py   what is written down, so that a batch that is done again is done the same way
"""
