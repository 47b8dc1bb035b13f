"""The loops of the engines: labels of trees, conjunctions, decision diagrams, counts."""

from __future__ import annotations
