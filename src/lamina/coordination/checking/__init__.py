"""Checks of what agents wrote, and merging, which a repository that is a view of documents has no use for (contract 1.10)."""
