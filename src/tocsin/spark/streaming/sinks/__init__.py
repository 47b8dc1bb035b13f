"""The sinks there are, one per file."""
