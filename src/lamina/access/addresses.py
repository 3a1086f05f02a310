"""Where a call came from, as the Relay contract has it: a proxy on this machine is believed, nobody else is."""

from __future__ import annotations

from lamina.access.audit import Asked

__all__ = ["client_address", "is_local"]

UNKNOWN = "unknown"


def client_address(asked: Asked) -> str:
    """The transport's address. From a loopback address: what ``X-Forwarded-For`` or ``X-Real-IP`` names instead."""
    transport = asked.client_ip or UNKNOWN
    if not is_local(transport):
        return transport
    # The first of each counts.
    names = {name.lower(): value for name, value in reversed(asked.headers)}
    for each in (b"x-forwarded-for", b"x-real-ip"):
        named = names.get(each, b"").decode("latin-1").split(",", 1)[0].strip()[:64]
        if named and not is_local(named):
            return named
    return transport


def is_local(address: str) -> bool:
    """Whether an address is this machine's loopback."""
    return address.startswith(("127.", "::ffff:127.")) or address in ("::1", "localhost")
