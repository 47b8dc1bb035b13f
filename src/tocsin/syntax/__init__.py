"""What the small languages have in common: conditions, text queries, programs and trigger files.

Places in a text as lines and columns, steps in postfix order, timestamps, lengths of time, regular
expressions. Nothing here knows what a rule is.

Begin with places.py.
"""

from __future__ import annotations
