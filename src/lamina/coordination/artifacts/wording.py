"""Artifacts in words: the texts of the events that tell of them. Whose word each is stands first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lamina.coordination.artifacts.records import Handoff, Reconciliation, SharedArtifact

__all__ = ["handoff_in_words", "reconciliation_in_words", "shared_in_words"]


def handoff_in_words(record: Handoff) -> str:
    """A handoff: who handed what to whom, and what the recipient made of it."""
    return "\n".join(_handoff(record))


def shared_in_words(record: SharedArtifact) -> str:
    """A shared artifact: who shows what to whom."""
    return "\n".join(_shared(record))


def reconciliation_in_words(record: Reconciliation) -> str:
    """A reconciliation: who says what, and how it ended."""
    return "\n".join(_reconciliation(record))


def _handoff(record: Handoff) -> Iterator[str]:
    about = f"{record.source_selector.subject_kind} {record.source_selector.subject_id}"
    yield f"Handoff from {record.sender_peer} to {record.recipient_peer}, of the capsule of {about}."
    yield from _listed("Constraints", record.shared_continuity.active_constraints)
    yield from _listed("Drift", record.shared_continuity.drift_signals)
    yield from _links(record.task_id, record.thread_id)
    if record.note:
        yield f"Note: {record.note}"
    if record.recipient_status != "pending":
        because = f": {record.recipient_reason}" if record.recipient_reason else ""
        yield f"{record.recipient_peer} answered {record.recipient_status}{because}"


def _shared(record: SharedArtifact) -> Iterator[str]:
    with_whom = ", ".join(record.participant_peers)
    yield f"Shared by {record.owner_peer} with {with_whom}, version {record.version}: {record.title}"
    if record.summary:
        yield record.summary
    yield from _listed("Constraints", record.shared_state.constraints)
    yield from _listed("Drift", record.shared_state.drift_signals)
    yield from _listed("Alerts", record.shared_state.coordination_alerts)
    yield from _links(record.task_id, record.thread_id)


def _reconciliation(record: Reconciliation) -> Iterator[str]:
    yield f"Dispute opened by {record.owner_peer}, {record.classification}: {record.title}"
    if record.summary:
        yield record.summary
    for claim in record.claims:
        yield f"{claim.claimant_peer} says of {claim.source_kind} {claim.source_id}: {claim.claim_summary} ({claim.epistemic_status})"
    yield from _links(record.task_id, record.thread_id)
    if record.status == "resolved":
        yield f"Ended by {record.resolved_by} as {record.resolution_outcome}: {record.resolution_summary}"


def _listed(title: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield f"{title}: {'; '.join(items)}"


def _links(task_id: str | None, thread_id: str | None) -> Iterator[str]:
    if task_id:
        yield f"Task: {task_id}"
    if thread_id:
        yield f"Thread: {thread_id}"
