"""pygit2, loaded with its first use: a server that keeps no document never needs it, and it takes 10 MB and 40 ms of a start."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["pygit2"]

if TYPE_CHECKING:
    import pygit2
else:

    class _WhenUsed:
        """The module, looked up anew with each name: importing is safe for threads, and a look-up takes a microsecond."""

        def __getattr__(self, name: str) -> Any:
            return getattr(import_module("pygit2"), name)

    pygit2 = _WhenUsed()
