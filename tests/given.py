"""What tests start from: a clock and ids that they own, and values with everything filled in."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from lamina.kernel.audit import AuditDraft
from lamina.kernel.events import Context, Directives, Event, EventDraft, Origin, Party, Stage, Trust
from lamina.kernel.ids import Prefix, derived_id
from lamina.kernel.records import (
    Belief,
    Concept,
    Edge,
    Episode,
    Fact,
    Layer,
    Loop,
    LoopStatus,
    ObjectValue,
    Stance,
    Subject,
    Support,
)
from lamina.kernel.scopes import Scope
from lamina.kernel.ties import Tie
from lamina.kernel.time import SECOND_US, Axes
from lamina.store.ports.idempotency import IdempotencyKey
from lamina.store.ports.index import TextRow, VectorRow
from lamina.store.ports.jobs import Job
from lamina.store.ports.log import Capture
from lamina.store.ports.store import Store
from lamina.store.ports.writes import Writes

NOON = 1_778_673_600 * SECOND_US
"""2026-05-13T12:00:00Z."""

TENANT = "acme"
ALICE = Scope("org:acme/user:alice")
BOB = Scope("org:acme/user:bob")
STAGES = tuple(Stage)[1:]


class ManualClock:
    """Stands still until it is told otherwise; may go back."""

    def __init__(self, at: int = NOON) -> None:
        self.at = at

    def now(self) -> int:
        return self.at


class CountedIds:
    """The same ids in the same order for every store that is asked the same."""

    def __init__(self) -> None:
        self._count = 0

    def stamped(self, prefix: Prefix, at_us: int) -> str:
        self._count += 1
        return derived_id(prefix, at_us, self._count)


def draft(text: str = "tea at five", scope: Scope = ALICE, **more: Any) -> EventDraft:
    values: dict[str, Any] = {
        "tenant_id": TENANT,
        "scope": scope,
        "caller": "service:app",
        "observed_actor": Party.of("user:alice"),
        "subject": Party.of("user:alice"),
        "session": None,
        "modality": "conversation",
        "content": {"kind": "text", "text": text},
        "context": Context(observed_at=NOON),
        "directives": Directives(),
        "origin": Origin("service:app", "http", Trust.PRINCIPAL),
    }
    return EventDraft(**{**values, **more})


def key(name: str, tenant_id: str = TENANT) -> IdempotencyKey:
    return IdempotencyKey(tenant_id, "service:app", "experience", name)


def append(store: Store, *texts: str, **more: Any) -> list[Event]:
    captures = [Capture(draft(text, **more)) for text in texts]
    return [appended.event for appended in store.log.append(captures)]


def found_by(
    store: Store, *terms: str, scopes: Sequence[Scope] = (ALICE,), tenant_id: str = TENANT
) -> list[str]:
    """The records that search has under any of the terms, in the order of indexing."""
    rows = [row for scope in scopes for row in store.index.texts_after(tenant_id, scope, 0, 10_000)]
    return [row.record_id for row in rows if {*terms} & {*row.terms.split(), *row.keys.split()}]


def outbox_states(store: Store) -> list[str]:
    """The states of the rows of every tenant's outbox that are not sent."""
    rows = [store.sessions.outbox(tenant_id, None, 1_000_000) for tenant_id in store.log.tenants()]
    return [row.state for of_tenant in rows for row in of_tenant]


def claim(store: Store, stage: Stage = Stage.EXTRACTED, **more: Any) -> list[Job]:
    values = {"limit": 100, "lease_until": NOON + 60 * SECOND_US, "now": NOON, "owner": "worker"}
    return store.jobs.claim(stage, **{**values, **more})


def finish_all(store: Store, stage: Stage = Stage.EXTRACTED) -> None:
    while jobs := claim(store, stage):
        store.jobs.finish([(job, Writes()) for job in jobs])


def land(store: Store, writes: Writes, **more: Any) -> Event:
    """Append an event and end its first stage with these writes."""
    event = append(store, "carrier", **more)[0]
    job = next(job for job in claim(store) if job.event.id == event.id)
    store.jobs.finish([(job, writes)])
    return event


def land_indexed(store: Store, writes: Writes, **more: Any) -> Event:
    """As ``land``, and no event waits to be indexed any more: what is findable is what was written."""
    event = land(store, writes, **more)
    finish_all(store, Stage.INDEXED)
    return event


def name_id(prefix: Prefix, name: str) -> str:
    return derived_id(prefix, NOON, name)


def fact(name: str = "lives-in", scope: Scope = ALICE, **more: Any) -> Fact:
    return Fact(**{**_fact(name, scope), **more})


def loop(name: str = "dentist", scope: Scope = ALICE, **more: Any) -> Loop:
    state = {
        "status": LoopStatus.ACTIVE,
        "salience": 3,
        "horizon": "ongoing",
        "due_at": None,
        "seen_at": NOON,
    }
    return Loop(**{**_fact(name, scope), **state, **more})


def _fact(name: str, scope: Scope) -> dict[str, Any]:
    return {
        "tenant_id": TENANT,
        "id": name_id(Prefix.FACT, name),
        "scope": scope,
        "version": 1,
        "position": 1,
        "confidence": 0.9,
        "valid_from": NOON,
        "valid_to": None,
        "recorded_from": NOON,
        "event_id": name_id(Prefix.EVENT, name),
        "subject": Subject("ent_alice", "Alice"),
        "predicate": "lives_in",
        "object": ObjectValue("literal", "Lisbon", "string"),
        "text": "Alice lives in Lisbon.",
        "kind": "place",
        "negated": False,
        "external": False,
        "extractor": "lamina-rules/1",
        "slot": None,
    }


def belief(name: str = "likes", **more: Any) -> Belief:
    values: dict[str, Any] = {
        "tenant_id": TENANT,
        "id": name_id(Prefix.BELIEF, name),
        "scope": ALICE,
        "version": 1,
        "position": 1,
        "confidence": 0.75,
        "valid_from": NOON,
        "valid_to": None,
        "recorded_from": NOON,
        "subject": Subject("ent_alice", "Alice"),
        "predicate": "likes",
        "object": ObjectValue("literal", 3, "integer", "cup"),
        "negated": True,
        "stance": Stance.SUPPORTED,
        "external": False,
        "alpha": 3.0,
        "beta": 1.0,
        "lower": 0.4,
        "upper": 0.95,
        "revision_count": 2,
        "contradicts": ("belief_x",),
    }
    return Belief(**{**values, **more})


def episode(name: str = "breakfast", **more: Any) -> Episode:
    values: dict[str, Any] = {
        "tenant_id": TENANT,
        "id": name_id(Prefix.EPISODE, name),
        "scope": ALICE,
        "version": 1,
        "position": 1,
        "confidence": 1.0,
        "valid_from": NOON,
        "valid_to": NOON + SECOND_US,
        "recorded_from": NOON,
        "session": "s-1",
        "name": name,
        "summary": "tea and toast",
        "started_at": NOON,
        "ended_at": NOON + SECOND_US,
        "size": 2,
        "sealed": True,
        "actors": ("user:alice", "user:bob"),
        "centrality": 0.5,
    }
    return Episode(**{**values, **more})


def concept(name: str = "tea", **more: Any) -> Concept:
    values: dict[str, Any] = {
        "tenant_id": TENANT,
        "id": name_id(Prefix.CONCEPT, name),
        "scope": ALICE,
        "version": 1,
        "position": 1,
        "confidence": 0.6,
        "valid_from": NOON,
        "valid_to": None,
        "recorded_from": NOON,
        "name": name,
        "topic": "drinks",
        "summary": "tea, often",
        "stance": Stance.UNCERTAIN,
        "synthesizer": "lamina-rules/1",
        "consulted": 3,
        "available": 4,
        "edges": (Edge("concept_y", "part_of", 0.5),),
        "about": "ent_tea",
        "inputs": ("fact_x", "belief_x"),
        "unread": ("episodes",),
        "canonical_id": "concept_z",
        "derived_from": ("concept_w",),
        "support_lost": 0.25,
    }
    return Concept(**{**values, **more})


def support(record_id: str, source_id: str, **more: Any) -> Support:
    values = {"tenant_id": TENANT, "relation": Tie.SUPPORTED_BY, "recorded_at": NOON}
    return Support(record_id=record_id, source_id=source_id, **{**values, **more})


def text_row(record_id: str, terms: str, scope: Scope = ALICE, **more: Any) -> TextRow:
    values: dict[str, Any] = {
        "tenant_id": TENANT,
        "layer": Layer.FACTS,
        "recorded_at": NOON,
        "observed_at": NOON,
        "session": None,
        "speaker": None,
        "role": None,
        "characters": len(terms),
        "question_share": 0.0,
        "self_share": 0.0,
    }
    return TextRow(record_id=record_id, terms=terms, scope=scope, **{**values, **more})


def vector_row(record_id: str, scope: Scope = ALICE, model: str = "m", **more: Any) -> VectorRow:
    marker = hashlib.blake2b(record_id.encode(), digest_size=8).digest()
    values = {"tenant_id": TENANT, "pooled": marker, "tokens": marker * 2}
    return VectorRow(record_id=record_id, scope=scope, model=model, **{**values, **more})


def audit_draft(name: str = "1", **more: Any) -> AuditDraft:
    values: dict[str, Any] = {
        "tenant_id": TENANT,
        "id": name_id(Prefix.AUDIT, name),
        "at": NOON,
        "actor": "user:alice",
        "token_jti": None,
        "scope": str(ALICE),
        "endpoint": "POST /v1/experience",
        "capability": "scope.write",
        "decision": "allow",
        "decided_by_tier": "deployment",
        "method": "POST",
        "path": "/v1/experience",
        "body_hash": "sha256:b0",
        "headers_hash": "sha256:1e",
        "body_bytes": 12,
        "pepper_version": 1,
        "response_status": 202,
        "event_id": None,
        "client_ip": "127.0.0.1",
        "user_agent": "tests",
        "request_id": "req-1",
        "elapsed_ms": 3,
        "gdpr": 0,
    }
    return AuditDraft(**{**values, **more})


def now_axes(**more: Any) -> Axes:
    return Axes(seen_at=NOON + 10 * SECOND_US, **more)
