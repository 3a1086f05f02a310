"""What changes where a policy says which vocabularies are active, for every engine."""

from __future__ import annotations

from lamina.kernel.events import EventDraft
from lamina.store.ports.definitions import Definition

__all__ = ["changes_activation"]


def changes_activation(standing: Definition | None, entry: EventDraft) -> bool:
    """Whether an entry says something else than what stands: ``vocabularies`` is None where the policy says nothing."""
    said = None if standing is None else standing.body["vocabularies"]
    return bool(entry.content["vocabularies"] != said)
