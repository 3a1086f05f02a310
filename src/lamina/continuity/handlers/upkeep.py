"""Handlers of the plans for a capsule store that lasts: what to look at again, what may go to cold storage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lamina.continuity.capsule import requests, results
from lamina.continuity.capsule.subjects import (
    ARCHIVE,
    COLD,
    COLD_INDEX,
    FALLBACK,
    REFRESH_PLAN,
    RETENTION_PLAN,
    ROOT,
    ArchiveName,
    Subject,
    archive_name,
)
from lamina.continuity.handlers.archiving import Archiving
from lamina.continuity.judgements.planning import (
    is_stale,
    refresh_candidate,
    refresh_order,
    retention_candidate,
)
from lamina.continuity.landing import retried
from lamina.continuity.permission import READS, WRITES, require, sees
from lamina.continuity.shelf.documents import Shelf
from lamina.continuity.shelf.uses import Uses, recently_used
from lamina.errors import Conflict, Forbidden, LaminaError, Malformed, NotFound
from lamina.kernel.canonical import canonical
from lamina.kernel.operations import Answer, Call
from lamina.kernel.time import rfc3339
from lamina.store.ports.documents import Change, ChangeKind

__all__ = ["CapsuleUpkeep"]


class CapsuleUpkeep:
    """Plan a refresh, plan retention, apply retention. A plan is kept as a document of its own."""

    def __init__(self, shelf: Shelf, uses: Uses, archiving: Archiving, archive_days: int) -> None:
        self._shelf = shelf
        self._uses = uses
        self._archiving = archiving
        self._archive_days = archive_days

    def plan_refresh(self, request: requests.PlanRefresh, call: Call) -> Answer:
        """The capsules that somebody should look at again, and why."""
        call.relay.require(READS)
        require(call, WRITES, "write", REFRESH_PLAN)
        return Answer(retried(lambda: self._refresh_plan(request, call)))

    def _refresh_plan(self, request: requests.PlanRefresh, call: Call) -> results.RefreshPlan:
        rewrites = self._shelf.rewrites(call.principal.tenant_id)
        rows = refresh_order(
            self._refresh_rows(request.subject_kind, call), include_healthy=request.include_healthy
        )[: request.limit]
        at = rfc3339(call.now)
        plan = {
            "schema_version": "1.0",
            "last_planned_at": at,
            "last_run_at": None,
            "last_run_count": 0,
            "entries": rows,
        }
        commit = self._keep(call, REFRESH_PLAN, plan, "continuity: refresh plan", rewrites)
        return results.RefreshPlan(count=len(rows), generated_at=at, candidates=rows, latest_commit=commit)

    def plan_retention(self, request: requests.PlanRetention, call: Call) -> Answer:
        """The archives that are old enough for cold storage, the oldest first."""
        call.relay.require(READS)
        require(call, WRITES, "write", RETENTION_PLAN)
        return Answer(retried(lambda: self._retention_plan(request, call)))

    def _retention_plan(self, request: requests.PlanRetention, call: Call) -> results.RetentionPlan:
        rewrites = self._shelf.rewrites(call.principal.tenant_id)
        warnings: list[str] = []
        rows = self._stale(request.subject_kind, call, warnings)
        shown, at = rows[: request.limit], rfc3339(call.now)
        said = {
            "count": len(shown),
            "total_candidates": len(rows),
            "has_more": len(rows) > len(shown),
            "warnings": warnings,
            "candidates": shown,
        }
        plan = {
            "schema_type": "continuity_retention_plan",
            "schema_version": "1.0",
            "generated_at": at,
            "path": RETENTION_PLAN,
            "filters": {"subject_kind": request.subject_kind, "limit": request.limit},
        } | said
        commit = self._keep(call, RETENTION_PLAN, plan, "continuity: retention plan", rewrites)
        return results.RetentionPlan.model_validate(
            {"generated_at": at, "path": RETENTION_PLAN, "latest_commit": commit} | said
        )

    def apply_retention(self, request: requests.RetentionApply, call: Call) -> Answer:
        """Move archives to cold storage, each by itself: one that fails does not stop the others."""
        unique = list(dict.fromkeys(request.source_archive_paths))
        counted = {path: request.source_archive_paths.count(path) for path in unique}
        warnings = [f"duplicate_source_archive_path:{path}" for path in unique if counted[path] > 1]
        done = [self._apply(path, call) for path in unique]
        failed = sum(not one.ok for one in done)
        return Answer(
            results.Applied(
                ok=failed == 0,
                requested=len(request.source_archive_paths),
                unique_requested=len(unique),
                processed=len(done),
                cold_stored=sum(one.status == "cold_stored" for one in done),
                failed=failed,
                results=done,
                warnings=warnings,
            )
        )

    def _refresh_rows(self, kind: str | None, call: Call) -> list[dict[str, Any]]:
        tenant_id, seen = call.principal.tenant_id, sees(call, ROOT)
        active = self._shelf.capsules(tenant_id, self._shelf.active_documents(tenant_id, kind))
        snapshots = self._shelf.fallbacks(tenant_id, self._shelf.beginning(tenant_id, f"{FALLBACK}/"))
        kept = [
            Subject(each.capsule["subject_kind"], each.capsule["subject_id"]) for each in snapshots.values()
        ]
        used = recently_used(self._uses, call, {*active, *(each.active_path for each in kept)})
        rows = [
            refresh_candidate(found.capsule, call.now, used=path in used, fallback_only=False)
            for path, found in active.items()
            if seen(path)
        ]
        for (path, found), subject in zip(snapshots.items(), kept, strict=True):
            capsule = found.capsule
            if subject.active_path in active or kind not in (None, subject.kind):
                continue
            if seen(path):
                row = refresh_candidate(
                    capsule, call.now, used=subject.active_path in used, fallback_only=True
                )
                rows.append(row)
        return rows

    def _stale(self, kind: str | None, call: Call, warnings: list[str]) -> list[dict[str, Any]]:
        tenant_id, seen = call.principal.tenant_id, sees(call, ARCHIVE)
        documents = [d for d in self._shelf.beginning(tenant_id, f"{ARCHIVE}/") if seen(d.path)]
        archives = self._shelf.archives(tenant_id, documents)
        cold = {
            d.path for folder in (COLD, COLD_INDEX) for d in self._shelf.beginning(tenant_id, f"{folder}/")
        }
        rows: list[tuple[tuple[int, str, str, str], dict[str, Any]]] = []
        for document in documents:
            name, archive = archive_name(document.path), archives.get(document.path)
            if name is None or archive is None:
                warnings.append(f"continuity_retention_skipped_invalid_archive:{document.path}")
                continue
            if kind not in (None, name.kind) or not is_stale(
                archive.archived_at, call.now, self._archive_days
            ):
                continue
            if {name.cold_path, name.stub_path} & cold:
                warnings.append(f"continuity_retention_partial_cold_conflict:{document.path}")
                continue
            row = retention_candidate(
                name, archive.capsule["subject_id"], archive.archived_at, archive.archived_at_text, call.now
            )
            rows.append(((archive.archived_at, name.kind, name.slug, name.path), row))
        return [row for _, row in sorted(rows, key=lambda pair: pair[0])]

    def _apply(self, path: str, call: Call) -> results.AppliedOne:
        name = archive_name(path)
        if name is None:
            return _outcome(
                path, None, "failed_invalid_archive", "the path is not that of an archived capsule"
            )
        try:
            require(call, WRITES, "write", name.path, name.cold_path, name.stub_path)
            return retried(lambda: self._applied(name, call))
        except Forbidden as error:
            return _outcome(path, name, "failed_authorization", error.message)
        except Conflict as error:
            return _outcome(path, name, "failed_conflict", error.message)
        except Malformed as error:
            return _outcome(path, name, "failed_invalid_archive", error.message)
        except NotFound as error:
            return _outcome(path, name, "skipped_missing", error.message)
        except LaminaError as error:
            return _outcome(path, name, "failed_internal", error.code)

    def _applied(self, name: ArchiveName, call: Call) -> results.AppliedOne:
        tenant_id = call.principal.tenant_id
        cold = self._shelf.documents(tenant_id, [name.cold_path, name.stub_path])
        source = self._shelf.document(tenant_id, name.path)
        if source is None:
            status = "skipped_already_cold" if len(cold) == 2 else "skipped_missing"
            return _outcome(name.path, name, status, None)
        archive = self._shelf.archives(tenant_id, [source]).get(name.path)
        if archive is not None and not is_stale(archive.archived_at, call.now, self._archive_days):
            return _outcome(name.path, name, "skipped_not_stale", None)
        self._archiving.stored_cold(name, call)
        return _outcome(name.path, name, "cold_stored", None)

    def _keep(self, call: Call, path: str, plan: dict[str, Any], message: str, rewrites: int) -> str:
        changes: Sequence[Change] = (Change(path, ChangeKind.PUT, canonical(plan)),)
        return self._shelf.land(call, message, changes, None, rewrites=rewrites).sha


def _outcome(path: str, name: ArchiveName | None, status: str, detail: str | None) -> results.AppliedOne:
    return results.AppliedOne(
        source_archive_path=path,
        ok=not status.startswith("failed_"),
        status=status,
        detail=detail,
        cold_storage_path=None if name is None else name.cold_path,
        cold_stub_path=None if name is None else name.stub_path,
    )
