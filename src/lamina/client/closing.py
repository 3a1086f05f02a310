"""What a call is told whose client was closed meanwhile, or before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from lamina.errors import Invalid

__all__ = ["told_if_closed"]


@contextmanager
def told_if_closed(http: httpx.Client | httpx.AsyncClient) -> Iterator[None]:
    """Sending, or reading on; raises ``Invalid`` (CLIENT_CLOSED) where it fails and the client is closed.

    httpx says ``RuntimeError`` of a closed client, and of a connection that is closed under a call whatever that was doing.
    """
    try:
        yield
    except (RuntimeError, OSError, httpx.RequestError) as error:
        if not http.is_closed:
            raise
        raise Invalid(
            "CLIENT_CLOSED",
            "this client was closed",
            hint="make another one; a write that was on its way may be stored",
        ) from error
