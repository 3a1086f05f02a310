"""Every row of the server's table, asked by those who may not: the documented answer, and no row without a gate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import capsules
import given
from lamina import limits
from lamina.access.documents import CATALOGUE
from lamina.http.routes import Route
from lamina.kernel.events import Stage
from lamina.kernel.operations import Effect, Operation
from lamina.kernel.scopes import Scope
from lamina.language.entities import entity_id
from lamina.store.ports.writes import Writes
from neighbours import ROOT, Neighbours

CLOSED = Scope("ws:closed")
PHRASE = {
    "name": "fiscal_q3",
    "pattern": "fiscal Q3",
    "resolves_to": {"valid_during": ["2026-07-01", "2026-10-01"]},
}
VOCABULARY = {"name": "fiscal_q3", "predicates": [{"id": "deal_stage", "values": ["poc", "close"]}]}
PRESETS = ("on_prem_enterprise", "cloud_shared_saas", "cloud_private", "dev_local")
ITEM = {
    "modality": "conversation",
    "content": {"kind": "message", "role": "user", "text": "hello"},
    "context": {"observed_at": "2026-05-13T12:00:00Z"},
    "idempotency_key": "again",
}
ENTITY = entity_id("acme", "nobody")
PREVIEW = "ervw_0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b"
NOBODY = "fact_0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b"
ERASURE = "erasure_0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b"
MEMBERS = [{"actor": "user:alice", "role": "owner"}]
RELAY = Scope("app:relay")
SUBJECT = {"subject_kind": "thread", "subject_id": "launch"}
CAPSULE = {**SUBJECT, "capsule": capsules.body(thread_descriptor={"label": "Launch"})}
EDIT = {
    **SUBJECT,
    "updated_at": capsules.later(60),
    "operations": [{"target": "continuity.open_loops", "action": "append", "value": "call back"}],
}
SIGNALS = [capsules.signal()]
PERSON = {"tenantId": "acme", "userId": "alice"}
SPEAKER = {**PERSON, "personaId": "kim", "sessionId": "s-1"}
TURN = {"role": "user", "text": "hello there", "timestamp": "2026-05-13T11:00:00Z"}
PERSONAL_SCOPE = Scope("org:acme/user:alice")
REMINDER = {"kind": "reminder", "title": "call", "due_at": "2026-05-14T12:00:00Z", "schedule_id": "sched_a"}
CALLER = "made:caller"
PLAN = {"title": "Plan", "constraints": ["one"]}
CLAIM = {
    "source_kind": "shared",
    "source_id": "made:shared",
    "claim_summary": "So",
    "epistemic_status": "frame_present",
    "observed_version": 1,
}
DISPUTE = {
    "task_id": "t",
    "title": "Which?",
    "classification": "contradictory",
    "trigger": "shared_vs_shared",
    "claims": [{**CLAIM, "claimant_peer": each} for each in (CALLER, "bo")],
}
PATCH = {
    "patch_id": "p-1",
    "target_path": "projects/new.md",
    "diff": "--- /dev/null\n+++ b/projects/new.md\n@@ -0,0 +1 @@\n+tea\n",
}
PEERS = {"user:alice": "trusted", "user:root": "trusted", "bo": "restricted"}
WORDS = {"thread_id": "t", "subject": "Plan", "body_md": "Shall we?"}
LETTER = {**WORDS, "sender": CALLER, "recipient": CALLER, "delivery": {"requires_ack": True}}
ENVELOPE = {"payload": {}, "key_id": "k", "nonce": "n", "signature": "0" * 64}

# Row: what it is asked with, what somebody outside the scope is told, what its owner is told. ``open`` rows take no
# caller, ``own`` ones every caller; ``shut`` ones stay so until a deployment sets their token; where only ``gate`` says so, for what is one's own. A row that asks no scope shows only what the caller may see.
NOT = "NOT_A_MEMBER"
SHUT = "INTERNAL_TOKEN_REQUIRED"
DENIED = "POLICY_DENIED"
ROWS: dict[str, tuple[dict[str, Any], int | str, int | str]] = {
    "POST /v1/experience": ({"body": {"scope": CLOSED, **ITEM}}, NOT, 202),
    "POST /v1/experience/bulk": ({"body": {"scope": CLOSED, "items": [ITEM]}}, NOT, 202),
    "GET /v1/experience/by-idempotency-key/{key:path}": ({"in_path": "never"}, "NOT_FOUND", "NOT_FOUND"),
    "POST /v1/recall": ({"body": {"scope": CLOSED, "query": "tea", "view": "raw"}}, NOT, 200),
    "POST /v1/answer": ({"body": {"scope": CLOSED, "question": "tea", "view": "raw"}}, NOT, 200),
    "GET /v1/events": ({"query": {"scope": CLOSED}}, NOT, 200),
    "GET /v1/events/{event_id}": ({"in_path": "event"}, "NOT_FOUND", 200),
    "GET /v1/episodes": ({"query": {"scope": CLOSED}}, NOT, 200),
    "GET /v1/episodes/{episode_id}": ({"in_path": "episode"}, "NOT_FOUND", 200),
    "GET /v1/facts": ({"query": {"scope": CLOSED}}, NOT, 200),
    "GET /v1/facts/timeline": (
        {"query": {"scope": CLOSED, "subject": "Alice", "predicate": "lives_in"}},
        NOT,
        200,
    ),
    "POST /v1/events/{event_id}/forget-answer": (
        {
            "in_path": "evt_01a203e2-9e9c-717f-8c44-1396e280b5d0",
            "body": {},
            "admin": True,
            "served": "NOT_FOUND",
        },
        DENIED,
        DENIED,
    ),
    "GET /v1/facts/{fact_id}": ({"in_path": "fact"}, "NOT_FOUND", 200),
    "POST /v1/facts/{fact_id}/correct": ({"in_path": "fact", "body": {"object": 7}}, "NOT_FOUND", 202),
    "POST /v1/facts/{fact_id}/retract": ({"in_path": "fact", "body": {}}, "NOT_FOUND", 202),
    "GET /v1/entities/{entity_id}": ({"in_path": ENTITY, "query": {"scope": CLOSED}}, NOT, "NOT_FOUND"),
    "POST /v1/entities/{entity_id}/merge": (
        {"in_path": ENTITY, "body": {"scope": CLOSED, "into": ENTITY}},
        NOT,
        "NOT_FOUND",
    ),
    "POST /v1/entities/{entity_id}/split": (
        {"in_path": ENTITY, "body": {"scope": CLOSED, "name": "Ben Carter"}},
        NOT,
        "NOT_FOUND",
    ),
    "POST /v1/forget": (
        {"body": {"scope": CLOSED, "selector": {"memory_ids": [NOBODY]}}},
        NOT,
        200,
    ),
    "GET /v1/beliefs": ({"query": {"scope": CLOSED}}, NOT, 200),
    "GET /v1/beliefs/why": ({"query": {"belief_id": "belief"}}, "NOT_FOUND", 200),
    "GET /v1/why/{record_id}": ({"in_path": "belief"}, "NOT_FOUND", 200),
    "GET /v1/beliefs/{belief_id}": ({"in_path": "belief"}, "NOT_FOUND", 200),
    "GET /v1/understanding": ({"query": {"scope": CLOSED}}, NOT, 200),
    "GET /v1/understanding/coverage": ({"query": {"scope": CLOSED}}, NOT, 200),
    "POST /v1/understanding/synthesize": ({"body": {"scope": CLOSED}}, NOT, 202),
    "GET /v1/understanding/{concept_id}": ({"in_path": "concept"}, "NOT_FOUND", 200),
    "GET /v1/understanding/{concept_id}/related": ({"in_path": "concept"}, "NOT_FOUND", 200),
    "POST /v1/temporal/phrases": ({"body": PHRASE, "admin": True, "served": 201}, DENIED, DENIED),
    "GET /v1/temporal/phrases": ({}, 200, 200),
    "DELETE /v1/temporal/phrases/{name}": (
        {"in_path": "fiscal_q3", "admin": True, "served": 204},
        DENIED,
        DENIED,
    ),
    "POST /v1/vocabularies": ({"body": VOCABULARY, "admin": True, "served": 201}, DENIED, DENIED),
    "GET /v1/vocabularies": ({}, 200, 200),
    "GET /v1/vocabularies/{name}": ({"in_path": "never"}, "NOT_FOUND", "NOT_FOUND"),
    "PUT /v1/vocabularies/{name}": (
        {"in_path": "fiscal_q3", "body": VOCABULARY, "admin": True},
        DENIED,
        DENIED,
    ),
    "GET /v1/lifecycle": ({"query": {"scope": CLOSED}}, NOT, 200),
    "GET /v1/lifecycle/stream": ({"query": {"scope": CLOSED}, "streams": True}, NOT, 200),
    "GET /v1/lifecycle/event/{lce_id}": ({"in_path": "row"}, "NOT_FOUND", 200),
    "GET /v1/lifecycle/memory-event/{evt_id}": ({"in_path": "event"}, "NOT_FOUND", 200),
    "POST /v1/lifecycle/memory-event/{evt_id}/cancel": ({"in_path": "event", "body": {}}, "NOT_FOUND", 200),
    "GET /v1/audit": ({"query": {"scope": CLOSED}}, NOT, 200),
    "GET /v1/audit/{audit_id}": ({"in_path": "audit", "of_others": True}, "NOT_FOUND", 200),
    "POST /v1/audit/verify": (
        {"body": {"audit_id": "audit", "body": "{}"}, "of_others": True},
        "NOT_FOUND",
        200,
    ),
    "GET /v1/admin/version": ({"kind": "open"}, 200, 200),
    "GET /v1/admin/health": ({}, 200, 200),
    "GET /v1/admin/metrics": ({}, 200, 200),
    "POST /v1/admin/flush-views": ({"body": {"timeout_s": 0}, "admin": True, "served": 202}, DENIED, DENIED),
    "POST /v1/admin/compact": ({"body": {}, "admin": True}, DENIED, DENIED),
    "POST /v1/auth/revoke": (
        {"body": {"jti": "t-1"}, "gate": "own", "admin": True, "served": 204},
        DENIED,
        DENIED,
    ),
    "GET /v1/auth/whoami": ({"kind": "own"}, 200, 200),
    "GET /v1/policy/effective": ({"kind": "own"}, 200, 200),
    "GET /v1/policy/deployment": ({"kind": "own"}, 200, 200),
    "PUT /v1/policy/deployment": ({"body": {}, "admin": True}, DENIED, DENIED),
    "GET /v1/policy/tenant/{tenant_id}": ({"in_path": "acme", "admin": True}, DENIED, DENIED),
    "PUT /v1/policy/tenant/{tenant_id}": ({"in_path": "acme", "body": {}, "admin": True}, DENIED, DENIED),
    "GET /v1/policy/scope/{scope_path:path}": ({"in_path": CLOSED}, NOT, 200),
    "PUT /v1/policy/scope/{scope_path:path}": ({"in_path": CLOSED, "body": {}}, NOT, 200),
    "GET /v1/policy/scope": ({"query": {"path": CLOSED}}, NOT, 200),
    "PUT /v1/policy/scope": ({"query": {"path": CLOSED}, "body": {}}, NOT, 200),
    "GET /v1/policy/actor/{actor_id}": ({"in_path": "user:alice", "of_alice": True}, DENIED, 200),
    "PUT /v1/policy/actor/{actor_id}": ({"in_path": "user:alice", "body": {}, "of_alice": True}, DENIED, 200),
    "POST /v1/scopes": ({"body": {"path": CLOSED}}, NOT, "SCOPE_REGISTRATION_EXISTS"),
    "GET /v1/scopes": ({"query": {"path": CLOSED}}, NOT, 200),
    "PUT /v1/scopes/members": ({"query": {"path": CLOSED}, "body": {"members": MEMBERS}}, NOT, 200),
    "POST /v1/scopes/prune": ({"body": {"older_than": "P1D"}, "admin": True}, DENIED, DENIED),
    "POST /v1/schedule/items": ({"body": REMINDER}, NOT, 201),
    "GET /v1/schedule/items": ({}, NOT, 200),
    "GET /v1/schedule/items/{schedule_id}": ({"in_path": "sched_a"}, NOT, 200),
    "PATCH /v1/schedule/items/{schedule_id}": (
        {"in_path": "sched_a", "body": {"expected_version": 1, "note": "soon"}},
        NOT,
        200,
    ),
    "POST /v1/schedule/items/{schedule_id}/acknowledge": (
        {"in_path": "sched_a", "body": {"expected_version": 2}},
        NOT,
        200,
    ),
    "POST /v1/schedule/items/{schedule_id}/retire": (
        {"in_path": "sched_a", "body": {"expected_version": 3}},
        NOT,
        200,
    ),
    "POST /v1/write": ({"body": {"path": "memory/a.md", "content": "tea"}}, NOT, 200),
    "GET /v1/read": ({"query": {"path": "memory/a.md"}}, NOT, 200),
    "POST /v1/append": ({"body": {"path": "memory/a.jsonl", "record": {}}}, NOT, 200),
    "POST /v1/search": ({"body": {"query": " "}}, NOT, 200),
    "POST /v1/recent": ({"body": {}}, NOT, 200),
    "GET /v1/index/status": ({}, NOT, 200),
    "POST /v1/index/rebuild": ({"body": {}}, NOT, 200),
    "POST /v1/index/rebuild-incremental": ({"body": {}}, NOT, 200),
    "POST /v1/peers/register": ({"body": {"peer_id": "bo", "base_url": ""}}, "MISSING_SCOPE", 200),
    "GET /v1/peers": ({}, NOT, 200),
    "POST /v1/peers/{peer_id}/trust": (
        {"in_path": "bo", "body": {"trust_level": "restricted", "reason": "as before"}},
        "MISSING_SCOPE",
        200,
    ),
    "GET /v1/peers/{peer_id}/manifest": ({"in_path": "bo"}, NOT, "INVALID_PEER"),
    "POST /v1/security/tokens/issue": (
        {"body": {"peer_id": "bo", "scopes": ["search"], "read_namespaces": ["*"], "token_id": "t1"}},
        "MISSING_SCOPE",
        200,
    ),
    "GET /v1/security/tokens": ({}, "MISSING_SCOPE", 200),
    "POST /v1/security/tokens/rotate": (
        {"body": {"token_id": "t1", "new_token_id": "t2"}},
        "MISSING_SCOPE",
        200,
    ),
    "POST /v1/security/tokens/revoke": ({"body": {"token_id": "t2"}}, "MISSING_SCOPE", 200),
    "POST /v1/messages/send": ({"body": LETTER}, NOT, 200),
    "POST /v1/messages/ack": (
        {"body": {"message_id": "made:message", "status": "rejected"}},
        NOT,
        200,
    ),
    "POST /v1/replay/messages": ({"body": {"message_id": "made:message"}}, NOT, 200),
    "GET /v1/messages/inbox": ({"query": {"recipient": CALLER}}, NOT, 200),
    "GET /v1/messages/thread": ({"query": {"thread_id": "t"}}, NOT, 200),
    "GET /v1/messages/pending": ({}, NOT, 200),
    "POST /v1/messages/verify": ({"body": ENVELOPE}, NOT, "KEY_NOT_FOUND"),
    "POST /v1/relay/forward": (
        {"body": {**WORDS, "sender": "zed", "target_recipient": "user:alice"}},
        NOT,
        200,
    ),
    "POST /v1/security/keys/rotate": ({"body": {}}, "MISSING_SCOPE", 200),
    "POST /v1/context/retrieve": ({"body": {"task": " "}}, NOT, 200),
    "POST /v1/context/snapshot": ({"body": {"task": " "}}, NOT, 200),
    "GET /v1/context/snapshot/{snapshot_id}": ({"in_path": "never"}, NOT, "SNAPSHOT_NOT_FOUND"),
    "POST /v1/continuity/upsert": ({"body": CAPSULE}, NOT, 200),
    "POST /v1/continuity/patch": ({"body": EDIT}, NOT, 200),
    "POST /v1/continuity/lifecycle": (
        {"body": {**SUBJECT, "transition": "suspend", "updated_at": capsules.later(120)}},
        NOT,
        200,
    ),
    "POST /v1/continuity/read": ({"body": SUBJECT}, NOT, 200),
    "POST /v1/coordination/handoff/create": ({"body": {**SUBJECT, "recipient_peer": CALLER}}, NOT, 200),
    "GET /v1/coordination/handoff/{handoff_id}": ({"in_path": "made:handoff"}, NOT, 200),
    "GET /v1/coordination/handoffs/query": ({"query": {"sender_peer": CALLER}}, NOT, 200),
    "POST /v1/coordination/handoff/{handoff_id}/consume": (
        {"in_path": "made:handoff", "body": {"status": "deferred"}},
        NOT,
        200,
    ),
    "POST /v1/coordination/shared/create": ({"body": {**PLAN, "participant_peers": ["bo"]}}, NOT, 200),
    "GET /v1/coordination/shared/query": ({"query": {"owner_peer": CALLER}}, NOT, 200),
    "GET /v1/coordination/shared/{shared_id}": ({"in_path": "made:shared"}, NOT, 200),
    "POST /v1/coordination/shared/{shared_id}/update": (
        {"in_path": "made:shared", "body": {**PLAN, "expected_version": 1}},
        NOT,
        200,
    ),
    "POST /v1/coordination/reconciliation/open": ({"body": DISPUTE}, NOT, 200),
    "GET /v1/coordination/reconciliation/{reconciliation_id}": (
        {"in_path": "made:reconciliation"},
        NOT,
        200,
    ),
    "GET /v1/coordination/reconciliations/query": ({"query": {"owner_peer": CALLER}}, NOT, 200),
    "POST /v1/coordination/reconciliation/{reconciliation_id}/resolve": (
        {
            "in_path": "made:reconciliation",
            "body": {"expected_version": 1, "outcome": "rejected", "resolution_summary": "so"},
        },
        NOT,
        200,
    ),
    "POST /v1/tasks": ({"body": {"task_id": "t", "title": "Cut", "owner_peer": "bo"}}, NOT, 200),
    "GET /v1/tasks/query": ({}, NOT, 200),
    "PATCH /v1/tasks/{task_id}": ({"in_path": "t", "body": {"status": "done"}}, NOT, 200),
    "POST /v1/docs/patch/propose": ({"body": PATCH}, NOT, 200),
    "POST /v1/code/patch/propose": ({"body": PATCH | {"patch_id": "p-2"}}, NOT, 200),
    "POST /v1/docs/patch/apply": ({"body": {"patch_id": "p-1"}}, NOT, 200),
    "POST /v1/code/checks/run": ({"body": {}}, NOT, "FEATURE_OFF"),
    "POST /v1/code/merge": ({"body": {"source_ref": "main"}}, NOT, "REPOSITORY_IS_PROJECTION"),
    "POST /v1/replication/push": ({"body": {"dry_run": True}}, NOT, "FEATURE_OFF"),
    "POST /v1/replication/pull": ({"body": {"source_peer": "bo", "files": []}}, NOT, "FEATURE_OFF"),
    "POST /v1/continuity/compare": (
        {"body": {**SUBJECT, "candidate_capsule": CAPSULE["capsule"], "signals": SIGNALS}},
        NOT,
        200,
    ),
    "POST /v1/continuity/revalidate": (
        {"body": {**SUBJECT, "outcome": "confirm", "signals": SIGNALS}},
        NOT,
        200,
    ),
    "POST /v1/continuity/history": ({"body": SUBJECT}, NOT, 200),
    "POST /v1/continuity/diff": ({"body": SUBJECT}, NOT, 200),
    "POST /v1/continuity/list": ({"body": {}}, NOT, 200),
    "POST /v1/continuity/refresh/plan": ({"body": {}}, NOT, 200),
    "POST /v1/continuity/retention/plan": ({"body": {}}, NOT, 200),
    "POST /v1/continuity/archive": ({"body": {**SUBJECT, "reason": "over"}}, NOT, 200),
    "POST /v1/continuity/delete": ({"body": {**SUBJECT, "delete_archive": True, "reason": "gone"}}, NOT, 200),
    "POST /ingest": ({"body": {**SPEAKER, **TURN}}, NOT, 200),
    "POST /brief": ({"body": {**SPEAKER, "now": "2026-05-13T11:01:00Z", "mode": "in_session"}}, NOT, 200),
    "POST /session/ingest": ({"body": {**PERSON, "sessionId": "s-2", "messages": [TURN]}}, NOT, 200),
    "POST /session/close": ({"body": {**PERSON, "sessionId": "s-1"}}, NOT, 200),
    "GET /session/startbrief": ({"query": {**PERSON, "now": "2026-05-13T11:01:00Z"}}, NOT, 200),
    "POST /memory/query": ({"body": {**PERSON, "query": "hello"}}, NOT, 200),
    "GET /memory/loops": ({"query": PERSON}, NOT, 200),
    "GET /user/identity": ({"query": PERSON}, NOT, 200),
    "PATCH /user/identity": ({"body": {**PERSON, "name": "Alice"}}, NOT, 202),
    "GET /internal/debug/session": ({"query": {**PERSON, "sessionId": "s-1"}, "shut": True}, SHUT, SHUT),
    "GET /internal/debug/user": ({"query": PERSON, "shut": True}, SHUT, SHUT),
    "GET /internal/debug/outbox": ({"query": {"tenantId": "acme"}, "shut": True}, SHUT, SHUT),
    "POST /internal/outbox/revive": ({"body": {"tenantId": "acme"}, "shut": True}, SHUT, SHUT),
    "GET /v1/erasures": ({}, 200, 200),
    "POST /v1/erasures/preview": ({"body": {"scope": CLOSED}}, NOT, 200),
    "GET /v1/erasures/preview/{preview_id}/manifest": ({"in_path": PREVIEW}, "NOT_FOUND", "NOT_FOUND"),
    "GET /v1/erasures/{erasure_id}": ({"in_path": ERASURE}, "NOT_FOUND", "NOT_FOUND"),
    "GET /v1/erasures/{erasure_id}/manifest": ({"in_path": ERASURE}, "NOT_FOUND", "NOT_FOUND"),
    "POST /v1/erasures/{erasure_id}/cancel": ({"in_path": ERASURE, "body": {}}, "NOT_FOUND", "NOT_FOUND"),
    "POST /v1/erasures": ({"body": {"scope": CLOSED, "audit_note": "case 1"}}, NOT, 202),
    "DELETE /v1/scopes": ({"query": {"path": CLOSED}}, NOT, 200),
    "GET /v1/metrics": ({}, NOT, 200),
    "POST /v1/compact/run": ({"body": {}}, NOT, 200),
    "POST /v1/backup/create": ({"body": {}}, "MISSING_SCOPE", 200),
    "POST /v1/backup/restore-test": ({"body": {}}, "MISSING_SCOPE", 200),
    "GET /v1/ops/catalog": ({}, "MISSING_SCOPE", 200),
    "GET /v1/ops/status": ({}, "MISSING_SCOPE", 200),
    "GET /v1/ops/schedule/export": ({"query": {"format": "cron"}}, "MISSING_SCOPE", 200),
    "POST /v1/ops/run": ({"body": {"job_id": "security.rotation_check"}}, "MISSING_SCOPE", 200),
    "GET /health": ({"kind": "open"}, 200, 200),
    "GET /capabilities": ({"kind": "open"}, 200, 200),
    "GET /v1/capabilities": ({"kind": "open"}, 200, 200),
    "GET /v1/manifest": ({"kind": "open"}, 200, 200),
    "GET /.well-known/mcp.json": ({"kind": "open"}, 200, 200),
    "GET /.well-known/cognirelay.json": ({"kind": "open"}, 200, 200),
    "GET /v1/contracts": ({"kind": "open"}, 200, 200),
    "GET /v1/governance/policy": ({"kind": "open"}, 200, 200),
    "GET /v1/discovery": ({"kind": "open"}, 200, 200),
    "GET /v1/discovery/tools": ({"kind": "open"}, 200, 200),
    "GET /v1/discovery/workflows": ({"kind": "open"}, 200, 200),
    "GET /v1/help": ({"kind": "open"}, 200, 200),
    "GET /v1/help/tools/{name}": ({"kind": "open", "in_path": "continuity.read"}, 200, 200),
    "GET /v1/help/topics/{id}": ({"kind": "open", "in_path": "last-mile-adapter"}, 200, 200),
    "GET /v1/help/hooks": ({"kind": "open"}, 200, 200),
    "GET /v1/help/errors/{code}": ({"kind": "open", "in_path": "validation"}, 200, 200),
    "GET /v1/help/onboarding": ({"kind": "open"}, 200, 200),
    "GET /v1/help/onboarding/bootstrap": ({"kind": "open"}, 200, 200),
    "GET /v1/help/onboarding/sections/{id}": ({"kind": "open", "in_path": "hooks"}, 200, 200),
    "GET /v1/help/limits": ({"kind": "open"}, 200, 200),
    "GET /v1/help/limits/{field_path:path}": (
        {"kind": "open", "in_path": "continuity.open_loops"},
        200,
        200,
    ),
}


OPEN = {
    "version", "relay_health", "relay_features", "relay_capabilities", "relay_manifest", "relay_discovery", "relay_tools", "relay_workflows",
    "relay_help", "relay_help_tool", "relay_help_topic", "relay_help_hooks", "relay_help_error", "relay_onboarding",
    "relay_onboarding_bootstrap", "relay_onboarding_section", "relay_limits", "relay_limit", "relay_mcp_descriptor",
    "relay_contracts", "relay_governance", "relay_well_known",
}  # fmt: skip
"""Takes no caller."""
PERSONAL = {"auth_whoami", "auth_revoke", "policy_effective", "policy_deployment"}
"""For every known caller, about themselves; the handler asks for a capability where it is about others."""


def put_in(value: Any, made: Mapping[str, str]) -> Any:
    """A request with the ids of what rows before it made in their places, and its caller."""
    if isinstance(value, dict):
        return {name: put_in(each, made) for name, each in value.items()}
    if isinstance(value, list):
        return [put_in(each, made) for each in value]
    return made.get(value, value) if isinstance(value, str) else value


def made_by(answer: Any) -> dict[str, str]:
    """The ids of what an answer says was made, as rows name them."""
    kinds = ("handoff", "shared", "reconciliation")
    sent = {"made:message": answer["message"]["id"]} if "message" in answer else {}
    return sent | {f"made:{kind}": answer[kind][f"{kind}_id"] for kind in kinds if kind in answer}


class Street(Neighbours):
    """A scope of Alice's alone that holds one of everything."""

    def __init__(self, preset: str, folder: Path) -> None:
        super().__init__(preset, data=folder)
        self.register(CLOSED, alice="owner")
        self.register(RELAY, by=ROOT, alice="owner")
        self.register(PERSONAL_SCOPE, alice="owner")
        self.know(**PEERS)
        self.made: dict[str, str] = {}
        records = [
            given.fact(scope=CLOSED),
            given.belief(scope=CLOSED),
            given.episode(scope=CLOSED),
            given.concept(scope=CLOSED),
        ]
        (event,) = given.append(self.store, "tea", scope=CLOSED)
        jobs = given.claim(self.store, Stage.EXTRACTED, now=self.clock.at + 1)
        self.store.jobs.finish([(jobs[0], Writes(records=list(records)))])
        self.named = {
            "event": event.id,
            "row": self.said("GET", "/v1/lifecycle")["items"][0]["lifecycle_id"],
            "audit": self.said("GET", "/v1/audit", scope=CLOSED, actor="user:alice")["items"][0]["id"],
            **dict(zip(("fact", "belief", "episode", "concept"), (each.id for each in records), strict=True)),
        }

    def answer(self, route: Route, by: str) -> tuple[int | str, Any]:
        asked, _, _ = ROWS[f"{route.verb} {route.path}"]
        asked, path = put_in(asked, self.made | {CALLER: by}), route.path
        if "in_path" in asked:
            filled = self.named.get(asked["in_path"], asked["in_path"])
            path = path[: path.index("{")] + filled + path[path.index("}") + 1 :]
        query = {name: self.named.get(value, value) for name, value in asked.get("query", {}).items()}
        body = asked.get("body")
        if body and "audit_id" in body:
            body = body | {"audit_id": self.named[body["audit_id"]]}
        response = self.call(route.verb, path, body, by=by, **query)
        if response.status_code < 300:
            if route.path.startswith(("/v1/coordination", "/v1/messages/send")):
                self.made |= made_by(response.json())
            return response.status_code, None
        said = response.json()
        return said.get("error_code") or said["error"]["code"], said.get("details")


@pytest.fixture(params=PRESETS)
def street(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Street]:
    monkeypatch.setattr(limits, "LEARN_S_MAX", 0.0)  # nobody derives here
    street = Street(request.param, tmp_path)
    yield street
    street.close()


def routes(street: Street) -> list[Route]:
    rows = list(street.server.routes)
    unknown = [f"{row.verb} {row.path}" for row in rows if f"{row.verb} {row.path}" not in ROWS]
    assert not unknown, f"say in ROWS how these answer those who may not: {unknown}"
    # What drops the scope comes last.
    return sorted(rows, key=lambda row: list(ROWS).index(f"{row.verb} {row.path}"))


def has_a_gate(operation: Operation[Any]) -> bool:
    """Whether it takes a capability, or stands on the short list of what takes none."""
    if operation.open or operation.personal:
        return operation.name in (OPEN if operation.open else PERSONAL)
    return operation.capability in CATALOGUE


def test_every_operation_has_a_gate(street: Street) -> None:
    for operation in street.server.operations:
        assert has_a_gate(operation), f"{operation.name} asks nobody for anything"
        kind = "open" if operation.open else "own" if operation.personal else None
        named = [row for row in routes(street) if row.operation is operation]
        asked = [ROWS[f"{row.verb} {row.path}"][0] for row in named]
        if not named:
            assert kind is None, f"{operation.name} is run by operators, and takes no caller"
            continue
        assert {each.get("gate", each.get("kind")) for each in asked} == {kind}, operation.name


def test_an_operation_that_hides_without_a_gate_is_found(street: Street) -> None:
    whoami = next(each for each in street.server.operations if each.name == "auth_whoami")
    assert has_a_gate(whoami)
    for change in ({"personal": True}, {"open": True}, {"personal": False}):
        assert not has_a_gate(replace(whoami, name="hidden", **change))
    assert not has_a_gate(replace(whoami, personal=False))


def test_what_takes_no_capability_tells_nothing_of_others(street: Street) -> None:
    """Everybody may ask these: what Alice has, and what was said of her, is not in the answers to Eve."""
    deny = {"deny": ["import.*"]}
    street.said("PUT", "/v1/policy/actor/user:alice", deny, by=ROOT)
    street.said("PUT", "/v1/policy/scope", deny, by=ROOT, path=CLOSED)
    street.said("PUT", "/v1/policy/tenant/acme", {"administrators": ["user:alice"]}, by=ROOT)
    found = {operation.name for operation in street.server.operations if operation.personal or operation.open}
    assert found == OPEN | PERSONAL
    for route in routes(street):
        if route.operation.name in found and route.operation.effect is Effect.READ:
            answer = street.call(route.verb, route.path, by="user:eve").text
            for hidden in ("alice", CLOSED, *street.named.values()):
                assert hidden not in answer, f"{route.path} tells of {hidden}"
    assert street.code("GET", "/v1/policy/effective", by="user:eve", actor="user:alice") == DENIED


def test_an_actor_that_was_denied_everything_is_told_so_everywhere(street: Street) -> None:
    street.said("PUT", "/v1/policy/actor/user:eve", {"deny": ["*"]}, by=ROOT)
    for route in routes(street):
        asked, outside, _ = ROWS[f"{route.verb} {route.path}"]
        code, details = street.answer(route, "user:eve")
        if asked.get("kind") or asked.get("shut"):
            assert code == outside, route
        elif details is None:
            # Relay's errors say no more, and name the scope where one of its own is missing.
            assert code == (outside if outside == "MISSING_SCOPE" else DENIED), route
        else:
            assert (code, details["denied_by_tier"]) in {
                (DENIED, "actor"),
                (DENIED, "deployment"),
                (DENIED, "tenant"),
            }, route


def test_somebody_outside_a_scope_is_told_so_everywhere(street: Street) -> None:
    for route in routes(street):
        asked, outside, _ = ROWS[f"{route.verb} {route.path}"]
        if street.server.settings.preset == "dev_local" and (asked.get("admin") or asked.get("of_alice")):
            outside = asked.get("served", 200)  # everybody administers a tenant on one's own machine
        if asked.get("of_others") and street.server.settings.preset == "cloud_shared_saas":
            outside = DENIED  # nobody reads others' rows there
        assert street.answer(route, "user:eve")[0] == outside, f"{route.verb} {route.path}"


def test_an_id_in_a_closed_scope_is_answered_as_an_id_of_nothing(street: Street) -> None:
    """Ids of understanding can be worked out from a scope and a name: their answers must not confirm a guess."""
    known, seen = dict(street.named), set()
    for route in routes(street):
        asked, _, _ = ROWS[f"{route.verb} {route.path}"]
        said = [asked.get("in_path"), *asked.get("query", {}).values(), *(asked.get("body") or {}).values()]
        for name in [each for each in known if each in said]:
            seen.add(name)
            answers = []
            for id_ in (known[name], known[name][:-4] + "0000"):
                street.named[name] = id_
                code, details = street.answer(route, "user:eve")
                answers.append((code, str(details).replace(id_, "")))
            assert answers[0] == answers[1], route
            street.named = dict(known)
    assert seen == known.keys()


def test_an_owner_is_served(street: Street) -> None:
    for route in routes(street):
        asked, _, owner = ROWS[f"{route.verb} {route.path}"]
        if street.server.settings.preset == "dev_local" and asked.get("admin"):
            owner = asked.get("served", 200)
        if asked.get("streams") or route.path in ("/v1/recall", "/v1/answer"):
            continue  # tests of their own
        assert street.answer(route, "user:alice")[0] == owner, f"{route.verb} {route.path}"
