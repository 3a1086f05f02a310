"""Reading one entity as a scope knows it: its names there, and what was decided of which entity it is (decision 0031)."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BeforeValidator

from lamina.kernel.events import Event
from lamina.kernel.ids import Prefix, parse_id
from lamina.kernel.operations import Answer, Call
from lamina.kernel.sameness import EntityMerge, sameness_of
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.kernel.wire import BoundText, Request, ScopePath
from lamina.recall.layers.reading import not_found, present
from lamina.store.entities import deciding_entries, standing_entity
from lamina.store.ports.store import Store
from lamina.types.layers import EntityDecision, EntityView

__all__ = ["EntityReads", "EntityRequest"]

_MENTIONS_MAX: Final = 500


class EntityRequest(Request):
    """One entity as a scope knows it, now or as of an instant."""

    entity_id: Annotated[
        str,
        BeforeValidator(lambda value: parse_id(value, Prefix.ENTITY) if isinstance(value, str) else value),
    ]
    scope: ScopePath
    as_of: BoundText | None = None


class EntityReads:
    """Handler of the read of an entity."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def entity(self, request: EntityRequest, call: Call) -> Answer:
        """One entity; raises ``NotFound`` where nothing in the scope names it."""
        tenant_id, entity, scope = call.principal.tenant_id, request.entity_id, Scope(request.scope)
        seen_at = None if request.as_of is None else present(self._store.log, call, [scope], request.as_of)
        entries = deciding_entries(self._store, tenant_id, scope, entity, seen_at=seen_at)
        known_as = self._known_as(request, entries, tenant_id, seen_at)
        mentions = self._store.records.mentions(tenant_id, [entity, *known_as], [scope], _MENTIONS_MAX)
        if not mentions and not entries:
            raise not_found("entity of this scope", entity)
        standing = standing_entity(self._store, tenant_id, scope, entity, seen_at=seen_at)
        types = self._store.records.entity_types(tenant_id, scope, [entity, standing])
        view = EntityView(
            id=entity,
            scope=scope,
            type=types.get(standing, types.get(entity)),
            canonical_id=None if standing == entity else standing,
            known_as=known_as,
            names=list(dict.fromkeys(each.surface for each in mentions)),
            decisions=[_decision(each) for each in entries],
        )
        return Answer(view)

    def _known_as(
        self, request: EntityRequest, entries: list[Event], tenant_id: str, seen_at: Instant | None
    ) -> list[str]:
        """Who was found to be this entity, at once or through others."""
        scope = Scope(request.scope)
        found: set[str] = set()
        front = _merged_into(request.entity_id, entries)
        while front:
            each = front.pop()
            found.add(each)
            decided = deciding_entries(self._store, tenant_id, scope, each, seen_at=seen_at)
            front |= _merged_into(each, decided) - found
        return sorted(
            each
            for each in found - {request.entity_id}  # two may merge in a circle at one moment
            if standing_entity(self._store, tenant_id, scope, each, seen_at=seen_at) == request.entity_id
        )


def _merged_into(entity: str, entries: list[Event]) -> set[str]:
    decided = map(sameness_of, entries)
    return {each.entity for each in decided if isinstance(each, EntityMerge) and each.into == entity}


def _decision(entry: Event) -> EntityDecision:
    said = entry.content
    return EntityDecision(
        event_id=entry.id,
        action=said["action"],
        entity_id=said["entity_id"],
        other_id=said["into"] if said["action"] == "merge" else said["new_id"],
        decided_by=entry.caller,
        decided_at=entry.recorded_at,
        why=said.get("why"),
    )
