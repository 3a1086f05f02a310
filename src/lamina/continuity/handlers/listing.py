"""The list of capsules: active ones, and where asked for their snapshots, archives and cold stubs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from lamina.continuity.capsule import requests, results
from lamina.continuity.capsule.shape import CapsuleObject
from lamina.continuity.capsule.subjects import ARCHIVE, COLD_INDEX, FALLBACK, ROOT, Subject
from lamina.continuity.changes.transitions import ACTIVE
from lamina.continuity.judgements.freshness import freshness
from lamina.continuity.judgements.planning import is_stale
from lamina.continuity.judgements.recovery_warnings import ACTIVE_INVALID
from lamina.continuity.judgements.salience import Salience, salience, salience_metadata
from lamina.continuity.judgements.trust import health, resume_adequate, verification_status
from lamina.continuity.permission import READS, sees
from lamina.continuity.shelf.cold import Stub
from lamina.continuity.shelf.documents import Shelf
from lamina.kernel.operations import Answer, Call
from lamina.kernel.time import Instant

__all__ = ["CapsuleListing"]

_STATES: Final = {"active": 0, "fallback": 1, "archived": 2, "cold": 3}


@dataclass(slots=True)  # not frozen: a thousand of them are made for one list
class _Found:
    """One row in the making: what it is ordered by, and what it is made of."""

    subject_kind: str
    subject_id: str
    state: str
    path: str
    retention_class: str
    capsule: CapsuleObject | None = None
    more: dict[str, Any] = field(default_factory=dict)
    stub: Stub | None = None

    @property
    def order(self) -> tuple[str, str, int, str]:
        """The default order."""
        return (self.subject_kind, self.subject_id, _STATES[self.state], self.path)


class CapsuleListing:
    """List what is kept, silently without what the caller may not read."""

    def __init__(self, shelf: Shelf, archive_days: int) -> None:
        self._shelf = shelf
        self._archive_days = archive_days

    def list(self, request: requests.ListCapsules, call: Call) -> Answer:
        """The rows that match, in the order that was asked for."""
        call.relay.require(READS)
        found, filtered = list(self._found(request, call)), _filters(request)
        if filtered:
            found = [one for one in found if _matches(one, request)]
        unique = filtered and len(found) == 1
        if request.sort != "salience":
            found.sort(key=lambda one: one.order)
            rows = [_row(one, call.now) for one in found[: request.limit]]
            listed = {"count": len(rows), "capsules": rows, "unique_match": unique}
            return Answer(results.Listed.model_validate(listed | self._unreadable(request, call)))
        ranked = sorted(
            (
                (salience(one.capsule, call.now), one)
                for one in found
                if one.state == "active" and one.capsule
            ),
            key=lambda pair: pair[0].key,
        )[: request.limit]
        rest = sorted((one for one in found if one.state != "active"), key=lambda one: one.order)
        rows = [_ranked_row(one, rank, ranking, call.now) for rank, (ranking, one) in enumerate(ranked)]
        left = request.limit - len(rows)
        rows += [_row(one, call.now) | {"salience_rank": None} for one in rest[:left]]
        metadata = salience_metadata([ranking for ranking, _ in ranked])
        listed = {
            "count": len(rows),
            "capsules": rows,
            "unique_match": unique,
            "salience_metadata": metadata,
        }
        return Answer(results.Listed.model_validate(listed | self._unreadable(request, call)))

    def _unreadable(self, request: requests.ListCapsules, call: Call) -> dict[str, Any]:
        """A warning for each path whose capsule is not in the list because it cannot be read."""
        tenant_id, seen = call.principal.tenant_id, sees(call, ROOT)
        documents = self._shelf.active_documents(tenant_id, request.subject_kind)
        paths = [path for path in self._shelf.unreadable(tenant_id, documents) if seen(path)]
        return {"recovery_warnings": [f"{ACTIVE_INVALID}:{path}" for path in paths]} if paths else {}

    def _found(self, request: requests.ListCapsules, call: Call) -> Iterator[_Found]:
        kind = request.subject_kind
        yield from self._active(call, kind)
        if request.include_fallback:
            yield from self._fallbacks(call, kind)
        if request.include_archived:
            yield from self._archives(call, kind)
        if request.include_cold and not _filters(request):
            yield from self._cold(call, kind)

    def _active(self, call: Call, kind: str | None) -> Iterator[_Found]:
        tenant_id, seen = call.principal.tenant_id, sees(call, ROOT)
        documents = self._shelf.active_documents(tenant_id, kind)
        for path, loaded in self._shelf.capsules(tenant_id, documents).items():
            if seen(path):
                yield _of_capsule(loaded.capsule, "active", path, "active")

    def _fallbacks(self, call: Call, kind: str | None) -> Iterator[_Found]:
        tenant_id, seen = call.principal.tenant_id, sees(call, FALLBACK)
        documents = self._shelf.beginning(tenant_id, f"{FALLBACK}/")
        for path, loaded in self._shelf.fallbacks(tenant_id, documents).items():
            if seen(path) and kind in (None, loaded.capsule["subject_kind"]):
                yield _of_capsule(loaded.capsule, "fallback", path, "fallback")

    def _archives(self, call: Call, kind: str | None) -> Iterator[_Found]:
        tenant_id, seen = call.principal.tenant_id, sees(call, ARCHIVE)
        documents = self._shelf.beginning(tenant_id, f"{ARCHIVE}/")
        for path, archive in self._shelf.archives(tenant_id, documents).items():
            capsule = archive.capsule
            if not seen(path) or kind not in (None, capsule["subject_kind"]):
                continue
            stale = is_stale(archive.archived_at, call.now, self._archive_days)
            active_path = Subject(capsule["subject_kind"], capsule["subject_id"]).active_path
            more = {"archive_path": path, "archived_at": archive.archived_at_text}
            yield _of_capsule(
                capsule, "archived", active_path, "archive_stale" if stale else "archive_recent", more
            )

    def _cold(self, call: Call, kind: str | None) -> Iterator[_Found]:
        tenant_id, seen = call.principal.tenant_id, sees(call, COLD_INDEX)
        documents = self._shelf.beginning(tenant_id, f"{COLD_INDEX}/")
        for path, stub in self._shelf.stubs(tenant_id, documents).items():
            if seen(path) and kind in (None, stub.name.kind):
                subject_id = stub.fields["subject_id"] or stub.name.slug
                active_path = Subject(stub.name.kind, stub.name.slug).active_path
                yield _Found(stub.name.kind, subject_id, "cold", active_path, "cold", stub=stub)


def _of_capsule(
    capsule: CapsuleObject, state: str, path: str, retention_class: str, more: dict[str, Any] | None = None
) -> _Found:
    return _Found(
        capsule["subject_kind"], capsule["subject_id"], state, path, retention_class, capsule, more or {}
    )


def _filters(request: requests.ListCapsules) -> bool:
    """Whether the request asks for threads of some kind."""
    named = (
        request.lifecycle,
        request.scope_anchor,
        request.keyword,
        request.label_exact,
        request.anchor_kind,
    )
    return any(value is not None for value in named)


def _matches(one: _Found, request: requests.ListCapsules) -> bool:
    descriptor = (one.capsule or {}).get("thread_descriptor")
    if descriptor is None:
        return False
    if request.lifecycle not in (None, descriptor.get("lifecycle", ACTIVE)):
        return False
    if request.label_exact not in (None, descriptor["label"]):
        return False
    for wanted, name in ((request.scope_anchor, "scope_anchors"), (request.keyword, "keywords")):
        if wanted is not None and wanted.strip().lower() not in descriptor[name]:
            return False
    if request.anchor_kind is None:
        return True
    kind = request.anchor_kind.strip().lower()
    return any(
        anchor["kind"] == kind and request.anchor_value in (None, anchor["value"])
        for anchor in descriptor["identity_anchors"]
    )


def _ranked_row(one: _Found, rank: int, ranking: Salience, now: Instant) -> dict[str, Any]:
    return _row(one, now) | {"salience_rank": rank + 1, "salience": ranking.block(rank)}


def _row(one: _Found, now: Instant) -> dict[str, Any]:
    if one.stub is not None:
        return _cold_row(one, one.stub)
    capsule = one.capsule
    assert capsule is not None, "only cold rows have none"
    judged, state = health(capsule), capsule["continuity"]
    return {
        "subject_kind": one.subject_kind,
        "subject_id": one.subject_id,
        "path": one.path,
        "updated_at": capsule["updated_at"],
        "verified_at": capsule["verified_at"],
        "verification_kind": capsule.get("verification_kind"),
        "freshness_class": capsule.get("freshness", {}).get("freshness_class"),
        "phase": freshness(capsule, now).phase,
        "verification_status": verification_status(capsule),
        "health_status": judged.status,
        "health_reasons": list(judged.reasons),
        "artifact_state": one.state,
        "retention_class": one.retention_class,
        "stable_preference_count": len(capsule.get("stable_preferences", [])),
        "rationale_entry_count": len(state.get("rationale_entries", [])),
        "thread_descriptor": capsule.get("thread_descriptor"),
        "resume_adequate": resume_adequate(capsule),
    } | one.more


def _cold_row(one: _Found, stub: Stub) -> dict[str, Any]:
    said = stub.fields
    return {
        "subject_kind": one.subject_kind,
        "subject_id": one.subject_id,
        "path": one.path,
        "updated_at": None,
        "verified_at": None,
        "verification_kind": said["verification_kind"],
        "freshness_class": said["freshness_class"],
        "phase": said["phase"],
        "verification_status": said["verification_status"],
        "health_status": said["health_status"],
        "health_reasons": [],
        "artifact_state": "cold",
        "retention_class": "cold",
        "stable_preference_count": None,
        "rationale_entry_count": None,
        "thread_descriptor": None,
        "source_archive_path": stub.name.path,
        "cold_stub_path": stub.name.stub_path,
        "cold_storage_path": stub.name.cold_path,
        "archived_at": said["archived_at"],
        "cold_stored_at": said["cold_stored_at"],
    }
