"""Bounds of operators' calls, each with its reason. Those that the store keeps, too, are in ``limits``."""

from __future__ import annotations

from typing import Final

from lamina.kernel.history_settings import HISTORY_ROLL_BYTES_MAX

__all__ = [
    "BACKUP_PREFIXES_MAX",
    "COMPACTION_CANDIDATES_MAX",
    "COMPACTION_LISTED_MAX",
    "COMPACTION_PROMOTED_MAX",
    "HISTORY_CALL_MAX",
    "HISTORY_UNIT_BYTES_MAX",
    "METRIC_AUDIT_ROWS_MAX",
    "METRIC_CHECKS_MAX",
    "METRIC_DELIVERIES_MAX",
    "OPS_LEASE_S",
    "OPS_LOOKAHEAD_HOURS_MAX",
    "OPS_NOTE_LENGTH_MAX",
    "OPS_PATH_LENGTH_MAX",
    "OPS_RESULT_KEYS_MAX",
    "OPS_RUNS_LISTED_MAX",
    "OPS_SWEEP_MAX",
    "SEGMENT_TOLD_MAX",
    "SEGMENT_VERSIONS_READ",
]

OPS_RUNS_LISTED_MAX: Final = 500  # of the Relay contract
OPS_LEASE_S: Final = 3600.0  # after which a job that has not ended holds nothing: longer than any takes
OPS_RESULT_KEYS_MAX: Final = 20  # of the Relay contract
OPS_PATH_LENGTH_MAX: Final = 400  # of the Relay contract
OPS_NOTE_LENGTH_MAX: Final = 1000
OPS_SWEEP_MAX: Final = 200  # dead letters of one run: each is a commit
HISTORY_UNIT_BYTES_MAX: Final = HISTORY_ROLL_BYTES_MAX  # of a unit that comes back from cold storage
HISTORY_CALL_MAX: Final = 500  # of the Relay contract: logs, segments or units that one call asks for
SEGMENT_TOLD_MAX: Final = (
    64  # events that tell of a segment, each of as many words as one of a file: two million characters
)
SEGMENT_VERSIONS_READ: Final = 500  # of a log at once, to see who wrote it
OPS_LOOKAHEAD_HOURS_MAX: Final = 8784  # a year
METRIC_AUDIT_ROWS_MAX: Final = 10_000  # of the Relay contract
METRIC_DELIVERIES_MAX: Final = 5000  # newest, that are counted by recipient
METRIC_CHECKS_MAX: Final = 1000  # newest by name; each is a document that is read
COMPACTION_CANDIDATES_MAX: Final = 10_000  # files that a plan looks at
COMPACTION_LISTED_MAX: Final = 20  # of the Relay contract, and the next
COMPACTION_PROMOTED_MAX: Final = 15
BACKUP_PREFIXES_MAX: Final = 32
