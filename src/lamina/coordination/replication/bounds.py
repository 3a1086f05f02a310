"""Bounds of replication. A bundle is a payload of Relay's: its bytes are bounded where every such payload's are."""

from __future__ import annotations

from typing import Final

__all__ = [
    "REPLICATION_ANSWER_BYTES_MAX",
    "REPLICATION_BUNDLES_MAX",
    "REPLICATION_DOCUMENTS_MAX",
    "REPLICATION_FILES_MAX",
    "REPLICATION_KEY_LENGTH_MAX",
    "REPLICATION_PREFIXES_MAX",
    "REPLICATION_PUSH_FILES_MAX",
    "REPLICATION_SAMPLE_MAX",
    "REPLICATION_TOKEN_LENGTH_MAX",
    "REPLICATION_WAIT_S",
]

REPLICATION_FILES_MAX: Final = 2000  # of a bundle, which lands as one commit with as many events
REPLICATION_PUSH_FILES_MAX: Final = 10_000  # of the contract
REPLICATION_BUNDLES_MAX: Final = 16  # that one push sends
REPLICATION_WAIT_S: Final = 30.0  # for all of them
REPLICATION_ANSWER_BYTES_MAX: Final = 1024 * 1024
REPLICATION_PREFIXES_MAX: Final = 64
REPLICATION_KEY_LENGTH_MAX: Final = 128
REPLICATION_TOKEN_LENGTH_MAX: Final = 8192
REPLICATION_SAMPLE_MAX: Final = 20  # of the contract
REPLICATION_DOCUMENTS_MAX: Final = 10_000  # whose clocks are kept in one document, some 100 bytes each
