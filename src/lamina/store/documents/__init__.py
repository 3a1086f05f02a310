"""Versioned documents under paths, and the git repository that shows them."""
