"""Conditions over several tables: what they say, how they come apart, and what they mean."""
