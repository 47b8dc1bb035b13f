"""An online-advertising exchange in miniature: visits to sites, and the campaigns that bid for them.

Each visit is an event of some 30 fields, nested and listed, many of them now and then missing; each
campaign is a rule. Everything follows from a seed. The files, in reading order:

    world         what there is to draw from: countries, devices, interests, sites
    visitors      visits()      the events
    audiences     the clauses that campaigns are put together from, which agencies use again and again
    advertisers   campaigns()   the rules

100,000 campaigns give 20 to 50 matches a visit.
"""

from __future__ import annotations

from tocsin_lab.exchange.advertisers import campaigns
from tocsin_lab.exchange.visitors import visits

__all__ = ["campaigns", "visits"]
