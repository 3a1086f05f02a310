"""Capture: the synchronous part of a write. An experience that this module answered is on disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lamina import limits
from lamina.errors import Forbidden, Invalid, LaminaError, NotFound
from lamina.kernel.capabilities import Capability
from lamina.kernel.events import EventDraft, LifecycleRow, Stage, newest_stage, stages_done
from lamina.kernel.feedback import judges
from lamina.kernel.ids import IdSource, Prefix
from lamina.kernel.operations import Answer, Call, Grant, Landing, Posted, Posting, Principal
from lamina.kernel.scopes import Scope
from lamina.kernel.time import Instant
from lamina.pipeline.drafting import Drafting, draft_of
from lamina.pipeline.item_hash import ItemHashes
from lamina.pipeline.judging import Judging
from lamina.pipeline.own_name import given_names, require_own_names
from lamina.pipeline.vocabularies.stated import require_in_vocabulary
from lamina.store.ports.idempotency import IdempotencyEntry, IdempotencyKey
from lamina.store.ports.log import Appended, Capture
from lamina.store.ports.store import Store
from lamina.store.queries import Shown
from lamina.store.rules.refusals import check_same
from lamina.store.vocabularies import active_terms
from lamina.store.watch import Watch
from lamina.types.envelope import EnvelopeDirectives, Item, PartyIn
from lamina.types.writes import (
    BatchCaptured,
    BulkExperience,
    ByKey,
    Captured,
    Experience,
    StoredByKey,
    Waited,
)

__all__ = ["BULK_FAMILY", "SINGLE_FAMILY", "Capturing", "write_grants"]

SINGLE_FAMILY = "/v1/experience"
BULK_FAMILY = "/v1/experience/bulk"
BATCH_FAMILY = "/v1/experience/bulk#batch"


def write_grants(
    items: list[Item],
    scope: str,
    principal: Principal,
    actor: PartyIn | None = None,
) -> list[Grant]:
    """What writing these experiences takes: the scope, and the identities that differ from the caller's."""
    wanted = {Capability.SCOPE_WRITE: None}
    for item in items:
        named = item.observed_actor or actor
        observed = named.id if named else principal.actor
        if observed != principal.actor:
            wanted[Capability.SCOPE_WRITE_ON_BEHALF_OF] = None
        if item.subject is not None and item.subject.id != observed:
            wanted[Capability.SCOPE_WRITE_ABOUT_OTHER] = None
    return [Grant(capability, Scope(scope)) for capability in wanted]


class Capturing:
    """Handlers of the write operations."""

    def __init__(self, store: Store, watch: Watch, ids: IdSource) -> None:
        self._store = store
        self._watch = watch
        self._ids = ids
        self._judging = Judging(store.records)

    def experience(self, request: Experience, call: Call) -> Answer:
        """Store one experience; with ``wait``, answer when the stage is done."""
        posted = self._post(request, call)
        if request.wait in (None, Stage.CAPTURED):
            return Landing(posted, _captured).answer()
        (appended,) = posted.result()
        return self._waited(appended, Stage(request.wait), call)

    @property
    def posting(self) -> Posting[Experience]:
        """``experience`` for who does not wait for the disk."""
        return Posting(_only_lands, lambda request, call: Landing(self._post(request, call), _captured))

    def _post(self, request: Experience, call: Call) -> Posted:
        envelope = request.envelope
        scope = Scope(envelope.scope)
        self._may_consolidate(envelope.directives, call)
        key = IdempotencyKey(
            call.principal.tenant_id, call.principal.actor, SINGLE_FAMILY, envelope.idempotency_key
        )
        draft = self._completed(draft_of(envelope, scope, call.principal), key, call)
        self._require_in_vocabulary([envelope], scope, SINGLE_FAMILY, call)
        return self._store.log.post(Capture(draft, key, call.body_hash()))

    def bulk(self, request: BulkExperience, call: Call) -> Answer:
        """Store up to a thousand experiences of one scope, all or none."""
        principal = call.principal
        batch_key = None
        if request.idempotency_key is not None:
            batch_key = IdempotencyKey(
                principal.tenant_id, principal.actor, BATCH_FAMILY, request.idempotency_key
            )
            known = self._store.idempotency.find(batch_key, call.now)
            if known is not None:
                check_same(known, call.body_hash())
                return _replayed_batch(known)
        self._may_consolidate(request.directives, call)
        self._require_in_vocabulary(request.items, Scope(request.scope), BULK_FAMILY, call)
        batch_id = self._ids.stamped(Prefix.BATCH, call.now)
        items = request.items
        if request.ordering == "strict_temporal":
            items = sorted(items, key=lambda item: item.context.observed_at.at)
        captures = self._captures(items, request, call, batch_id)
        result = BatchCaptured(
            batch_id=batch_id,
            accepted=len(items),
            lifecycle_stream=_batch_stream(batch_id),
        )
        if batch_key is None:
            return _answered(result, self._store.log.append(captures))
        entry = IdempotencyEntry(
            batch_key, call.body_hash(), call.now, response=result.model_dump(mode="json")
        )
        once = self._store.log.append_once(captures, entry)
        return _replayed_batch(once.entry) if once.replayed else Answer(result, accepted=True)

    def _captures(
        self, items: Sequence[Item], request: BulkExperience, call: Call, batch_id: str
    ) -> list[Capture]:
        principal, hashes = call.principal, ItemHashes()
        drafting = Drafting(
            Scope(request.scope),
            principal,
            defaults=request.directives,
            actor=request.observed_actor,
            batch_id=batch_id,
        )
        captures: list[Capture] = []
        for item in items:
            key = IdempotencyKey(principal.tenant_id, principal.actor, BULK_FAMILY, item.idempotency_key)
            try:
                self._may_consolidate(item.directives, call)
                draft = self._completed(drafting.draft_of(item), key, call)
            except LaminaError as error:
                # As it was sent: what is captured may be sorted.
                number = next(place for place, each in enumerate(request.items) if each is item)
                raise error.at(f"items.{number}") from error
            captures.append(Capture(draft, key, hashes.of(item)))
        return captures

    def _completed(self, draft: EventDraft, key: IdempotencyKey, call: Call) -> EventDraft:
        """Feedback with what it is of. What was sent before is recognised whatever became of its target, or of its author's name."""
        judged = judges(draft.modality, draft.content)
        given = given_names(draft, call)
        if not (judged or given) or self._store.idempotency.find(key, call.now) is not None:
            return draft
        require_own_names(self._store, given, call)
        return self._judging.completed(draft, call) if judged else draft

    def _require_in_vocabulary(self, items: Sequence[Item], scope: Scope, family: str, call: Call) -> None:
        """Nothing, or ``Invalid`` for a stated value that the vocabulary of the scope does not have."""
        if all(item.content.get("kind") != "triple" for item in items):
            return
        tenant_id, actor = call.principal.tenant_id, call.principal.actor
        terms = active_terms(self._store.definitions, tenant_id, scope)
        for number, item in enumerate(items):
            try:
                require_in_vocabulary(terms, item.content, item=number if family == BULK_FAMILY else None)
            except Invalid:
                # What is on disk already, under its key, stood in the vocabulary of its time.
                key = IdempotencyKey(tenant_id, actor, family, item.idempotency_key)
                if self._store.idempotency.find(key, call.now) is None:
                    raise

    def by_key(self, request: ByKey, call: Call) -> Answer:
        """The event that a key of the caller's own led to, from a single write or from a batch."""
        for family in (SINGLE_FAMILY, BULK_FAMILY):
            key = IdempotencyKey(call.principal.tenant_id, call.principal.actor, family, request.key)
            known = self._store.idempotency.find(key, call.now)
            if known is None or known.event_id is None:
                continue
            event = self._store.log.get(call.principal.tenant_id, [known.event_id]).get(known.event_id)
            if event is None or not call.permits.allows(Grant(Capability.SCOPE_READ_LOCAL, event.scope)):
                continue
            stages = stages_done(self._watch.rows(event.tenant_id, event.id))
            return Answer(
                StoredByKey(
                    idempotency_key=request.key,
                    event_id=event.id,
                    status=newest_stage(stages),
                    wal_offset=event.position,
                    batch_id=event.batch_id,
                    stages_completed=_names(stages),
                    lifecycle_stream=_stream(event.id),
                )
            )
        raise NotFound(
            "NOT_FOUND",
            "none of your writes of the last 24 hours used this idempotency key",
            details={"idempotency_key": request.key},
        )

    def _may_consolidate(self, directives: EnvelopeDirectives | None, call: Call) -> None:
        """Consolidating into another scope takes the right to write there too (seed 002, 18.2 item 12)."""
        if directives is None or directives.consolidate_into is None:
            return
        try:
            call.permits.require(Grant(Capability.SCOPE_WRITE, Scope(directives.consolidate_into)))
        except Forbidden as denied:
            raise Invalid(
                "INVALID_ENVELOPE",
                "directives.consolidate_into names a scope that you may not write to",
                details={"field": "directives.consolidate_into", **denied.details},
            ) from denied

    def _waited(self, appended: Appended, stage: Stage, call: Call) -> Answer:
        event = appended.event
        rows = self._watch.wait_for(
            event.tenant_id, event.id, stage, timeout_s=limits.WAIT_S_MAX, is_gone=call.is_gone
        )
        done = stages_done(rows)
        reached = stage in done
        derives = Shown(self._store.records, event.tenant_id, call.may_read).derived_from([event.id])
        result = Waited(
            event_id=event.id,
            status=stage.value if reached else newest_stage(done),
            wal_offset=event.position,
            stages_completed=_names(done),
            derives=derives.get(event.id, []),
            elapsed_ms=_elapsed_ms(done, event.recorded_at),
            lifecycle_stream=_stream(event.id),
        )
        return Answer(result, accepted=not reached, replayed=appended.replayed)


_STAGE_VERBS = {
    Stage.CAPTURED: "capture",
    Stage.EXTRACTED: "extract",
    Stage.INDEXED: "index",
    Stage.CONSOLIDATED: "consolidate",
    Stage.COMPRESSED: "compress",
}


def _names(done: Iterable[Stage]) -> list[str]:
    return [stage.value for stage in done]


def _elapsed_ms(done: Mapping[Stage, LifecycleRow], recorded_at: Instant) -> dict[str, int]:
    """Milliseconds that each stage took, from the arrival of one lifecycle row to the next."""
    elapsed: dict[str, int] = {}
    before = recorded_at
    for stage, row in done.items():
        elapsed[_STAGE_VERBS[stage]] = max(0, row.arrived_at - before) // 1000
        before = row.arrived_at
    return elapsed


def _only_lands(request: Experience) -> bool:
    """Whether a request waits for no stage, and nothing it says is looked up."""
    envelope = request.envelope
    stated = envelope.content.get("kind") == "triple" or judges(envelope.modality, envelope.content)
    return request.wait in (None, Stage.CAPTURED) and not stated


def _captured(landed: Sequence[Appended]) -> Answer:
    (appended,) = landed
    result = Captured(
        event_id=appended.event_id,
        status="captured",
        wal_offset=appended.position,
        lifecycle_stream=_stream(appended.event_id),
    )
    return Answer(result, accepted=True, replayed=appended.replayed)


def _answered(result: BatchCaptured, appended: Sequence[Appended]) -> Answer:
    """What the first time was answered, where all of a batch was stored by one batch before: on the stream of another one nothing
    would ever come."""
    known = {each.draft.batch_id for each in appended}
    (batch_id,) = known if len(known) == 1 else {None}
    if batch_id is None or not all(each.replayed for each in appended):
        return Answer(result, accepted=True)
    changed = {"batch_id": batch_id, "lifecycle_stream": _batch_stream(batch_id)}
    return Answer(result.model_copy(update=changed), accepted=True, replayed=True)


def _replayed_batch(known: IdempotencyEntry) -> Answer:
    response: dict[str, Any] = dict(known.response or {})
    return Answer(BatchCaptured(**response), accepted=True, replayed=True)


def _stream(event_id: str) -> str:
    return f"/v1/lifecycle/stream?event_id={event_id}"


def _batch_stream(batch_id: str) -> str:
    return f"/v1/lifecycle/stream?batch_id={batch_id}"
