"""Events meet the compiled index: cells to leaves, leaves to rules.

resolver.py hands the cells of each field to the groups of leaves that ask about them; matcher.py runs the two
ways through the graph, a block of events at a time or one event with the least latency; results.py is what
comes back.

Begin with matcher.py.
"""

from __future__ import annotations
