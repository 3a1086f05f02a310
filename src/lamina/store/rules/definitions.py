"""What changes where a policy says which vocabularies are active, or what holds for beliefs, for every engine."""

from __future__ import annotations

from lamina.kernel.belief_rules import BeliefRules
from lamina.kernel.events import EventDraft
from lamina.store.ports.definitions import Definition

__all__ = ["changes_activation", "changes_rules"]


def changes_activation(standing: Definition | None, entry: EventDraft) -> bool:
    """Whether an entry says something else than what stands: ``vocabularies`` is None where the policy says nothing."""
    said = None if standing is None else standing.body["vocabularies"]
    return bool(entry.content["vocabularies"] != said)


def changes_rules(standing: Definition | None, entry: EventDraft) -> bool:
    """Whether an entry lays down something else for beliefs than what stands; where nothing does, the defaults do."""
    said = BeliefRules() if standing is None else BeliefRules.of(standing.body)
    return BeliefRules.of(entry.content) != said
