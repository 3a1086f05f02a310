"""The operations of context."""

from __future__ import annotations

from typing import Any

from lamina.continuity.context import requests
from lamina.continuity.context.retrieving import Retrieving
from lamina.continuity.context.snapshots import Snapshots
from lamina.continuity.declaring import reads, writes
from lamina.continuity.permission import READS, WRITES
from lamina.kernel.operations import Operation
from lamina.kernel.relay import RelayRight

__all__ = ["context_operations"]


def context_operations(retrieving: Retrieving, snapshots: Snapshots) -> list[Operation[Any]]:
    """Every operation of context."""
    return [
        reads(RelayRight.SEARCH, "context_retrieve", requests.Retrieve, requests.Retrieved, retrieving.retrieve,
              "Give what is known for a task.",
              fails=("SUBJECT_INCOMPLETE", "CAPSULE_NOT_FOUND", "STORED_CAPSULE_INVALID", "INVALID_CAPSULE")),
        writes(WRITES, "context_snapshot_create", requests.Snapshot, requests.SnapshotMade, snapshots.create,
               "Keep what is known for a task.", also=RelayRight.SEARCH,
               fails=("INVALID_AS_OF", "COMMIT_NOT_FOUND", "PATH_COLLISION", "DOCUMENT_CHANGED", "REPOSITORY_UNAVAILABLE")),
        reads(READS, "context_snapshot_get", requests.ReadSnapshot, requests.SnapshotRead, snapshots.read,
              "Read a snapshot.", fails=("SNAPSHOT_NOT_FOUND", "SNAPSHOT_DAMAGED")),
    ]  # fmt: skip
