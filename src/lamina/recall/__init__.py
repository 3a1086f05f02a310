"""Recall: from a question to the part of memory that matters, with the reason for every line."""
