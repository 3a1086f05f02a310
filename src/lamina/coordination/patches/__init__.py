"""Patches that agents propose, and documents that a patch is applied to (contracts 1.10). Nothing here runs a program."""
