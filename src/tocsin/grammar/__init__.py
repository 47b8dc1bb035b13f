"""What a rule says: text to conditions and back, rule files, checking, canonical form, meaning."""

from __future__ import annotations
