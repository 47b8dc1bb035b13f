"""Rules tried out on the past: statistics of events, backtests and their page.

statistics/ says what history holds of each field, so that a plan can be chosen; backtest.py finds the
threshold of one rule; overview/ says of all rules how often each holds, when, on which events, and why not.

Begin with statistics/history.py, then overview/overview.py.
"""

from __future__ import annotations
