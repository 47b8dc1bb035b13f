"""The loops of throttles and of lines."""

from __future__ import annotations
