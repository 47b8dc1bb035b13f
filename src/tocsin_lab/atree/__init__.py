"""The A-Tree as the paper has it: its algorithms, and the switches of its experiments."""

from __future__ import annotations
