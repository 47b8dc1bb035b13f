"""Workloads, the papers' experiments, the paper's own A-Tree with its switches, and the demonstration.

In the same wheel as tocsin, and nothing that the product needs: `tocsin bench` and `make demo` come here.
abe_gen/, contracts/, exchange/, booking/ and yield_index/ make workloads; experiments/ are the papers' tables
and figures; atree/ is the A-Tree of the paper, algorithm by algorithm.

Begin with experiments/catalogue.py.
"""
