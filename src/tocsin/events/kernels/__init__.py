"""The loops of reading events."""

from __future__ import annotations
