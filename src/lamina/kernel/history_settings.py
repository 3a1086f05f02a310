"""When logs, artifacts and registries of the Relay contract leave for their history, and what is in it for cold storage (contracts 5).

One value, which whoever moves something is handed. The names are those of the contract, in lower case behind ``relay_``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Final

from lamina import limits

__all__ = [
    "HISTORY_BATCH_MAX",
    "HISTORY_BOUNDS",
    "HISTORY_DAYS_MAX",
    "HISTORY_ORDER",
    "HISTORY_ROLL_BYTES_MAX",
    "HistorySettings",
]

HISTORY_DAYS_MAX: Final = 1_000_000  # beyond every clock, and days still fit an instant
HISTORY_ROLL_BYTES_MAX: Final = 16 * 1024 * 1024  # a larger segment would not come back from cold storage
HISTORY_BATCH_MAX: Final = 9_999  # of one run, which is of one second: ids number what moves with four digits


def _chosen(name: str, default: int, help_: str, unit: str, least: int, greatest: int) -> Any:
    names = (f"COGNIRELAY_{name}",)
    return field(
        default=default,
        metadata={"help": help_, "unit": unit, "names": names, "least": least, "greatest": greatest},
    )


def _days(name: str, default: int, what: str) -> Any:
    return _chosen(name, default, f"after how many days {what}", "days", 1, HISTORY_DAYS_MAX)


def _kept(name: str, default: int, what: str) -> Any:
    """Days that the contract names and that nothing is done by: they are read and compared."""
    help_ = f"for how many days {what} is to be kept; nothing is deleted by it"
    return _chosen(name, default, help_, "days", 1, HISTORY_DAYS_MAX)


def _bytes(name: str, default: int, what: str) -> Any:
    return _chosen(name, default, f"from how many bytes on {what} leaves as a whole", "bytes", 1024, HISTORY_ROLL_BYTES_MAX)  # fmt: skip


def _batch(name: str, what: str) -> Any:
    return _chosen(name, 500, f"how many {what} at most, unless it says so itself", "", 1, HISTORY_BATCH_MAX)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class HistorySettings:
    """What an operator may choose of histories. Days count from the last change, or from the time in the name of what is in a history."""

    # fmt: off
    # Registries. Deliveries, nonces, steps of trust and removals are rows, or versions of documents, and stay; shards come from other servers.
    relay_delivery_terminal_retention_days: int = _kept("DELIVERY_TERMINAL_RETENTION_DAYS", 30, "a delivery that ended")
    relay_delivery_history_cold_after_days: int = _days("DELIVERY_HISTORY_COLD_AFTER_DAYS", 90, "a shard of deliveries goes to cold storage")
    relay_delivery_idempotency_retention_days: int = _kept("DELIVERY_IDEMPOTENCY_RETENTION_DAYS", 30, "the key of a message")
    relay_nonce_retention_days: int = _kept("NONCE_RETENTION_DAYS", 7, "a nonce")
    relay_peer_trust_history_max_hot_entries: int = _chosen(
        "PEER_TRUST_HISTORY_MAX_HOT_ENTRIES", 32, "how many steps of trust the registry keeps of a peer, the newest", "", 1, limits.PEER_TRUST_STEPS_MAX)
    relay_peer_trust_history_hot_retention_days: int = _kept("PEER_TRUST_HISTORY_HOT_RETENTION_DAYS", 30, "a step of trust")
    relay_peer_trust_history_cold_after_days: int = _days("PEER_TRUST_HISTORY_COLD_AFTER_DAYS", 120, "a shard of steps of trust goes to cold storage")
    relay_replication_history_hot_retention_days: int = _kept("REPLICATION_HISTORY_HOT_RETENTION_DAYS", 14, "the state of replication")
    relay_replication_history_cold_after_days: int = _days("REPLICATION_HISTORY_COLD_AFTER_DAYS", 90, "a shard of states of replication goes to cold storage")
    relay_replication_pull_idempotency_retention_days: int = _days("REPLICATION_PULL_IDEMPOTENCY_RETENTION_DAYS", 14, "the key of a pull is forgotten")
    relay_replication_tombstone_grace_days: int = _kept("REPLICATION_TOMBSTONE_GRACE_DAYS", 30, "a removal that was replicated")
    relay_replication_tombstone_cold_after_days: int = _days("REPLICATION_TOMBSTONE_COLD_AFTER_DAYS", 90, "a shard of removals goes to cold storage")
    relay_replication_tombstone_retention_days: int = _kept("REPLICATION_TOMBSTONE_RETENTION_DAYS", 365, "a shard of removals")
    relay_registry_history_batch_limit: int = _batch("REGISTRY_HISTORY_BATCH_LIMIT", "shards a run compresses")

    # Artifacts. Every version of a shared one stays, so that none is copied to a history; units of them come from other servers.
    relay_handoff_terminal_retention_days: int = _days("HANDOFF_TERMINAL_RETENTION_DAYS", 30, "a handoff that was answered leaves for its history")
    relay_handoff_cold_after_days: int = _days("HANDOFF_COLD_AFTER_DAYS", 90, "a unit of handoffs goes to cold storage")
    relay_shared_history_hot_retention_days: int = _kept("SHARED_HISTORY_HOT_RETENTION_DAYS", 30, "the version before of a shared artifact")
    relay_shared_history_cold_after_days: int = _days("SHARED_HISTORY_COLD_AFTER_DAYS", 90, "a unit of shared artifacts goes to cold storage")
    relay_reconciliation_resolved_retention_days: int = _days("RECONCILIATION_RESOLVED_RETENTION_DAYS", 30, "a resolved dispute leaves for its history")
    relay_reconciliation_cold_after_days: int = _days("RECONCILIATION_COLD_AFTER_DAYS", 90, "a unit of disputes goes to cold storage")
    relay_task_done_hot_retention_days: int = _days("TASK_DONE_HOT_RETENTION_DAYS", 30, "a task that is done leaves for its history")
    relay_task_done_cold_after_days: int = _days("TASK_DONE_COLD_AFTER_DAYS", 90, "a unit of tasks goes to cold storage")
    relay_patch_applied_hot_retention_days: int = _days("PATCH_APPLIED_HOT_RETENTION_DAYS", 30, "an applied patch leaves for its history")
    relay_patch_applied_cold_after_days: int = _days("PATCH_APPLIED_COLD_AFTER_DAYS", 90, "a unit of patches goes to cold storage")
    relay_artifact_history_batch_limit: int = _batch("ARTIFACT_HISTORY_BATCH_LIMIT", "artifacts a run moves, or units it compresses")

    # Append logs, and their segments.
    relay_journal_cold_after_days: int = _days("JOURNAL_COLD_AFTER_DAYS", 30, "a segment of the journal goes to cold storage")
    relay_journal_retention_days: int = _kept("JOURNAL_RETENTION_DAYS", 365, "a segment of the journal")
    relay_audit_log_rollover_bytes: int = _bytes("AUDIT_LOG_ROLLOVER_BYTES", 1048576, "a log of calls")
    relay_audit_log_cold_after_days: int = _days("AUDIT_LOG_COLD_AFTER_DAYS", 30, "a segment of calls goes to cold storage")
    relay_audit_log_retention_days: int = _kept("AUDIT_LOG_RETENTION_DAYS", 365, "a segment of calls")
    relay_ops_run_rollover_bytes: int = _bytes("OPS_RUN_ROLLOVER_BYTES", 1048576, "a log of runs")
    relay_ops_run_cold_after_days: int = _days("OPS_RUN_COLD_AFTER_DAYS", 30, "a segment of runs goes to cold storage")
    relay_ops_run_retention_days: int = _kept("OPS_RUN_RETENTION_DAYS", 365, "a segment of runs")
    relay_message_stream_rollover_bytes: int = _bytes("MESSAGE_STREAM_ROLLOVER_BYTES", 1048576, "a log of messages")
    relay_message_stream_max_hot_days: int = _days("MESSAGE_STREAM_MAX_HOT_DAYS", 14, "without a line a log of messages leaves for its history")
    relay_message_stream_cold_after_days: int = _days("MESSAGE_STREAM_COLD_AFTER_DAYS", 30, "a segment of messages goes to cold storage")
    relay_message_stream_retention_days: int = _kept("MESSAGE_STREAM_RETENTION_DAYS", 180, "a segment of messages")
    relay_message_thread_rollover_bytes: int = _bytes("MESSAGE_THREAD_ROLLOVER_BYTES", 2097152, "a log of a thread")
    relay_message_thread_inactivity_days: int = _days("MESSAGE_THREAD_INACTIVITY_DAYS", 30, "without a line a log of a thread leaves for its history")
    relay_message_thread_cold_after_days: int = _days("MESSAGE_THREAD_COLD_AFTER_DAYS", 60, "a segment of threads goes to cold storage")
    relay_message_thread_retention_days: int = _kept("MESSAGE_THREAD_RETENTION_DAYS", 365, "a segment of threads")
    relay_episodic_rollover_bytes: int = _bytes("EPISODIC_ROLLOVER_BYTES", 1048576, "a log of episodes")
    relay_episodic_cold_after_days: int = _days("EPISODIC_COLD_AFTER_DAYS", 30, "a segment of episodes goes to cold storage")
    relay_episodic_retention_days: int = _kept("EPISODIC_RETENTION_DAYS", 180, "a segment of episodes")
    relay_segment_history_batch_limit: int = _batch("SEGMENT_HISTORY_BATCH_LIMIT", "logs a run moves, or segments it compresses")
    # fmt: on


HISTORY_BOUNDS: Final = tuple(
    (item.name, item.metadata["least"], item.metadata["greatest"]) for item in fields(HistorySettings)
)
"""Each setting with the least and the greatest that it may be."""

HISTORY_ORDER: Final = tuple(
    (f"relay_{family}_cold_after_days", f"relay_{family}_retention_days")
    for family in (
        "replication_tombstone",
        "journal",
        "audit_log",
        "ops_run",
        "message_stream",
        "message_thread",
        "episodic",
    )
)
"""Settings of which the first may not be more than the second: what goes to cold storage is kept beyond that."""
