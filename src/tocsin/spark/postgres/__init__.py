"""PostgreSQL as a source of changes: inserts, updates and deletes of chosen tables, in commit order.

    log ──> slot ──> messages ──> transactions ──> files of changes ──> rows of a streaming DataFrame
                                                                         └──> rules ──> found rows

postgres_address.py  which server, tables and slot: read from a URI or from options
server.py            connections, and what went wrong in words that help
catalog.py           what the server says of tables and publications
slot.py              the slot, and the snapshot that it starts from
replication.py       the replication protocol: the log as it grows, and how far we have come
pgoutput.py          the messages of pgoutput, PostgreSQL's own output plugin
transactions.py      messages to changes
postgres_values.py   PostgreSQL's values as JSON, and that as the values that conditions know
change_files.py      changes as rows of a table, in files
feed.py              from the slot to files of changes
data_source.py       the data source `tocsin_postgres`
postgres_source.py   the source of a stream of alerts
rules_by_table.py    which rules see which changes
change_events.py     in a worker: changes past the rules
mirrored_tables.py   in one worker: the tables' contents, and the triggers that join them
joined_events.py     in one worker: changes past the triggers over several tables

Begin with feed.py and data_source.py.
"""
