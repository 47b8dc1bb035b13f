"""PostgreSQL as a source of changes: inserts, updates and deletes of chosen tables, in commit order.

    write-ahead log ──> slot ──> decoding ──> transactions ──> change files ──> rows of a streaming DataFrame

address.py        which server, tables and slot: read from a URI or from options
server.py         connections, and what went wrong in words that help
catalog.py        what the server says of tables, publications and slots
slot.py           the slot and the snapshot that it starts from
replication.py    the replication protocol: messages of the log, and how far we have come
decoding.py       the messages of pgoutput, PostgreSQL's own output plugin
values.py         PostgreSQL's texts as JSON, and JSON as the values that conditions know
changes.py        changes as rows of a table, in files
reader.py         the data source `tocsin_postgres`
source.py         the source of a stream of alerts
"""
