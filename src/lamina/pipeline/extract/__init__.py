"""Deterministic extraction: mentions, triples and restatements from what somebody said."""
