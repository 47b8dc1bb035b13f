"""Rules tried out on the past: statistics of events, backtests and their page.

statistics/ says what history holds of each field, so that a plan can be chosen; overview/ says of all rules
how often each holds, when, on which events, and why not; trial/ tries one rule and finds its threshold;
comparison.py says what two sets of rules find differently; backtest.py is the door to these.

Begin with statistics/history.py, then overview/overview.py, then trial/tried_rule.py.
"""
