"""By what the certificate of a server is checked."""

from __future__ import annotations

import ssl

__all__ = ["authorities"]


def authorities(url: str) -> ssl.SSLContext | bool:
    """What ``verify`` of an HTTP client is to be: True, the usual authorities, but where there is no TLS none, and no certificate passes.

    Reading the list of authorities takes 20 ms, which is more than a call to a server on this machine.
    """
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if url.lower().startswith("http://") else True
