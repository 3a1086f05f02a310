"""The Python client of a Lamina server: requests are built and answers read in one place, two classes only send.

from lamina import Client

with Client(actor="user:maya") as client:
    client.experience("I moved to Hamburg last Thursday.", wait="consolidated")
    print(client.recall("Where do I live?").context_block)
"""

from lamina.client.asynchronous import AsyncClient
from lamina.client.session import UnstableEndpoint
from lamina.client.synchronous import Client
from lamina.kernel.time import to_datetime

__all__ = ["AsyncClient", "Client", "UnstableEndpoint", "to_datetime"]
