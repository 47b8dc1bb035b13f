"""The loops of the paper's own A-Tree, and the scan that it is measured against."""

from __future__ import annotations
