"""The command line: ``lamina serve``, ``worker``, ``remember``, ``recall`` and their kin."""

from lamina.cli.main import main

__all__ = ["main"]
