"""Entries of the log that change what a tenant defines (docs/decisions/0026)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lamina.kernel.events import DEFINITION, Context, Directives, EventDraft, Origin, Party, Trust
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant

__all__ = ["DEFINITIONS_SCOPE", "definition_entry"]

DEFINITIONS_SCOPE: Final = Scope("system:definitions")
"""Where the entries lie: what a tenant lays down belongs to no scope of its users."""


def definition_entry(
    tenant_id: str,
    actor: str,
    said: Mapping[str, Any],
    observed_at: Instant,  # Any: JSON
) -> EventDraft:
    """The entry by which ``actor`` defines what ``said`` has, its ``kind`` among it."""
    party = Party.of(actor)
    return EventDraft(
        tenant_id=tenant_id,
        scope=DEFINITIONS_SCOPE,
        caller=actor,
        observed_actor=party,
        subject=party,
        session=None,
        modality=DEFINITION,
        content=said,
        context=Context(observed_at=observed_at),
        directives=Directives(extract=(), embed="none"),
        origin=Origin(actor, DEFINITION, Trust.PRINCIPAL),
    )
