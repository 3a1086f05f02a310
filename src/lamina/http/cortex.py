"""The Cortex contract: verb and path to operation, as in seed 002, section 8."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lamina import limits
from lamina.http.routes import Route
from lamina.kernel.operations import Operation
from lamina.observe.metrics import METRICS_TYPE

__all__ = ["cortex_routes"]


def cortex_routes(operations: Sequence[Operation[Any]]) -> list[Route]:
    """Every row whose operation is among those given; an operation without a row is a bug."""
    by_name = {operation.name: operation for operation in operations}
    rows = _capture_rows(by_name) + _recall_rows(by_name) + _layer_rows(by_name) + _lifecycle_rows(by_name)
    rows += _forget_rows(by_name)
    rows += _phrase_rows(by_name) + _vocabulary_rows(by_name)
    rows += _policy_rows(by_name) + _scope_rows(by_name)
    rows += _erasure_rows(by_name)
    rows += _audit_rows(by_name) + _admin_rows(by_name)
    rows += _auth_rows(by_name)
    left = set(by_name) - {row.operation.name for row in rows}
    assert not left, f"operations without a row: {sorted(left)}"
    return rows


def _capture_rows(by_name: Mapping[str, Operation[Any]]) -> list[Route]:
    return [
        Route("POST", "/v1/experience", by_name["experience"], "envelope", "INVALID_ENVELOPE"),
        Route(
            "POST",
            "/v1/experience/bulk",
            by_name["experience_bulk"],
            invalid_code="INVALID_ENVELOPE",
            body_bytes_max=limits.BULK_BODY_BYTES_MAX,
            items="items",
        ),
        Route("GET", "/v1/experience/by-idempotency-key/{key:path}", by_name["experience_by_key"]),
    ]


def _recall_rows(by_name: Mapping[str, Operation[Any]]) -> list[Route]:
    resumes = {"Last-Event-ID": "last_event_id"}
    return [
        Route("POST", "/v1/recall", by_name["recall"], headers=resumes),
        Route("POST", "/v1/answer", by_name["answer"], headers=resumes),
    ]


def _layer_rows(by_name: Mapping[str, Operation[Any]]) -> list[Route]:
    return [
        Route("GET", "/v1/events", by_name["events"], lists=frozenset({"labels"})),
        Route("GET", "/v1/events/{event_id}", by_name["event"]),
        Route("POST", "/v1/events/{event_id}/forget-answer", by_name["answer_forget"]),
        Route("GET", "/v1/episodes", by_name["episodes"]),
        Route("GET", "/v1/episodes/{episode_id}", by_name["episode"]),
        Route("GET", "/v1/facts", by_name["facts"]),
        Route("GET", "/v1/facts/timeline", by_name["facts_timeline"]),
        Route("GET", "/v1/facts/{fact_id}", by_name["fact"]),
        Route("POST", "/v1/facts/{fact_id}/correct", by_name["fact_correct"]),
        Route("POST", "/v1/facts/{fact_id}/retract", by_name["fact_retract"]),
        Route("GET", "/v1/beliefs", by_name["beliefs"]),
        Route("GET", "/v1/beliefs/why", by_name["beliefs_why"]),
        Route("GET", "/v1/beliefs/{belief_id}", by_name["belief"]),
        Route("GET", "/v1/why/{record_id}", by_name["why"]),
        Route("GET", "/v1/entities/{entity_id}", by_name["entity"]),
        Route("POST", "/v1/entities/{entity_id}/merge", by_name["entity_merge"]),
        Route("POST", "/v1/entities/{entity_id}/split", by_name["entity_split"]),
        Route("GET", "/v1/understanding", by_name["understanding"]),
        Route("GET", "/v1/understanding/coverage", by_name["understanding_coverage"]),
        Route("POST", "/v1/understanding/synthesize", by_name["understanding_synthesize"]),
        Route("GET", "/v1/understanding/{concept_id}", by_name["concept"]),
        Route("GET", "/v1/understanding/{concept_id}/related", by_name["concept_related"]),
    ]


def _forget_rows(by_name: Mapping[str, Operation[Any]]) -> list[Route]:
    return [Route("POST", "/v1/forget", by_name["forget"])]


def _lifecycle_rows(by_name: Mapping[str, Operation[Any]]) -> list[Route]:
    events = frozenset({"events"})
    return [
        Route("GET", "/v1/lifecycle", by_name["lifecycle"], lists=events),
        Route(
            "GET",
            "/v1/lifecycle/stream",
            by_name["lifecycle_stream"],
            lists=events,
            headers={"Last-Event-ID": "last_event_id"},
        ),
        Route("GET", "/v1/lifecycle/event/{lce_id}", by_name["lifecycle_event"]),
        Route("GET", "/v1/lifecycle/memory-event/{evt_id}", by_name["lifecycle_memory_event"]),
        Route("POST", "/v1/lifecycle/memory-event/{evt_id}/cancel", by_name["lifecycle_cancel"]),
    ]


def _phrase_rows(by_name: Mapping[str, Operation[Any]]) -> list[Route]:
    return [
        Route("POST", "/v1/temporal/phrases", by_name["temporal_phrase_register"]),
        Route("GET", "/v1/temporal/phrases", by_name["temporal_phrases"]),
        Route("DELETE", "/v1/temporal/phrases/{name}", by_name["temporal_phrase_remove"]),
    ]


def _vocabulary_rows(by_name: Mapping[str, Operation[Any]]) -> list[Route]:
    return [
        Route("POST", "/v1/vocabularies", by_name["vocabulary_register"]),
        Route("GET", "/v1/vocabularies", by_name["vocabularies"]),
        Route("GET", "/v1/vocabularies/{name}", by_name["vocabulary"]),
        Route("PUT", "/v1/vocabularies/{name}", by_name["vocabulary_put"]),
    ]


def _erasure_rows(by_name: Mapping[str, Operation[Any]]) -> list[Route]:
    return [
        Route("POST", "/v1/erasures/preview", by_name["erasure_preview"]),
        Route("GET", "/v1/erasures/preview/{preview_id}/manifest", by_name["erasure_preview_manifest"]),
        Route("POST", "/v1/erasures", by_name["erasure_start"]),
        Route("GET", "/v1/erasures", by_name["erasures"]),
        Route("GET", "/v1/erasures/{erasure_id}", by_name["erasure"]),
        Route("GET", "/v1/erasures/{erasure_id}/manifest", by_name["erasure_manifest"]),
        Route("POST", "/v1/erasures/{erasure_id}/cancel", by_name["erasure_cancel"]),
    ]


def _audit_rows(by_name: Mapping[str, Operation[Any]]) -> list[Route]:
    return [
        Route("GET", "/v1/audit", by_name["audit"]),
        Route("GET", "/v1/audit/{audit_id}", by_name["audit_row"]),
        # The body to check may be as large as a body can be, and grows by its escapes inside JSON.
        Route("POST", "/v1/audit/verify", by_name["audit_verify"], body_bytes_max=3 * limits.BODY_BYTES_MAX),
    ]


def _admin_rows(by_name: Mapping[str, Operation[Any]]) -> list[Route]:
    return [
        Route("GET", "/v1/admin/version", by_name["version"]),
        Route("GET", "/v1/admin/health", by_name["health"]),
        Route("GET", "/v1/admin/metrics", by_name["metrics"], page=METRICS_TYPE),
        Route("POST", "/v1/admin/flush-views", by_name["flush_views"]),
        Route("POST", "/v1/admin/compact", by_name["compact"]),
    ]


def _policy_rows(by_name: Mapping[str, Operation[Any]]) -> list[Route]:
    """A scope's path has slashes: percent-encoded it stands in the URL, plain in ``?path=``."""
    targets = {
        "deployment": ("/v1/policy/deployment",),
        "tenant": ("/v1/policy/tenant/{tenant_id}",),
        "scope": ("/v1/policy/scope/{scope_path:path}", "/v1/policy/scope"),
        "actor": ("/v1/policy/actor/{actor_id}",),
    }
    rows = [Route("GET", "/v1/policy/effective", by_name["policy_effective"])]
    for target, paths in targets.items():
        for path in paths:
            named = {"scope_path": "path"}
            rows.append(Route("GET", path, by_name[f"policy_{target}"], named=named))
            rows.append(Route("PUT", path, by_name[f"policy_{target}_put"], "document", named=named))
    return rows


def _scope_rows(by_name: Mapping[str, Operation[Any]]) -> list[Route]:
    return [
        Route("POST", "/v1/scopes", by_name["scope_register"]),
        Route("GET", "/v1/scopes", by_name["scopes"]),
        Route("DELETE", "/v1/scopes", by_name["scope_remove"]),
        Route("PUT", "/v1/scopes/members", by_name["scope_members"], query=frozenset({"path"})),
        Route("POST", "/v1/scopes/prune", by_name["scopes_prune"]),
    ]


def _auth_rows(by_name: Mapping[str, Operation[Any]]) -> list[Route]:
    return [
        Route("POST", "/v1/auth/revoke", by_name["auth_revoke"]),
        Route("GET", "/v1/auth/whoami", by_name["auth_whoami"]),
    ]
