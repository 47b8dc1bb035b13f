"""Programs: rules over several relations, in a subset of Soufflé's Datalog."""

from __future__ import annotations
