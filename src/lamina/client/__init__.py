"""The Python client of a Lamina server: requests are built and answers read in one place, two classes only send.

from lamina import Client

with Client(actor="user:maya") as client:
    client.experience("I moved to Hamburg last Thursday.", wait="consolidated")
    print(client.recall("Where do I live?").context_block)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lamina.client.session import UnstableEndpoint
from lamina.client.synchronous import Client
from lamina.kernel.time import to_datetime

if TYPE_CHECKING:
    from lamina.client.asynchronous import AsyncClient

__all__ = ["AsyncClient", "Client", "UnstableEndpoint", "to_datetime"]


def __getattr__(name: str) -> Any:
    """``AsyncClient``, loaded with asyncio when it is first asked for."""
    if name != "AsyncClient":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from lamina.client import asynchronous

    return asynchronous.AsyncClient
