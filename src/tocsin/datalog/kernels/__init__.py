"""The loops of the activation index: activation.py joins, fixpoint.py brings relations up to date.

Begin with layout.py, which says where everything is.
"""

from __future__ import annotations
