"""Under whose name a caller writes.

People are told apart by their names, and a caller may give one beside their own id. In a scope that several people write to, the name of
somebody who spoke there would make the caller's words that person's own, and end what they said. So it takes what speaking for others
takes, ``scope.write.about_other`` (decision 0084).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from lamina.errors import Forbidden
from lamina.kernel.capabilities import Capability
from lamina.kernel.events import EventDraft, Party
from lamina.kernel.operations import Call, Grant
from lamina.kernel.records import Fact, Layer
from lamina.kernel.scopes import Scope
from lamina.kernel.time import FOREVER, Axes
from lamina.language.entities import entity_id, normalise_name
from lamina.store.entities import standing_entity
from lamina.store.ports.records import RecordQuery
from lamina.store.ports.store import Store

__all__ = ["given_names", "is_anothers", "require_own_names"]

_READ: Final = (8, 256)
"""So many facts of who goes by a name are looked at, the newest, and so many where none of these is their own word."""


class GivenName(NamedTuple):
    """A name that a caller gives as their own, the scope that hears it, and the field that has it."""

    party: Party
    place: Scope
    field: str


def given_names(draft: EventDraft, call: Call) -> list[GivenName]:
    """The names that a caller gives beside those that their id has, where they may not write about others."""
    parties = ((draft.observed_actor, "observed_actor.name"), (draft.subject, "subject.name"))
    own = [each for each in parties if each[0].name is not None and each[0].id == draft.caller]
    return [
        GivenName(party, place, field)
        for party, field in own
        if _key(party) != _key(Party.of(party.id))
        for place in (draft.scope, draft.directives.consolidate_into)
        if place is not None and not call.permits.allows(Grant(Capability.SCOPE_WRITE_ABOUT_OTHER, place))
    ]


def require_own_names(store: Store, given: Sequence[GivenName], call: Call) -> None:
    """Nothing, or ``Forbidden`` where somebody else goes by such a name in its scope. Who may not read there is not told of it."""
    for party, place, field in given:
        if call.may_read(place) and not _is_anothers(store, call.principal.tenant_id, place, party):
            continue
        try:
            call.permits.require(Grant(Capability.SCOPE_WRITE_ABOUT_OTHER, place))
        except Forbidden as denied:
            raise Forbidden(
                denied.code,
                f"{field}: somebody else may go by this name there, and {denied.message}",
                hint="leave the name out, or give one that tells the two apart",
                details={**denied.details, "field": field},
            ) from denied


def _is_anothers(store: Store, tenant_id: str, place: Scope, party: Party) -> bool:
    key = _key(party)
    entity = standing_entity(store, tenant_id, place, entity_id(tenant_id, key))
    return is_anothers(store, tenant_id, place, entity, {key}, party.id)


def is_anothers(
    store: Store, tenant_id: str, place: Scope, entity: str, names: Collection[str] | None, actor_id: str
) -> bool:
    """Whether somebody of another id told what is newest of an entity, under one of some normalised names, or with None under any by which
    it is known. Where that is the actor's own word, the name was free, or theirs, when they gave it first."""
    query = RecordQuery(
        tenant_id=tenant_id,
        layer=Layer.FACTS,
        scopes=[place],
        axes=Axes(seen_at=FOREVER, superseded=True),
        subject=entity,
    )

    def is_of(who: Party) -> bool:
        if names is not None:
            return _key(who) in names
        return standing_entity(store, tenant_id, place, entity_id(tenant_id, _key(who))) == entity

    for limit in _READ:
        found = store.records.query(replace(query, limit=limit))
        own = {each.event_id for each in found if isinstance(each, Fact) and each.said_by is None}
        told = store.log.get(tenant_id, own).values()
        speakers = {who.id for event in told for who in (event.observed_actor, event.subject) if is_of(who)}
        if speakers or len(found) < limit:
            return not speakers <= {actor_id}
    return True  # so much is said of them by others that nobody can tell


def _key(party: Party) -> str:
    return normalise_name(party.display_name)
