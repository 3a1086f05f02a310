"""Backups as files, whatever engine they are of: their format, their seal, their folder."""
