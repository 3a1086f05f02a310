"""Vocabularies: what a tenant registers, which of it is active, and what it makes of claims (seed 002, 7.3.1 and 8.14)."""
