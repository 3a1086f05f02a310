"""The operations of the session contract."""

from __future__ import annotations

from typing import Any

from lamina.kernel.capabilities import Capability
from lamina.kernel.operations import Effect, Operation, Tier
from lamina.session.brief import Briefing
from lamina.session.ingest import Ingesting
from lamina.session.requests import Brief, BriefAsked, Ingest, Ingested

__all__ = ["session_operations"]


def session_operations(ingesting: Ingesting, briefing: Briefing) -> list[Operation[Any]]:
    """The two calls of a turn."""
    return [
        Operation(
            name="session_ingest_turn",
            request=Ingest,
            result=Ingested,
            capability=Capability.SCOPE_WRITE,
            effect=Effect.WRITE,
            tier=Tier.STABLE,
            grants=ingesting.grants,
            handler=ingesting.ingest,
            summary="Store one turn of a conversation.",
            keeps_keys=True,
        ),
        Operation(
            name="session_brief",
            request=BriefAsked,
            result=Brief,
            capability=Capability.SCOPE_READ_LOCAL,
            effect=Effect.READ,
            tier=Tier.STABLE,
            grants=briefing.grants,
            handler=briefing.brief,
            summary="Fetch the memory for a turn of a conversation.",
        ),
    ]
