"""Every error code: its class, what it means, and what helps. The pages of the reference are written from here.

``scripts/error_pages`` writes ``docs/reference/errors/``, one page for each code: what an error's ``documentation``
links to. A test compares the codes here with those that the source raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lamina.catalogue import (
    backups,
    claims,
    clients,
    coordination,
    core,
    erasures,
    messages,
    peers,
    receipts,
    relay,
    replication,
    session,
)
from lamina.catalogue.entries import ErrorCode

__all__ = ["CATALOGUE", "ErrorCode"]

CATALOGUE: Final[Mapping[str, ErrorCode]] = {
    **core.CODES,
    **backups.CODES,
    **claims.CODES,
    **clients.CODES,
    **erasures.CODES,
    **receipts.CODES,
    **relay.CODES,
    **peers.CODES,
    **coordination.CODES,
    **replication.CODES,
    **messages.CODES,
    **session.CODES,
}
