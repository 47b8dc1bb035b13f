"""From a checked program to its normal form, one pass a file.

    clause_reader   an alternative of a rule becomes a clause: variables have numbers, what is computed a test
    unification     variables that are equal become one, constants are put in and folded
    aggregates      an aggregate becomes relations of its own, and an atom of its results
    text_steps      what kernels cannot work out goes through Python, between two made relations
    join_rules      what is left is a join rule, or a fact

A clause (clause.py) goes through them in this order; what comes of it is added to the program that is being
made (program_builder.py).
"""
