"""The operations of replication: names are those of the contract's audit rows, each with a rate bucket of its own."""

from __future__ import annotations

from typing import Any, Final

from lamina.continuity.declaring import writes
from lamina.coordination.replication import requests
from lamina.coordination.replication.pulling import Pulling
from lamina.coordination.replication.pushing import Pushing
from lamina.kernel.operations import Operation
from lamina.kernel.relay import RelayRight

__all__ = ["replication_operations"]

_PULLED: Final = (
    "FEATURE_OFF", "INVALID_REPLICATION", "REPLICATION_SOURCE_DENIED", "REPLICATION_CONFLICT", "UNTRUSTED_PEER",
    "INVALID_COORDINATION", "INVALID_FILE_PATH", "NAMESPACE_DENIED", "SECRET_FILE", "PAYLOAD_TOO_LARGE", "INVALID_CAPSULE",
    "STORED_CAPSULE_INVALID", "CAPSULE_TOO_LARGE", "SUBJECT_MISMATCH", "SUBJECT_TAKEN", "STORED_ARTIFACT_INVALID",
    "PATH_COLLISION", "DOCUMENT_CHANGED", "REPOSITORY_UNAVAILABLE",
)  # fmt: skip


_PUSHED: Final = (
    "FEATURE_OFF", "INVALID_REPLICATION", "INVALID_FILE_PATH", "INVALID_PEER", "STORED_REGISTRY_INVALID", "STORED_ARTIFACT_INVALID",
    "PEER_NOT_FOUND", "UNTRUSTED_PEER", "PEER_ADDRESS_DENIED", "PEER_UNREACHABLE", "NAMESPACE_DENIED", "PAYLOAD_TOO_LARGE",
    "DOCUMENT_CHANGED", "REPOSITORY_UNAVAILABLE",
)  # fmt: skip


def replication_operations(pulling: Pulling, pushing: Pushing) -> list[Operation[Any]]:
    """Take over the files of another server, and give it one's own."""
    right = RelayRight.REPLICATION_SYNC
    return [
        writes(right, "replication_pull", requests.Pull, requests.Pulled, pulling.pull,
               "Take over the files of another server.", bucket="replication_pull", fails=_PULLED),
        writes(right, "replication_push", requests.Push, requests.Pushed, pushing.push,
               "Give files to another server.", bucket="replication_push", fails=_PUSHED),
    ]  # fmt: skip
