"""The loop of throttles."""

from __future__ import annotations
