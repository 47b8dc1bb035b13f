"""Where the alerts of a stream go: sink.py says what a sink is and has them by URI; one file each."""
