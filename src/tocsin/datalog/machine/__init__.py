"""The activation index: rules over several relations become arrays."""

from __future__ import annotations
