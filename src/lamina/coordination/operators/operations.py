"""The operations of operators (Relay contract 1.15, 1.16)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from lamina.continuity.declaring import reads, writes
from lamina.coordination.operators import requests
from lamina.coordination.operators.artifact_units import ArtifactPasses, ArtifactsMoved, MoveArtifacts
from lamina.coordination.operators.backing_up import (
    BackingUp,
    BackUpDocuments,
    DocumentsBackedUp,
    RestoreTested,
    TestRestore,
)
from lamina.coordination.operators.compacting import REPORTS, Compacting
from lamina.coordination.operators.figures import TenantFigures
from lamina.coordination.operators.histories import (
    HistoryFamily,
    HistoryMoved,
    HistoryStored,
    MoveToCold,
    Rehydrate,
    StoredHistory,
)
from lamina.coordination.operators.rotation import Rotation
from lamina.coordination.operators.running import JobRunner
from lamina.coordination.operators.segment_requests import (
    MaintainSegments,
    RehydrateSegment,
    SegmentRehydrated,
    SegmentsMaintained,
    SegmentsStored,
    StoreSegments,
)
from lamina.coordination.operators.segmenting import SegmentHistory
from lamina.coordination.operators.sweeping import DeadLetterSweep, SweepDeadLetters, SweptDeadLetters
from lamina.kernel.history_settings import HistorySettings
from lamina.kernel.ids import IdSource
from lamina.kernel.operations import Answer, Call, Operation
from lamina.kernel.relay import RelayNeed, RelayRight
from lamina.kernel.time import Clock
from lamina.store.backups.documents import DocumentBackups
from lamina.store.ports.store import Store

__all__ = ["OperatorParts", "job_operations", "operator_figures", "operator_jobs"]

_ADMIN: Final = RelayNeed(RelayRight.ADMIN_PEERS)
_FIGURES: Final = RelayNeed(RelayRight.READ_INDEX, "read", "logs/api_audit.jsonl")
_DELIVERY: Final = RelayNeed(RelayRight.READ_INDEX, "read", "messages/state/delivery_index.json")
_PLANS: Final = RelayNeed(RelayRight.COMPACT_TRIGGER, "write", REPORTS.rstrip("/"))


@dataclass(frozen=True, slots=True)
class OperatorParts:
    """What the operations stand on: the store, new ids, the clock that says when a job has ended, what is counted, and when what leaves."""

    store: Store
    ids: IdSource
    clock: Clock
    figures: TenantFigures
    backups: DocumentBackups
    histories: HistorySettings


def operator_figures(parts: OperatorParts) -> list[Operation[Any]]:
    """What needs no other operation: figures, plans of compaction, and backups."""
    compacting = Compacting(parts.store.documents, parts.ids)
    backing_up = BackingUp(parts.store.documents, parts.backups, parts.ids)
    figures = reads(
        _FIGURES, "tenant_metrics", requests.ReadRelayMetrics, requests.RelayMetrics, parts.figures.read,
        "The figures of messages, checks, calls and replication, with alarms.",
    )  # fmt: skip
    return [
        replace(figures, relay=(_FIGURES, _DELIVERY)),
        writes(_PLANS, "compact_run", requests.PlanCompaction, requests.CompactionPlanned, compacting.run,
               "Plan what of the memory files to summarise, archive, promote or keep; nothing of it is done.",
               fails=("DOCUMENT_CHANGED", "REPOSITORY_UNAVAILABLE")),
        writes(_ADMIN, "backup_create", BackUpDocuments, DocumentsBackedUp, backing_up.create,
               "Put the tenant's documents into a file, outside git.", bucket="backup_create",
               fails=("CANNOT_WRITE_BACKUP", "PAYLOAD_TOO_LARGE")),
        writes(_ADMIN, "backup_restore_test", TestRestore, RestoreTested, backing_up.test,
               "Read a backup of documents back, and say whether it would do; nothing is written.", bucket="backup_restore_test",
               fails=("BACKUP_NOT_FOUND", "INVALID_DOCUMENT_BACKUP", "PAYLOAD_TOO_LARGE")),
    ]  # fmt: skip


def operator_jobs(parts: OperatorParts, replay: Callable[[Any, Call], Answer]) -> list[Operation[Any]]:
    """What operators run by name alone; ``replay`` sends one message anew."""
    rotation = Rotation(parts.store.relay_tokens, parts.store.signing_keys)
    sweep = DeadLetterSweep(parts.store.messages, replay)
    rows = [
        reads(_ADMIN, "security_rotation_check", requests.CheckRotation, requests.RotationChecked, rotation.check,
              "Say which tokens end soon, and which key is signed with."),
        writes(_ADMIN, "messages_sweep", SweepDeadLetters, SweptDeadLetters, sweep.sweep,
               "Send messages again that nobody answered."),
    ]  # fmt: skip
    moved = ("HISTORY_NOT_FOUND", "HISTORY_CONFLICT", "INVALID_HISTORY", "DOCUMENT_CHANGED")
    families: tuple[HistoryFamily, ...] = ("artifact", "registry")
    for family in families:
        history = StoredHistory(parts.store.documents, family, parts.histories)
        name = f"{family}_history_cold"
        rows += [
            writes(_ADMIN, f"{name}_store", MoveToCold, HistoryStored, history.store,
                   "Compress a unit of history, or those that are old enough.", fails=moved),
            writes(_ADMIN, f"{name}_rehydrate", Rehydrate, HistoryMoved, history.rehydrate,
                   "Bring a unit of history back.", fails=moved),
        ]  # fmt: skip
    passes = ArtifactPasses(parts.store.documents, parts.histories)
    segments = SegmentHistory(parts.store.documents, parts.histories)
    rows += [
        writes(_ADMIN, "artifact_history_maintenance", MoveArtifacts, ArtifactsMoved, passes.move,
               "Move artifacts that ended into their history."),
        writes(_ADMIN, "segment_history_maintenance", MaintainSegments, SegmentsMaintained, segments.maintain,
               "Move append logs that have grown large or old into their history."),
        writes(_ADMIN, "segment_history_cold_store", StoreSegments, SegmentsStored, segments.store,
               "Compress segments of append logs.", fails=moved),
        writes(_ADMIN, "segment_history_cold_rehydrate", RehydrateSegment, SegmentRehydrated, segments.rehydrate,
               "Bring a segment of an append log back.", fails=moved),
    ]  # fmt: skip
    return [replace(row, local_only=True) for row in rows]


def job_operations(parts: OperatorParts, served: Sequence[Operation[Any]], url: str) -> list[Operation[Any]]:
    """The four operations over jobs, each of which runs one of those ``served`` at the ``url``."""
    runner = JobRunner(
        parts.store.job_runs, parts.ids, parts.clock, {each.name: each for each in served}, url
    )
    rows = [
        reads(_ADMIN, "ops_catalog", requests.ListJobs, requests.JobList, runner.catalogue,
              "List the jobs that can be run on this machine."),
        reads(_ADMIN, "ops_status", requests.ReadJobStatus, requests.JobStatus, runner.status,
              "What jobs run, and how they went."),
        writes(_ADMIN, "ops_run", requests.RunJob, requests.RunJobResult, runner.run,
               "Run a job now, one run of it at a time.", bucket="ops_run",
               fails=("UNKNOWN_JOB", "INVALID_JOB_ARGUMENTS", "JOB_RUNNING", "PAYLOAD_TOO_LARGE", "HISTORY_NOT_FOUND",
                      "HISTORY_CONFLICT", "INVALID_HISTORY")),
        reads(_ADMIN, "ops_schedule_export", requests.ExportJobSchedule, requests.JobSchedule, runner.schedule,
              "Files for systemd or cron that run the jobs.", fails=("INVALID_JOB_SCHEDULE",)),
    ]  # fmt: skip
    return [replace(row, local_only=True, fails=(*row.fails, "LOCAL_ONLY")) for row in rows]
