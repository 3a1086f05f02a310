"""A client for a command."""

from __future__ import annotations

from lamina.client import Client

__all__ = ["connected"]


def connected(url: str, actor: str | None, scope: str | None) -> Client:
    """A client that uses every endpoint without warning: a command shows what it gets."""
    return Client(url, actor=actor, scope=scope).allow_unstable()
