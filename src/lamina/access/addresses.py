"""Where a call came from: of what connects to us only a proxy on this machine is believed. Those of ``LAMINA_TRUSTED_PROXIES`` were asked
before, in the server under the application."""

from __future__ import annotations

from lamina.access.audit import AuditedCall

__all__ = ["client_address", "is_local"]

UNKNOWN = "unknown"


def client_address(asked: AuditedCall) -> str:
    """The transport's address. From a loopback address: what ``X-Forwarded-For`` or ``X-Real-IP`` names first that is none.

    A proxy that appends leaves a caller's own entries in front: one that is loopback hides none behind it.
    """
    transport = asked.client_ip or UNKNOWN
    if not is_local(transport):
        return transport
    for header in (b"x-forwarded-for", b"x-real-ip"):
        given = (value.decode("latin-1") for name, value in asked.headers if name.lower() == header)
        entries = (entry.strip()[:64] for value in given for entry in value.split(","))
        named = next((entry for entry in entries if entry and not is_local(entry)), None)
        if named is not None:
            return named
    return transport


def is_local(address: str) -> bool:
    """Whether an address is this machine's loopback."""
    return address.startswith(("127.", "::ffff:127.")) or address in ("::1", "localhost")
