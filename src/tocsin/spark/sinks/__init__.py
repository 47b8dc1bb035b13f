"""Where the alerts of a stream go, a file each.

sink.py          what a sink is to a stream: it takes a batch whole, once or at least once
folder_sink.py   Parquet files or JSON lines, exactly once; folder_parts.py: written by the tasks themselves
postgres_sink.py a table of PostgreSQL, exactly once
kafka_sink.py, webhook_sink.py, console_sink.py   at least once; deliveries.py: with patience

stream/schemes.py has them by URI. Begin with sink.py and console_sink.py, the shortest.
"""
