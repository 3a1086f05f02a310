"""Asks that forget: a part of a scope, or all of it by an erasure (seed 002, 8.5 and 8.6)."""

from __future__ import annotations

from typing import Any, Final

from lamina.client.asks import Ask, ask
from lamina.client.identity import Identity
from lamina.client.options import ForgetOptions, time_text
from lamina.client.session import new_key
from lamina.types.erasures import (
    ErasureCancelled,
    ErasureManifest,
    ErasurePage,
    ErasurePreview,
    ErasureStarted,
    ErasureState,
)
from lamina.types.forgetting import Cascade, Forgotten

__all__ = ["cancel", "erasures", "forget", "manifest", "preview", "start", "state"]

_SELECTS: Final = (
    "memory_ids",
    "about_subject",
    "about_entity",
    "predicate",
    "valid_during",
    "recorded_during",
)


def forget(
    identity: Identity, scope: str | None, cascade: Cascade | None, options: ForgetOptions
) -> Ask[Forgotten]:
    """Have a part of a scope forgotten."""
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    for name in ("valid_during", "recorded_during"):
        if name in given and not isinstance(given[name], str):
            given[name] = [time_text(each) for each in given[name]]
    selector = {name: given.pop(name) for name in _SELECTS if name in given}
    body = {"idempotency_key": new_key(), **given, "scope": identity.scope_for(scope), "selector": selector}
    return ask(
        "POST", "/v1/forget", Forgotten, body=body if cascade is None else {**body, "cascade": cascade}
    )


def preview(scope: str, note: str | None, key: str | None) -> Ask[ErasurePreview]:
    """What erasing a scope would do."""
    body = {"scope": scope, "idempotency_key": key or new_key()}
    return ask(
        "POST",
        "/v1/erasures/preview",
        ErasurePreview,
        body=body if note is None else {**body, "audit_note": note},
    )


def start(scope: str, note: str, preview_id: str | None, key: str | None) -> Ask[ErasureStarted]:
    """Begin the erasure of a scope."""
    body = {"scope": scope, "audit_note": note, "idempotency_key": key or new_key()}
    if preview_id is not None:
        body["from_preview_id"] = preview_id
    return ask("POST", "/v1/erasures", ErasureStarted, body=body)


def state(erasure_id: str) -> Ask[ErasureState]:
    """How far an erasure is."""
    return ask("GET", "/v1/erasures/{erasure_id}", ErasureState, names={"erasure_id": erasure_id})


def erasures(cursor: str | None, limit: int | None) -> Ask[ErasurePage]:
    """Erasures, newest first."""
    return ask("GET", "/v1/erasures", ErasurePage, query={"cursor": cursor, "limit": limit})


def manifest(plan_id: str, cursor: str | None) -> Ask[ErasureManifest]:
    """A page of the manifest of a preview or of an erasure."""
    query = {"cursor": cursor}
    if plan_id.startswith("ervw_"):
        path = "/v1/erasures/preview/{preview_id}/manifest"
        return ask("GET", path, ErasureManifest, names={"preview_id": plan_id}, query=query)
    path = "/v1/erasures/{erasure_id}/manifest"
    return ask("GET", path, ErasureManifest, names={"erasure_id": plan_id}, query=query)


def cancel(erasure_id: str) -> Ask[ErasureCancelled]:
    """Have an erasure stop."""
    path = "/v1/erasures/{erasure_id}/cancel"
    return ask("POST", path, ErasureCancelled, names={"erasure_id": erasure_id}, body={})
