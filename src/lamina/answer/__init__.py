"""Answers: recall, and what a language model makes of it."""
