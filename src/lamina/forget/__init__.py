"""Forgetting: what is selected, counted and erased."""
