"""The optimiser: which conjunct of a rule is its way in, and what is asked only then."""
