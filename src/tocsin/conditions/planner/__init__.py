"""The optimiser: which conjunct of a rule is its way in, and what is asked only then (TriggerMan, Figure 9).

planner.py       the plan of a rule set, from estimates of how often each conjunct holds
costs.py         what finding and asking cost on this machine; `tocsin calibrate` measures them
plan_report.py   a plan as people read it: `tocsin explain --plan`

Promised: no plan changes a match or a score. Begin with planner.py; the choice itself is the kernel
kernels/access_choice.py. Other rooms come in by the names below.
"""

from typing import TYPE_CHECKING

from tocsin.door import door

if TYPE_CHECKING:
    from tocsin.conditions.planner.costs import Costs, keep_costs
    from tocsin.conditions.planner.plan_report import ConjunctPlan, RulePlan, conjunct_texts, plan_rules
    from tocsin.conditions.planner.planner import Planner
else:
    __getattr__ = door(__name__)
