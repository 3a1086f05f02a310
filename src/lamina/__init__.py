"""Lamina: a memory server for AI agents.

``lamina.Client`` and ``lamina.AsyncClient`` speak to a running server. Importing this package loads neither.

Two distributions hold this package: ``lamina-client`` has this file, the client and what it needs, ``lamina`` the server.
"""

from __future__ import annotations

from pkgutil import extend_path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lamina.client import AsyncClient, Client

__all__ = ["AsyncClient", "Client", "__version__"]

__version__ = "0.1.0"

# The two may lie in different folders: one from a clone, say.
__path__ = extend_path(__path__, __name__)


def __getattr__(name: str) -> Any:
    """The clients, loaded when they are first asked for."""
    if name not in ("AsyncClient", "Client"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from lamina import client

    return getattr(client, name)
