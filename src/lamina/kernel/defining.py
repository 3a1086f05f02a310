"""Entries of the log that change what a tenant defines (docs/decisions/0026)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lamina.kernel.events import DEFINITION, Context, Directives, EventDraft, Origin, Party, Trust
from lamina.kernel.operations import Call
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant

__all__ = ["DEFINITIONS_SCOPE", "definition_by", "definition_entry"]

DEFINITIONS_SCOPE: Final = Scope("system:definitions")
"""Where the entries lie: a change of what a tenant defines belongs to no scope of its users."""


def definition_entry(
    call: Call, kind: str, said: Mapping[str, Any], *, tenant_id: str | None = None
) -> EventDraft:  # Any: JSON
    """What a caller defines now; ``tenant_id`` is whose definition changes, where that is not the caller's own tenant."""
    actor = call.principal.actor
    return definition_by(tenant_id or call.principal.tenant_id, actor, {"kind": kind, **said}, call.now)


def definition_by(
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
