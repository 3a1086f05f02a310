"""What is told of an erasure: rows of lifecycle on its way, and the one row of audit at its end (seed 002, 8.6.6 and 11.3)."""

from __future__ import annotations

from typing import Any

from lamina.kernel.audit import AuditDraft, own_row
from lamina.kernel.capabilities import Capability
from lamina.kernel.ids import Prefix, derived_id
from lamina.store.ports.erasures import ErasureJob
from lamina.store.ports.lifecycle import LifecycleDraft
from lamina.store.ports.tombstones import ListedErasure

__all__ = ["audit_id_of", "audit_of", "listed_of", "told_of"]


def audit_id_of(job: ErasureJob) -> str:
    """The id of the row that is written at an erasure's end: the same however often it is interrupted."""
    return derived_id(Prefix.AUDIT, job.started_at, job.id, "end")


def told_of(job: ErasureJob) -> LifecycleDraft:
    """How far an erasure is, for those who follow it; the last row once it has ended."""
    said: dict[str, Any] = {"erasure_id": job.id}  # Any: counts by name
    if job.status == "running":
        name = "erasure_progress"
        said |= {"phase": job.phase.value, "fraction_complete": round(job.fraction, 4)}
        if job.outcome.deleted_events or job.outcome.redacted_events:
            said |= {
                "deleted_events": job.outcome.deleted_events,
                "redacted_events": job.outcome.redacted_events,
            }
    else:
        name = "erasure_complete"
        said |= {"summary": {"status": job.status, **_summary(job)}, "audit_id": job.audit_id}
    return LifecycleDraft(tenant_id=job.tenant_id, name=name, scope=job.scope, job_id=job.id, payload=said)


def audit_of(job: ErasureJob) -> AuditDraft:
    """The row that stays for ever: ids and counts, and no name but those of the scope and of who asked."""
    what = {"erasure_id": job.id, "status": job.status, "summary": _summary(job)}
    return own_row(
        tenant_id=job.tenant_id,
        id=audit_id_of(job),
        at=job.started_at if job.ended_at is None else job.ended_at,
        actor=job.requested_by,
        scope=job.scope,
        endpoint="erasure",
        capability=Capability.FORGET_GDPR,
        tier="scope",
        what=what,
        request_id=derived_id(Prefix.REQUEST, job.started_at, job.id, "end"),
        elapsed_ms=job.outcome.took_us // 1000,
        gdpr=1,
    )


def listed_of(job: ErasureJob, *, cancelled: bool = False) -> ListedErasure:
    """The line of it that outlasts the folder: that it takes what it is about, or that it was cancelled before it did."""
    return ListedErasure(
        tenant_id=job.tenant_id,
        id=job.id,
        at=job.started_at,
        by_actor=job.requested_by,
        cascade="gdpr",
        scope=job.scope,
        held=job.place.held,
        actors=job.place.actors,
        unregisters=job.unregisters,
        audit_id=audit_id_of(job),
        factor=job.factor,
        floor=job.floor,
        cancelled=cancelled,
    )


def _summary(job: ErasureJob) -> dict[str, int]:
    outcome = job.outcome
    return {
        "deleted_events": outcome.deleted_events,
        "redacted_events": outcome.redacted_events,
        "held_events": outcome.held_events,
        "deleted_episodes": outcome.deleted_episodes,
        "deleted_facts": outcome.deleted_facts,
        "deleted_beliefs": outcome.deleted_beliefs,
        "deleted_understanding": outcome.deleted_understanding,
        "demoted_beliefs": outcome.demoted_beliefs,
    }
