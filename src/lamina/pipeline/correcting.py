"""Correcting a fact: an event of its own that puts another value in the place of exactly that fact, or ends it.

It is not erasure. What was said stays in the log, and who reads as of an earlier time sees what was held then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from lamina import limits
from lamina.errors import Conflict, Gone, Invalid, NotFound
from lamina.kernel.capabilities import Capability
from lamina.kernel.corrections import CORRECTION
from lamina.kernel.events import (
    Context,
    Directives,
    EventDraft,
    Origin,
    Party,
    Stage,
    Trust,
    newest_stage,
    stages_done,
)
from lamina.kernel.local import LocalTime
from lamina.kernel.operations import Answer, Call, Grant, Principal
from lamina.kernel.records import Fact, Loop, claim_key_of
from lamina.kernel.time import Instant, rfc3339
from lamina.language.entities import entity_id, normalise_name
from lamina.pipeline.corrected_facts import object_of, sentence_of
from lamina.pipeline.direct import stated_value
from lamina.pipeline.vocabularies.stated import require_fit
from lamina.store.entities import standing_entity
from lamina.store.keyed import key_of
from lamina.store.ports.log import Appended, Capture
from lamina.store.ports.store import Store
from lamina.store.queries import Shown
from lamina.store.rules.refusals import check_same
from lamina.store.vocabularies import active_terms
from lamina.store.watch import Watch
from lamina.types.writes import CorrectFact, CorrectionCaptured, RetractFact

__all__ = ["Correcting", "correction_grants"]

_NOTE: Final = (
    "Nothing is erased. What was held stays readable: as_of before this correction, include_superseded, the timeline. "
    "To take what was said itself out of recall, cancel its event."
)
_PERSON: Final = "person"


def correction_grants(request: CorrectFact | RetractFact, principal: Principal) -> list[Grant]:
    """What correcting takes before the fact is known; its scope is asked once it is."""
    wanted = [Grant(Capability.SCOPE_WRITE, None)]
    if request.observed_actor is not None and request.observed_actor.id != principal.actor:
        wanted.append(Grant(Capability.SCOPE_WRITE_ON_BEHALF_OF, None))
    return wanted


class Correcting:
    """Handlers of the two corrections."""

    def __init__(self, store: Store, watch: Watch) -> None:
        self._store = store
        self._watch = watch

    def correct(self, request: CorrectFact, call: Call) -> Answer:
        """Put another value in the place of a fact's."""
        return self._once(request, call, "correct")

    def retract(self, request: RetractFact, call: Call) -> Answer:
        """End a fact."""
        return self._once(request, call, "retract")

    def _once(
        self, request: CorrectFact | RetractFact, call: Call, action: Literal["correct", "retract"]
    ) -> Answer:
        key = key_of(call)
        if key is not None:
            # First of all: after the first time the fact has ended.
            known = self._store.idempotency.find(key, call.now)
            if known is not None and known.event_id is not None:
                check_same(known, call.keyed_hash())
                event = self._store.log.get(call.principal.tenant_id, [known.event_id]).get(known.event_id)
                if event is None or event.redacted_by is not None:  # its key goes last
                    raise Gone(
                        "RESOURCE_DELETED",
                        "the correction that was made under this key was forgotten",
                        hint="send it under a new key to correct the fact again",
                        details={"id": known.event_id},
                    )
                return self._answer(Appended.of(event, replayed=True), request, call)
        fact = self._fact(request.fact_id, call, action)
        speaker = (
            Party.of(call.principal.actor)
            if request.observed_actor is None
            else request.observed_actor.party()
        )
        subject = self._spoken_for(fact, speaker, call)
        if isinstance(request, CorrectFact):
            self._require_in_vocabulary(fact, request)
        draft = _draft(fact, _content(fact, request, action, call.now), speaker, subject, call)
        digest = "" if key is None else call.keyed_hash()
        (appended,) = self._store.log.append([Capture(draft, key, digest)])
        return self._answer(appended, request, call)

    def _fact(self, fact_id: str, call: Call, action: Literal["correct", "retract"]) -> Fact:
        """The fact that the caller may correct, as it holds. What was promised may be retracted, which drops the loop."""
        found = self._store.records.get(call.principal.tenant_id, [fact_id]).get(fact_id)
        missing = NotFound(
            "NOT_FOUND",
            "there is no fact of this id",
            hint="GET /v1/facts lists facts with their ids",
            details={"id": fact_id},
        )
        call.require_known(found.scope if isinstance(found, Fact) else None, missing)
        assert isinstance(found, Fact), "it lies in a scope"
        call.permits.require(Grant(Capability.SCOPE_WRITE, found.scope))
        if isinstance(found, Loop) and not (action == "retract" and found.is_stated):
            raise Invalid(
                "INVALID_REQUEST",
                "this is an open loop, which is corrected by what is said of it",
                hint="store an experience that says that it is done, given up or moved",
                details={"field": "fact_id"},
            )
        _check_holds(found, call.now)
        return found

    def _require_in_vocabulary(self, fact: Fact, request: CorrectFact) -> None:
        """Nothing, or ``Invalid`` for a value that the vocabulary does not have for a fact by one of its terms."""
        if fact.binding is None:
            return
        match = active_terms(self._store.definitions, fact.tenant_id, fact.scope).of_predicate(fact.predicate)
        value = stated_value(request.model_dump(mode="json", include={"object"}, exclude_none=True)["object"])
        if match is not None and value is not None:
            require_fit(match, value, field="object")

    def _spoken_for(self, fact: Fact, speaker: Party, call: Call) -> Party:
        """Whom the correction is about. Of a person speak they themselves, the author of the claim, and who may write about others."""
        tenant_id = fact.tenant_id
        types = self._store.records.entity_types(tenant_id, fact.scope, {fact.subject.id})
        if types.get(fact.subject.id) != _PERSON and fact.said_by is None:
            return speaker
        supports = self._store.records.supports_of(tenant_id, [fact.id]).get(fact.id, ())
        sources = self._store.log.get(tenant_id, {fact.event_id, *(each.source_id for each in supports)})
        tellers = {event.observed_actor.id: event.observed_actor for event in sources.values()}
        # By the name that they go by there: one that they give now may be another's.
        itself = tellers.get(speaker.id, Party.of(speaker.id))
        if fact.subject.id in (self._entity_of(fact, Party.of(speaker.id)), self._entity_of(fact, itself)):
            return itself
        if speaker.id in tellers:
            return speaker
        call.permits.require(Grant(Capability.SCOPE_WRITE_ABOUT_OTHER, fact.scope))
        return Party(fact.subject.id, _PERSON, fact.subject.name)

    def _entity_of(self, fact: Fact, party: Party) -> str:
        named = entity_id(fact.tenant_id, normalise_name(party.display_name))
        return standing_entity(self._store, fact.tenant_id, fact.scope, named)

    def _answer(self, appended: Appended, request: CorrectFact | RetractFact, call: Call) -> Answer:
        event = appended.event
        status, reached, derives = Stage.CAPTURED.value, False, []
        if request.wait not in (None, Stage.CAPTURED):
            stage = Stage(request.wait)
            rows = self._watch.wait_for(
                event.tenant_id, event.id, stage, timeout_s=limits.WAIT_S_MAX, is_gone=call.is_gone
            )
            done = stages_done(rows)
            reached = stage in done
            status = stage.value if reached else newest_stage(done)
            derives = (
                Shown(self._store.records, event.tenant_id, call.may_read)
                .derived_from([event.id])
                .get(event.id, [])
            )
        result = CorrectionCaptured(
            event_id=event.id,
            fact_id=event.content["fact_id"],
            action=event.content["action"],
            status=status,
            wal_offset=event.position,
            derives=derives,
            note=_NOTE,
            lifecycle_stream=f"/v1/lifecycle/stream?event_id={event.id}",
        )
        return Answer(result, accepted=not reached, replayed=appended.replayed)


def _check_holds(fact: Fact, now: Instant) -> None:
    replaced = fact.superseded_by
    if fact.excluded or (fact.recorded_to is not None and (replaced or fact.closed_by) is None):
        raise Gone(
            "RESOURCE_DELETED",
            "what this fact rests on was cancelled",
            hint="as_of reads it as it was held before; what holds now is in GET /v1/facts",
            details={"id": fact.id},
        )
    if fact.recorded_to is not None or (fact.valid_to is not None and fact.valid_to <= now):
        follows = replaced or fact.closed_by
        raise Conflict(
            "FACT_ENDED",
            "this fact has ended already",
            hint="correct what took its place, superseded_by"
            if follows
            else "GET /v1/facts lists what holds",
            details={
                "id": fact.id,
                "superseded_by": follows,
                "ended_at": None if fact.valid_to is None else rfc3339(fact.valid_to),
            },
        )


def _content(
    fact: Fact, request: CorrectFact | RetractFact, action: Literal["correct", "retract"], now: Instant
) -> Mapping[str, Any]:  # Any: JSON, as the log keeps it
    said: Any = None  # Any: a JSON scalar, or an object with a value and its unit
    if isinstance(request, CorrectFact):
        said = request.model_dump(mode="json", include={"object"}, exclude_none=True)["object"]
        value = stated_value(said)
        assert value is not None, "the request's type let a value through"
        key = object_of(fact.tenant_id, value).key
        if claim_key_of(fact.subject.id, fact.predicate, key, negated=fact.negated) == fact.claim_key:
            raise _wrong("object", "is what the fact says already")
        at, field, words = request.valid_from, "valid_from", sentence_of(fact, value)
    else:
        at, field, words = request.valid_to, "valid_to", f"No longer so: {fact.text}"
    _check_within(fact, at, field, action, now)
    reason = f"{words.rstrip('.')}. {request.why}" if request.why else words
    content = {
        "kind": CORRECTION,
        "action": action,
        "fact_id": fact.id,
        "text": request.quote or reason,
        "why": request.why,
        "quote": request.quote,
        "at": None if at is None else rfc3339(at.at),
    }
    return content if said is None else {**content, "object": said}


def _check_within(fact: Fact, at: LocalTime | None, field: str, action: str, now: Instant) -> None:
    if at is None:
        return
    if fact.valid_to is not None and at.at >= fact.valid_to:
        raise _wrong(field, "lies behind the end of the fact")
    if action == "retract" and at.at <= fact.valid_from < now:
        raise _wrong(field, "lies before the beginning of the fact")


def _wrong(field: str, reason: str) -> Invalid:
    return Invalid(
        "INVALID_REQUEST",
        f"{field} {reason}",
        hint="GET /v1/facts/{id} shows what the fact says, and from when to when",
        details={"field": field, "reason": reason},
    )


def _draft(fact: Fact, content: Mapping[str, Any], speaker: Party, subject: Party, call: Call) -> EventDraft:
    principal = call.principal
    own = speaker.id == principal.actor
    return EventDraft(
        tenant_id=principal.tenant_id,
        scope=fact.scope,
        caller=principal.actor,
        observed_actor=speaker,
        subject=subject,
        session=None,
        modality=CORRECTION,
        content=content,
        context=Context(observed_at=call.now),
        directives=Directives(),
        origin=Origin(principal.actor, CORRECTION, Trust.PRINCIPAL if own else Trust.DELEGATED),
    )
