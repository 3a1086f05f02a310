"""The jobs of the Relay contract, by its names: which operation each runs, and how often it is worth running.

Data only. A job can be run where its operation is served.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["JOBS", "OperatorJob", "Times"]


@dataclass(frozen=True, slots=True)
class Times:
    """When a job is run: in words, by systemd (``OnCalendar``) and by cron."""

    words: str
    on_calendar: str
    cron: str


@dataclass(frozen=True, slots=True)
class OperatorJob:
    """A job. ``times`` is None of one that is run for a thing that its arguments name."""

    operation: str
    description: str
    idempotent: bool
    times: Times | None = None
    external_factors: Sequence[str] = ()

    @property
    def schedule(self) -> str:
        """How often it is worth running, in words."""
        return "when needed" if self.times is None else self.times.words


_OFTEN: Final = Times("every 5 minutes", "*:0/5", "*/5 * * * *")
_HOURLY: Final = Times("every hour", "hourly", "7 * * * *")
_DAILY: Final = Times("every day", "*-*-* 03:10:00", "10 3 * * *")
_WEEKLY: Final = Times("every week", "Sun *-*-* 04:20:00", "20 4 * * 0")

JOBS: Final[Mapping[str, OperatorJob]] = {
    "index.rebuild_incremental": OperatorJob(
        "index_rebuild_incremental", "Bring the index of memory files up to date.", True, _HOURLY
    ),
    "metrics.poll_and_alarm_eval": OperatorJob("tenant_metrics", "Read the figures, and say what is beyond its bound.", True, _OFTEN),
    "backup.create": OperatorJob("backup_create", "Put the tenant's documents into a file.", False, _DAILY, ("room on the disk",)),
    "backup.restore_test": OperatorJob("backup_restore_test", "Read a backup back, the newest unless one is named.", True, _WEEKLY),
    "replication.pull": OperatorJob("replication_pull", "Take in files of another instance.", False, None, ("the other instance",)),
    "replication.push": OperatorJob("replication_push", "Send files to another instance.", False, None, ("the other instance",)),
    "messages.replay_dead_letter_sweep": OperatorJob("messages_sweep", "Send messages again that nobody answered.", False, _HOURLY),
    "security.rotation_check": OperatorJob("security_rotation_check", "Say which tokens end soon, and which key is signed with.", True, _DAILY),
    "compact.plan": OperatorJob("compact_run", "Plan what of the memory files to summarise, archive, promote or keep.", False, _WEEKLY),
    "continuity_cold_store": OperatorJob("continuity_cold_store", "Move an archive of a capsule to cold storage.", False),
    "continuity_cold_rehydrate": OperatorJob("continuity_cold_rehydrate", "Bring an archive back from cold storage.", False),
    "continuity_retention_apply": OperatorJob("continuity_retention_apply", "Move archives that a plan named to cold storage.", False),
    "artifact_history_cold_store": OperatorJob("artifact_history_cold_store", "Compress a unit of the history of artifacts, or those that are old enough.", False),
    "artifact_history_cold_rehydrate": OperatorJob("artifact_history_cold_rehydrate", "Bring such a unit back.", False),
    "registry_history_cold_store": OperatorJob("registry_history_cold_store", "Compress a shard of the history of registries, or those that are old enough.", False),
    "registry_history_cold_rehydrate": OperatorJob("registry_history_cold_rehydrate", "Bring such a shard back.", False),
    "segment_history_maintenance": OperatorJob("segment_history_maintenance", "Roll append logs that have grown large or old.", False, _DAILY),
    "segment_history_cold_store": OperatorJob("segment_history_cold_store", "Compress rolled segments.", False, _WEEKLY),
    "segment_history_cold_rehydrate": OperatorJob("segment_history_cold_rehydrate", "Bring a segment back.", False),
    "artifact_history_maintenance": OperatorJob("artifact_history_maintenance", "Move artifacts that ended, and rest for long, into their history.", False),
}  # fmt: skip
"""Every job of the contract, in its order, and one of ours."""
