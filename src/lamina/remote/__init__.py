"""What the server reads from other machines. HTTP is loaded with the first of it: most servers read nothing there."""

from __future__ import annotations

from lamina.kernel.hosts import PeerHosts

__all__ = ["fetch_document", "fetch_from_peer", "send_to_peer"]


def fetch_document(url: str, *, bytes_max: int, timeout_s: float) -> bytes:
    """Mirrors ``documents.fetch_document``."""
    from lamina.remote import documents

    return documents.fetch_document(url, bytes_max=bytes_max, timeout_s=timeout_s)


def fetch_from_peer(url: str, hosts: PeerHosts, *, bytes_max: int, timeout_s: float) -> bytes:
    """Mirrors ``peers.fetch_from_peer``."""
    from lamina.remote import peers

    return peers.fetch_from_peer(url, hosts, bytes_max=bytes_max, timeout_s=timeout_s)


def send_to_peer(
    url: str, body: bytes, token: str | None, hosts: PeerHosts, *, bytes_max: int, timeout_s: float
) -> bytes:
    """Mirrors ``peers.send_to_peer``."""
    from lamina.remote import peers

    return peers.send_to_peer(url, body, token, hosts, bytes_max=bytes_max, timeout_s=timeout_s)
