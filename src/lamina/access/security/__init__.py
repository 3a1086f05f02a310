"""Tokens that peers call with, and keys that they sign with (Relay contract 1.13)."""
