"""The entry of the log that a change of what a tenant defines makes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lamina.kernel.events import DEFINITION, Context, Directives, EventDraft, Origin, Party, Trust
from lamina.kernel.operations import Call
from lamina.kernel.scopes import Scope

__all__ = ["definition_entry"]

_SCOPE: Final = Scope("system:definitions")
"""Where the entries lie: a change of what a tenant defines belongs to no scope of its users."""


def definition_entry(
    call: Call, kind: str, said: Mapping[str, Any], *, tenant_id: str | None = None
) -> EventDraft:  # Any: JSON
    """The draft of an entry of some kind; ``tenant_id`` is whose definition changes, where that is not the caller's own tenant."""
    actor = Party.of(call.principal.actor)
    return EventDraft(
        tenant_id=tenant_id or call.principal.tenant_id,
        scope=_SCOPE,
        caller=call.principal.actor,
        observed_actor=actor,
        subject=actor,
        session=None,
        modality=DEFINITION,
        content={"kind": kind, **said},
        context=Context(observed_at=call.now),
        directives=Directives(extract=(), embed="none"),
        origin=Origin(call.principal.actor, DEFINITION, Trust.PRINCIPAL),
    )
