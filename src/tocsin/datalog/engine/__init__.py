"""Programs over several relations, run live or once: what users hold, over the activation index."""
