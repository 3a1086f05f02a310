"""Decisions of which entity an entity is, and the wish to have understanding made anew: each an entry of the log in its scope.

What it changes is derived behind the answer, at its place (``decision_effects.py``). It is not erasure: who reads as of an earlier time sees what
was held then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from lamina.errors import Conflict, Invalid, NotFound
from lamina.kernel.capabilities import Capability
from lamina.kernel.events import (
    IDENTITY,
    SYNTHESIS,
    Context,
    Directives,
    Event,
    EventDraft,
    Origin,
    Party,
    Stage,
    Trust,
)
from lamina.kernel.ids import Prefix, parse_id
from lamina.kernel.operations import Answer, Call, Effect, Grant, Operation, Principal, Tier
from lamina.kernel.records import Fact, Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.kernel.time import FOREVER, Axes
from lamina.language.entities import entity_id, normalise_name
from lamina.pipeline.own_name import is_anothers
from lamina.store.entities import standing_entity
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.store import Store
from lamina.types.writes import (
    DecisionCaptured,
    MergeEntity,
    SplitEntity,
    SynthesisAccepted,
    Synthesize,
)

__all__ = ["deciding_operations"]

_NOTE: Final = (
    "Nothing is erased. What was held stays readable: as_of before this decision. A split takes a merge back."
)


class Deciding:
    """Handlers of the decisions."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def merge(self, request: MergeEntity, call: Call) -> Answer:
        """Put down that two entities are one."""
        scope = Scope(request.scope)
        entity, into = (self._known(each, scope, call) for each in (request.entity_id, request.into))
        self._require_about(call, scope, entity, into)
        if entity == into:
            raise Conflict(
                "SAME_ENTITY",
                "the two are one entity already",
                hint="GET /v1/entities/{id} says as which entity one is known",
                details={"entity_id": request.entity_id, "canonical_id": into},
            )
        if entity == _owner(scope, call):
            raise Conflict(
                "SCOPE_OWNER_STAYS",
                "this is the person whose memory the scope is",
                hint="merge the other entity into this one",
                details={"entity_id": entity, "into": into},
            )
        said = {"action": "merge", "entity_id": entity, "into": into, "why": request.why}
        return self._captured(call, scope, said, canonical_id=into)

    def split(self, request: SplitEntity, call: Call) -> Answer:
        """Put down that one entity is two."""
        scope = Scope(request.scope)
        entity = self._known(request.entity_id, scope, call)
        new = entity_id(call.principal.tenant_id, normalise_name(request.name))
        self._require_about(call, scope, entity, new)
        if new == entity:
            raise _wrong(
                "name", "is the entity's own", "call the other one by a name that tells the two apart"
            )
        was = standing_entity(self._store, call.principal.tenant_id, scope, new)
        if was != entity and self._names(was, scope, call):
            raise Conflict(
                "ENTITY_NAME_TAKEN",
                "another entity has this name",
                hint="split with a name that nobody has, and merge the new one into that entity",
                details={"name_of": was},
            )
        events = self._events_behind(request, entity, call)
        if not events and was != entity:
            raise _wrong(
                "facts",
                "names nothing that was said of the other one",
                "GET /v1/facts?subject= lists facts with their ids",
            )
        said = {
            "action": "split",
            "entity_id": entity,
            "new_id": new,
            "name": request.name,
            "facts": request.facts,
            "events": events,
            "why": request.why,
        }
        return self._captured(call, scope, said, canonical_id=entity)

    def synthesize(self, request: Synthesize, call: Call) -> Answer:
        """Put down that understanding is to be made anew."""
        scope = Scope(request.scope)
        if self._store.scopes.get(call.principal.tenant_id, scope) is None:
            raise NotFound(
                "NOT_FOUND",
                "nothing was ever written to this scope",
                hint="GET /v1/scopes lists scopes",
                details={"scope": str(scope)},
            )
        said = {"kind": SYNTHESIS, "topics": request.topics, "force": request.force}
        entry = self._store.log.append_entry(_draft(call, scope, SYNTHESIS, said))
        result = SynthesisAccepted(
            job_id=entry.id,
            scope=entry.scope,
            topics=request.topics,
            force=request.force,
            status=Stage.CAPTURED.value,
            wal_offset=entry.position,
            lifecycle_stream=_stream(entry),
        )
        return Answer(result, accepted=True)

    def _captured(self, call: Call, scope: Scope, said: Mapping[str, Any], *, canonical_id: str) -> Answer:
        entry = self._store.log.append_entry(_draft(call, scope, IDENTITY, {"kind": IDENTITY, **said}))
        result = DecisionCaptured(
            event_id=entry.id,
            entity_id=said["entity_id"],
            action=said["action"],
            canonical_id=canonical_id,
            new_id=said.get("new_id"),
            status=Stage.CAPTURED.value,
            wal_offset=entry.position,
            note=_NOTE,
            lifecycle_stream=_stream(entry),
        )
        return Answer(result, accepted=True)

    def _known(self, entity: str, scope: Scope, call: Call) -> str:
        """The entity as which a scope knows one; raises ``NotFound`` for one that nothing there names."""
        standing = standing_entity(
            self._store, call.principal.tenant_id, scope, parse_id(entity, Prefix.ENTITY)
        )
        if not self._names(standing, scope, call):
            raise NotFound(
                "NOT_FOUND",
                "nothing in this scope names such an entity",
                hint="the ids of entities are in the subjects and objects of GET /v1/facts",
                details={"id": entity, "scope": str(scope)},
            )
        return standing

    def _names(self, entity: str, scope: Scope, call: Call) -> list[Fact]:
        query = RecordQuery(
            tenant_id=call.principal.tenant_id,
            layer=Layer.FACTS,
            scopes=[scope],
            axes=Axes(seen_at=FOREVER),
            limit=1,
        )
        queries = (replace(query, subject=entity), replace(query, object_key=entity))
        found = (each for query in queries for each in self._store.records.query(query))
        return [each for each in found if isinstance(each, Fact)]

    def _require_about(self, call: Call, scope: Scope, *entities: str) -> None:
        """Of themselves anybody may decide; of others, and of who speaks there in their own name, who may write about them: or their
        words would become the caller's own."""
        tenant_id, actor = call.principal.tenant_id, call.principal.actor
        grant = Grant(Capability.SCOPE_WRITE_ABOUT_OTHER, scope)
        if call.permits.allows(grant):
            return
        own = entity_id(tenant_id, normalise_name(Party.of(actor).display_name))
        if own in entities and not any(
            is_anothers(self._store, tenant_id, scope, each, None, actor) for each in entities
        ):
            return
        call.permits.require(grant)

    def _events_behind(self, request: SplitEntity, entity: str, call: Call) -> list[str]:
        """The turns that state some facts of an entity, which all have to be of the scope and name it."""
        tenant_id = call.principal.tenant_id
        ids = [parse_id(each, Prefix.FACT) for each in request.facts]
        found = self._store.records.get(tenant_id, ids)
        for each in ids:
            fact = found.get(each)
            if (
                not isinstance(fact, Fact)
                or fact.scope != request.scope
                or entity not in (fact.subject.id, fact.object.id)
            ):
                raise _wrong(
                    "facts",
                    f"{each} names no such entity in this scope",
                    "GET /v1/facts?subject= lists facts with their ids",
                )
        supports = self._store.records.supports_of(tenant_id, ids)
        return sorted(
            {s.source_id for of in supports.values() for s in of if s.relation == Tie.EXTRACTED_FROM}
        )


def deciding_operations(store: Store) -> list[Operation[Any]]:
    """The operations that decide which entity an entity is, and the one that has understanding made anew."""
    deciding = Deciding(store)
    return [
        Operation(
            name="entity_merge",
            request=MergeEntity,
            result=DecisionCaptured,
            capability=Capability.SCOPE_WRITE,
            effect=Effect.WRITE,
            tier=Tier.BETA,
            grants=_writes,
            handler=deciding.merge,
            summary="Say that two entities are one. It is not erasure.",
            answers=(202,),
            commits_with=202,
            fails=("NOT_FOUND", "SAME_ENTITY", "SCOPE_OWNER_STAYS"),
        ),
        Operation(
            name="entity_split",
            request=SplitEntity,
            result=DecisionCaptured,
            capability=Capability.SCOPE_WRITE,
            effect=Effect.WRITE,
            tier=Tier.BETA,
            grants=_writes,
            handler=deciding.split,
            summary="Say that one entity is two, or take a merge back. It is not erasure.",
            answers=(202,),
            commits_with=202,
            fails=("NOT_FOUND", "ENTITY_NAME_TAKEN"),
        ),
        Operation(
            name="understanding_synthesize",
            request=Synthesize,
            result=SynthesisAccepted,
            capability=Capability.UNDERSTANDING_SYNTHESIZE,
            effect=Effect.WRITE,
            tier=Tier.EXPERIMENTAL,
            grants=lambda r, p: [Grant(Capability.UNDERSTANDING_SYNTHESIZE, Scope(r.scope))],  # noqa: ARG005 - the port's shape
            handler=deciding.synthesize,
            summary="Have what a scope understands made anew.",
            answers=(202,),
            commits_with=202,
            fails=("NOT_FOUND",),
        ),
    ]


def _owner(scope: Scope, call: Call) -> str | None:
    """The entity of the person in whose memory a scope lies: the name by which sessions know them is theirs."""
    if scope.person is None:
        return None
    return entity_id(call.principal.tenant_id, normalise_name(Party.of(scope.person).display_name))


def _writes(request: MergeEntity | SplitEntity, principal: Principal) -> Sequence[Grant]:  # noqa: ARG001 - the port's shape
    scope = Scope(request.scope)
    return [Grant(Capability.SCOPE_WRITE, scope), Grant(Capability.SCOPE_READ_LOCAL, scope)]


def _stream(entry: Event) -> str:
    return f"/v1/lifecycle/stream?event_id={entry.id}"


def _wrong(field: str, reason: str, hint: str) -> Invalid:
    return Invalid(
        "INVALID_REQUEST", f"{field} {reason}", hint=hint, details={"field": field, "reason": reason}
    )


def _draft(call: Call, scope: Scope, channel: str, said: Mapping[str, Any]) -> EventDraft:
    actor = Party.of(call.principal.actor)
    return EventDraft(
        tenant_id=call.principal.tenant_id,
        scope=scope,
        caller=call.principal.actor,
        observed_actor=actor,
        subject=actor,
        session=None,
        modality=channel,
        content=said,
        context=Context(observed_at=call.now),
        directives=Directives(embed="none"),
        origin=Origin(call.principal.actor, channel, Trust.PRINCIPAL),
    )
