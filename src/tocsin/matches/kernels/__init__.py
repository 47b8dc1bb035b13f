"""The loop of throttles."""
