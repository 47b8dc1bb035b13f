"""The loops of the activation index."""

from __future__ import annotations
