"""A small document behind a URL, read with bounds on everything: size, time, redirects (none), encodings (none).

Environment variables for proxies are not read. Certificates are those that the machine's OpenSSL trusts, so a private
authority is added there.
"""

from __future__ import annotations

import ssl
from functools import cache

import httpx

from lamina.errors import Unavailable
from lamina.models.deadline import NETWORK_ERRORS, DeadlineTransport

__all__ = ["fetch_document"]


def fetch_document(url: str, *, bytes_max: int, timeout_s: float) -> bytes:
    """The bytes behind a URL. Raises ``Unavailable`` (DOCUMENT_UNAVAILABLE) with what kept us from them."""
    transport = DeadlineTransport(_trusted())
    try:
        with (
            httpx.Client(
                transport=transport, timeout=timeout_s, follow_redirects=False, trust_env=False
            ) as client,
            transport.within(timeout_s),
            client.stream(
                "GET", url, headers={"Accept": "application/json", "Accept-Encoding": "identity"}
            ) as response,
        ):
            if response.status_code != 200:
                raise _unavailable(f"it answered {response.status_code}")
            if response.headers.get("content-encoding", "identity") != "identity":
                raise _unavailable("it answered in an encoding that was not asked for")
            data = b""
            for chunk in response.iter_raw():
                data += chunk
                if len(data) > bytes_max:
                    raise _unavailable(f"it is larger than {bytes_max} bytes")
            return data
    except (*NETWORK_ERRORS, httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        raise _unavailable(type(error).__name__) from error


@cache
def _trusted() -> ssl.SSLContext:
    return ssl.create_default_context()


def _unavailable(reason: str) -> Unavailable:
    return Unavailable("DOCUMENT_UNAVAILABLE", f"a document of another server cannot be read: {reason}")
