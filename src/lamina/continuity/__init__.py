"""Continuity: what an agent keeps of its own direction across resets, in capsules of at most 20 KB."""
