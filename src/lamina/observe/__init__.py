"""Watching the server itself."""
