"""The loops of throttles and of lines."""
